package consolidate

import (
	"cmp"
	"slices"
	"strings"

	"memoir"
)

// A claim is what one or more sessions state, in the newest one's words.
type claim struct {
	text     string
	words    []string
	sessions []*session // oldest first, each once
}

func (c *claim) newest() *session { return c.sessions[len(c.sessions)-1] }

// add joins a session's statement; sessions come oldest first.
func (c *claim) add(s *session, text string) {
	c.text = text
	if len(c.sessions) == 0 || c.newest() != s {
		c.sessions = append(c.sessions, s)
	}
}

// join takes over the sessions of another claim, and its words if they are newer.
func (c *claim) join(other *claim) {
	if other.newest().rank > c.newest().rank {
		c.text, c.words = other.text, other.words
	}
	all := append(slices.Clone(c.sessions), other.sessions...)
	slices.SortFunc(all, func(a, b *session) int { return a.rank - b.rank })
	c.sessions = slices.Compact(all)
}

// merge joins the statements of a kind that have the same key; statements with an
// empty key are left out. The result is in the order of first appearance.
func merge(sessions []*session, kind memoir.StatementKind, key func(text string) string) []*claim {
	by := map[string]*claim{}
	var out []*claim
	for _, s := range sessions {
		for _, st := range s.statements {
			if st.Kind != kind {
				continue
			}
			k := key(st.Text)
			if k == "" {
				continue
			}
			c := by[k]
			if c == nil {
				c = &claim{}
				by[k] = c
				out = append(out, c)
			}
			c.add(s, st.Text)
		}
	}
	return out
}

// byWords is the key of a statement that is the same whatever its endings, fillers
// and order of words.
func byWords(text string) string { return strings.Join(said(text), " ") }

// said are the words of a statement without its mark, and without what a preference was said to.
func said(text string) []string {
	text = strings.TrimPrefix(text, memoir.CorrectionMark)
	if quoted, _, ok := strings.Cut(text, "” (after: "); ok {
		text = quoted
	}
	return words(text)
}

// maxCompared bounds the claims of a kind that are compared pair by pair, so that
// the time stays linear in the number of sessions.
const maxCompared = 300

// gather merges the statements of a kind by their words, ranks them and joins those
// at the top that say nearly the same.
func gather(sessions []*session, kind memoir.StatementKind) []*claim {
	all := merge(sessions, kind, byWords)
	bySupport(all)
	all = all[:min(len(all), maxCompared)]
	var out []*claim
	for _, c := range all {
		c.words = said(c.text)
		if i := slices.IndexFunc(out, func(o *claim) bool { return alike(o.words, c.words) }); i >= 0 {
			out[i].join(c)
			continue
		}
		out = append(out, c)
	}
	bySupport(out)
	return out
}

// bySupport orders claims: those of more sessions first, then the newest, then by text.
// Support counts in powers of two, so that one session more does not outweigh being new.
func bySupport(claims []*claim) {
	steps := func(n int) (log int) {
		for ; n > 1; n /= 2 {
			log++
		}
		return log
	}
	slices.SortStableFunc(claims, func(a, b *claim) int {
		return cmp.Or(steps(len(b.sessions))-steps(len(a.sessions)), byAge(a, b))
	})
}

// byAge orders claims, the newest first.
func byAge(a, b *claim) int {
	return cmp.Or(b.newest().rank-a.newest().rank, strings.Compare(a.text, b.text))
}

// settled are rules without those that a later one takes back.
func settled(rules []*claim) []*claim {
	stances := make([]stance, len(rules))
	for i, c := range rules {
		stances[i] = stanceOf(c.text)
	}
	var out []*claim
	for i, c := range rules {
		overridden := false
		for j, later := range rules {
			overridden = overridden || later.newest().rank > c.newest().rank && stances[j].overrides(stances[i])
		}
		if !overridden {
			out = append(out, c)
		}
	}
	return out
}
