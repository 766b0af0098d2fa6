package extract

import (
	"strings"

	"memoir"
)

// What pieces are worth, from 0, which is left out, to 10. The tiers are those of
// the rules that Fit states; inside a tier a piece is worth more the more it says.
const (
	worthRule     = 10.0 // a person's standing instruction
	worthTyped    = 8.5
	worthPasted   = 4.0 // what a person pasted
	worthTrivial  = 3.0 // an assent, a greeting
	worthFinal    = 5.4
	worthNarrated = 3.6
	worthFailed   = 5.4 // a call that failed, and the lines that tell why
	worthFix      = 4.8 // the call that succeeded after it
	worthCommand  = 4.2 // a build, test, lint or release command that succeeded
	worthLetter   = 4.2 // what the agent wrote for people: the text of a commit, of a pull request, of a comment
	worthChange   = 3.0 // a file that was changed, by its path
	worthCall     = 1.2 // any other call
	worthResult   = 0.6 // the first and last lines of any other result
)

// A worth knows of the whole session what the value of a piece depends on.
type worth struct {
	items []memoir.Item
	tiers []tier
	known map[string]bool // calls and files seen in later items
}

type tier int

const (
	tierRest tier = iota
	tierTyped
	tierFinal
	tierFailure
	tierFix
)

func newWorth(items []memoir.Item) *worth {
	return &worth{items: items, tiers: rankItems(items), known: map[string]bool{}}
}

// rankItems assigns each item its tier.
func rankItems(items []memoir.Item) []tier {
	tiers := make([]tier, len(items))
	failed := map[string]bool{}
	for i, it := range items {
		switch {
		case it.Origin.ByPerson():
			tiers[i] = tierTyped
		case it.Kind == memoir.ItemMessage && it.Origin == memoir.OriginAgent && (it.Final || closes(items, i)):
			tiers[i] = tierFinal
		case it.Kind == memoir.ItemTool && it.Shell() && onlyLooks(it.Input): // grep that finds nothing has failed, too
		case it.Kind == memoir.ItemTool && (it.Failed || it.Shell() && looksFailed(it.Output)):
			tiers[i] = tierFailure
			failed[callKey(it)] = true
		case it.Kind == memoir.ItemTool && failed[callKey(it)]:
			tiers[i] = tierFix
			delete(failed, callKey(it))
		}
	}
	return tiers
}

// onlyLooks reports whether a command line does no more than look at things.
func onlyLooks(line string) bool {
	for _, s := range splitShell(line) {
		if !readers()[unquote(s.words[0])] {
			return false
		}
	}
	return true
}

// closes reports whether the agent's message at i ends a turn.
func closes(items []memoir.Item, i int) bool {
	return i+1 == len(items) || items[i+1].Origin.ByPerson()
}

// callKey is what a failed call and the one that fixed it share.
func callKey(it memoir.Item) string {
	if it.Shell() {
		if cmds := parseCommands(it.Input, it.CWD, it.CWD); len(cmds) > 0 {
			return cmds[len(cmds)-1].family
		}
	}
	head, _, _ := strings.Cut(it.Input, "\n")
	return it.Tool + " " + head[:min(len(head), 80)]
}

// rate gives every piece its value, the newest item first: what is said or done
// again is worth most where it was last.
func (w *worth) rate(pieces [][partCount][]piece) {
	for i := len(w.items) - 1; i >= 0; i-- {
		it := &w.items[i]
		switch {
		case it.Kind == memoir.ItemTool:
			w.call(i, it, pieces[i])
		case w.tiers[i] == tierTyped:
			w.typed(it, pieces[i][partText])
		case it.Origin == memoir.OriginAgent:
			w.said(i, it, pieces[i][partText])
		default: // summaries and the like
			value(pieces[i][partText], 2.5, 0.01)
		}
	}
}

// value gives pieces a value that falls from one to the next.
func value(pieces []piece, first, fall float64) {
	for k := range pieces {
		pieces[k].value = max(first-fall*float64(k), 0.05)
	}
}

// typed rates what a person said.
func (w *worth) typed(it *memoir.Item, pieces []piece) {
	a := personal(*it)
	own := map[string]bool{}
	for _, s := range a.own {
		own[strings.Join(strings.Fields(s), " ")] = true
	}
	pasted := 0
	for k := range pieces {
		p := &pieces[k]
		text := strings.Join(strings.Fields(it.Text[p.from:p.to]), " ")
		switch {
		case text == "":
			p.value = 0.1
		case a.trivial:
			p.value = worthTrivial
		case !ownWords(own, text):
			pasted++
			p.value = max(worthPasted-0.08*float64(pasted), 0.5)
			if rank := errorRank(text); rank >= 6 {
				p.value = max(p.value, worthFailed+1-0.3*float64(pasted))
			}
		case standing(text, a) > 0 || a.denies:
			p.value = worthRule
		default:
			p.value = worthTyped - min(0.02*float64(k), 3)
		}
	}
}

