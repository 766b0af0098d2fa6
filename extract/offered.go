package extract

import (
	"slices"
	"strconv"
	"strings"
)

// What short words of a person stand for: the entries of the agent's list that they pick
// by number, the offer that "fix it" accepts, what a bare address leads to.

// hollowWords name nothing: of an ask that is made of them alone only the answer
// before it says what it is about.
var hollowWords = wordSet(`implement do fix fixes make apply take use go with start proceed address change update handle create open write please ok okay yes yep yeah sure now then just also and or both all it this that
	them these those one ones the a an for to of in on same pr prs pull request requests separate new issue issues option options number numbers point points step steps item items part parts first second third fourth last
	so well alright can could you would we let's lets i want need too as me us here there thing things something reply discussion`)

// pronouns stand for a thing named before.
var pronouns = newPhrases("it|this|that|them|these|those|both|all|one|ones")

// saysNothing reports whether the words of an ask are hollow, numbers aside.
func saysNothing(a ask) bool {
	if len(a.own) == 0 || a.pasted {
		return false
	}
	for w := range strings.FieldsSeq(words(strings.Join(a.own, " . "))) {
		if w = strings.Trim(w, ",.;:!?—–-()"); w != "" && !hollowWords()[w] && !isNumber(w) {
			return false
		}
	}
	return true
}

func isNumber(w string) bool { return strings.Trim(w, "0123456789,.") == "" }

// pointedAt is what an ask that says nothing by itself stands for, as text to be put
// behind it; ok tells whether it is understood with that.
func (r *reading) pointedAt(i int) (text string, ok bool) {
	a := r.turns[i].said
	if link(a) {
		t := r.turns[i]
		for _, s := range slices.Backward(t.says) {
			if told := informative(sentences(tidy(strings.Join(strings.Fields(s.text), " ")))); len(told) > 0 {
				return " — the agent found: " + quote(shorten(labels(local(told[0], r.root)), maxPointed)), true
			}
		}
		return "", false
	}
	if !saysNothing(a) {
		return "", true
	}
	if i == 0 || len(r.turns[i-1].says) == 0 {
		return "", true
	}
	before := r.turns[i-1].says[len(r.turns[i-1].says)-1].text
	norm := words(strings.Join(a.own, " . "))
	if picks := numbersIn(norm); len(picks) > 0 {
		all := listHeads(before)
		var taken []string
		for _, n := range picks {
			if n < 1 || n > len(all) {
				return "", false
			}
			taken = append(taken, all[n-1])
		}
		return " (" + strings.Join(taken, "; ") + ")", true
	}
	if !has(norm, pronouns) {
		return "", true
	}
	if work := offeredWork(before); work != "" {
		return " (" + shorten(labels(local(work, r.root)), maxPointed) + ")", true
	}
	return "", strings.Count(norm, " ") > maxBarePointer
}

// maxBarePointer is how many words an ask has at most that is nothing but "fix it".
const maxBarePointer = 6

// maxPointed is how many bytes are quoted of what an ask stands for.
const maxPointed = 160

// link reports whether a person said no more than an address.
func link(a ask) bool {
	if len(a.own) != 1 || a.pasted {
		return false
	}
	s := strings.Trim(tidy(a.own[0]), "<>. ")
	return (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "[")) && !strings.Contains(strings.TrimSpace(labels(s)), " ")
}

// numbersIn are the numbers of list entries among words, in order.
func numbersIn(norm string) []int {
	var out []int
	for w := range strings.FieldsFuncSeq(norm, func(r rune) bool { return r == ' ' || r == ',' || r == '.' || r == '+' || r == '&' }) {
		if n, err := strconv.Atoi(strings.TrimPrefix(w, "#")); err == nil && n < 30 {
			out = append(out, n)
		}
	}
	return out
}

// offerings begin the question with which an agent offers to do something.
var offerings = newPhrases("would you like me to|do you want me to|want me to|may i|shall i|should i|soll ich|veux-tu que je|voulez-vous que je|souhaitez-vous que je|quieres que|quiere que|queres que|quer que eu|vuoi che|zal ik|мне")

