package extract

import (
	"strings"

	"memoir"
)

// Bounds of an extraction, in bytes.
const (
	MaxRawMemory      = 64 << 10
	MaxRolloutSummary = 64 << 10
	MaxSlug           = 60
)

var slugForm = newPattern(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Check holds an extraction to its rules before it is stored, whatever made it:
// both texts or neither, bounded sizes, a slug that is safe in a file name, and
// citations of items that the session has. Its errors have the code CodeInvalid.
func Check(e memoir.Extraction, items []memoir.Item) error {
	if e.Empty() {
		return nil
	}
	invalid := func(format string, args ...any) error {
		return memoir.Errorf(memoir.CodeInvalid, "", "the extraction breaks a rule: "+format, args...)
	}
	switch {
	case strings.TrimSpace(e.RawMemory) == "" || strings.TrimSpace(e.RolloutSummary) == "":
		return invalid("raw memory and rollout summary are given together or not at all")
	case len(e.RawMemory) > MaxRawMemory:
		return invalid("the raw memory has %d bytes, more than %d", len(e.RawMemory), MaxRawMemory)
	case len(e.RolloutSummary) > MaxRolloutSummary:
		return invalid("the rollout summary has %d bytes, more than %d", len(e.RolloutSummary), MaxRolloutSummary)
	case len(e.RolloutSlug) > MaxSlug || !slugForm.MatchString(e.RolloutSlug):
		return invalid("%q is no slug of at most %d bytes of a-z, 0-9 and single hyphens", e.RolloutSlug, MaxSlug)
	}
	exists := make(map[int]bool, len(items))
	for _, it := range items {
		exists[it.N] = true
	}
	for _, s := range memoir.ParseStatements(e.RawMemory) {
		for _, n := range s.Items {
			if !exists[n] {
				return invalid("a statement under %s cites item %d, which the session does not have", s.Kind, n)
			}
		}
	}
	return nil
}
