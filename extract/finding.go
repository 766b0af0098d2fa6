package extract

import (
	"path"
	"slices"
	"strings"

	"memoir"
)

// Weights from which a sentence is kept as a finding: of a closing answer, and of
// what the agent said on the way. Below them, down to leastPassing, it is noted
// with a mark, for the session's own record: the project's memory leaves it out.
const (
	leastFinal    = 2.4
	leastNarrated = 2.0
	leastPassing  = 1.4
	inPassing     = " (in passing)"
)

// findings finds sentences that state a cause, a constraint, a choice with its
// reason or a fact about the repository that took effort, in the agent's
// answers, the weightiest first. What a person refused is left out, and of two sentences on one thing only the later stays.
func findings(r *reading) []found {
	var out []found
	for i, t := range r.turns {
		g := &gathering{
			r: r, t: t, out: out, away: elsewhere(t.away()),
			accepted: accepted(r.turns[i+1:]), assented: i+1 < len(r.turns) && !t.denied,
		}
		for k, s := range t.says {
			if !(t.denied && k == len(t.says)-1) {
				g.answer(s)
			}
		}
		out = g.out
	}
	slices.SortStableFunc(out, heavier)
	return out
}

// accepted reports whether a person took up what the agent proposed, before
// they refused anything: an assent, or a request to go on.
func accepted(later []*turn) bool {
	for i, t := range later {
		if t.ask == nil || i == 2 {
			return false
		}
		if t.said.denies {
			return false
		}
		if t.said.trivial || t.said.confirms || len(t.said.own) > 0 && (commands(words(t.said.own[0])) || begins(words(t.said.own[0]), assents)) {
			return true
		}
	}
	return false
}

var assents = phrases("ok|okay|yes|yeah|yep|sure|sounds good|go ahead|do it|agreed|fine|makes sense|good|great|perfect|let's do|ja|oui|sí|да")

// A gathering collects the findings of one turn.
type gathering struct {
	r        *reading
	t        *turn
	out      []found
	away     string // the mark of another repository that the turn worked in
	accepted bool   // a person took up what was proposed
	assented bool   // a person went on without refusing
}

func (g *gathering) add(text string, item int, weight float64) {
	if g.away != "" {
		weight -= 0.5
	}
	if g.mended(text, item) {
		weight--
		text += beforeChange
	}
	g.out = supersede(g.out, found{memoir.Statement{Kind: memoir.StatementDecision, Text: text + g.away, Items: []int{item}}, weight})
}

// beforeChange marks what was so when the agent said it, and was changed afterwards.
const beforeChange = " (before this session's change)"

// mended reports whether what a text describes as the state of things was
// changed afterwards: it says so of the present, or names a file edited later.
func (g *gathering) mended(text string, item int) bool {
	norm := words(text)
	if has(norm, choices) || has(norm, decided) || begins(norm, phrases("do not|don't|never|always|avoid|treat|retry|use|keep")) {
		return false
	}
	later := false
	for _, e := range g.r.edits {
		if e.item <= item {
			continue
		}
		later = true
		if strings.Contains(text, "`"+e.path) || strings.Contains(text, "`"+path.Base(e.path)+"`") {
			return true
		}
	}
	if !later || !has(norm, transient) {
		return false
	}
	for i, span := range strings.Split(text, "`") { // what it says of a file that was left alone still holds
		if i%2 == 1 && looksLikeFile(span) && strings.Contains(path.Base(span), ".") && strings.Contains(span, "/") {
			return false
		}
	}
	return true
}

