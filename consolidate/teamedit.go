package consolidate

import (
	"slices"
	"strings"

	"memoir"
)

// A TeamEdit is what a member made of a line of a hub's memory. The texts have neither list mark nor citation, nor the
// names of members behind them; an empty After removes the line.
type TeamEdit struct{ Member, Before, After string }

// A lineage is a line of a hub's memory with what members made of it.
type lineage struct {
	newest TeamEdit
	before []string // texts that the line had
}

// lineagesOf follows edits, the oldest first: one may be of what another one made. Of one line, the newest edit counts.
func lineagesOf(edits []TeamEdit) (all []*lineage) {
	of := map[string]*lineage{} // by the key of each text that a line had or has
	for _, e := range edits {
		from, to := memoir.LineKey(e.Before), memoir.LineKey(e.After)
		l := of[from]
		if l == nil {
			l = &lineage{}
			of[from], all = l, append(all, l)
		}
		l.before = append(l.before, e.Before, l.newest.After)
		if l.newest = e; e.After != "" && of[to] == nil {
			of[to] = l
		}
	}
	for _, l := range all {
		l.before = slices.DeleteFunc(l.before, func(text string) bool { return text == "" || text == l.newest.After })
	}
	return all
}

// WithTeamEdits changes the lines of a memory as members did, the oldest edit first, and returns the hand edits that
// keep them so. A changed line stays in its place, cites what it cited, and names also who changed it. An edit of a
// line that the memory does not have waits until it does.
func WithTeamEdits(c memoir.Consolidation, edits []TeamEdit) (memoir.Consolidation, []memoir.HandEdit) {
	type place struct{ heading, line string }
	places, out := map[string]place{}, []memoir.HandEdit{}
	for _, s := range readPage(c.MemoryMD).sections {
		for _, line := range s.lines {
			places[memoir.LineKey(untold(line))] = place{s.heading, line}
		}
	}
	for _, l := range lineagesOf(edits) {
		var at place
		for _, text := range append(l.before, l.newest.After) {
			if found := places[memoir.LineKey(text)]; found.line != "" {
				at = found
			}
		}
		edit := memoir.HandEdit{File: memoir.MemoryFile, Section: at.heading, Action: memoir.EditRemoved}
		for _, edit.Text = range l.before {
			if edit.Text = "- " + edit.Text; at.line != "" || l.newest.After == "" {
				out = append(out, edit)
			}
		}
		if at.line == "" || l.newest.After == "" {
			continue
		}
		text := memoir.LineText(at.line)
		_, citation, _ := strings.Cut(at.line, text)
		edit.Action, edit.Text = memoir.EditAdded, "- "+uncitable(memoir.WithoutTeam(l.newest.After))+
			memoir.FromTeam(distinct(append(memoir.TeamOf(text), l.newest.Member)))+citation
		if list := c.Citations[lineKey(at.line)]; list != nil {
			c.Citations[lineKey(edit.Text)] = list
		}
		c.MemoryMD = strings.Replace(c.MemoryMD, "\n"+at.line+"\n", "\n"+edit.Text+"\n", 1)
		out = append(out, edit)
	}
	return c, out
}

// MarkEdits sets HandEdit.Hub of the removed lines that a hub's memory has. A line of this person's statements alone
// that is not changed has none: its statements are withdrawn instead.
func (b *Base) MarkEdits(project memoir.Project, edits []memoir.HandEdit) {
	r, lists := b.renewal(project), map[string][]string{}
	mine, has := map[string]bool{}, map[string]bool{} // by line; of has, true: it rests on others, or is a model's
	for _, e := range b.Sessions {
		for _, st := range e.Statements {
			for _, line := range linesOf(st) {
				mine[line] = mine[line] || memoir.MemberOf(e.SessionKey) == b.Member
			}
		}
	}
	for _, s := range r.sections(lists) {
		for _, line := range s.lines {
			has[untold(line)] = !mine[untold(line)] || slices.ContainsFunc(r.inputsOf(line, lists),
				func(e entry) bool { return memoir.MemberOf(e.key) != b.Member })
		}
	}
	changed := Changed(edits)
	for i := range edits {
		n, line := &edits[i], untold(edits[i].Text)
		others, known := has[line]
		if known && n.File == memoir.MemoryFile && n.Action == memoir.EditRemoved && (others || changed[line] != "") {
			n.Hub = b.Generation
		}
	}
}

// Changed returns what a person made of lines of MEMORY.md, by these: a line that was added in the same step as the
// line was removed, and has its citation. If that was changed again, it is the last one, and empty if that was removed.
// No other line that a person added is a change.
func Changed(edits []memoir.HandEdit) map[string]string {
	type line struct{ text, citation string }
	read := func(n memoir.HandEdit) line {
		_, citation, _ := strings.Cut(n.Text, memoir.LineText(n.Text))
		return line{untold(n.Text), citation}
	}
	next, gone := map[string]string{}, map[string]bool{}
	for _, n := range edits {
		gone[untold(n.Text)] = gone[untold(n.Text)] || n.File == memoir.MemoryFile && n.Action == memoir.EditRemoved
		added, best, most := read(n), "", -1.0
		adds := n.Action == memoir.EditAdded || n.Action == memoir.EditWasAdded
		if n.File != memoir.MemoryFile || !adds || added.citation == "" {
			continue
		}
		for _, r := range edits {
			was := read(r)
			_, taken := next[was.text]
			alike := memoir.WordsOf(was.text).Alike(memoir.WordsOf(added.text))
			if (r.Action == memoir.EditRemoved || r.Action == memoir.EditWasRemoved) && r.File == n.File && r.At.Equal(n.At) &&
				was.citation == added.citation && !taken && alike > most {
				best, most = was.text, alike
			}
		}
		if most >= 0 {
			next[best] = added.text
		}
	}
	out := map[string]string{}
	for line, text := range next {
		for range next {
			if gone[text] {
				text = next[text]
			}
		}
		out[line] = text
	}
	return out
}
