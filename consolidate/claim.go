package consolidate

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"memoir"
	"memoir/extract"
)

// A claim is a statement of one or more sessions, in the words of the newest one, of this person if they have it.
type claim struct {
	memoir.Statement          // of that session
	text             string   // its line
	ids              []string // of all statements, the newest session's first
	words            memoir.Words
	sessions         []*session // oldest first, each once
}

func (c *claim) newest() *session { return c.sessions[len(c.sessions)-1] }

// add adds a session's statement; sessions are added oldest first.
func (c *claim) add(s *session, st memoir.Statement) {
	if len(c.sessions) == 0 || memoir.MemberOf(s.SessionKey) == "" || c.theirs() == 1 {
		c.Statement, c.text = st, st.Text
	}
	c.ids = distinct(append([]string{st.ID}, c.ids...))
	if len(c.sessions) == 0 || c.newest() != s {
		c.sessions = append(c.sessions, s)
	}
}

// cites returns the sessions that the line of a claim cites: of a failure, those that ran what the line prints, and not
// those in which another command failed alike.
func (c *claim) cites() []*session {
	return slices.DeleteFunc(slices.Clone(c.sessions), func(s *session) bool {
		return c.Kind == memoir.StatementFailure && !slices.ContainsFunc(s.statements, func(st memoir.Statement) bool {
			return st.Kind == c.Kind && st.Command == c.Command && st.Fix == c.Fix
		})
	})
}

// count counts the sessions of a claim.
func (c *claim) count() int {
	if len(c.sessions) < 2 {
		return len(c.sessions)
	}
	return countOf(newestFirst(c.sessions))
}

// forbids reports whether a person refused a part of a command, or named it behind a negation.
func forbids(st memoir.Statement, command string) bool {
	return slices.ContainsFunc(strings.Split(command, " && "), func(one string) bool {
		_, named := memoir.Token(st.Text, one, 0)
		return extract.Refused(st) == memoir.CodeSpan(one) || named && !slices.ContainsFunc(memoir.WordsOf(one),
			func(word string) bool { return !slices.Contains(wordsOf(st), "!"+word) })
	})
}

// join adds the sessions of another claim, and takes its words if they are newer.
func (c *claim) join(other *claim) {
	if cmp.Or(c.theirs()-other.theirs(), other.newest().rank-c.newest().rank) > 0 {
		c.Statement, c.text, c.words = other.Statement, other.text, other.words
		c.ids = distinct(append(slices.Clone(other.ids), c.ids...))
	} else {
		c.ids = distinct(append(c.ids, other.ids...))
	}
	c.sessions = append(slices.Clone(c.sessions), other.sessions...)
	slices.SortFunc(c.sessions, func(a, b *session) int { return a.rank - b.rank })
	c.sessions = slices.Compact(c.sessions)
}

