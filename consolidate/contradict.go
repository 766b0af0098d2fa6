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
		wordings[i] = c.wording()
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
	if a.swapped(b) || overrules(a, b) || overrules(b, a) || a.rivals(b) || a.resized(b) {
		return true
	}
	return a.negative != b.negative && jaccard(a.essence, b.essence) >= 0.7
}

// overrules reports whether one text rejects what the other advises: "use X, not
// Y" or "we moved off Y" against "use Y".
func overrules(a, b wording) bool {
	return a.not != nil && b.not == nil && !b.negative && b.advises && contains(b.words, a.not) && !contains(b.words, a.want)
}

// versus splits "use X instead of Y" and its kin into what is wanted and what not.
func versus(text string) (want, not []string, ok bool) {
	low := " " + strings.ToLower(plain(text)) + " "
	for _, sep := range []string{" instead of ", " rather than ", ", not ", " not ", " and not ", " over ", " anstatt ", " statt ", " au lieu de ", " plutôt que ", " en vez de ", " en lugar de ", " em vez de ", " invece di ", " in plaats van ", " вместо "} {
		before, after, found := strings.Cut(low, sep)
		if !found {
			continue
		}
		for _, verb := range []string{" use ", " prefer ", " run ", " with ", " using ", " verwende ", " nutze ", " nimm ", " utilise ", " usa ", " gebruik ", " используй "} {
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

// departures are what stands before the name of a thing that is used no more, and
// arrivals before that of the one that took its place.
var (
	departures = []string{" moved off of ", " moved off ", " moved away from ", " moved from ", " migrated off ", " migrated away from ", " migrated from ", " switched off ", " switched away from ", " switched from ", " we got rid of ", " we dropped ", " we've dropped ",
		" no longer use ", " no longer using ", " don't use ", " do not use ", " stopped using ", " stop using ", " we replaced ", " we've replaced ", " we retired ", " we removed ", " nicht mehr ", " weg von ", " n'utilisons plus ", " ya no usamos ", " больше не используем "}
	arrivals = []string{" switched to ", " moved to ", " migrated to ", " replaced by ", " replaced with ", " use ", " using ", " with ", " to "}
)

// moved reads from a text that one thing gave way to another: "use X now, we moved
// off Y". What took its place may be unnamed; without what it left there is nothing.
func moved(text string) (want, not []string) {
	low := " " + unpunctuatedEnds(strings.ToLower(plain(text))) + " "
	for _, d := range departures {
		before, after, ok := strings.Cut(low, d)
		if !ok {
			continue
		}
		left, rest := after, ""
		for _, end := range []string{" to ", " with ", " in favor of ", " in favour of ", " for ", " anymore", " any more", ",", ";", ". ", " and ", " so ", " because ", " since ", " last ", " this ", " now "} {
			if head, tail, ok := strings.Cut(left, end); ok {
				left, rest = head, end+tail+rest
			}
		}
		if not = tokens(left); len(not) == 0 || len(not) > 3 {
			continue
		}
		for _, part := range []string{rest, before} {
			for _, a := range arrivals {
				if _, name, ok := strings.Cut(" "+part+" ", a); ok && want == nil {
					name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
					want = tokens(strings.Trim(name, ",.;"))
				}
			}
		}
		return want, not
	}
	return nil, nil
}

func unpunctuatedEnds(s string) string { return endsUnpunctuated.Replace(s) }

var endsUnpunctuated = strings.NewReplacer("’", "'", "“", " ", "”", " ", "!", " ")

// purpose reads "use X for Y" and its kin.
func purpose(text string) (object, goal []string) {
	low := " " + strings.Trim(unpunctuatedEnds(strings.ToLower(plain(text))), " .") + " "
	for _, verb := range []string{" use ", " prefer ", " take ", " choose ", " verwende ", " nutze ", " utilise ", " usa ", " используй "} {
		_, rest, ok := strings.Cut(low, verb)
		if !ok {
			continue
		}
		for _, link := range []string{" for ", " as ", " für ", " als ", " pour ", " para ", " per ", " для "} {
			thing, aim, ok := strings.Cut(rest, link)
			if !ok {
				continue
			}
			if end := strings.IndexAny(aim, ",.;!("); end >= 0 {
				aim = aim[:end]
			}
			for _, tail := range []string{" from now on", " now", " instead", " again", " please", " anymore"} {
				aim = strings.TrimSuffix(strings.TrimSpace(aim), tail)
			}
			object, goal = tokens(thing), tokens(aim)
			if len(object) > 0 && len(object) <= 3 && len(goal) > 0 && len(goal) <= 4 {
				return object, goal
			}
		}
	}
	return nil, nil
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

// commanding reports whether a person's words tell to work with something, in more
// words and languages than those of a claim in general.
func commanding(text string) bool {
	low := " " + strings.ToLower(plain(text)) + " "
	for _, w := range []string{" run ", " via ", " with ", " stay ", " stick ", " immer ", " verwende ", " toujours ", " utilise ", " siempre ", " usa ", " всегда "} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
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
	text = strings.TrimPrefix(text, "the user: ")
	return strings.Trim(text, "“” ")
}
