package consolidate

import (
	"path"
	"slices"
	"strings"

	"memoir"
)

// An editor applies edits to files.
type editor struct {
	files artifacts
	pages map[string]*page // MEMORY.md and the summary; other files are edited as a whole
	times map[string]int   // by file and line: how often the edits so far added it
	last  map[string]added // by file: the last added line
	mine  map[string]bool  // files that a person wrote as a whole
	added map[string]int   // by line: index of the last edit that adds it
	count map[string]int   // by file and line: how often the page has it
	bare  map[string]string
}

// uncited is Uncited, called once for each text.
func (ed *editor) uncited(line string) string {
	bare, known := ed.bare[line]
	if !known {
		bare = Uncited(line)
		ed.bare[line] = bare
	}
	return bare
}

// A place is the position of a line in a section; -1 is the heading.
type place struct {
	in *section
	at int
}

// An added line is at a place or, if it was there already, the nth occurrence of its text.
type added struct {
	text string
	nth  int
	at   place
}

// remove removes lines and all equivalent ones from their file. Lines that are removed from MEMORY.md are also
// removed from the summary and from skills that the person did not write. wanted has the index of each line's edit.
func (ed *editor) remove(name string, wanted map[string]int) {
	delete(wanted, "")
	var removed []saying
	for want := range wanted {
		if isEntry(want) {
			removed = append(removed, sayingOf(want))
		}
	}
	gone := func(line string) bool {
		have := ed.uncited(line)
		at, mine := ed.added[have]
		edit, want := wanted[have]
		return want && !(mine && at > edit) || !mine && len(removed) > 0 && sayTheSame(removed, have)
	}
	for other, p := range ed.pages {
		for _, s := range p.sections {
			if name != memoir.MemoryFile && name != other {
				continue
			}
			s.lines = slices.DeleteFunc(s.lines, func(line string) bool {
				drop := gone(line)
				if drop {
					ed.count[other+"\n"+ed.uncited(line)]--
				}
				return drop
			})
			_, want := wanted[ed.uncited(s.heading)]
			s.own = s.own && !want
		}
	}
	for other, text := range ed.files {
		skill := ed.pages[other] == nil && path.Ext(other) == ".md"
		if skill && name == memoir.MemoryFile && !ed.mine[other] {
			ed.files[other] = strings.Join(slices.DeleteFunc(strings.Split(text, "\n"),
				func(line string) bool { return gone(line) && !fence(line) }), "\n")
		}
	}
}

// withoutContext returns a line without the context of a preference, which the built-in model writes behind the words.
func withoutContext(line string) string {
	if quoted, _, ok := strings.Cut(line, "” (after: "); ok {
		return quoted
	}
	return line
}

// leastCompared is the least number of words of lines that are compared by similarity.
const leastCompared = 5

// A saying is a list entry without its mark, with its words.
type saying struct {
	text  string
	words memoir.Words
}

func sayingOf(entry string) saying {
	text := withoutMark(entry)
	return saying{text, memoir.WordsOf(withoutContext(text))}
}

// sayTheSame reports whether a list entry is equivalent to a removed one: it has the same words, whatever their
// order and endings, or nearly the same, or is a cut form of it.
func sayTheSame(removed []saying, line string) bool {
	if !isEntry(line) {
		return false
	}
	b := sayingOf(line)
	head, cut := strings.CutSuffix(b.text, "…")
	return slices.ContainsFunc(removed, func(a saying) bool {
		return cut && len(head) > leastTelling && strings.HasPrefix(a.text, head) ||
			len(a.words) > 0 && slices.Equal(a.words, b.words) ||
			len(a.words) >= leastCompared && a.words.Alike(b.words) >= 0.8
	})
}