// answer reads one text of the agent.
func (g *gathering) answer(s said) {
	all := blocks(s.text, false)
	for n := 0; n < len(all); n++ {
		b := all[n]
		offered := has(words(b.lead), offers)
		if offered && !g.assented {
			continue
		}
		text := local(tidy(strings.TrimLeft(b.text, "✅✓☑❌⚠️🔧📝 ")), g.r.root)
		if line, weight, used := enumeration(all[n:], s.final, g.r.root); weight >= leastFinal {
			g.add(line, s.item, weight)
			text = text[:strings.LastIndex(text, lastSentence(text))]
			n += used
		}
		prev, kept := "", ""
		for at, sentence := range sentences(text) {
			if n == 0 && at == 0 && s.final {
				if whole := reply(g.t, sentence); whole != "" {
					g.add(whole, s.item, 3)
					prev = sentence
					continue
				}
			}
			if kept != "" && begins(words(sentence), dangling) && len(kept)+len(sentence) < 320 {
				if line, weight := finding(sentence, kept, s.final, g.accepted, b.bullet); weight >= leastFinal-1 {
					line = strings.TrimPrefix(line, kept+" ")
					kept = extend(g.out, kept, line)
					prev = sentence
					continue
				}
			}
			kept = ""
			sentence = conclusion(sentence)
			line, weight := finding(sentence, prev, s.final, g.accepted, b.bullet)
			if offered {
				weight -= 0.7
			}
			prev = sentence
			switch {
			case weight >= leastFinal || !s.final && weight >= leastNarrated:
				g.add(line, s.item, weight)
				kept = line
			case weight >= leastPassing:
				g.add(line+inPassing, s.item, weight-1)
			}
		}
	}
}

// reply joins a question of the person to an answer that is no sentence without
// it: "Why …? Because …".
func reply(t *turn, sentence string) string {
	if !asksQuestion(t) || t.edits > 0 || len(sentence) > 300 {
		return ""
	}
	norm := words(sentence)
	if strings.Count(norm, " ") < 6 || !begins(norm, phrases("because|since|in|at|by|on|under|via|with|through|from|only")) {
		return ""
	}
	question := t.said.own[len(t.said.own)-1]
	if len(question) > 160 || begins(words(question), phrases("what's next|what now|how are you")) {
		return ""
	}
	return question + " " + shorten(sentence, 240)
}

// extend lets a finding go on with the next sentence, which leans on it. It
// returns the whole, or nothing if the finding did not stay.
func extend(list []found, text, more string) string {
	for i := len(list) - 1; i >= 0; i-- {
		if mark := strings.TrimPrefix(list[i].Text, text); mark != list[i].Text && (mark == "" || strings.HasPrefix(mark, " (")) {
			list[i].Text = text + " " + more + mark
			return text + " " + more
		}
	}
	return ""
}

// enumeration reads a statement that ends in a colon together with the list of
// short entries behind it: "The paths are: a via b; c via d". It returns how many
// blocks the list has.
func enumeration(all []block, final bool, root string) (line string, weight float64, used int) {
	lead := all[0]
	if !final || lead.bullet || !strings.HasSuffix(lead.text, ":") || len(all) < 2 || !all[1].bullet {
		return "", 0, 0
	}
	sentence := lastSentence(local(tidy(lead.text), root))
	norm := words(sentence)
	if strings.Count(norm, " ") < 4 || !has(norm, verbs) || has(norm, phrases("now|issues|findings|options|changes|improvements|suggestions|problems|steps|comments|you can")) || has(norm, offers) || has(norm, chatter) || has(norm, intends) || begins(norm, narrations) || accomplishment(strings.TrimSuffix(sentence, ":")) > 0 || begins(norm, achieved) {
		return "", 0, 0
	}
	line = sentence
	anchor := anchors(sentence)
	for _, b := range all[1:] {
		if !b.bullet {
			break
		}
		used++
		entry := strings.TrimRight(local(tidy(b.text), root), ".;,")
		if sep := map[bool]string{true: " ", false: "; "}[used == 1]; len(line)+len(sep)+len(entry) <= 300 {
			line += sep + entry
			anchor += anchors(entry)
		}
	}
	if begins(norm, dangling) || sessionBound(sentence, norm) || has(norm, phrases("these|those|this")) {
		return "", 0, used
	}
	if anchor < 2 || len(line) < len(sentence)+10 {
		return "", 0, 0
	}
	weight = 2 + 0.4*float64(min(anchor, 4))
	if has(norm, causes) || has(norm, constraints) {
		weight++
	}
	if has(norm, guesses) {
		weight--
	}
	if begins(norm, phrases("now|each|all|you|your|at")) {
		weight -= 1.2
	}
	return shorten(line, 300), weight, used
}

