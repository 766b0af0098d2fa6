package memory

// line is one line of a comparison: ' ' in both texts, '-' in the old one only,
// '+' in the new one only.
type line struct {
	op   byte
	text string
}

// maxEdits bounds the work of a comparison, which grows with its square. Texts
// that differ more are compared as replaced where they differ.
const maxEdits = 2000

// compareLines finds a shortest edit script from a to b (Myers' algorithm). In a
// run of changes, removed lines come before added ones.
func compareLines(a, b []string) []line {
	var out []line
	prefix := 0
	for prefix < len(a) && prefix < len(b) && a[prefix] == b[prefix] {
		prefix++
	}
	suffix := 0
	for suffix < len(a)-prefix && suffix < len(b)-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	out = appendLines(out, ' ', a[:prefix])
	out = append(out, middle(a[prefix:len(a)-suffix], b[prefix:len(b)-suffix])...)
	out = appendLines(out, ' ', a[len(a)-suffix:])
	return out
}

func appendLines(out []line, op byte, texts []string) []line {
	for _, text := range texts {
		out = append(out, line{op, text})
	}
	return out
}

// middle compares what is left when equal ends are taken off.
func middle(a, b []string) []line {
	// furthest[k+limit] is how far in a the furthest path on diagonal k has come;
	// trace keeps it from before each round, for the way back.
	limit := min(len(a)+len(b), maxEdits)
	furthest := make([]int32, 2*limit+2)
	var trace [][]int32
	for d := 0; d <= limit; d++ {
		// Only diagonals -d..d are in use in round d.
		trace = append(trace, append([]int32(nil), furthest[limit-d:limit+d+1]...))
		for k := -d; k <= d; k += 2 {
			x := step(furthest, limit, d, k)
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			furthest[limit+k] = int32(x)
			if x >= len(a) && x-k >= len(b) {
				return script(a, b, trace)
			}
		}
	}
	return appendLines(appendLines(nil, '-', a), '+', b)
}

// step says where in a round d begins on diagonal k: below the path on k+1 or
// right of that on k-1, whichever came further.
func step(furthest []int32, offset, d, k int) int {
	if d == 0 {
		return 0
	}
	if k == -d || k != d && furthest[offset+k-1] < furthest[offset+k+1] {
		return int(furthest[offset+k+1])
	}
	return int(furthest[offset+k-1]) + 1
}

// script walks the rounds back from the end and returns the lines in order.
func script(a, b []string, trace [][]int32) []line {
	var reversed []line
	x, y := len(a), len(b)
	for d := len(trace) - 1; d > 0; d-- {
		before, k := trace[d], x-y // before holds diagonals -d..d as round d found them
		fromK := k - 1
		if k == -d || k != d && before[d+k-1] < before[d+k+1] {
			fromK = k + 1
		}
		fromX := int(before[d+fromK])
		fromY := fromX - fromK
		for x > fromX && y > fromY {
			x, y = x-1, y-1
			reversed = append(reversed, line{' ', a[x]})
		}
		if x == fromX {
			y--
			reversed = append(reversed, line{'+', b[y]})
		} else {
			x--
			reversed = append(reversed, line{'-', a[x]})
		}
	}
	for x > 0 {
		x--
		reversed = append(reversed, line{' ', a[x]})
	}
	return removalsFirst(reversed)
}

// removalsFirst reverses a script that runs backwards and orders each run of changes.
func removalsFirst(reversed []line) []line {
	out := make([]line, 0, len(reversed))
	var added []line
	flush := func() {
		out = append(out, added...)
		added = added[:0]
	}
	for i := len(reversed) - 1; i >= 0; i-- {
		switch l := reversed[i]; l.op {
		case '+':
			added = append(added, l)
		case '-':
			out = append(out, l)
		default:
			flush()
			out = append(out, l)
		}
	}
	flush()
	return out
}
