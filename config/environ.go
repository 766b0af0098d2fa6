package config

import (
	"slices"
	"strings"

	"github.com/xrash/smetrics"

	"memoir"
)

// ReservedVariables are the MEMOIR_* variables that are no settings.
var ReservedVariables = []string{
	"MEMOIR_HOME",        // where the data is
	memoir.ChildVariable, // set for processes that memoir starts
	"MEMOIR_CORPUS",      // where the tests find their sessions
}

// Variable returns the environment variable of a setting:
// memories.maxRolloutAgeDays is MEMOIR_MEMORIES_MAX_ROLLOUT_AGE_DAYS. Underscores
// between the words of a name may be left out.
func Variable(setting string) string {
	var b strings.Builder
	b.WriteString("MEMOIR_")
	for _, r := range setting {
		switch {
		case r == '.':
			b.WriteByte('_')
		case r >= 'A' && r <= 'Z':
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.ToUpper(b.String())
}

// loadEnviron applies the MEMOIR_* variables. An empty one counts as not set, as
// with other programs, but its name must be right all the same.
func (s *Settings) loadEnviron(environ []string, home string) error {
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		variable, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(variable, "MEMOIR_") || slices.Contains(ReservedVariables, variable) {
			continue
		}
		i := slices.IndexFunc(Definitions, func(d Definition) bool {
			return strings.ReplaceAll(Variable(d.Name), "_", "") == strings.ReplaceAll(variable, "_", "")
		})
		if i < 0 {
			return memoir.Errorf(memoir.CodeConfig, didYouMean(variable, variables()),
				"unknown environment variable %s", variable)
		}
		if text == "" {
			continue
		}
		if err := s.applyText(Definitions[i], text, home, "$"+variable); err != nil {
			return err
		}
	}
	return nil
}

// variables lists every variable that means something.
func variables() []string {
	out := slices.Clone(ReservedVariables)
	for _, d := range Definitions {
		out = append(out, Variable(d.Name))
	}
	return out
}

// didYouMean returns the hint for a name that is unknown: the known name that is
// nearest to it, or where to find all of them.
func didYouMean(name string, known []string) string {
	if best, ok := Nearest(name, known); ok {
		return "did you mean " + best + "?"
	}
	return "`memoir config` lists every setting"
}

// Nearest returns the known name that a misspelt one most likely means; false if none
// is near. Case, dashes and underscores do not count, nor does a missing section.
func Nearest(name string, known []string) (string, bool) {
	const longName = 200 // bytes; names are short, foreign ones may not be
	fold := func(name string) string {
		return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name[:min(len(name), longName)]))
	}
	best, bestDistance := "", max(3, len(name)/4+1)
	for _, k := range known {
		distance := smetrics.WagnerFischer(fold(name), fold(k), 1, 1, 1)
		if fold(k[strings.LastIndexByte(k, '.')+1:]) == fold(name[strings.LastIndexByte(name, '.')+1:]) {
			distance = min(distance, 1)
		}
		if distance < bestDistance {
			best, bestDistance = k, distance
		}
	}
	return best, best != ""
}
