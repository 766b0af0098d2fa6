package pipeline

import (
	"slices"

	"memoir"
	"memoir/rollout"
)

// earlier is what is stored of a session that only grew since, and the item up to which it
// is as it was; nil if it was rewritten, or nothing is stored. A secret that is known by
// now is taken out.
func (r *run) earlier(prior *memoir.Extraction, loaded Loaded) (*memoir.Extraction, int) {
	if prior == nil || prior.Empty() || loaded.Same == 0 || prior.FilterVersion != rollout.FilterVersion {
		return nil, 0
	}
	e, _ := r.scanner.Extraction(*prior)
	for _, text := range []*string{&e.RawMemory, &e.RolloutSummary, &e.Title} {
		*text = loaded.again(*text)
	}
	return &e, loaded.Same
}

// restsOn reports whether an extraction cites no item after a number.
func restsOn(e memoir.Extraction, last int) bool {
	return !slices.ContainsFunc(memoir.ParseStatements(e.RawMemory), func(st memoir.Statement) bool {
		return slices.ContainsFunc(st.Items, func(n int) bool { return n > last })
	})
}
