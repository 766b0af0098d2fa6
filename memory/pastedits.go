package memory

import (
	"slices"
	"time"
)

// PastEdits is what people changed in one generation, as its archive and that of the
// state that they made of it tell.
type PastEdits struct {
	Base  int       // the generation that was edited
	At    time.Time // when their state was kept
	Edits []Edit
}

// PastEdits lists what people changed in earlier generations, the oldest first, as far
// as the archives are kept: each state by hand against the generation it was made of.
func (r Root) PastEdits() ([]PastEdits, error) {
	generations, err := r.Generations()
	if err != nil {
		return nil, err
	}
	var past []PastEdits
	for _, g := range generations {
		base := g.Manifest.EditedFrom
		if g.Err != nil || base == 0 {
			continue
		}
		before, err := r.ReadArchive(base)
		if err != nil {
			continue
		}
		after, err := r.ReadArchive(g.Number)
		if err != nil {
			continue
		}
		past = append(past, PastEdits{Base: base, At: g.ModTime, Edits: differences(before, after)})
	}
	slices.SortStableFunc(past, func(a, b PastEdits) int { return a.Base - b.Base })
	return past, nil
}

// differences lists how files were edited, by path.
func differences(before, after Files) []Edit {
	var edits []Edit
	for _, path := range union(before, after) {
		was, had := before[path]
		now, has := after[path]
		if had != has || string(was) != string(now) {
			edits = append(edits, Edit{Path: path, Published: was, Now: now})
		}
	}
	return edits
}
