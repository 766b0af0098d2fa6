package extract

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"memoir"
)

// steerings finds what a person settled against the agent: what they said when
// they refused a call, or right after it; objections that the agent granted; their
// choice among what the agent offered. What a later objection overturned is left out.
func steerings(r *reading) []found {
	if r.settled == nil {
		r.settled = r.steered()
	}
	return slices.Clone(r.settled)
}

func (r *reading) steered() []found {
	out := []found{}
	for i, t := range r.turns {
		if t.ask == nil || t.said.document {
			continue
		}
		if objects(t) {
			out = r.overturned(out, t)
		}
		if n := len(out); n > 0 && decides(t.said) && out[n-1].Items[0] >= r.askedBefore(i, nearTurns) && r.replaces(t.said, out[n-1].Text) {
			out = out[:n-1]
		}
		text, weight := steering(r, i)
		if text == "" || remarks(t.said) {
			continue
		}
		text += elsewhere(t.away())
		out = withoutLightest(append(out, found{memoir.Statement{Kind: memoir.StatementDecision, Text: text, Items: []int{t.said.item}}, weight}))
	}
	return out
}

// steering reads what the person settled at a turn, empty if nothing.
func steering(r *reading, i int) (string, float64) {
	t := r.turns[i]
	if lineReference.MatchString(strings.Join(t.said.own, " ")) { // it points at the screen
		return "", 0
	}
	own := weighty(t.said)
	if own != "" && r.echoes(i, own) {
		own = ""
	}
	if offer := choiceOf(r, i); offer != "" && own == "" {
		return offer, 4
	}
	granted, point := grants(t)
	switch {
	case own == "" && point != "" && objects(t):
		return point, 3.5
	case own == "":
		return "", 0
	case t.refused != "" && !t.said.trivial && asksOnly(own):
		return "", 0
	case t.refused != "" && !t.said.trivial:
		text := "the user: " + quote(own) + referent(r, i, own)
		if !strings.Contains(text, saidAfter) {
			text += " (said on refusing " + t.refused + ")"
		}
		return text, 4.5
	case granted && challenges(t.said):
		text := "the user: " + quote(own)
		if r.putRight(t, point) {
			return "", 0
		}
		if point != "" {
			return text + agreed + quote(shorten(labels(point), 200)), 4.2
		}
		about := referent(r, i, own)
		if strings.HasSuffix(own, "?") || len(contentWords(own)) < 5 || about == "" && pointing(own) && anchors(own) == 0 {
			return "", 0
		}
		return text + about, 3.6
	}
	return "", 0
}

// asksOnly reports whether a text is a question that proposes nothing.
func asksOnly(text string) bool {
	norm := words(text)
	return strings.HasSuffix(text, "?") && begins(norm, phrases("how|what|which|where|when|who|is|are|does|do|did|wie|was|wo|wann|comment|où|quand|cómo|qué|dónde|como|onde")) && !begins(norm, phrases("how about|what about|what if"))
}

// faults say what a thing has too little or too much of.
var faults = newPhrases("only have|only has|never used|not used|unused|isn't used|aren't used|is missing|are missing|has an old|have an old|no longer used|is hardcoded|is hard-coded|doesn't implement|does not implement|doesn't handle|doesn't call|isn't called|is never called|while rendering|is duplicated")

// putRight reports whether what the agent granted is a fault of the code that it
// mended in the same turn: it holds no longer, and nothing was settled by it.
func (r *reading) putRight(t *turn, point string) bool {
	if t.edits == 0 || !has(words(point), faults) {
		return false
	}
	for i, span := range strings.Split(point, "`") {
		found := false
		if i%2 == 1 {
			names(span, func(name string) {
				found = found || r.ledger.touched[name] > t.said.item || r.ledger.added[name] > t.said.item || r.ledger.removed[name] > t.said.item
			})
		}
		if found {
			return true
		}
	}
	return !strings.Contains(point, "`")
}

// objects reports whether a turn begins with an objection: words that refuse, or
// words that the agent gave way to.
func objects(t *turn) bool {
	if t.said.denies || t.refused != "" {
		return true
	}
	granted, _ := grants(t)
	return granted && challenges(t.said)
}

// challenges reports whether a person objects, doubts or proposes otherwise rather
// than asking for the next piece of work.
func challenges(a ask) bool {
	if a.denies {
		return true
	}
	for _, s := range a.own {
		norm := words(s)
		if begins(norm, notForbid) {
			continue
		}
		if strings.HasSuffix(s, "?") && !begins(norm, politeAsks) {
			return true
		}
		if begins(norm, doubts) || has(norm, doubting) {
			return true
		}
	}
	return false
}