func distinct(list []string) []string {
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(list, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

// merge joins the statements of a kind that have the same key; statements with an
// empty key are left out. The result is in the order of first appearance.
func merge(sessions []*session, kind memoir.StatementKind, key func(memoir.Statement) string) []*claim {
	by := map[string]*claim{}
	var out []*claim
	for _, s := range sessions {
		for _, st := range s.statements {
			k := ""
			if st.Kind == kind {
				k = key(st)
			}
			if k == "" {
				continue
			}
			c := by[k]
			if c == nil {
				c = &claim{}
				by[k] = c
				out = append(out, c)
			}
			c.add(s, st)
		}
	}
	return out
}

// byWords is a key of a statement that does not depend on endings, fillers and the order of words.
func byWords(st memoir.Statement) string { return strings.Join(wordsOf(st), " ") }

// wordsOf returns the words of a statement, of a person's those that they said, without the context, of a post's
// without its day.
func wordsOf(st memoir.Statement) memoir.Words {
	return memoir.WordsOf(cmp.Or(st.Quote, strings.Replace(st.Text, " of "+st.At+")", ")", 1)))
}

// maxCompared bounds the claims of a kind that are compared in pairs, so that the time is linear in the number of
// sessions. Of further ones only those of notes are kept.
const maxCompared = 300

// gather merges the statements of a kind by their words, orders them, and joins the first ones that have nearly
// the same words, or the same signature of a failure, except notes.
func gather(sessions []*session, kind memoir.StatementKind) []*claim {
	all := merge(sessions, kind, byWords)
	bySupport(all)
	var out []*claim
	for n, c := range all {
		note := c.written() > 0
		if n >= maxCompared && !note {
			break
		}
		c.words = wordsOf(c.Statement)
		if i := slices.IndexFunc(out[:min(len(out), maxCompared)], func(o *claim) bool {
			return (!note || o.written() == 0) && (o.words.Alike(c.words) >= 0.7 && !c.differs(o) ||
				c.Signature != "" && c.Signature == o.Signature && extract.Agree(c.Statement, o.Statement))
		}); i >= 0 {
			out[i].join(c)
			continue
		}
		out = append(out, c)
	}
	bySupport(out)
	return out
}

// differs reports whether two claims of which the words are alike say different things: other things passed after two
// failures, or each has a number that the other lacks, such as a port or a version.
func (c *claim) differs(o *claim) bool {
	lacks := func(a, b memoir.Words) bool {
		return slices.ContainsFunc(a, func(w string) bool {
			return strings.ContainsAny(w, "0123456789") && !slices.Contains(b, w)
		})
	}
	return c.Fix != "" && o.Fix != "" && !extract.Agree(c.Statement, o.Statement) ||
		lacks(c.words, o.words) && lacks(o.words, c.words)
}

// bySupport orders claims: those of notes first, the last recalled ones first, then others of this person before those
// of other members, then those of more sessions, then the newest, then by text. Numbers of sessions are compared in
// powers of two, so that a newer claim comes before one of a few more sessions. Other members take turns.
func bySupport(claims []*claim) {
	slices.SortStableFunc(claims, func(a, b *claim) int {
		recalled := byRecall(slices.MaxFunc(b.sessions, byRecall), slices.MaxFunc(a.sessions, byRecall))
		more := bits.Len(uint(b.count())) - bits.Len(uint(a.count()))
		return cmp.Or(b.written()-a.written(), recalled, a.theirs()-b.theirs(), more, byAge(a, b))
	})
	inTurns(claims, (*claim).theirs)
}

// inTurns orders claims, the best first, so that behind this person's come each other member's best, then each one's
// second, and so on, of commands for each purpose: where room is short, who sends much displaces nobody.
func inTurns(claims []*claim, theirs func(*claim) int) {
	turns, said := map[*claim]int{}, map[string]int{}
	for _, c := range claims {
		if theirs(c) == 0 {
			continue
		}
		members := map[string]bool{}
		turn := len(claims)
		for _, s := range c.sessions {
			member := memoir.MemberOf(s.SessionKey) + "\n" + c.Purpose
			members[member], turn = true, min(turn, said[member])
		}
		for member := range members {
			said[member]++
		}
		turns[c] = turn + 1
	}
	slices.SortStableFunc(claims, func(a, b *claim) int {
		return cmp.Or(slices.Index(purposes, a.Purpose)-slices.Index(purposes, b.Purpose), turns[a]-turns[b])
	})
}

func (c *claim) written() (n int) {
	for _, s := range c.sessions {
		if memoir.IsEntry(s.SessionKey) {
			n++
		}
	}
	return n
}

// theirs is 1 if only other members' sessions support a claim, else 0.
func (c *claim) theirs() int {
	if slices.ContainsFunc(c.sessions, func(s *session) bool { return memoir.MemberOf(s.SessionKey) == "" }) {
		return 0
	}
	return 1
}

func byRecall(a, b *session) int { return a.RecalledAt.Compare(b.RecalledAt) }

func byAge(a, b *claim) int {
	return cmp.Or(b.newest().rank-a.newest().rank, strings.Compare(a.text, b.text))
}
