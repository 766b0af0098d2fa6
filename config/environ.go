package config

import (
	"slices"
	"strings"

	"github.com/xrash/smetrics"

	"memoir"
	"memoir/internal/lazyregexp"
)

// reservedVariables are the MEMOIR_* variables that are no settings.
var reservedVariables = []string{
	"MEMOIR_HOME",        // where the data is
	memoir.ChildVariable, // set for processes that memoir starts
	"MEMOIR_CORPUS",      // where the tests find their sessions
}

// variableOf returns the environment variable of a setting:
// memories.maxRolloutAgeDays is MEMOIR_MEMORIES_MAX_ROLLOUT_AGE_DAYS. Underscores
// between the words of a name may be left out.
func variableOf(setting string) string {
	words := capital.ReplaceAllString(strings.ReplaceAll(setting, ".", "_"), "_$0")
	return "MEMOIR_" + strings.ToUpper(words)
}

var capital = lazyregexp.New(`[A-Z]`)

// loadEnviron applies the MEMOIR_* variables. An empty one counts as not set, as
// with other programs, but its name must be right all the same.
func (s *Settings) loadEnviron(environ []string, home string) error {
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		variable, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(variable, "MEMOIR_") || slices.Contains(reservedVariables, variable) {
			continue
		}
		i := slices.IndexFunc(definitions, func(d definition) bool {
			return strings.ReplaceAll(variableOf(d.name), "_", "") == strings.ReplaceAll(variable, "_", "")
		})
		if i < 0 {
			return memoir.Errorf(memoir.CodeConfig, didYouMean(variable, variables(), listsAll),
				"unknown environment variable %s", variable)
		}
		if text == "" {
			continue
		}
		if err := s.applyText(definitions[i], text, home, "$"+variable); err != nil {
			return err
		}
	}
	return nil
}

// variables lists every variable that means something.
func variables() []string {
	out := slices.Clone(reservedVariables)
	for _, d := range definitions {
		out = append(out, variableOf(d.name))
	}
	return out
}

const listsAll = "`memoir config` lists every setting"

// didYouMean returns the hint for a name that is unknown: the known name that is
// nearest to it, or another hint.
func didYouMean(name string, known []string, otherwise string) string {
	if best, ok := Nearest(name, known); ok {
		return "did you mean " + best + "?"
	}
	return otherwise
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
