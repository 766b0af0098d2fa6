package consolidate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// ApplyHandEdits applies hand edits to a consolidation of any model. Added lines are inserted at their position, else
// at the end of their section, else under Notes. Removed lines are removed from every file, whatever their
// citations. Written and deleted files stay so. Applying the same edits again changes nothing. Edits come from
// LiveHandEdits, which leaves out forgotten text and adds lines for the summary.
func ApplyHandEdits(c memoir.Consolidation, edits []memoir.HandEdit) memoir.Consolidation {
	if len(edits) == 0 {
		return c
	}
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b memoir.HandEdit) int { return cmp.Compare(a.ID, b.ID) })
	ed := &editor{files: open(c), pages: map[string]*page{}, times: map[string]int{}, last: map[string]added{},
		mine: map[string]bool{}, added: map[string]int{}, count: map[string]int{},
		bare: map[string]string{}}
	for _, name := range []string{memoir.MemoryFile, memoir.SummaryFile} {
		ed.pages[name] = readPage(ed.files[name])
		for _, s := range ed.pages[name].sections {
			for _, line := range append([]string{s.heading}, s.lines...) {
				ed.count[name+"\n"+ed.uncited(line)]++
			}
		}
	}
	for i, n := range edits {
		switch n.Action {
		case memoir.EditFile:
			ed.mine[path.Clean(n.File)] = true
		case memoir.EditAdded:
			ed.added[ed.uncited(n.Text)] = i
		}
	}
	removed := map[string]int{} // by line: index of the last of the removals that follow each other
	for i, n := range edits {
		name := path.Clean(n.File)
		p := ed.pages[name]
		switch {
		case n.Action == memoir.EditFile:
			ed.files.put(name, sanitise(n.Text))
		case n.Action == memoir.EditDeleted:
			ed.files.remove(name)
		case p != nil && n.Action == memoir.EditAdded:
			ed.add(name, p, n)
		case p != nil && n.Action == memoir.EditRemoved:
			removed[ed.uncited(n.Text)] = i
			if i+1 == len(edits) || edits[i+1].Action != n.Action || path.Clean(edits[i+1].File) != name {
				ed.remove(name, removed)
				clear(removed)
			}
		}
	}
	for name, p := range ed.pages {
		ed.files.put(name, p.String())
	}
	out := ed.files.close()
	out.Citations, out.Lines = c.Citations, c.Lines
	return out
}

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
	fenced := func() (open bool) {
		for _, line := range s.lines[:at] {
			open = open != fence(line)
		}
		return open
	}
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
	if last := ed.last[name]; after != "" && last.text == after {
		if last.nth > 0 { // found only now, since most lines that are there precede others that are
			last.at = ed.nth(p, after, last.nth)
		}
		if at := last.at.at; last.at.in == s && at >= 0 && at < len(s.lines) && ed.uncited(s.lines[at]) == after {
			return place{s, at + 1}, true
		}
	}
	if after != "" && ed.count[name+"\n"+after] > 0 {
		if at := slices.IndexFunc(s.lines, func(l string) bool { return ed.uncited(l) == after }); at >= 0 {
			return place{s, at + 1}, true
		}
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

// Decided selects the differences of a restored memory that count as hand edits.
//
// Removed lines count, except those that every consolidation rewrites (title, head, map) and those of which only
// the citation differs. Added lines come from the sessions again, or are in the present memory of a model. They only
// cancel an earlier removal, as EditRestored, and do not become lines of a person.
func Decided(edits, earlier []memoir.HandEdit) []memoir.HandEdit {
	added := map[memoir.HandEdit]bool{}
	for _, n := range edits {
		if n.Action == memoir.EditAdded {
			added[bareLine(n)] = true
		}
	}
	first := map[memoir.HandEdit]int{} // by undoing: the first edit that each would undo, from 1
	for i, old := range earlier {
		if key := undoing(old, old.Action); first[key] == 0 {
			first[key] = i + 1
		}
	}
	var out []memoir.HandEdit
	for _, n := range edits {
		at := -1
		switch n.Action {
		case memoir.EditAdded:
			at = first[undoing(n, memoir.EditRemoved)] - 1
		case memoir.EditRemoved:
			at = first[undoing(n, memoir.EditAdded)] - 1
		case memoir.EditFile:
			at = first[undoing(n, n.Action)] - 1
		}
		ours := n.Action == memoir.EditRemoved && (written(n) || added[bareLine(n)]) ||
			n.Action == memoir.EditAdded || n.Action == memoir.EditFile
		switch {
		case at >= 0 && n.Action == memoir.EditAdded:
			n.Action, n.Text = memoir.EditRestored, earlier[at].Text
			out = append(out, n)
		case at >= 0 || !ours:
			out = append(out, n)
		}
	}
	return out
}

// undoing identifies what an edit with an action would undo: of a line the other action, of a whole file each.
func undoing(n memoir.HandEdit, action memoir.EditAction) memoir.HandEdit {
	if action == memoir.EditFile || action == memoir.EditDeleted {
		return memoir.HandEdit{File: path.Clean(n.File), Action: memoir.EditFile}
	}
	return memoir.HandEdit{File: path.Clean(n.File), Text: Uncited(n.Text), Action: action}
}

// bareLine returns the file, section and text of a line without its citation.
func bareLine(n memoir.HandEdit) memoir.HandEdit {
	return memoir.HandEdit{File: path.Clean(n.File), Section: n.Section, Text: Uncited(n.Text)}
}

// ownHead matches the line of MEMORY.md's head that every consolidation rewrites.
var ownHead = lazyregexp.New(`^From \d+ sessions?, `)

// written reports whether every consolidation rewrites a line.
func written(n memoir.HandEdit) bool {
	text := strings.TrimSpace(n.Text)
	return n.Section == "" && isHeading(text) && level(text) == 1 || n.Section == headMap || text == headMap ||
		level(n.Section) < 2 && ownHead.MatchString(text)
}

// maxHandLine is the maximum bytes of one hand-written line in the summary.
const maxHandLine = 300

// LiveHandEdits prepares edits for ApplyHandEdits. It removes the citations of withdrawn sessions, and lines that
// cite no other session or have the full id of one: forgetting takes precedence over a hand edit. It adds edits that
// repeat in the summary the lines that people added to MEMORY.md, up to half of the summary's limit.
func LiveHandEdits(edits []memoir.HandEdit, in Input) []memoir.HandEdit {
	r := in.register()
	var out []memoir.HandEdit
	for _, n := range edits {
		switch n.Action {
		case memoir.EditAdded:
			var ok bool
			if n.Text, ok = r.live(sanitise(n.Text)); !ok { // a citation may contain hidden characters
				continue
			}
		case memoir.EditFile:
			var kept strings.Builder
			for line := range strings.Lines(sanitise(n.Text)) {
				if line, ok := r.live(line); ok {
					kept.WriteString(line)
				}
			}
			n.Text = kept.String()
		}
		out = append(out, n)
	}
	_, tokens := in.limits()
	return append(out, repeated(out, 2*tokens)...)
}

// repeated returns edits that repeat in the summary the lines that people added to MEMORY.md and did not remove:
// one entry for each paragraph, the newest within room bytes, without code and tables.
func repeated(edits []memoir.HandEdit, room int) []memoir.HandEdit {
	removed := map[string]int{} // by line: index of the last edit that removes it
	for i, n := range edits {
		if n.Action == memoir.EditRemoved && path.Clean(n.File) == memoir.MemoryFile {
			removed[Uncited(n.Text)] = i
		}
	}
	var all []memoir.HandEdit
	fenced := false
	after := "" // the line of MEMORY.md that the last entry ends with
	for i, n := range edits {
		if n.Action != memoir.EditAdded || path.Clean(n.File) != memoir.MemoryFile || removed[Uncited(n.Text)] > i {
			continue
		}
		switch text := strings.TrimSpace(n.Text); {
		case isClaim(text):
		case fence(text):
			fenced = !fenced
		case fenced, isHeading(text), strings.Trim(text, "-*_= ") == "", text[0] == '|':
		case after != "" && n.After == after && !isEntry(text) && !strings.HasPrefix(n.Text, "\n"):
			all[len(all)-1].Text += " " + text
			after = n.Text
		default:
			after = n.Text
			n.File, n.After, n.Section = memoir.SummaryFile, "", summarySection(n.Section)
			n.Text = "- " + withoutMark(Uncited(sanitise(text)))
			all = append(all, n)
		}
	}
	from := len(all)
	for room -= len(headByHand) + 3; from > 0; from-- {
		all[from-1].Text = cut(all[from-1].Text, maxHandLine)
		if room -= len(all[from-1].Text) + 1; room < 0 {
			break
		}
	}
	last := map[string]string{}
	for i, n := range all[from:] {
		all[from+i].After = last[n.Section]
		last[n.Section] = n.Text
	}
	return all[from:]
}

// isClaim reports whether a line is marked as not confirmed.
func isClaim(line string) bool { return strings.HasSuffix(strings.TrimSpace(line), memoir.Unconfirmed) }

func withoutClaims(text string) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(slices.DeleteFunc(lines, isClaim), "")
}

// summarySection returns the section of the summary for a section of MEMORY.md.
func summarySection(heading string) string {
	for _, part := range briefing {
		if slices.Contains(part.from, heading) {
			return part.heading
		}
	}
	return headByHand
}

// editBytes returns how many bytes hand edits may add to a file, or with "" to all: they are not cut.
func editBytes(edits []memoir.HandEdit, file string) (n int) {
	for _, edit := range edits {
		byHand := edit.Action == memoir.EditAdded || edit.Action == memoir.EditFile
		if byHand && (file == "" || path.Clean(edit.File) == file) {
			n += len(edit.Text) + len("\n\n\n")
		}
	}
	if n > 0 {
		n += len("\n" + headByHand + "\n\n")
	}
	return n
}
