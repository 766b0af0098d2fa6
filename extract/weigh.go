package extract

import "strings"

// A remark is a sentence of the agent and where it stands.
type remark struct {
	text     string
	prev     string // the sentence before it
	final    bool   // of a closing answer
	accepted bool   // a person took up what the answer proposes
	asked    bool   // of an answer to a question
	bullet   bool
	headed   bool    // an entry behind a bold label, which is its subject
	flagged  bool    // announced as what was found
	backing  float64 // what the act that followed, or the failure before, lends to it
}

// finding weighs one sentence of the agent and returns it as a line.
func finding(m remark) (string, float64) {
	sentence, prev, final, accepted := m.text, m.prev, m.final, m.accepted
	norm := words(sentence)
	n := strings.Count(norm, " ") + wide(sentence)/2
	if n < 7 || len(sentence) > 700 || strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, "？") || strings.HasSuffix(sentence, ":") || strings.HasSuffix(sentence, "：") || symbols(withoutCode(sentence)) > 0.25 {
		return "", 0
	}
	if unsettled(sentence) || hypothesis(norm) || textbook(sentence) {
		return "", 0
	}
	if line, ok := chosen(sentence, norm); ok {
		return line, 5
	}
	if strings.Contains(norm, " ( low ") || strings.Contains(norm, " ( medium ") || strings.Contains(norm, " ( high ") { // a reviewer's remark
		return "", 0
	}
	if narrating(norm) || narratesAbroad(sentence, norm) || has(norm, chatter) || has(norm, offers) || sessionBound(sentence, norm) || waits(norm) || strings.HasPrefix(norm, " now ") && (!final || doing(norm)) {
		return "", 0
	}
	text, limit := sentence, 300
	if line, ok := proposal(sentence, norm); ok {
		if !accepted || !has(norm, causes) && !has(norm, constraints) && !strings.Contains(sentence, ";") {
			return "", 0
		}
		text = line
	} else if begins(norm, phrases("i|i've|i'd|my|then i|we'd|you|your|now you|the next")) {
		return "", 0
	}
	marks, foreign := senses(sentence, norm)
	anchor := anchors(sentence)
	named := float64(min(anchor, 3))
	if anchor == 0 {
		named = 0.5 * float64(min(properNames(sentence), 3))
		if named == 0 && !(foreign && final && n >= 9) && (m.backing < 1 || n < 11) || marks == (sense{}) && !contrasts(norm) && (!final || named < 1) {
			return "", 0
		}
	}
	weight := 0.0
	if marks.cause {
		weight += 2.5
	}
	if marks.constraint {
		weight += 1.5
	}
	if marks.choice {
		weight += 1.5
	}
	if !final && !marks.cause && contrasts(norm) {
		weight += 1.5
	}
	if weight == 0 && has(norm, shapes) {
		weight++
	}
	states := has(norm, verbs) || m.flagged && has(norm, together)
	if weight == 0 && m.flagged && states {
		weight++
	}
	if !final && (weight == 0 || has(norm, plans)) {
		return "", 0
	}
	plain := weight == 0 // it states something, and nothing says that it matters
	if plain && (!final || !states) || changeEntry(sentence, norm, marks.cause) || !m.headed && (headless(norm) || labelled(sentence)) {
		return "", 0
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(norm), " "); imperatives()[first] { // a step proposed or to be taken
		if !accepted || plain {
			return "", 0
		}
		weight--
	}
	if m.bullet && strings.HasPrefix(sentence, "`") && strings.Contains(sentence, "` - ") {
		weight--
	}
	weight += 0.5 * named
	if final {
		weight += 1.5
	} else {
		weight += m.backing - 1
	}
	if m.flagged {
		weight++
	}
	weight -= vagueness(norm)
	if has(norm, intends) && text == sentence {
		if !accepted || !marks.cause {
			return "", 0
		}
		weight--
	}
	if begins(norm, dangling) {
		if line, ok := proposal(prev, words(prev)); ok && accepted && line != "" {
			prev = line
		}
		if prev == "" || len(prev)+len(sentence) > 420 || !marks.cause && weight < 2 || anchors(prev) == 0 || sessionBound(prev, words(prev)) || begins(words(prev), narrations) || begins(words(prev), dangling) {
			return "", 0
		}
		text, limit = prev+" "+sentence, 400
		weight -= 0.3
	}
	if len(text) > 360 {
		weight -= 0.5
	}
	if plain {
		most := leastFinal - 0.4
		if m.asked {
			most += 0.6
		}
		weight = min(weight, most)
	}
	if rest, ok := strings.CutPrefix(text, "Right now "); ok {
		text = capital(rest)
	}
	return shorten(strings.TrimLeft(text, "#*->_ "), limit), weight
}

// doing reports whether a sentence begins "Now" and goes on with what is under way.
func doing(norm string) bool {
	_, rest, _ := strings.Cut(strings.TrimSpace(norm), " ")
	next, _, _ := strings.Cut(rest, " ")
	return strings.HasSuffix(next, "ing")
}

// properNames counts words inside a sentence that are written as names: with a
// capital letter, in capitals, or with a figure.
func properNames(sentence string) int {
	n := 0
	for i, w := range strings.Fields(sentence) {
		w = strings.Trim(w, ".,;:!?()[]\"'“”*")
		if i == 0 || len(w) < 3 || w[0] < 'A' || w[0] > 'Z' {
			continue
		}
		n++
	}
	return n
}

// hypothesis reports whether a sentence says what some outcome of a test would show.
func hypothesis(norm string) bool {
	return (begins(norm, phrases("if|when|wenn|si|se|если")) || has(norm, phrases("- if"))) && has(norm, phrases("then")) &&
		has(norm, phrases("is broken|are broken|is wrong|itself is|there's an issue|there is an issue|an issue with|a problem with|the problem is|isn't working|is not working|is the culprit"))
}

// languages are those of which an agent explains what every textbook says.
var languages = newPattern("^In (?:Go|Golang|Rust|Python|JavaScript|TypeScript|Java|Kotlin|Swift|C|C\\+\\+|C#|Ruby|PHP|Scala|Elixir|Haskell|Bash|SQL|CSS|HTML|React),? [`A-Za-z]")

// textbook reports whether a sentence tells of a language rather than of the project.
func textbook(sentence string) bool {
	return strings.HasPrefix(sentence, "In ") && languages.MatchString(sentence) && !strings.Contains(sentence, "/")
}
