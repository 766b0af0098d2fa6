package config

import (
	"slices"
	"strings"

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
	seen := make(map[string]string)
	for _, entry := range slices.Sorted(slices.Values(environ)) {
		variable, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(variable, "MEMOIR_") || slices.Contains(ReservedVariables, variable) {
			continue
		}
		i := slices.IndexFunc(Definitions, func(d Definition) bool {
			return foldVariable(Variable(d.Name)) == foldVariable(variable)
		})
		if i < 0 || variable != strings.ToUpper(variable) {
			return memoir.Errorf(memoir.CodeConfig, didYouMean(variable, variables()),
				"unknown environment variable %s", variable)
		}
		if text == "" {
			continue
		}
		d := Definitions[i]
		if other, ok := seen[d.Name]; ok && other != variable {
			return memoir.Errorf(memoir.CodeConfig, "unset one of them",
				"%s and %s both set %s", other, variable, d.Name)
		}
		seen[d.Name] = variable
		if err := s.apply(d, text, home, "$"+variable); err != nil {
			return memoir.Errorf(memoir.CodeConfig, d.Doc, "$%s: %s %w", variable, d.Name, err)
		}
	}
	return nil
}

func foldVariable(name string) string { return strings.ReplaceAll(name, "_", "") }

// variables lists every variable that means something.
func variables() []string {
	out := slices.Clone(ReservedVariables)
	for _, d := range Definitions {
		out = append(out, Variable(d.Name))
	}
	return out
}
