package consolidate

import (
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// add puts a note's line where the person put it. A line that is there already,
// citations aside, is not added again. A line break at the beginning of a note's
// text asks for a blank line before it.
func (ed *editor) add(name string, n memoir.Note) {
	n.Text = strings.TrimRight(tame(n.Text), " \t\r\n")
	apart := strings.HasPrefix(n.Text, "\n")
	n.Text = strings.TrimLeft(n.Text, "\n")
	want := uncited(n.Text)
	if want == "" {
		return
	}
	key := name + "\n" + want
	ed.times[key]++
	lines := strings.Split(strings.TrimRight(ed.files[name], "\n"), "\n")
	there := 0
	for i, l := range lines {
		if uncited(l) == want {
			if there++; there == ed.times[key] {
				ed.last[name] = i
				return
			}
		}
	}
	lines, at, found := ed.place(name, lines, n)
	if at > 0 && at <= len(lines) && strings.TrimSpace(lines[at-1]) != "" && (apart || breaks(lines[:at], n.Text, found)) {
		lines = slices.Insert(lines, at, "")
		at++
	}
	lines = slices.Insert(lines, at, n.Text)
	ed.last[name] = at
	if at+1 < len(lines) && strings.TrimSpace(lines[at+1]) != "" &&
		(isHeading(n.Text) || isParagraph(n.Text) && isEntry(lines[at+1])) {
		lines = slices.Insert(lines, at+1, "")
	}
	ed.files.put(name, strings.Join(lines, "\n")+"\n")
}

// place finds where a note's line belongs, and makes a section for it if its own
// is gone. found tells that the line before it is the one that the person saw there.
func (ed *editor) place(name string, lines []string, n memoir.Note) (out []string, at int, found bool) {
	from, to, ok := span(lines, n.Section)
	if !ok {
		heading := headNotes
		if name == memoir.SummaryFile {
			heading = headByHand
		}
		if from, to, ok = span(lines, heading); !ok {
			return newSection(lines, name, heading)
		}
	}
	if after := uncited(strings.TrimLeft(n.After, "\n")); after != "" {
		if i, ok := ed.last[name]; ok && i >= from && i < to && uncited(lines[i]) == after {
			return lines, i + 1, true
		}
		same := func(l string) bool { return uncited(l) == after }
		if i := slices.IndexFunc(lines[from:to], same); i >= 0 {
			return lines, from + i + 1, true
		}
	} else if n.Section != "" && strings.TrimSpace(lines[from-1]) == strings.TrimSpace(n.Section) {
		for at = from; at < to && strings.TrimSpace(lines[at]) == ""; at++ {
		}
		if at < to {
			return lines, at, true
		}
	}
	for at = to; at > from && strings.TrimSpace(lines[at-1]) == ""; at-- {
	}
	if at == from && from > 0 && isHeading(lines[from-1]) { // an empty section
		lines = slices.Insert(lines, at, "")
		at++
	}
	return lines, at, false
}

// newSection makes room under a new heading: in the summary before all others, as
// nothing outweighs what a person wrote, else at the end.
func newSection(lines []string, name, heading string) (out []string, at int, found bool) {
	at = len(lines)
	if _, end, ok := span(lines, ""); ok && name == memoir.SummaryFile {
		at = end
	}
	insert := []string{heading, ""}
	if at > 0 && strings.TrimSpace(lines[at-1]) != "" {
		insert = append([]string{""}, insert...)
	}
	end := at + len(insert)
	if at < len(lines) {
		insert = append(insert, "")
	}
	return slices.Insert(lines, at, insert...), end, false
}

// breaks reports whether a line needs a blank line before it: a heading, and a
// paragraph that would become part of the list entry, or of another's paragraph,
// above it.
func breaks(before []string, text string, found bool) bool {
	fenced := false
	for _, l := range before {
		if fence(l) {
			fenced = !fenced
		}
	}
	last := before[len(before)-1]
	switch {
	case fenced:
		return false
	case isHeading(text), isHeading(last):
		return true
	case isEntry(text), text[0] == ' ', text[0] == '\t', fence(text):
		return false
	case isEntry(strings.TrimSpace(last)):
		return true
	case last[0] == ' ' || last[0] == '\t': // an entry's own further line
		return true
	}
	return !found && text[0] != '|' && text[0] != '>'
}

func fence(l string) bool {
	l = strings.TrimSpace(l)
	return strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~")
}

var listMark = lazyregexp.New(`^(?:[-*+]|\d{1,9}[.)])(?: |$)`)

// isParagraph reports whether a line is one of plain text, which a list below it
// stands apart from.
func isParagraph(l string) bool {
	return l != "" && !isEntry(l) && !isHeading(l) && !fence(l) && !strings.ContainsRune(" \t|>", rune(l[0]))
}

// isEntry reports whether a line begins an entry of a list.
func isEntry(l string) bool { return listMark.MatchString(l) }

// span returns the lines of a section: from behind its heading to before the
// next heading. The section "" is what stands before the first heading but the
// file's title.
func span(lines []string, heading string) (from, to int, found bool) {
	heading = strings.TrimSpace(heading)
	if heading == "" {
		if len(lines) > 0 && strings.HasPrefix(lines[0], "# ") {
			from = 1
		}
		found = true
	} else {
		for i, l := range lines {
			if strings.TrimSpace(l) == heading {
				from, found = i+1, true
				break
			}
		}
	}
	if !found {
		return 0, 0, false
	}
	for to = from; to < len(lines); to++ {
		if isHeading(lines[to]) {
			break
		}
	}
	return from, to, true
}
