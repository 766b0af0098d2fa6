package extract

import (
	"slices"
	"strings"
)

// maxEchoed is how many answers before a person's words are searched for them.
const maxEchoed = 16

// minEcho is how many words are no chance.
const minEcho = 5

// echoes reports whether a text of a person stands word for word in an answer that the
// agent gave before: then it is quoted, to ask about it, and not their own.
func (r *reading) echoes(i int, text string) bool {
	norm := strings.TrimSpace(words(strings.ReplaceAll(text, "`", " ")))
	if strings.Count(norm, " ")+1 < minEcho {
		return false
	}
	left := maxEchoed
	for k := i - 1; k >= 0 && left > 0; k-- {
		for _, s := range slices.Backward(r.turns[k].says) {
			if left--; left < 0 {
				break
			}
			if strings.Contains(r.lexicon.normal(s.text), " "+norm+" ") {
				return true
			}
		}
		if len(r.turns[k].says) == 0 {
			left-- // lest a session of commands alone is walked through for each of them
		}
	}
	return false
}

// nearTurns is how far back a decision lies at most that "no, we want" speaks of.
const nearTurns = 4

// askedBefore is the item of the ask that lies a number of turns before a turn.
func (r *reading) askedBefore(i, turns int) int {
	return firstItem(r.turns[max(0, i-turns)])
}

// decides reports whether a person says what is to be instead of what the agent proposed.
func decides(a ask) bool {
	return len(a.own) > 0 && begins(words(a.own[0]), phrases("no , we want|no we want|no , i want|no i want|no , we need|no , it should|no , they should|no , this should|no , put|no , let's|nein , wir wollen|nein , ich will|non , on veut|no , queremos|no , quiero"))
}

// replaces reports whether what a person decides takes up two of the names in a line.
func (r *reading) replaces(a ask, line string) bool {
	again := subwords(strings.Join(a.own, " "), false)
	n := 0
	for w := range subwords(strings.ReplaceAll(line, "`", ""), true) {
		if again[w] || again[strings.TrimSuffix(w, "s")] || again[w+"s"] {
			n++
		}
	}
	return n >= 2
}
