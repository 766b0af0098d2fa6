package pipeline

import (
	"context"
	"slices"

	"memoir"
	"memoir/extract"
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

// reading is how many calls it would take to read a session, or what is new of it, and the bytes
// that are asked in all; false if the extractor does not say, or the session cannot be read now.
func (r *run) reading(ctx context.Context, s memoir.Session) (calls int, bytes int64, ok bool) {
	e, ok := r.extractor.(extract.Estimator)
	if !ok {
		return 0, 0, false
	}
	type estimate struct {
		calls int
		bytes int64
	}
	found, err := apart(ctx, r, func() (out estimate, err error) {
		prior, marks, err := r.store.Prior(ctx, s.Key())
		if err != nil {
			return out, err
		}
		parts, err := partsOf(ctx, s, r.heads)
		if err != nil {
			return out, err
		}
		loaded, err := Load(ctx, r.scannerOf(s.CWD), parts, marks...)
		if err != nil {
			return out, err
		}
		in := extract.Input{Session: s, Items: loaded.Items}
		in.Earlier, in.Since = r.earlier(prior, loaded)
		out.calls, out.bytes, err = e.Estimate(in)
		return out, err
	})
	return found.calls, found.bytes, err == nil
}
