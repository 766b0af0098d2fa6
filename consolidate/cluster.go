package consolidate

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"memoir"
)

// likeness from which two statements of a kind are taken to say the same.
var likeness = map[memoir.StatementKind]float64{
	memoir.StatementPreference: 0.5,
	memoir.StatementDecision:   0.6,
	memoir.StatementFailure:    0.6,
}

const defaultLikeness = 0.7

// cluster joins statements of a kind that say nearly the same, session by
// session, oldest first: a statement joins the claim that it is most like, and
// its newer wording replaces the older. What the draft knows of the oldest sessions
// is taken from it, and it learns of the rest.
func (d *draft) cluster(sessions []*session, kind memoir.StatementKind) []*claim {
	least := likeness[kind]
	if least == 0 {
		least = defaultLikeness
	}
	var claims []*claim
	join := func(at int, s *session, text string) {
		if at == len(claims) {
			claims = append(claims, &claim{kind: kind, seq: at})
		}
		claims[at].add(s, text)
	}
	known := d.same
	for i, s := range sessions[:known] {
		n := 0
		for _, st := range s.statements {
			if st.Kind == kind {
				join(d.joined(i, kind)[n], s, st.Text)
				n++
			}
		}
	}
	if known == len(sessions) {
		return claims
	}
	index := map[string][]int{} // token -> claims that hold it, or held it in an earlier wording
	entered := map[int]map[string]bool{}
	enter := func(at int) {
		if entered[at] == nil {
			entered[at] = map[string]bool{}
		}
		for _, w := range claims[at].words() {
			if !entered[at][w] {
				entered[at][w] = true
				index[w] = append(index[w], at)
			}
		}
	}
	for at := range claims {
		enter(at)
	}
	for i, s := range sessions[known:] {
		for _, st := range s.statements {
			if st.Kind != kind {
				continue
			}
			d.compared++
			at := nearest(claims, index, st.Text, least)
			join(at, s, st.Text)
			enter(at)
			d.join(known+i, kind, at)
		}
	}
	return claims
}

// nearest is the claim that a text is most like, of equals the oldest; the number
// of claims if it is like none.
func nearest(claims []*claim, index map[string][]int, text string, least float64) int {
	words := tokens(text)
	if len(words) == 0 {
		return len(claims)
	}
	shared := make([]int32, len(claims)) // tokens, at most: some may be of an earlier wording
	var met []int
	for _, w := range words {
		for _, i := range index[w] {
			if shared[i]++; shared[i] == 1 {
				met = append(met, i)
			}
		}
	}
	var own wording
	best, at := 0.0, len(claims)
	for _, i := range met {
		other := claims[i].words()
		n := min(int(shared[i]), len(other), len(words))
		if most := float64(n) / float64(len(other)+len(words)-n); most < least || most < best {
			continue
		}
		score := jaccard(other, words)
		if score < least || score < best || score == best && i > at {
			continue
		}
		if own.words == nil {
			own = newWording(text)
		}
		said := claims[i].wording()
		if said.negative != own.negative || said.swapped(own) || claims[i].kind == memoir.StatementPreference && contradict(own, said) {
			continue // opposites are not the same
		}
		best, at = score, i
	}
	return at
}

// tokens are the words of a statement that carry meaning, sorted, each once,
// with plural and tense endings off; what the agent said before a preference
// does not count.
func tokens(text string) []string {
	text, _, _ = strings.Cut(text, " — said after the agent")
	var out []string
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./#", r)
	}) {
		w = strings.Trim(w, "-_./#")
		if w == "" || fillers()[w] {
			continue
		}
		if w[0] >= 0x80 { // a script without spaces: compare by pairs of characters
			runes := []rune(w)
			for i := range max(1, len(runes)-1) {
				out = append(out, string(runes[i:min(i+2, len(runes))]))
			}
			continue
		}
		out = append(out, stem(w))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var fillers = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a an the and or but of to in on at for with by from as is are was were be been it its this that these those so then than
		please also just ok okay i you we me my our your will would should can could do does did done has have had when if into up out`) {
		m[w] = true
	}
	return m
})

// stem takes common English endings off a plain word.
func stem(w string) string {
	if strings.ContainsAny(w, "-_./#0123456789") {
		return w
	}
	if base, ok := strings.CutSuffix(w, "ies"); ok && len(base) >= 3 {
		return base + "y"
	}
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if base, ok := strings.CutSuffix(w, end); ok && len(base) >= 4 || ok && end == "s" && len(base) >= 2 {
			return base
		}
	}
	return w
}

// jaccard is the share of all tokens of two sorted sets that both have.
func jaccard(a, b []string) float64 {
	both, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			both++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}
