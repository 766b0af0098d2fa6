package extract

import (
	"slices"
	"strings"

	"memoir"
)

// Weights from which a sentence is kept as a finding: of a closing answer, and of
// what the agent said on the way. Below them, down to leastPassing, it is noted
// with a mark, for the session's own record: the project's memory leaves it out.
const (
	leastFinal    = 2.4
	leastNarrated = 1.9
	leastPassing  = 0.7
	leastIdle     = 1.5 // of the answer of a turn that changed nothing
	inPassing     = " (in passing)"
)

// findings finds sentences that state a cause, a constraint, a choice with its
// reason or a fact about the repository that took effort, in the agent's
// answers, the weightiest first. What a person refused is left out, and of two sentences on one thing only the later stays.
func findings(r *reading) []found {
	var out []found
	settled := map[int]bool{} // told with what the person settled
	for _, f := range steerings(r) {
		settled[f.Items[0]] = true
	}
	for i, t := range r.turns {
		if i > 0 && r.undoes(i) {
			out = r.turns[i-1].without(out)
		}
		f, met, conceding := t.concession()
		if met != nil {
			out = r.withoutMet(out, met, since(r.turns[:i]))
		}
		if conceding && !settled[t.said.item] && !remarks(t.said) {
			out = r.supersede(out, f)
		}
		g := &gathering{
			r: r, t: t, out: out, away: elsewhere(t.away()),
			accepted: accepted(r.turns[i+1:]), assented: i+1 < len(r.turns) && !t.denied,
		}
		for k, s := range t.says {
			if !(t.denied && k == len(t.says)-1) && !(r.idle() && wonders(t) && !assents(r.turns[i+1:])) {
				g.answer(s)
			}
		}
		out = withoutDrafts(r, g.out, t)
	}
	out = append(r.lastStates(out), conventions(r)...)
	slices.SortStableFunc(out, heavier)
	return out
}

// without drops from a list what was said in a turn.
func (t *turn) without(list []found) []found {
	from, to := t.span()
	return slices.DeleteFunc(list, func(f found) bool { return f.Items[0] >= from && f.Items[0] <= to })
}

// withoutDrafts drops what the agent said on the way of a turn where its closing
// answer has a finding on the same names: the answer is what it came to.
func withoutDrafts(r *reading, list []found, t *turn) []found {
	var last []*wording
	from, to := t.span()
	for _, f := range list {
		if item := f.Items[0]; item >= from && item <= to && r.closing(item) && !strings.HasPrefix(f.Text, "the user: ") && !has(words(f.Text), phrases("now")) {
			last = append(last, r.lexicon.of(f.Text))
		}
	}
	if len(last) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(f found) bool {
		item := f.Items[0]
		if item < from || item > to || r.closing(item) || strings.HasPrefix(f.Text, "the user: ") {
			return false
		}
		mine := r.lexicon.of(f.Text)
		return slices.ContainsFunc(last, func(o *wording) bool {
			return held(mine.marked(), o.marked()) >= 2 && mine.overlap(o) >= 0.4
		})
	})
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
		if t.said.trivial || t.said.confirms || len(t.said.own) > 0 && (commands(words(t.said.own[0])) || begins(words(t.said.own[0]), assenting)) {
			return true
		}
	}
	return false
}

// wonders reports whether a person asked for knowledge, with or without a question mark.
func wonders(t *turn) bool {
	if asksQuestion(t) {
		return true
	}
	return t.ask != nil && len(t.said.own) > 0 && begins(words(t.said.own[0]), wondering)
}

var wondering = newPhrases("does|do|did|is|are|was|can|what|what's|which|who|where|when|why|how|explain|tell me|was ist|warum|wie|welche|gibt es|qu'est-ce|pourquoi|comment|est-ce|qué|cuál|cómo|por qué|o que|como|что|как|почему")

// assents reports whether the next thing that a person said agrees, which thanks do not.
func assents(later []*turn) bool {
	return len(later) > 0 && len(later[0].said.own) > 0 && begins(words(later[0].said.own[0]), assenting)
}

var assenting = newPhrases("ok|okay|yes|yeah|yep|sure|sounds good|go ahead|do it|agreed|fine|makes sense|good|great|perfect|let's do|ja|oui|sí|да")

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
	g.out = g.r.supersede(g.out, found{memoir.Statement{Kind: memoir.StatementDecision, Text: text + g.away, Items: []int{item}}, weight})
}