func lastSentence(text string) string {
	all := sentences(text)
	if len(all) == 0 {
		return text
	}
	return all[len(all)-1]
}

// finding weighs one sentence of the agent and returns it as a line.
func finding(sentence, prev string, final, accepted, bullet bool) (string, float64) {
	norm := words(sentence)
	n := strings.Count(norm, " ")
	if n < 7 || len(sentence) > 700 || strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, ":") || symbols(withoutCode(sentence)) > 0.25 {
		return "", 0
	}
	if line, ok := chosen(sentence, norm); ok {
		return line, 5
	}
	if strings.Contains(norm, " ( low ") || strings.Contains(norm, " ( medium ") || strings.Contains(norm, " ( high ") { // a reviewer's remark
		return "", 0
	}
	if begins(norm, narrations) || has(norm, chatter) || has(norm, offers) || sessionBound(sentence, norm) {
		return "", 0
	}
	text := sentence
	if line, ok := proposal(sentence, norm); ok {
		if !accepted || !has(norm, causes) && !has(norm, constraints) && !strings.Contains(sentence, ";") {
			return "", 0
		}
		text = line
	} else if begins(norm, phrases("i|i've|i'd|my|then i|we'd|you|your|now you|the next")) {
		return "", 0
	}
	anchor := anchors(sentence)
	if anchor == 0 {
		return "", 0
	}
	reasoned := has(norm, causes)
	weight := 0.0
	if reasoned {
		weight += 2.5
	}
	if has(norm, constraints) {
		weight += 1.5
	}
	if has(norm, choices) {
		weight += 1.5
	}
	if weight == 0 && has(norm, shapes) {
		weight++
	}
	if !final && (weight == 0 || has(norm, plans)) {
		return "", 0
	}
	plain := weight == 0 // it states something, and nothing says that it matters
	if plain && (!final || !has(norm, verbs)) || changeEntry(sentence, norm, reasoned) || headless(norm) || labelled(sentence) {
		return "", 0
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(norm), " "); imperatives[first] { // a step proposed or to be taken
		if !accepted || weight == 0 {
			return "", 0
		}
		weight--
	}
	if bullet && strings.HasPrefix(sentence, "`") && strings.Contains(sentence, "` - ") {
		weight--
	}
	weight += 0.5 * float64(min(anchor, 3))
	if final {
		weight += 1.5
	} else {
		weight--
	}
	weight -= vagueness(norm)
	if has(norm, intends) && text == sentence {
		if !accepted || !reasoned {
			return "", 0
		}
		weight--
	}
	if begins(norm, dangling) {
		if prev == "" || len(prev)+len(sentence) > 320 || !reasoned && weight < 2 || anchors(prev) == 0 || sessionBound(prev, words(prev)) || begins(words(prev), narrations) || begins(words(prev), dangling) {
			return "", 0
		}
		text = prev + " " + sentence
		weight -= 0.3
	}
	if len(text) > 300 {
		weight -= 0.5
	}
	if plain {
		weight = min(weight, leastFinal-0.4)
	}
	if rest, ok := strings.CutPrefix(text, "Right now "); ok {
		text = capital(rest)
	}
	return shorten(strings.TrimLeft(text, "#*->_ "), 240), weight
}

// supersede adds a finding to a list in which each thing is said once: of two
// that share most of their words the later one stays, unless it says much less.
func supersede(list []found, f found) []found {
	tokens := contentWords(f.Text)
	for i := range list {
		if list[i].Kind != f.Kind || overlap(contentWords(list[i].Text), tokens) < 0.55 {
			continue
		}
		if f.weight >= list[i].weight-1 {
			list[i] = f
		}
		return list
	}
	return append(list, f)
}