// offeredWork is what the question says that an agent's answer ends with, if it offers to
// do something and names it.
func offeredWork(answer string) string {
	all := blocks(answer, false)
	if len(all) == 0 {
		return ""
	}
	last := lastSentence(tidy(all[len(all)-1].text))
	if !question(last) {
		return ""
	}
	norm := words(last)
	for _, p := range offerings.all() {
		if begin := strings.TrimSpace(p); strings.HasPrefix(norm, p) && len(last) > len(begin) {
			if work := strings.Trim(last[len(begin):], "? ,"); len(contentWords(work)) > 3 {
				return work
			}
		}
	}
	return ""
}

// maxHead is how many bytes are told of a list's entry.
const maxHead = 70

// listHeads are the beginnings of the entries of a numbered list, the last one of an
// answer: what stands in bold, else what stands before a dash or the end of the sentence.
// An answer without one gives its lines in bold that name options.
func listHeads(answer string) []string {
	var numbered, options []string
	fence := false
	for line := range strings.Lines(answer) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fence = !fence
			continue
		}
		if fence || line == "" {
			continue
		}
		bare := strings.TrimLeft(line, "#* ")
		digits := len(bare) - len(strings.TrimLeft(bare, "0123456789"))
		if digits > 0 && digits < 3 && len(bare) > digits+2 && (bare[digits] == '.' || bare[digits] == ')') && bare[digits+1] == ' ' {
			n, _ := strconv.Atoi(bare[:digits])
			if n == 1 {
				numbered = nil
			}
			if n == len(numbered)+1 && len(numbered) < 30 {
				numbered = append(numbered, head(bare[digits+2:], strings.HasPrefix(line, "**")))
			}
			continue
		}
		if allBold(line) && len(options) < 10 && begins(words(line), phrases("option|variant|alternative|approach|choice|variante|opción|option|opção|ansatz")) {
			options = append(options, head(bare, true))
		}
	}
	if len(numbered) > 0 {
		return numbered
	}
	return options
}

// head is the beginning of a list's entry; bold tells that the bold began before it.
func head(entry string, bold bool) string {
	if rest, ok := strings.CutPrefix(entry, "**"); ok {
		entry, bold = rest, true
	}
	if at := strings.Index(entry, "**"); bold && at > 0 {
		entry = entry[:at]
	} else {
		for _, sep := range []string{" - ", " — ", " – ", ": "} {
			if at := strings.Index(entry, sep); at > 3 && strings.Count(entry[:at], "`")%2 == 0 {
				entry = entry[:at]
			}
		}
		entry = firstSentence(entry)
	}
	return shorten(strings.TrimRight(strings.ReplaceAll(tidy(entry), "**", ""), ".:;, "), maxHead)
}

// optionsAsked lists the heads of what a question at the end asks about, without naming
// it: those of its own answer, else those of the list that the person took up last.
func (r *reading) optionsAsked(question, answer string) string {
	norm := words(question)
	if has(norm, phrases("commit|push|merge|pr|pull request")) || !has(norm, phrases("which|option|options|direction|prefer|approach|all|both|these|either|any of|welche|quelle|cuál|qual")) {
		return ""
	}
	all := listHeads(answer)
	if len(all) == 0 && has(norm, phrases("all|both|these")) {
		for i := len(r.turns) - 1; i > 0 && i > len(r.turns)-4 && len(all) == 0; i-- {
			picks := numbersIn(words(strings.Join(r.turns[i].said.own, " . ")))
			if len(picks) < 2 || len(r.turns[i-1].says) == 0 {
				continue
			}
			listed := listHeads(r.turns[i-1].says[len(r.turns[i-1].says)-1].text)
			for _, n := range picks {
				if n > 0 && n <= len(listed) {
					all = append(all, listed[n-1])
				}
			}
		}
	}
	if len(all) < 2 {
		return ""
	}
	return strings.Join(all[:min(len(all), 5)], "; ")
}