var (
	doubts   = newPhrases("why|wait|hm|hmm|hmmm|but|isn't|aren't|shouldn't|couldn't|wouldn't|doesn't|don't|can't|are you sure|is that|is this|is it|how about|what about|what if|could we|can we|could you|should we|i thought|i think|i would|i'd|i actually|actually|slight|same|not|sooo|so why|so we|like|warum|wieso|pourquoi|por qué|por que|perché|waarom|почему|зачем")
	doubting = newPhrases("no ?|right ?|why would|why are|why do|why is|why did|why not|can't we|couldn't we|shouldn't|isn't|aren't|instead|rather|i thought|doesn't look|not correct|is wrong|none of|but|not what")
)

// weighty joins the sentences of a person that say something about the matter.
func weighty(a ask) string {
	var parts []string
	total := 0
	for _, s := range a.own {
		norm := words(s)
		if standing(s, a) > 0 && len(a.own) > 1 && len(contentWords(s)) > 3 { // kept as a preference
			continue
		}
		if trivial(norm) || hollowAside(norm) || forNow(norm) || bare(norm) || a.pasted && strings.HasSuffix(s, ":") {
			continue
		}
		if total+len(s) > 330 && total > 0 {
			break
		}
		parts = append(parts, s)
		total += len(s) + 1
	}
	text := strings.Join(parts, " ")
	if len(contentWords(text)) < 3 && anchors(text) == 0 && !unspaced(text) || len(parts) == 1 && standing(text, a) > 0 {
		return ""
	}
	return shorten(tidy(text), 330)
}

// lineReference is a number of a line on the screen that words begin with: it means
// nothing a day later. A number of one digit is mostly that of a list's entry.
var lineReference = newPattern(`^(?i:(?:for|in|on|at|and) )?(?i:lines? )?\d{2,5}(?:-\d+)?(?::| -|,)? `)

// hollowAside reports whether a sentence only asks the agent to look, or vents.
func hollowAside(norm string) bool {
	return begins(norm, phrases("check|read|look|please check|let me know|does that make sense|make sense|i have a feeling|wtf|what the|again , this is not correct|this is not correct|that's not correct|that's wrong|this is wrong|that is wrong|you idiot|why do you go")) &&
		strings.Count(norm, " ") < 16
}

// unspaced reports whether a text is in a script without spaces between words.
func unspaced(text string) bool {
	n := 0
	for _, r := range text {
		if unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r) || unicode.Is(unicode.Hangul, r) {
			n++
		}
	}
	return n >= 4
}

const agreed = " — the agent agreed: "

const saidAfter = " — said after the agent: "

// overturned drops what was settled earlier about names that an objection takes up
// again: of "use appendRow, not insertRow" an objection to appending and inserting
// says that it was not the last word.
func (r *reading) overturned(list []found, t *turn) []found {
	again := subwords(strings.Join(t.said.own, " "), false)
	if len(again) == 0 {
		return list
	}
	from := max(0, len(list)-maxAlike)
	return append(list[:from], slices.DeleteFunc(list[from:], func(f found) bool {
		n := 0
		for w := range r.lexicon.namesSettled(f.Text) {
			if again[w] {
				n++
			}
		}
		return n >= 2
	})...)
}

// subwords are the words that names of code are made of; without only, the other
// words of a text as well.
func subwords(text string, only bool) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		w = strings.Trim(w, ".,;:!?()[]{}\"'“”*`")
		if only && !camel(w) && !strings.Contains(w, "_") && !strings.HasSuffix(w, "()") {
			continue
		}
		var b strings.Builder
		for _, r := range w {
			switch {
			case unicode.IsUpper(r):
				b.WriteByte(' ')
				b.WriteRune(unicode.ToLower(r))
			case unicode.IsLetter(r):
				b.WriteRune(r)
			default:
				b.WriteByte(' ')
			}
		}
		for part := range strings.FieldsSeq(b.String()) {
			if len(part) > 3 && !commonWords()[part] {
				out[part] = true
			}
		}
	}
	return out
}

// commonWords are words of four letters or more that say nothing of the matter.
var commonWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`then that this what when with from have does agent user file code test both also into they them their there which would should could these those just
		some more only than here were been will about other after before because make like want need part first second thing things using used work works working still`) {
		m[w] = true
	}
	return m
})

// listGranted is what an agent grants in a list: the line that leads to it, if it says
// more than that there is one, and the beginnings of its entries.
func listGranted(b block, rest []block) string {
	lead := lastSentence(b.text)
	norm := words(lead)
	if !strings.HasSuffix(lead, ":") || len(rest) < 2 || !rest[0].bullet || !begins(norm, phrases("on both counts|on all counts|we just want|we only want|we want|it should|the flow should be|on both points|on all points")) {
		return ""
	}
	var entries []string
	for _, e := range rest {
		if !e.bullet || len(entries) == 5 {
			break
		}
		entries = append(entries, strings.TrimRight(firstSentence(tidy(e.text)), ". "))
	}
	text := strings.Join(entries, "; ")
	if begins(norm, phrases("on")) {
		return text
	}
	return capital(lead) + " " + text
}
