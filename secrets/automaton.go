package secrets

// automaton finds all occurrences of many literals in one pass (Aho and Corasick),
// without regard to the case of ASCII letters: one look-up a byte.
type automaton struct {
	class  [256]uint8 // of a byte; 0 for those in no literal
	width  int        // classes
	next   []uint32   // by state*width + class; states are multiplied by width
	output [][]int32  // by state: the literals that end here
	first  uint32     // states from here on have output
}

// newAutomaton builds the automaton for literals in lower case.
func newAutomaton(literals []string) *automaton {
	a := &automaton{width: 1}
	for _, literal := range literals {
		for i := range len(literal) {
			if c := literal[i]; a.class[c] == 0 {
				a.class[c] = uint8(a.width)
				a.width++
			}
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		a.class[c-'a'+'A'] = a.class[c]
	}

	children := [][]uint32{make([]uint32, a.width)}
	ends := [][]int32{nil}
	for id, literal := range literals {
		at := uint32(0)
		for i := range len(literal) {
			class := a.class[literal[i]]
			if children[at][class] == 0 {
				children[at][class] = uint32(len(children))
				children = append(children, make([]uint32, a.width))
				ends = append(ends, nil)
			}
			at = children[at][class]
		}
		ends[at] = append(ends[at], int32(id))
	}

	// Breadth first: where a literal breaks off, go on as its longest suffix would.
	suffix := make([]uint32, len(children))
	queue := []uint32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for class, child := range children[at] {
			fallback := uint32(0)
			if at != 0 {
				fallback = children[suffix[at]][class]
			}
			if child == 0 {
				children[at][class] = fallback
				continue
			}
			suffix[child] = fallback
			ends[child] = append(ends[child], ends[fallback]...)
			queue = append(queue, child)
		}
	}
	a.number(children, ends)
	return a
}

// number lays the states out so that those with output come last: the loop over a
// text tells them by one comparison.
func (a *automaton) number(children [][]uint32, ends [][]int32) {
	order := make([]uint32, 0, len(children))
	for pass := range 2 {
		for s := range children {
			if (len(ends[s]) > 0) == (pass == 1) {
				order = append(order, uint32(s))
			}
		}
		if pass == 0 {
			a.first = uint32(len(order) * a.width)
		}
	}
	place := make([]uint32, len(children))
	for at, s := range order {
		place[s] = uint32(at * a.width)
	}
	a.next = make([]uint32, len(children)*a.width)
	a.output = make([][]int32, len(children))
	for at, s := range order {
		for class, child := range children[s] {
			a.next[at*a.width+class] = place[child]
		}
		a.output[at] = ends[s]
	}
}

// scan calls hit for every literal that ends in text, with the offset of its end.
func (a *automaton) scan(text string, hit func(literal int32, end int)) {
	next, class, s := a.next, &a.class, uint32(0)
	for i := range len(text) {
		s = next[s+uint32(class[text[i]])]
		if s >= a.first {
			for _, literal := range a.output[int(s)/a.width] {
				hit(literal, i+1)
			}
		}
	}
}
