package secrets

// part is the stretch of a text that is asked for, in bytes. What stands around it is there
// for what it tells of it.
type part struct{ start, end int }

func all(text string) part { return part{0, len(text)} }

// move takes the ends of a part along that lie behind an offset and not behind another, when
// what is between them comes to stand at a place in another text: as it was, or, if it is
// not kept, as nothing.
func (p *part) move(was part, from, to, at int, kept bool) {
	moved := func(end int) int {
		if kept {
			return at + end - from
		}
		return at
	}
	if from < was.start && was.start <= to {
		p.start = moved(was.start)
	}
	if from < was.end && was.end <= to {
		p.end = moved(was.end)
	}
}
