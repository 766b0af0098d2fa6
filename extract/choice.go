package extract

import (
	"strings"
)

// choiceOf joins a short answer of a person to the agent's question that it
// settles: "asked “A or B?”, the user chose “B”". A bare yes or no settles nothing
// that is worth a line, and a question that the person did not take up is none.
func choiceOf(r *reading, i int) string {
	if i == 0 {
		return ""
	}
	a := r.turns[i].said
	if a.pasted || a.document || len(a.own) > 2 {
		return ""
	}
	said := strings.Join(a.own, " ")
	if text := strings.TrimSpace(r.turns[i].ask.Text); said == "" && len(text) <= 3 { // a number is no sentence
		said = text
	}
	if said == "" || len(said) > 120 || strings.HasSuffix(said, "?") {
		return ""
	}
	question, options := offer(r.turns[i-1])
	if question == "" || forNow(words(said)) || ofHandling(question) {
		return ""
	}
	if at := picked(said); at > 0 && at <= len(options) {
		return "asked " + quote(shorten(question, 160)) + ", the user chose: " + quote(shorten(options[at-1], 200))
	}
	norm := words(said)
	if a.trivial || trivial(norm) || !has(words(question), phrases("or|which|what|where|how many|oder|ou|o|или|welche|quel|quelle|cuál|qual|welke")) || commands(norm) {
		return ""
	}
	return "asked " + quote(shorten(question, 160)) + ", the user chose: " + quote(said)
}

// ofHandling reports whether a question is on how to go on, not on the matter: what to
// do first or next, whether to commit, push or run something.
func ofHandling(question string) bool {
	norm := words(question)
	return has(norm, phrases("continue|proceed|go on|commit|push|merge|rerun|run it|try again|wait|stop|abort|weiter|continuer|seguir|continuar")) && anchors(question) == 0
}

// offer is the question that a turn's last message ends with, and the list of
// options before it.
func offer(t *turn) (question string, options []string) {
	if len(t.says) == 0 {
		return "", nil
	}
	for _, b := range blocks(t.says[len(t.says)-1].text, false) {
		text := strings.TrimSpace(tidy(b.text))
		if b.bullet && question == "" {
			options = append(options, text)
			continue
		}
		if last := lastSentence(text); strings.HasSuffix(last, "?") {
			question = last
			if b.bullet {
				options = append(options, text)
			}
		} else if b.bullet {
			options = append(options, text)
		}
	}
	if strings.Count(question, " ") < 2 {
		return "", nil
	}
	return question, options
}

// picked is the number of the option that an answer names, 0 if it names none:
// "2", "option b", "the first one".
func picked(said string) int {
	fields := strings.Fields(words(said))
	if len(fields) == 0 || len(fields) > 4 {
		return 0
	}
	for k, w := range fields {
		switch w {
		case "option", "variant", "number", "choice", "go", "with", "the", "one", "please", "let's", "do", "yes", ",", "approach", "variante", "opción", "opção", "nummer":
			continue
		case "1", "first", "erste", "première", "primera":
			return 1
		case "2", "second", "zweite", "deuxième", "segunda":
			return 2
		case "3", "third", "dritte", "troisième", "tercera":
			return 3
		case "4", "fourth":
			return 4
		case "a", "b", "c", "d":
			if k > 0 || len(fields) == 1 {
				return int(w[0]-'a') + 1
			}
		}
		return 0
	}
	return 0
}