// answer reads one text of the agent.
func (g *gathering) answer(s said) {
	all := blocks(s.text, false)
	disclosing := false
	for n := 0; n < len(all); n++ {
		b := all[n]
		offered := has(words(b.lead), offers)
		if offered && !g.assented || optional(b) {
			continue
		}
		text := local(tidy(strings.TrimLeft(b.text, "✅✓☑❌⚠️🔧📝 ")), g.r.root)
		if lists(b) {
			g.r.listed = append(g.r.listed, said{item: s.item, text: text})
		}
		if planned(b) && !(g.accepted && g.r.ledger.taken(text, s.item)) {
			continue
		}
		if line, weight, used := enumeration(all[n:], s.final, g.r.root); weight >= leastFinal {
			if !s.final {
				weight -= 1.3
			}
			if weight < leastNarrated {
				line += inPassing
			}
			g.add(line, s.item, weight)
			text = text[:strings.LastIndex(text, lastSentence(text))]
			n += used
		}
		prev, kept := "", ""
		list := sentences(text)
		skip := 0 // sentences told already
		for at, sentence := range list {
			if skip--; skip >= 0 {
				continue
			}
			if line, used := procedureOf(list[at:]); line != "" && s.final && !g.t.denied {
				g.add(line, s.item, 3.2)
				prev, skip = sentence, used-1
				continue
			}
			if n == 0 && at == 0 && s.final {
				if whole := reply(g.t, sentence); whole != "" {
					g.add(whole, s.item, 3)
					prev = sentence
					continue
				}
			}
			if disclosed(sentence) {
				disclosing = true
				prev = sentence
				continue
			}
			m := remark{prev: prev, final: s.final, accepted: g.accepted, asked: asksQuestion(g.t), bullet: b.bullet, headed: at == 0 && b.head != "" && s.final}
			if kept != "" && begins(words(sentence), dangling) && len(kept)+len(sentence) < 320 {
				m.text, m.prev = sentence, kept
				if line, weight := finding(m); weight >= leastFinal-1 {
					line = strings.TrimPrefix(line, kept+" ")
					kept = extend(g.out, kept, line)
					prev = sentence
					continue
				}
			}
			kept = ""
			sentence, m.flagged = unveil(conclusion(withoutPlan(withoutLines(sentence))))
			m.flagged = m.flagged || disclosing
			m.text, m.prev = sentence, prev
			m.backing = g.backing(s, list[at:])
			disclosing = false
			line, weight := finding(m)
			carried := false
			if weight == 0 && !s.final {
				line, weight = g.carried(sentence, s)
				carried = weight > 0
			}
			if offered {
				weight -= 0.7
			}
			if weight > 0 && (!carried && !g.fulfilled(line, s) || g.r.void[s.item] && stateClaim(words(line))) {
				weight = 0
			}
			prev = sentence
			switch {
			case has(words(line), openEnded): // a project's memory would keep it when it is done
				g.add(line+inPassing, s.item, min(weight-1, leastNarrated))
			case weight >= leastFinal || !s.final && weight >= leastNarrated:
				g.add(line, s.item, weight)
				kept = line
			case weight >= leastPassing && (!s.final || g.t.edits > 0 || weight >= leastIdle):
				g.add(line+inPassing, s.item, weight-1)
			}
		}
	}
}

// openEnded marks what is left to be done, which some later session does.
var openEnded = newPhrases("is the next step|as the next step|are the next step|the next step is|still to be|remains to be|remain to be|is left to do|are left to do|left for later|to be changed after|to be done|still to do|for a follow-up|in a follow-up|nächster schritt|noch zu|prochaine étape|reste à|siguiente paso|queda por|próximo passo|falta ainda|следующий шаг|осталось")

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

// supersede adds a finding to a list in which each thing is said once: of two
// that share most of their words the later one stays, unless it says much less.
func (r *reading) supersede(list []found, f found) []found {
	mine := r.lexicon.of(f.Text)
	for i := range list {
		if list[i].Kind != f.Kind || r.lexicon.of(list[i].Text).overlap(mine) < 0.55 {
			continue
		}
		if f.weight >= list[i].weight-1 {
			list[i] = f
		}
		return list
	}
	return withoutLightest(append(list, f))
}
