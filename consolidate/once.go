package consolidate

import (
	"slices"
	"strings"
)

// alike is the share of words from which two lines of a page are taken to say the
// same, and within the share of the shorter one's words that the other holds.
const (
	alike  = 0.6
	within = 0.85
	longer = 3 // so many times the words of the shorter one, and it may stand anywhere in them
)

// stated is what a page says already.
type stated struct {
	lines [][]string
	by    map[string][]int // word -> lines that hold it
}

// add notes what a line says.
func (t *stated) add(text string) {
	if t.by == nil {
		t.by = map[string][]int{}
	}
	words := tokens(plain(text))
	for _, w := range words {
		t.by[w] = append(t.by[w], len(t.lines))
	}
	t.lines = append(t.lines, words)
}

// has reports whether a line says the same, or all that a text says and more.
func (t *stated) has(text string) bool {
	text, _, _ = strings.Cut(text, ". This ") // what it brings
	words := tokens(plain(text))
	if len(words) < 4 {
		return false
	}
	shared := map[int]int{}
	for _, w := range words {
		for _, i := range t.by[w] {
			shared[i]++
		}
	}
	for i, both := range shared {
		if float64(both) >= alike*float64(len(t.lines[i])+len(words)-both) ||
			len(words) >= 6 && len(t.lines[i]) <= longer*len(words) && float64(both) >= within*float64(len(words)) {
			return true
		}
	}
	return false
}

// once leaves of the claims that say the same in several sections, or twice in one,
// the one with the most published source: what a person settled, what failed and
// what helped, what a commit or a pull request says, then what was said on the way.
func (k *knowledge) once(known []*claim) []*claim {
	var page stated
	for _, c := range k.preferences {
		page.add(c.text)
	}
	for _, c := range k.failures {
		for _, part := range strings.Split(c.text, " — ") { // the failure, then what was said of its cause
			page.add(part)
		}
	}
	answers := k.answers()
	order := slices.Clone(known)
	slices.SortStableFunc(order, func(a, b *claim) int { return published(b.text) - published(a.text) })
	gone := map[*claim]bool{}
	reasons := map[string]int{} // title of a change -> lines
	for _, c := range order {
		title, _, _ := strings.Cut(c.text, "”")
		remark := published(c.text) == 0 && !telling(c.text) && !causal.MatchString(c.text)
		if len(c.from) < 2 && (page.has(c.text) || remark && answers.has(c.text)) || ofChange(c.text) && reasons[title] == maxReasons {
			gone[c] = true
			continue
		}
		if ofChange(c.text) {
			reasons[title]++
		}
		page.add(c.text)
	}
	k.environment = slices.DeleteFunc(k.environment, func(c *claim) bool { return len(c.from) < 2 && page.has(c.text) })
	for _, c := range k.environment {
		page.add(c.text)
	}
	k.page = &page
	return slices.DeleteFunc(known, func(c *claim) bool { return gone[c] })
}

// answers are the closing answers that Recent work begins with.
func (k *knowledge) answers() *stated {
	var out stated
	for _, s := range k.sessions[max(0, len(k.sessions)-maxRecent):] {
		if _, what := s.outcome(); substantial(what) {
			out.add(what)
		}
	}
	return &out
}

// maxReasons is how many lines one change has among what is known.
const maxReasons = 2

// published ranks where a finding comes from.
func published(text string) int {
	switch {
	case ofPerson(text):
		return 2
	case ofChange(text):
		return 1
	}
	return 0
}
