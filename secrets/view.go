package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// view is a changed copy or a part of a text. Its marks map offsets of the view to offsets of the text.
type view struct {
	text  string
	marks []mark
}

// mark maps the view from offset at to the next mark. With width 0, the view equals the text from offset raw on.
// Otherwise, this part of the view replaces width bytes of the text at raw.
type mark struct{ at, raw, width int }

func (v view) markAt(at int) mark {
	i, found := slices.BinarySearchFunc(v.marks, at, func(m mark, at int) int { return cmp.Compare(m.at, at) })
	if !found {
		i--
	}
	if i < 0 {
		return mark{}
	}
	return v.marks[i]
}

// raw returns the offset in the text of the character at an offset of the view.
func (v view) raw(at int) int {
	m := v.markAt(at)
	if m.width > 0 {
		return m.raw
	}
	return m.raw + at - m.at
}

// rawEnd returns the end in the text of a range that ends at an offset of the view.
func (v view) rawEnd(at int) int {
	if at == 0 {
		return v.raw(0)
	}
	m := v.markAt(at - 1)
	if m.width > 0 {
		return m.raw + m.width
	}
	return m.raw + at - m.at
}

// mark adds a mark, or replaces the mark at the same offset.
func (v *view) mark(at, raw, width int) {
	if n := len(v.marks); n > 0 && v.marks[n-1].at == at {
		v.marks[n-1] = mark{at, raw, width}
		return
	}
	v.marks = append(v.marks, mark{at, raw, width})
}

// viewWriter writes a view of a text from its beginning to its end.
type viewWriter struct {
	text  string
	from  int // the end of the text that was copied
	out   []byte
	marks view // has no text
}

func (w *viewWriter) mark(at, raw, width int) { w.marks.mark(at, raw, width) }

// copy appends the text up to an offset unchanged.
func (w *viewWriter) copy(to int) {
	w.out = append(w.out, w.text[w.from:to]...)
	w.from = to
}

// replace appends a string in place of a part of the text.
func (w *viewWriter) replace(at, length int, with string) {
	w.copy(at)
	if with != "" {
		w.mark(len(w.out), at, length)
		w.out = append(w.out, with...)
	}
	w.from = at + length
	w.mark(len(w.out), w.from, 0)
}

// view returns the written view. It reports false if nothing was replaced.
func (w *viewWriter) view() (view, bool) {
	if len(w.marks.marks) == 0 {
		return view{}, false
	}
	w.copy(len(w.text))
	return view{string(w.out), w.marks.marks}, true
}

// beside is the number of bytes before and after each mark that are searched again, extended to line ends. The rest
// of the view equals the text, which was searched before. A finding is a name and a value within a few lines. Longer
// findings, such as escaped keys and tables, have a mark on each line.
const beside = 1024

// windows returns the parts of a view to search.
func (v view) windows() []view {
	if len(v.text) <= 4*beside {
		return []view{v}
	}
	var windows []view
	from, to, first := 0, 0, 0 // the range of the window and its first mark
	cut := func(last int) {
		if to > from {
			windows = append(windows, v.part(from, to, v.marks[first:last]))
		}
	}
	for n, m := range v.marks {
		if m.at+beside <= to {
			continue
		}
		if begin := m.at - beside; begin > to {
			if i := strings.LastIndexByte(v.text[to:begin], '\n'); i >= 0 {
				cut(n)
				from, first = to+i+1, n
			}
		}
		to = min(len(v.text), m.at+beside)
		if i := strings.IndexByte(v.text[to:], '\n'); i >= 0 {
			to += i + 1
		} else {
			to = len(v.text)
		}
	}
	cut(len(v.marks))
	return windows
}

func (v view) part(from, to int, marks []mark) view {
	p := view{text: v.text[from:to], marks: make([]mark, 0, len(marks)+1)}
	p.mark(0, v.raw(from), 0)
	for _, m := range marks {
		if m.at < to {
			p.mark(m.at-from, m.raw, m.width)
		}
	}
	return p
}

// place converts a finding in the view to offsets of the text. A quoted secret loses its quotes.
func (v view) place(f finding) finding {
	f.hidden = cmp.Or(f.hidden, v.text[f.start:f.end])
	if f.end-f.start >= 2 && strings.IndexByte("\"'`", v.text[f.start]) >= 0 && v.text[f.start] == v.text[f.end-1] {
		f.start, f.end = f.start+1, f.end-1
	}
	f.matchStart, f.matchEnd = v.raw(f.matchStart), v.rawEnd(f.matchEnd)
	f.start, f.end = v.raw(f.start), v.rawEnd(f.end)
	f.end, f.matchEnd = max(f.start, f.end), max(f.matchStart, f.matchEnd)
	return f
}

const maxEscaped = 400 // bytes searched for escapes on each side of a secret

// breaksOff reports whether a secret in an escaped text contains an escaped line break, so that the match covers
// several lines. The decoded view has the correct match. A backslash and an n can be part of a password, so the line
// must have another escape or begin with a quote, unless the secret ends with \n.
func breaksOff(text string, start, end int) bool {
	part := text[start:end]
	if !hasBreak(part) {
		return false
	}
	if strings.HasSuffix(part, `\n`) {
		return true
	}
	line := nearby(text, start, end, maxEscaped)
	before, behind := text[line.start:start], text[end:line.end]
	return hasEscape(before) || hasEscape(behind) || strings.HasPrefix(strings.TrimLeft(before, " \t"), `"`)
}

// hasBreak reports whether a text contains an escaped line break.
func hasBreak(text string) bool {
	return strings.Contains(text, `\n`) || strings.Contains(text, `\r`)
}

func hasEscape(text string) bool {
	return hasBreak(text) || strings.Contains(text, `\"`) || strings.Contains(text, `\t`) || strings.Contains(text, `\u00`)
}
