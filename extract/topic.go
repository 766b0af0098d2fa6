package extract

import (
	"slices"
	"strings"
)

// maxTopic is how many words name what a person's words are about.
const maxTopic = 6

// topic is what a person's words are about, after a sentence of the agent: a
// question is quoted, for the words answer it; of a claim, which the words may
// refute, only the words that name its matter are given. Words that stand alone need
// neither.
func topic(before, text string, limit int) string {
	if before == "" {
		return ""
	}
	if strings.HasSuffix(before, "?") {
		if last := lastSentence(before); alone(text) && !pointing(last) {
			before = last
		}
		return saidAfter + quote(shorten(labels(before), limit))
	}
	if alone(text) {
		return ""
	}
	var names []string
	known := contentWords(text)
	add := func(w string) {
		if len(names) < maxTopic && !slices.Contains(names, w) {
			names = append(names, w)
		}
	}
	for i, span := range strings.Split(labels(before), "`") {
		if i%2 == 1 {
			if span != "" && !strings.Contains(text, span) {
				add(code(span))
			}
			continue
		}
		if !leaning(text) {
			continue
		}
		for w := range strings.FieldsSeq(span) {
			if w = strings.Trim(w, ".,;:!?()[]{}\"'“”*"); len(w) > 3 && !known[strings.ToLower(w)] && (camel(w) || strings.Contains(w, "_") || looksLikeFile(w) || w[0] == '#') {
				add(w)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (about: " + strings.Join(names, ", ") + ")"
}

// alone reports whether a person's words can be understood without what the agent
// had said: they name their matter, and do not begin with a word that points at it.
func alone(text string) bool {
	n := 0
	for w := range contentWords(text) {
		if !commonWords()[w] {
			n++
		}
	}
	if leaning(text) {
		return n >= 12
	}
	return n >= 5 || n >= 3 && anchors(text) > 0
}

// leaning reports whether a text begins with a word that stands for a thing named before.
func leaning(text string) bool {
	fields := strings.Fields(words(text))
	for _, w := range fields[:min(len(fields), 7)] {
		switch w {
		case "it", "them", "they", "those", "these":
			return true
		}
	}
	return false
}
