package consolidate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"memoir"
)

// tolerated is the share by which an answer may exceed a limit: models cannot
// count. So much is cut by the program, in whole lines, those of least value first.
const tolerated = 0.25

// worths are what the lines of a section are worth when some have to go.
var worths = map[string]float64{
	headPreferences: worthPreference, headCommands: worthCommand, headKnown: worthKnown, headFailures: worthFailure,
	headFiles: worthFile, headEnvironment: worthEnvironment, headRecent: worthRecent, headOpen: worthOpen, headNotes: worthPreference,
	headByHand: worthPreference, headManner: worthPreference, headWants: worthPreference, headBuild: 5, headAvoid: 4, headWorth: 3, headMap: 2,
}

// value rates the lines of a page by their section and their place in it. What
// people wrote is worth more than all else.
func (r *renewal) value(p *page) {
	chapter := ""
	for _, s := range p.sections {
		if level(s.heading) == 2 {
			chapter = s.heading
		}
		worth, ok := worths[chapter]
		if !ok {
			worth = worthOpen
		}
		for i, l := range s.lines {
			l.value = worth - 0.01*float64(i)
			if r.hand[strings.TrimSpace(l.text)] || l.text == "" {
				l.value += 1000
			}
		}
	}
}

// size tells how large the pages are, in bytes and tokens, with what was dropped from
// them as nobody's wish.
func (d *draught) size() (memory, summary int) {
	return len(d.memory.String()) + d.foreignMemory, memoir.Tokens(d.summary.String()) + d.foreignSummary/4
}

// excess tells by how much the pages exceed their limits, as a share of those.
func (d *draught) excess(bytes, tokens int) (memory, summary float64) {
	m, s := d.size()
	return float64(m)/float64(bytes) - 1, float64(s)/float64(tokens) - 1
}

// cut makes the memory keep its limits, whatever that takes, and applies what
// people changed by hand.
func (d *draught) cut(bytes, tokens int) memoir.Consolidation {
	d.renewal.value(d.memory)
	d.memory.shed(bytes)
	where := d.summary.section(headMap)
	for _, row := range table(d.skills, d.memory.String()) {
		where.add(row, 0)
	}
	d.renewal.value(d.summary)
	d.summary.shrink(tokens*4 - d.untold())
	return ApplyNotes(memoir.Consolidation{MemoryMD: d.memory.String(), MemorySummary: d.summary.String(), Skills: d.skills}, d.renewal.notes)
}

// untold is how many bytes of the briefing the hand-written lines will take that
// are not in it yet.
func (d *draught) untold() int {
	r := d.renewal
	have := map[string]bool{}
	for _, s := range d.summary.sections {
		for _, l := range s.lines {
			have[uncited(l.text, looksOwn)] = true
		}
	}
	var missing []memoir.Note
	for _, n := range r.notes {
		if n.Action == memoir.NoteAdded && path.Clean(n.File) == summaryFile && !have[uncited(n.Text, looksOwn)] {
			missing = append(missing, n)
		}
	}
	return toldBytes(missing)
}

// shrink drops the least valuable lines until the page has at most limit bytes.
func (p *page) shrink(limit int) {
	var all []*line
	for _, s := range p.sections {
		all = append(all, s.lines...)
	}
	slices.SortStableFunc(all, func(a, b *line) int { return cmp.Compare(a.value, b.value) })
	size := len(p.String())
	for _, l := range all {
		if size <= limit {
			if size = len(p.String()); size <= limit {
				return
			}
		}
		l.gone = true
		size -= len(l.text) + 1
	}
}
