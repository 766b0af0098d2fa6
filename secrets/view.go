package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// A view is a text as another reading of it has it, and where in the text that is.
type view struct {
	text  string
	marks []mark
}

// mark says that from an offset of the view on, up to the next mark, the text goes on as it
// does from another offset, or, where width is not 0, that all of it is what so many bytes
// of the text stand for.
type mark struct{ at, raw, width int }

// markAt returns the mark that holds at an offset of the view.
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

// raw is the offset in the text of the character at an offset of the view.
func (v view) raw(at int) int {
	m := v.markAt(at)
	if m.width > 0 {
		return m.raw
	}
	return m.raw + at - m.at
}

// rawEnd is the offset behind what ends at an offset of the view.
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

// mark notes where an offset of the view is in the text.
func (v *view) mark(at, raw, width int) {
	if n := len(v.marks); n > 0 && v.marks[n-1].at == at {
		v.marks[n-1] = mark{at, raw, width}
		return
	}
	v.marks = append(v.marks, mark{at, raw, width})
}

// viewWriter writes a view of a text, from its beginning on.
type viewWriter struct {
	text  string
	from  int // up to where the text is copied
	out   []byte
	marks view // without its text
}

func (w *viewWriter) mark(at, raw, width int) { w.marks.mark(at, raw, width) }

// copy takes over the text up to an offset as it is.
func (w *viewWriter) copy(to int) {
	w.out = append(w.out, w.text[w.from:to]...)
	w.from = to
}

// replace writes what a part of the text stands for.
func (w *viewWriter) replace(at, length int, with string) {
	w.copy(at)
	if with != "" {
		w.mark(len(w.out), at, length)
		w.out = append(w.out, with...)
	}
	w.from = at + length
	w.mark(len(w.out), w.from, 0)
}

// view returns what was written. It reports false if it does not differ from the text.
func (w *viewWriter) view() (view, bool) {
	if len(w.marks.marks) == 0 {
		return view{}, false
	}
	w.copy(len(w.text))
	return view{string(w.out), w.marks.marks}, true
}

// beside is how many bytes before and behind a place where a view differs from its text are
// searched again, to the ends of their lines; the rest was searched as it stands in the text.
// What a rule finds is about a name and a value within a few lines, and what is longer, as
// keys and tables that are escaped, differs on each line.
const beside = 1024

// windows are the parts of a view that are searched.
func (v view) windows() []view {
	if len(v.text) <= 4*beside {
		return []view{v}
	}
	var windows []view
	from, to, first := 0, 0, 0 // of the window, and its first mark
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

// part is a part of a view with the marks in it.
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

// place gives a finding in the view the place that it has in the text.
func (v view) place(f finding, text string) finding {
	f.text = text
	if f.hidden == "" {
		f.hidden = v.text[f.start:f.end]
	}
	if f.end-f.start >= 2 && quoteMark(v.text[f.start]) && v.text[f.start] == v.text[f.end-1] {
		f.start, f.end = f.start+1, f.end-1
	}
	f.matchStart, f.matchEnd = v.raw(f.matchStart), v.rawEnd(f.matchEnd)
	f.start, f.end = v.raw(f.start), v.rawEnd(f.end)
	f.end, f.matchEnd = max(f.start, f.end), max(f.matchStart, f.matchEnd)
	return f
}

func quoteMark(c byte) bool { return c == '\'' || c == '"' || c == '`' }

const maxEscaped = 400 // bytes beside a secret that are looked at

// breaksOff reports whether a part of a text that rules take for one word goes over the end
// of a line, in a text that is escaped: it is found as it should be where the escapes are
// resolved. A backslash and an n alone may be a part of a password.
func breaksOff(text string, start, end int) bool {
	part := text[start:end]
	if !hasBreak(part) {
		return false
	}
	if strings.HasSuffix(part, `\n`) {
		return true
	}
	from, to := max(0, start-maxEscaped), min(len(text), end+maxEscaped)
	from += strings.LastIndexByte(text[from:start], '\n') + 1
	if i := strings.IndexByte(text[end:to], '\n'); i >= 0 {
		to = end + i
	}
	before, behind := text[from:start], text[end:to]
	return hasEscape(before) || hasEscape(behind) || strings.HasPrefix(strings.TrimLeft(before, " \t"), `"`)
}

// hasBreak reports whether a text has an escaped end of a line.
func hasBreak(text string) bool {
	return strings.Contains(text, `\n`) || strings.Contains(text, `\r`)
}

func hasEscape(text string) bool {
	return hasBreak(text) || strings.Contains(text, `\"`) || strings.Contains(text, `\t`) || strings.Contains(text, `\u00`)
}
