package consolidate

import (
	"cmp"
	"slices"
	"strings"

	"memoir"
)

// A TeamEdit is what a member made of a line of a hub's memory. The texts have neither list mark nor citation, nor the
// names of members behind them; an empty After removes the line. Day is as Statement.At.
type TeamEdit struct{ Member, Before, After, Day string }

// WithTeamEdits changes the lines of a memory as members did, the oldest edit first, sets its Edited, and returns the
// hand edits that keep them so. An edit may be of what another one made; of one line, the newest counts. A changed line
// stays in its place, cites what it cited, and names also who changed it. An edit of a line that the memory lacks waits
// for it. neutral is what machines make of a hub's texts: the lines that members edited are compared as these have
// them.
func WithTeamEdits(
	c memoir.Consolidation, edits []TeamEdit, neutral func(string) string,
) (memoir.Consolidation, []memoir.HandEdit) {
	type edited struct {
		heading, line string // in the memory; empty: it does not have it
		newest        TeamEdit
		before        []string // texts that it had
	}
	lines, all := map[string]*edited{}, []*edited{} // by the key of each text that a line has or had
	for _, s := range readPage(c.MemoryMD).sections {
		for _, line := range s.lines {
			lines[memoir.LineKey(asHubs(untold(line), neutral))] = &edited{heading: s.heading, line: line}
		}
	}
	for _, e := range edits {
		e.Before, e.After = asHubs(e.Before, neutral), asHubs(memoir.WithoutTeam(e.After), neutral)
		from, to := memoir.LineKey(e.Before), memoir.LineKey(e.After)
		l, made := cmp.Or(lines[from], &edited{}), lines[to]
		if e.After != "" && made != nil && made.line != "" {
			l.heading, l.line = made.heading, made.line
		}
		if l.newest.Before == "" {
			all = append(all, l)
		}
		l.before, l.newest, lines[from] = append(l.before, e.Before, l.newest.After), e, l
		if made == nil || made.newest.Before == "" {
			lines[to] = l
		}
	}
	var out []memoir.HandEdit
	c.Edited = map[string]memoir.LineEdit{}
	for _, l := range all {
		edit := memoir.HandEdit{File: memoir.MemoryFile, Section: l.heading, Action: memoir.EditRemoved}
		for _, text := range l.before {
			if text != "" && text != l.newest.After && (l.line != "" || l.newest.After == "") {
				edit.Text = "- " + text + memoir.Citation(l.line) // as of a line that was changed, if it was
				out = append(out, edit)
				now := memoir.LineEdit{By: l.newest.Member, Day: l.newest.Day}
				if l.newest.After != "" {
					now.Became = memoir.LineKey(l.newest.After)
				}
				c.Edited[memoir.LineKey(text)] = now
			}
		}
		if l.line == "" || l.newest.After == "" {
			continue
		}
		cited, _ := memoir.TeamOf(memoir.LineText(l.line))
		edit.Action, edit.Text = memoir.EditAdded, "- "+l.newest.After+
			memoir.HubsWords(cited, []string{l.newest.Member})+memoir.Citation(l.line)
		if list := c.Citations[lineKey(l.line)]; list != nil {
			c.Citations[lineKey(edit.Text)] = list
		}
		c.MemoryMD = strings.Replace(c.MemoryMD, "\n"+l.line+"\n", "\n"+edit.Text+"\n", 1)
		out = append(out, edit)
	}
	return c, out
}

// asHubs returns the words of a line as a hub's memory has them on a machine. neutral is that of WithTeamEdits; nil
// changes nothing.
func asHubs(text string, neutral func(string) string) string {
	if neutral == nil {
		return text
	}
	return withoutTags(uncitable(neutral(text)))
}

// MarkEdits sets HandEdit.Hub of the removed lines that a hub's memory has, and returns what it changed. A line of this
// person's statements alone that is not changed has none: its statements are withdrawn instead. A line that was changed
// before the hub's memory had it gets it once that has it. A line that the person changed is their own, also without a
// base.
func (b *Base) MarkEdits(project memoir.Project, edits []memoir.HandEdit) (marked []memoir.HandEdit) {
	theirs, changed, made := b.theirs(project), Changed(edits), map[string]bool{}
	for from, to := range changed {
		made[to] = made[to] || from != to
	}
	for i := range edits {
		n, was, line := &edits[i], edits[i], untold(edits[i].Text)
		key, named := line, line != memoir.LineText(n.Text)
		if !named && b != nil {
			key = asHubs(line, b.Relative)
		}
		switch others, known := theirs[key]; {
		case n.File != memoir.MemoryFile:
		case n.Action == memoir.EditRemoved && known && (others && named || changed[line] != ""):
			n.Hub = cmp.Or(n.Hub, b.Generation)
		case n.Action == memoir.EditAdded && !known && named && (b != nil || made[line]):
			citation := memoir.Citation(n.Text)
			n.Text = memoir.WithoutTeam(strings.TrimSuffix(strings.TrimRight(n.Text, " \t\r\n"), citation)) + citation
		}
		if *n != was {
			marked = append(marked, *n)
		}
	}
	return marked
}

// theirs returns the words of the lines of a base, which may be nil: whether others have a part in each.
func (b *Base) theirs(project memoir.Project) map[string]bool {
	lists, theirs := map[string][]string{}, map[string]bool{}
	if b == nil {
		return theirs
	}
	r := b.renewal(project)
	for _, s := range r.sections(lists, b.Member) {
		for _, line := range s.lines {
			theirs[untold(line)] = untold(line) != memoir.LineText(line)
		}
	}
	return theirs
}

// Changed returns what a person made of lines of MEMORY.md, by these: a line that was added in the same step as the
// line was removed, and has its citation; of several, the most alike ones. If that was changed again, it is the last
// one, and empty if that was removed. No other line that a person added is a change.
func Changed(edits []memoir.HandEdit) map[string]string {
	type pair struct {
		from, to int // of edits
		alike    float64
	}
	var pairs []pair
	lines, words, gone := make([]string, len(edits)), make([]memoir.Words, len(edits)), map[string]bool{}
	for i, n := range edits {
		lines[i] = untold(n.Text)
		words[i] = memoir.WordsOf(lines[i])
		gone[lines[i]] = gone[lines[i]] || n.File == memoir.MemoryFile && n.Action == memoir.EditRemoved
	}
	adds := []memoir.EditAction{memoir.EditAdded, memoir.EditWasAdded}
	removes := []memoir.EditAction{memoir.EditRemoved, memoir.EditWasRemoved}
	for to, n := range edits {
		citation := memoir.Citation(n.Text)
		if n.File != memoir.MemoryFile || citation == "" || !slices.Contains(adds, n.Action) {
			continue
		}
		for from, r := range edits {
			if r.File == n.File && r.At.Equal(n.At) && slices.Contains(removes, r.Action) &&
				memoir.Citation(r.Text) == citation {
				pairs = append(pairs, pair{from, to, words[from].Alike(words[to])})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(edits[a.to].At.Compare(edits[b.to].At), cmp.Compare(b.alike, a.alike))
	})
	next, taken := map[string]string{}, map[int]bool{}
	for _, p := range pairs {
		if !taken[p.from] && !taken[p.to] {
			taken[p.from], taken[p.to], next[lines[p.from]] = true, true, lines[p.to]
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