// ownWords reports whether a text is, or is part of, one of a person's own sentences,
// or the other way round.
func ownWords(own map[string]bool, text string) bool {
	if own[text] {
		return true
	}
	for s := range own {
		if strings.Contains(text, s) || strings.Contains(s, text) {
			return true
		}
	}
	return false
}

// said rates what the agent wrote.
func (w *worth) said(i int, it *memoir.Item, pieces []piece) {
	final := w.tiers[i] == tierFinal
	base := worthNarrated
	if final {
		base = worthFinal
	}
	fence := false
	prev := ""
	for k := range pieces {
		p := &pieces[k]
		text := strings.TrimSpace(it.Text[p.from:p.to])
		if strings.HasPrefix(text, "```") {
			fence = !fence
			p.value = base - 2.5
			continue
		}
		if fence {
			p.value = base - 2
			continue
		}
		if text == "" {
			p.value = 0.1
			continue
		}
		p.value = base + w.telling(text, prev, final)
		prev = text
	}
}

// telling is how much a sentence of the agent adds to the value of its message.
func (w *worth) telling(text, prev string, final bool) float64 {
	sentence := strings.TrimLeft(text, "#>-*+0123456789.) ")
	norm := words(sentence)
	more := 0.0
	if _, weight := finding(remark{text: strings.TrimSpace(sentence), prev: prev, final: final, accepted: true}); weight > 0 {
		more += 0.5 * min(weight, 5)
	}
	if has(norm, causes) {
		more += 0.7
	}
	if has(norm, constraints) || has(norm, choices) {
		more += 0.8
	}
	more += 0.2 * float64(min(anchors(sentence), 3))
	if accomplishment(strings.TrimSpace(sentence)) > 0 {
		more += 0.4
	}
	if begins(norm, narrations) || has(norm, offers) || strings.HasSuffix(sentence, "?") {
		more -= 0.2
	}
	if strings.Count(norm, " ") < 4 {
		more -= 0.5
	}
	return more
}

// call rates a tool call: the first line of what was asked of the tool, the lines
// of a failure that tell why, a few lines of the rest.
func (w *worth) call(i int, it *memoir.Item, pieces [partCount][]piece) {
	head, fall, result := worthCall, 0.7, worthResult
	switch {
	case w.tiers[i] == tierTyped:
		head, result = 6, 3
	case w.tiers[i] == tierFailure:
		head, result = worthFailed, 2.5
	case w.tiers[i] == tierFix:
		head, result = worthFix, 2
	case writes(strings.ToLower(it.Tool)) || strings.Contains(it.Input, "*** Begin Patch"):
		head, fall, result = worthChange, 0.9, 0.3
	case it.Shell():
		for _, c := range parseCommands(it.Input, it.CWD, it.CWD) {
			if c.use != "" {
				head, result = max(head, worthCommand), 1.0
				if c.use == forVCS {
					head = 3
				}
			}
		}
	}
	input := strings.Join(strings.Fields(it.Input[:min(len(it.Input), 200)]), " ")
	if w.known[it.Tool+input] {
		head = max(head-2.5, 0.3)
		result /= 2
	}
	w.known[it.Tool+input] = true
	value(pieces[partInput], head, fall)
	if it.Shell() && addressed(it.Input) {
		w.letter(it, pieces[partInput])
	}
	w.result(it, pieces[partOutput], result, w.tiers[i] == tierFailure)
}

// addressed reports whether a command line carries text for people.
func addressed(line string) bool {
	for _, s := range splitShell(line) {
		switch words := s.words; {
		case len(words) < 3:
		case words[0] == "git" && words[1] == "commit", words[0] == "gh" && (words[1] == "pr" || words[1] == "issue" || words[1] == "release" || words[1] == "api"), words[0] == "glab":
			return true
		}
	}
	return false
}

// letter rates the sentences of a text for people.
func (w *worth) letter(it *memoir.Item, pieces []piece) {
	prev := ""
	for k := range pieces {
		text := strings.TrimSpace(it.Input[pieces[k].from:pieces[k].to])
		if len(strings.Fields(text)) >= 5 && symbols(text) < 0.2 {
			pieces[k].value = max(pieces[k].value, worthLetter+w.telling(text, prev, true))
		}
		prev = text
	}
}

// result rates the lines of an output: the last and the first ones, and those that
// look like the reason of a failure.
func (w *worth) result(it *memoir.Item, pieces []piece, most float64, failed bool) {
	n, told := len(pieces), 0
	for k := range pieces {
		fromEnd := n - 1 - k
		if k >= headLines && fromEnd >= tailLines {
			pieces[k].value = 0.02
			continue
		}
		near := float64(min(k+2, fromEnd)) // the end says most
		v := most - 0.12*near
		text := trimLine(clean(it.Output[pieces[k].from:pieces[k].to]))
		if failed && text != "" {
			switch rank := errorRank(text); {
			case rank >= 6:
				told++
				v = max(v, worthFailed-0.3-0.8*float64(told))
			case rank >= 3:
				v = max(v, 3)
			}
		}
		if text == "" {
			v = 0.05
		}
		pieces[k].value = max(v, 0.05)
	}
}
