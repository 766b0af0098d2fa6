package extract

import "strings"

var (
	// lasting are constraints that hold whatever the code at hand looks like: of a
	// tool, a platform, a format or a design, rather than of a line that an edit changes.
	lasting = newPhrases("must|must not|cannot|can't|can only|only works|requires|require|needs to|need to|does not support|doesn't support|is required|are required|never|always|not possible|incompatible|by design|by default|depends on|only when|only if|only for|only once|unless|not supported|overrides|take precedence|takes precedence|deprecated|not available|is expected|explains the")
	// lacking says what something fails to do or have.
	lacking = newPhrases("doesn't|does not|don't|do not|isn't|is not|aren't|are not|didn't|is missing|are missing|lacks|lack|had|was|were")
)

// outlives reports whether a sentence is of a kind that stays true when the code
// that it names is edited: a cause, a choice, a lasting constraint, a step with its
// design. What else it says is the state of things at the time.
func outlives(text, norm string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(norm), " ")
	marks, foreign := senses(text, norm)
	return marks.cause || marks.choice || marks.constraint && foreign || has(norm, lasting) || imperatives()[first] || strings.HasSuffix(first, "ing")
}

// closing reports whether an item is an answer that closed a turn.
func (r *reading) closing(item int) bool {
	if r.answers == nil {
		r.answers = map[int]bool{}
		for _, t := range r.turns {
			for _, s := range t.says {
				if s.final {
					r.answers[s.item] = true
				}
			}
		}
	}
	return r.answers[item]
}
