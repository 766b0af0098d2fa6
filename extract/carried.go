package extract

import (
	"math"
	"strings"
)

var (
	optionHeads = newPhrases("option|options|alternative|alternatives|variant|idea|possible fix|possible fixes|possible approaches")
	planHeads   = newPhrases("plan|fix plan|implementation plan|phase|proposal|proposed|approach|recommended|recommendation|my recommendation|suggested|suggestion|suggestions|what i'd|next steps|todo|work package|wp|step|how i'd|expanded|design|vorschlag|proposition|propuesta|proposta|предложение|план")
	// Design words: what makes an announced step a decision.
	designs = newPhrases("rather than|instead of|while keeping|while preserving|but make|but keep|so that|without|only|unless|with a fallback|but not|mirror|matching|separate from|as real|keep")
	// Steps that are of the session alone.
	routine = newPhrases("pause|stop|ask|asking|run|running|rerun|rerunning|re-running|check|checking|read|reading|re-read|look|looking|commit|committing|push|pushing|stage|staging|inspect|inspecting|verify|verifying|wait|waiting|review|reviewing|open|opening|report|reporting|monitor|monitoring|watch|grab|grabbing|pull|pulling|switch|switching|reply|replying|post|posting|do|doing|take|taking|search|searching|trace|tracing|let|letting|start|starting|continue|see|give|clean|cleaning|try|trying|confirm|confirming|validate|validating|not|also checking|going to look|going to read|going to check|going to run|re-check|now checking|just")
)

// optional reports whether a block stands under one of several proposals, of which
// at most one is taken.
func optional(b block) bool {
	return begins(words(b.under), optionHeads) || begins(words(b.lead), optionHeads) || begins(words(b.text), phrases("option a|option b|option c|option d|option 1|option 2|option 3|option 4|alternative 1|alternative 2|approach a|approach b|approach 1|approach 2"))
}

// planned reports whether a block belongs to a plan or proposal.
func planned(b block) bool {
	under := words(b.under)
	return begins(under, planHeads) || has(under, phrases("plan|proposal|proposed|to do"))
}

// fulfilled reports whether what an answer without an edit proposes was done, as
// far as the session shows: a name that it puts in code marks was written later.
// What is no proposal, or is never edited, counts as fulfilled.
func (g *gathering) fulfilled(line string, s said) bool {
	norm := words(line)
	first, _, _ := strings.Cut(strings.TrimSpace(norm), " ")
	if !imperatives()[first] && !has(norm, intends) || begins(norm, phrases("do not|don't|never|avoid")) || !strings.Contains(line, "`") {
		return true
	}
	return len(g.r.editsAfter(s.item)) == 0 || g.r.ledger.taken(line, s.item)
}

// carried reads a sentence of a message on the way as a decision: a step that the
// agent announces with its design and that an edit follows, or what the code does
// now that an edit lies behind it.
func (g *gathering) carried(sentence string, s said) (string, float64) {
	norm := words(sentence)
	n := strings.Count(norm, " ")
	if n < 9 || len(sentence) > 400 || strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, ":") || has(norm, guesses) {
		return "", 0
	}
	named := 0.4 * float64(min(anchors(sentence), 3))
	if g.edited(s.item-4, s.item) && strings.Index(norm, " now ") > 0 && !begins(norm, narrations) && !begins(norm, dangling) && !begins(norm, phrases("i|we|you|all|everything|build|lint")) && !has(norm, chatter) && !waits(norm) && !sessionBound(sentence, norm) && !strings.Contains(norm, " green ") && !g.redone(s.item-4, s.item) && !leans(norm) && anchors(sentence) > 0 {
		if has(norm, phrases("test|tests|fixture|fixtures|e2e|coverage|ci")) {
			named -= 0.6
		}
		return shorten(sentence, 240), 1.9 + named
	}
	_, last := g.t.span()
	if n < 13 || !has(norm, designs) || !g.edited(s.item, last) || g.undone(s.item) && !has(norm, phrases("leave|leaving|keep|keeping|avoid|avoiding|not|without")) {
		return "", 0
	}
	for _, opening := range []string{"I’m going to ", "I'm going to ", "I’ll ", "I'll ", "I will ", "I’m ", "I'm ", "Now I’m ", "Now I'm ", "So I’ll ", "So I'll "} {
		rest, ok := strings.CutPrefix(sentence, opening)
		if !ok {
			continue
		}
		if step := words(rest); begins(step, routine) || has(step, meta) || has(step, chatter) || leans(step) || begins(step, phrases("leave|leaving")) && has(step, phrases("alone|untouched|unchanged|as is|as it is|as they are")) {
			return "", 0
		}
		return shorten(capital(bidden(rest)), 240), 1.9 + named
	}
	return "", 0
}

// undone reports whether half of the edits that followed an announcement, up to
// what the agent said next, lost lines to a later edit: the design did not last.
func (g *gathering) undone(item int) bool {
	next := 0
	for _, s := range g.t.says {
		if s.item > item && g.edited(item, s.item) {
			next = s.item
			break
		}
	}
	if next == 0 {
		return g.redone(item, math.MaxInt)
	}
	return g.redone(item, next)
}

// redone reports whether half of the edits between two items lost lines to edits
// behind them.
func (g *gathering) redone(from, to int) bool {
	total, again := 0, 0
	for _, e := range g.r.editsAfter(from) {
		if e.item >= to {
			break
		}
		total++
		if g.r.ledger.redone[e.item] > to {
			again++
		}
	}
	return again > 0 && again*2 >= total
}

// leans reports whether a sentence begins with something that only what stood
// before it names: "address that by", "keep that path", "going back in".
func leans(norm string) bool {
	list := strings.Fields(norm)
	for _, w := range list[1:min(len(list), 3)] {
		switch w {
		case "that", "this", "those", "these", "it", "them", "both", "back":
			return true
		}
	}
	return false
}

// bidden puts a step that is told as going on into the imperative: "threading the
// context" gives "thread the context". What has no such form stays as it is.
func bidden(text string) string {
	first, rest, ok := strings.Cut(text, " ")
	if stem := strings.TrimSuffix(first, "ing"); ok && stem != first && len(stem) > 2 {
		forms := []string{stem, stem + "e"}
		if n := len(stem); stem[n-1] == stem[n-2] {
			forms = append(forms, stem[:n-1])
		}
		for _, form := range forms {
			if imperatives()[form] {
				return form + " " + rest
			}
		}
	}
	return text
}

// edited reports whether a file was edited between two items.
func (g *gathering) edited(from, to int) bool {
	later := g.r.editsAfter(from)
	return len(later) > 0 && later[0].item < to
}
