package consolidate

import (
	"slices"
	"strings"
)

// settle resolves contradictions among the claims of a kind: of two that say the
// opposite of one thing the newer stays and names the older.
func settle(claims []*claim) []*claim {
	wordings := make([]wording, len(claims))
	holders := map[string][]int{} // word -> claims that hold it
	for i, c := range claims {
		wordings[i] = newWording(c.text)
		for _, w := range wordings[i].words {
			holders[w] = append(holders[w], i)
		}
	}
	gone := map[*claim]bool{}
	met := make([]int, len(claims)) // the claim, from 1, for which each was last looked at
	for i, a := range claims {
		// Claims that share no word contradict each other in nothing.
		var others []int
		for _, w := range wordings[i].words {
			for _, j := range holders[w] {
				if j > i && met[j] != i+1 {
					met[j] = i + 1
					others = append(others, j)
				}
			}
		}
		slices.Sort(others)
		for _, j := range others {
			b := claims[j]
			if gone[a] || gone[b] || !contradict(wordings[i], wordings[j]) {
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

// contradict reports whether two texts say the opposite of one thing: "use X,
// not Y" against "use Y, not X", or a rule against its denial.
func contradict(a, b wording) bool {
	if a.swapped(b) || overrules(a, b) || overrules(b, a) {
		return true
	}
	return a.negative != b.negative && jaccard(a.essence, b.essence) >= 0.7
}

// overrules reports whether one text rejects what the other advises: "use X, not
// Y" against "use Y".
func overrules(a, b wording) bool {
	return a.want != nil && b.want == nil && !b.negative && b.advises && contains(b.words, a.not) && !contains(b.words, a.want)
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

var unpunctuated = strings.NewReplacer(",", " ", "’", "'", "“", " ", "”", " ", "\"", " ", "!", " ", ".", " ")

// negative reports whether a text denies or forbids something.
func negative(text string) bool {
	low := " " + unpunctuated.Replace(strings.ToLower(plain(text))) + " "
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
