package extract

import "strings"

// referent quotes what the agent had said, where a person's words point at it
// without naming it.
func referent(r *reading, i int, text string) string {
	if i == 0 || !pointing(text) {
		return ""
	}
	return topic(answered(r.turns[i-1], text), text, 180)
}

// pointing reports whether a text leans on what was said before.
func pointing(text string) bool {
	norm := words(text)
	return has(norm, phrases("it|this|that|these|those|them|they|there|the first|the second|the former|the latter|both|neither|same|the rest|the others|ones|one")) || len(contentWords(text)) < 4
}

// answered is the sentence of an agent's last message that what the person said
// next is about: a question at its end, else the one that shares most words with it.
func answered(t *turn, text string) string {
	if len(t.says) == 0 {
		return ""
	}
	own := contentWords(text)
	best, most, prev := "", 0, ""
	for _, b := range blocks(t.says[len(t.says)-1].text, false) {
		for _, s := range sentences(tidy(b.text)) {
			norm := words(s)
			if strings.HasSuffix(s, "?") && strings.Count(norm, " ") > 3 && (len(own) < 5 || !has(norm, offers)) {
				if pointing(s) && prev != "" {
					s = shorten(prev, 110) + " " + s
				}
				return s
			}
			if strings.Count(norm, " ") < 5 || strings.HasSuffix(s, "?") && has(norm, offers) {
				continue
			}
			prev = s
			n := 2 * wordsShared(s, text)
			if begins(norm, narrations) {
				n--
			}
			if n > most && n > 0 {
				best, most = s, n
			}
		}
	}
	return best
}

// wordsShared counts the words of meaning that two texts have in common.
func wordsShared(a, b string) int {
	n := 0
	other := contentWords(b)
	for w := range contentWords(a) {
		for o := range other {
			if !commonWords()[w] && sameRoot(w, o) {
				n++
				break
			}
		}
	}
	return n
}

// sameRoot reports whether two words share so much of their beginning that they
// speak of one thing: pending and pendingArea, message and messages.
func sameRoot(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 5 && strings.HasPrefix(b, a) || a == b
}
