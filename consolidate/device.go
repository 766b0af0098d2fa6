package consolidate

import "strings"

// device reports whether Windows takes a name for a device, whatever its extension: no
// memory holds one, so that it can be unpacked everywhere.
func device(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) && '0' <= stem[3] && stem[3] <= '9'
}

// legalSkill reports whether a skill may have a name.
func legalSkill(name string) bool {
	return len(name) <= maxSkillName && skillName.MatchString(name) && !device(name)
}