// add inserts an edit's line at its position. A line that exists, apart from citations, is not added again. A line
// break at the beginning of the text means a blank line before it.
func (ed *editor) add(name string, p *page, n memoir.HandEdit) {
	text := strings.TrimRight(sanitise(n.Text), " \t\r\n")
	apart := strings.HasPrefix(text, "\n")
	text = strings.TrimLeft(text, "\n")
	want := ed.uncited(text)
	if want == "" {
		return
	}
	ed.times[name+"\n"+want]++
	if n := ed.times[name+"\n"+want]; n <= ed.count[name+"\n"+want] {
		ed.last[name] = added{text: want, nth: n}
		if s := p.find(want); s != nil && isHeading(want) {
			s.own = true
		}
		return
	}
	ed.count[name+"\n"+want]++
	to, found := ed.place(name, p, n)
	s, at := to.in, to.at
	fenced := func() bool { return opensFence(slices.Values(s.lines[:at])) }
	switch {
	case isHeading(text) && !fenced():
		made := &section{heading: text, lines: slices.Clone(s.lines[at:]), own: true}
		s.lines = s.lines[:at]
		p.sections = slices.Insert(p.sections, slices.Index(p.sections, s)+1, made)
		ed.last[name] = added{want, 0, place{made, -1}}
		return
	case at > 0 && s.lines[at-1] != "" && (apart || breaks(s.lines[at-1], text, found) && !fenced()):
		s.lines = slices.Insert(s.lines, at, "")
		at++
	}
	s.lines = slices.Insert(s.lines, at, text)
	ed.last[name] = added{want, 0, place{s, at}}
	if at+1 < len(s.lines) && isParagraph(text) && isEntry(s.lines[at+1]) {
		s.lines = slices.Insert(s.lines, at+1, "")
	}
}

// nth finds the nth occurrence of a line, apart from citations.
func (ed *editor) nth(p *page, want string, n int) (to place) {
	for _, s := range p.sections {
		for at := -1; at < len(s.lines); at++ {
			line := s.heading
			if at >= 0 {
				line = s.lines[at]
			}
			if ed.uncited(line) == want {
				if n--; n == 0 {
					return place{s, at}
				}
			}
		}
	}
	return to
}

// line returns the position of a line in a section, if possible that of the last added line; -1 if it is not there.
func (ed *editor) line(name string, p *page, s *section, want string) int {
	if want == "" || ed.count[name+"\n"+want] == 0 {
		return -1
	}
	if last := ed.last[name]; last.text == want {
		if last.nth > 0 { // found only now, since most lines that are there precede others that are
			last.at = ed.nth(p, want, last.nth)
		}
		if at := last.at.at; last.at.in == s && at >= 0 && at < len(s.lines) && ed.uncited(s.lines[at]) == want {
			return at
		}
	}
	return slices.IndexFunc(s.lines, func(l string) bool { return ed.uncited(l) == want })
}

// place finds the position of a edit's line, and adds a section if its own is gone. found reports whether the line
// before it is the original one.
func (ed *editor) place(name string, p *page, n memoir.HandEdit) (to place, found bool) {
	s := p.find(n.Section)
	own := s != nil
	if !own {
		heading := headNotes
		if name == memoir.SummaryFile {
			heading = headByHand
		}
		if s = p.find(heading); s == nil {
			s = &section{heading: heading}
			ed.count[name+"\n"+heading]++
			at := len(p.sections)
			if name == memoir.SummaryFile { // hand edits come first
				at = 1
			}
			p.sections = slices.Insert(p.sections, at, s)
		}
	}
	after := ed.uncited(strings.TrimLeft(n.After, "\n"))
	if at := ed.line(name, p, s, after); at >= 0 {
		return place{s, at + 1}, true
	}
	if after == "" && own && n.Section != "" {
		at := 0
		title := strings.TrimSpace(n.Section)
		for at < len(s.lines) && (s.lines[at] == "" || s.lines[at] == title) { // the title is a line of the head
			at++
		}
		return place{s, at}, at < len(s.lines)
	}
	return place{s, len(s.lines)}, false
}

// breaks reports whether a line needs a blank line before it: a line after the title, or a paragraph that would
// otherwise join the list entry or paragraph above it.
func breaks(last, text string, found bool) bool {
	switch {
	case isHeading(last):
		return true
	case isEntry(text), text[0] == ' ', text[0] == '\t', fence(text):
		return false
	case isEntry(strings.TrimSpace(last)), last[0] == ' ', last[0] == '\t': // a list entry or its continuation
		return true
	}
	return !found && text[0] != '|' && text[0] != '>'
}

// isParagraph reports whether a line is plain text, so that a list after it needs a blank line.
func isParagraph(l string) bool {
	return l != "" && !isEntry(l) && !isHeading(l) && !fence(l) && !strings.ContainsRune(" \t|>", rune(l[0]))
}
