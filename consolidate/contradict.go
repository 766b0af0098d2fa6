package consolidate

import (
	"slices"
	"strings"
)

// settle resolves contradictions among the claims of a kind: of two that say the
// opposite of one thing the newer stays and names the older.
func settle(claims []*claim) []*claim {
	gone := map[*claim]bool{}
	for i, a := range claims {
		for _, b := range claims[i+1:] {
			if gone[a] || gone[b] || !contradict(a, b) {
				continue
			}
			newer, older := a, b
			if b.newest().rank > a.newest().rank || b.newest().rank == a.newest().rank && b.from[0].rank > a.from[0].rank {
				newer, older = b, a
			}
			if newer.newest() == older.newest() {
				continue // one session said both: it knew what it said
			}
			newer.older, newer.olderAt = cut(plain(older.text), 120), older.newest().date
			gone[older] = true
		}
	}
	return slices.DeleteFunc(claims, func(c *claim) bool { return gone[c] })
}

// contradict reports whether two claims say the opposite of one thing: "use X,
// not Y" against "use Y, not X", or a rule against its denial.
func contradict(a, b *claim) bool {
	wantA, notA, okA := versus(a.text)
	wantB, notB, okB := versus(b.text)
	if swapped(a.text, b.text) {
		return true
	}
	if okA && !okB && !negative(b.text) && contains(tokens(b.text), notA) && !contains(tokens(b.text), wantA) && imperativeLike(b.text) {
		return true
	}
	if okB && !okA && !negative(a.text) && contains(tokens(a.text), notB) && !contains(tokens(a.text), wantB) && imperativeLike(a.text) {
		return true
	}
	if negative(a.text) == negative(b.text) {
		return false
	}
	return jaccard(essence(a.text), essence(b.text)) >= 0.7
}

// versus splits "use X instead of Y" and its kin into what is wanted and what not.
func versus(text string) (want, not []string, ok bool) {
	low := " " + strings.ToLower(plain(text)) + " "
	for _, sep := range []string{" instead of ", " rather than ", ", not ", " not ", " and not ", " over "} {
		before, after, found := strings.Cut(low, sep)
		if !found {
			continue
		}
		for _, verb := range []string{" use ", " prefer ", " run ", " with ", " using "} {
			if i := strings.LastIndex(before, verb); i >= 0 {
				before = before[i+len(verb):]
				break
			}
		}
		after = strings.TrimPrefix(strings.TrimPrefix(after, "use "), "using ")
		if end := strings.IndexAny(after, ",.;!("); end >= 0 {
			after = after[:end]
		}
		want, not = tokens(before), tokens(after)
		if len(want) > 0 && len(not) > 0 && len(want) <= 4 && len(not) <= 4 {
			return want, not, true
		}
	}
	return nil, nil, false
}

// swapped reports whether one text wants what the other rejects and the other
// way round.
func swapped(a, b string) bool {
	wantA, notA, okA := versus(a)
	if !okA {
		return false
	}
	wantB, notB, okB := versus(b)
	return okB && slices.Equal(wantA, notB) && slices.Equal(notA, wantB)
}

func contains(set, all []string) bool {
	for _, w := range all {
		if !slices.Contains(set, w) {
			return false
		}
	}
	return len(all) > 0
}

// imperativeLike reports whether a claim tells to use something.
func imperativeLike(text string) bool {
	low := " " + strings.ToLower(plain(text)) + " "
	return strings.Contains(low, " use ") || strings.Contains(low, " prefer ") || strings.Contains(low, " always ")
}

var negations = []string{" not ", " never ", " no ", " don't ", " dont ", " cannot ", " can't ", " doesn't ", " isn't ", " aren't ", " won't ", " stop ", " avoid ", " without ", " no longer ", " nie ", " niemals ", " nicht ", " kein ", " keine ", " jamais ", " nunca "}

// negative reports whether a text denies or forbids something.
func negative(text string) bool {
	low := " " + strings.NewReplacer(",", " ", "’", "'", "“", " ", "”", " ", "\"", " ", "!", " ", ".", " ").Replace(strings.ToLower(plain(text))) + " "
	for _, n := range negations {
		if strings.Contains(low, n) {
			return true
		}
	}
	return strings.Contains(text, "不要") || strings.Contains(text, "禁止") || strings.Contains(text, "しない")
}

// essence are the tokens of a text without the words that affirm or deny.
func essence(text string) []string {
	return slices.DeleteFunc(tokens(plain(text)), func(w string) bool {
		switch w {
		case "not", "never", "no", "don", "t", "dont", "always", "stop", "avoid", "must", "longer", "cannot", "anymore", "now":
			return true
		}
		return false
	})
}

// plain is a claim's own words, without what was said before.
func plain(text string) string {
	text, _, _ = strings.Cut(text, " — said after the agent")
	return strings.Trim(text, "“” ")
}
