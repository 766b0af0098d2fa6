package consolidate

import (
	"slices"
	"strings"

	"memoir/internal/lazyregexp"
)

const (
	symptomLength = 90  // bytes of an error that the briefing quotes
	lessonLength  = 270 // bytes of a failure with its remedy
)

// rule is the name of a linter's rule at the end of its message.
var rule = lazyregexp.New(`\(([a-z][\w/-]*[a-z])\)$`)

// remedies render failures with what helps against them, those that a command of the
// project's shows before those that a person saw. An error may be shortened, what
// helps never: what does not fit is left out.
func remedies(failures []*claim) []remedied {
	var ran, seen, rules []remedied
	for _, c := range failures {
		if elsewhere(c.text) != "" {
			continue
		}
		text, kind := c.remedy()
		switch {
		case text == "":
		case kind == byRule:
			rules = append(rules, remedied{c, text})
		case strings.HasPrefix(text, "`"):
			ran = append(ran, remedied{c, text})
		default:
			seen = append(seen, remedied{c, text})
		}
	}
	return slices.Concat(ran, rules, seen)
}

type remedied struct {
	claim *claim
	text  string
}

// How a failure tells what to do.
const (
	byRemedy = iota // by what mended it
	byRule          // by the rule of a linter that it broke
)

// remedy renders a failure as symptom and remedy; empty if it has none that fits.
func (c *claim) remedy() (text string, kind int) {
	if symptom, rest, ok := strings.Cut(c.text, " → "); ok {
		help, cause, _ := strings.Cut(rest, " — ")
		if strings.HasPrefix(help, "passed when run again") {
			return "", 0
		}
		text = shortSymptom(symptom) + " → " + help
		if full := text + " — " + cause; cause != "" && !plans(cause) && len(full) <= lessonLength {
			text = full
		}
		if len(text) > lessonLength {
			return "", 0
		}
		return text, byRemedy
	}
	parts := strings.Split(c.text, " — ")
	symptom, helps := parts[0], parts[1:]
	if len(helps) == 0 {
		return "", 0
	}
	last := helps[len(helps)-1]
	switch edited := strings.Contains(last, "passed after editing") || strings.HasPrefix(last, "mended by editing"); {
	case strings.HasPrefix(last, "passed when run again"), strings.HasPrefix(last, "unresolved"):
		return "", 0
	case edited && len(helps) > 1 && (rule.MatchString(symptom) || strings.HasPrefix(symptom, "the user saw: ")) && !plans(helps[0]):
		helps, kind = helps[:len(helps)-1], byRule // which files were edited helps nobody
	case edited:
		return "", 0
	}
	symptom = shortSymptom(symptom)
	for len(helps) > 0 {
		if text = symptom + " — " + strings.Join(helps, " — "); len(text) <= lessonLength {
			return text, kind
		}
		helps = helps[1:] // the cause may go, what mended it comes last
	}
	return "", 0
}

// shortSymptom is what failed, with as much of its error as tells it.
func shortSymptom(symptom string) string {
	if command, failure, ok := strings.Cut(symptom, " failed: "); ok {
		return command + " failed: " + cut(failure, symptomLength)
	}
	return cut(symptom, symptomLength+30)
}

// plans reports whether an agent's words tell what it is about to do.
func plans(text string) bool {
	return strings.Contains(text, "I'll ") || strings.Contains(text, "I’ll ") || strings.Contains(text, "I will ") || strings.Contains(text, "let me ") || strings.Contains(text, "Let me ")
}
