package secrets

import "strings"

// What stands apart is looked for from many places of a text, and a text may be one line.
// What was found from one place holds for those behind it, and is remembered: else the time
// would grow with the square of the line's length.

// stretch is a part of a text in which none of some bytes stands.
type stretch struct {
	stops    *[256]bool
	from, to int
}

// next returns where the first of the bytes stands from an offset on, at most limit.
func (s *stretch) next(text string, at, limit int) int {
	i := at
	for i < limit && !s.stops[text[i]] {
		if s.from <= i && i < s.to {
			i = s.to
			continue
		}
		i++
	}
	if at < s.from || at > s.to {
		s.from, s.to = at, i
	}
	s.to = max(s.to, i)
	return min(i, limit)
}

// stopsAt is a table of the bytes in set.
func stopsAt(set string) *[256]bool {
	var stops [256]bool
	for i := range len(set) {
		stops[set[i]] = true
	}
	return &stops
}

var (
	nameStops  = stopsAt(":= \t\n")
	valueStops = stopsAt("\n,}]")
	lineStops  = stopsAt("\n")
	tupleStops = stopsAt(",)")
	tabStops   = stopsAt("\t")
	halfStops  = stopsAt(";")
	wordStops  = func() *[256]bool {
		var stops [256]bool
		for c := range stops {
			stops[c] = !nameChar(byte(c))
		}
		return &stops
	}()
)

// textLines tells where the lines of a text begin and end. A text inside of a string of
// JSON begins behind the string's quote and ends before the other one.
type textLines struct {
	text   string
	line   extent    // between two line breaks, as far as it was looked at
	opened opening   // the last answer of start
	broken extent    // there is no line break in it, and one where it ends
	closed [2]extent // the last answers of end, and from where they hold
	older  int       // of the two
}

// opening is what a line begins with.
type opening struct {
	line, at int // for which place of which line it was looked for
	tight    int // behind the last `":"`
	start    int // behind that or a later `": "`
}

func newTextLines(text string) textLines {
	never := extent{1, 0}
	return textLines{text: text, broken: never, closed: [2]extent{never, never}}
}

// start returns where the line begins that an offset is in.
func (x *textLines) start(at int) int {
	line := x.breakBefore(at)
	o := &x.opened
	if o.line != line || at < o.tight {
		*o = opening{line: line, at: line, tight: line, start: line}
	}
	const tight, loose = `":"`, `": "`
	from := o.tight
	if at >= o.at { // else the last tight one is known, and it is before the place
		from = max(o.tight, o.at-len(loose)+1)
		after := max(line, o.at-len(tight)+1)
		if i := strings.LastIndex(x.text[after:at], tight); i >= 0 {
			o.tight = after + i + len(tight)
			from, o.start = o.tight, o.tight
		}
	} else {
		o.start = o.tight
	}
	if i := strings.LastIndex(x.text[from:at], loose); i >= 0 {
		o.start = from + i + len(loose)
	}
	o.at = at
	return o.start
}

// breakBefore returns the offset behind the last line break before another offset.
func (x *textLines) breakBefore(at int) int {
	l := &x.line
	if l.start <= at && at <= l.end {
		return l.start
	}
	from := 0
	if at > l.end {
		from = l.end
	} else {
		l.start = 0
	}
	if i := strings.LastIndexByte(x.text[from:at], '\n'); i >= 0 {
		l.start = from + i + 1
	}
	l.end = at
	return l.start
}

// end returns where the line ends that an offset is in.
func (x *textLines) end(at int) int {
	for i, c := range x.closed {
		if c.start <= at && at <= c.end {
			x.older = 1 - i
			return c.end
		}
	}
	end := x.breakFrom(at)
	for i := at; i < end; i++ {
		quote := strings.IndexByte(x.text[i:end], '"')
		if quote < 0 {
			break
		}
		if i += quote; closes(x.text[i+1 : end]) {
			end = i
		}
	}
	x.closed[x.older] = extent{at, end}
	x.older = 1 - x.older
	return end
}

// breakFrom returns the offset of the first line break from an offset on, or the text's end.
func (x *textLines) breakFrom(at int) int {
	if at < x.broken.start || at > x.broken.end {
		end := len(x.text)
		if i := strings.IndexByte(x.text[at:], '\n'); i >= 0 {
			end = at + i
		}
		x.broken = extent{at, end}
	}
	return x.broken.end
}

// closes reports whether a quote before this text ends a string of JSON.
func closes(after string) bool {
	if after != "" && (after[0] == '}' || after[0] == ']') {
		return true
	}
	after, comma := strings.CutPrefix(after, ",")
	after, quote := strings.CutPrefix(strings.TrimLeft(after, " "), `"`)
	n := 0
	for n < len(after) && nameChar(after[n]) {
		n++
	}
	return comma && quote && strings.HasPrefix(after[n:], `":`)
}
