package pipeline

import (
	"context"
	"slices"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// Mended says what became of a project's extractions that were garbled.
type Mended struct {
	FromMemory int // their texts were taken from its live files
	Again      int // their sessions are read again
	Stay       int // neither could be: what is left stays
}

// MendExtractions sees to extractions that a disk changed, by project; "" for those of none.
// The live memory has a copy of each that it rests on, which is taken. Where there is none,
// or it is of an earlier reading, the session is read again by the next run.
func MendExtractions(ctx context.Context, st *store.Store, home string) (map[string]Mended, error) {
	garbled, err := st.GarbledExtractions(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]Mended{}
	copies := map[string][]memoir.Extraction{} // in the live files, by project
	for _, g := range garbled {
		id := g.ProjectID
		if _, read := copies[id]; !read && id != "" {
			copies[id] = nil
			if live, err := memory.At(home, id).Current(); err == nil { // else who publishes there says so
				copies[id] = extractionsIn(live.Files, live.Manifest.Inputs)
			}
		}
		var from *memoir.Extraction
		if i := slices.IndexFunc(copies[id], func(e memoir.Extraction) bool { return e.SessionKey == g.SessionKey && e.ContentHash == g.ContentHash }); i >= 0 {
			from = &copies[id][i]
		}
		fate, err := st.MendExtraction(ctx, g.SessionKey, from)
		if err != nil {
			return out, err
		}
		m := out[id]
		switch fate {
		case store.FateMended:
			m.FromMemory++
		case store.FateAgain:
			m.Again++
		case store.FateStays:
			m.Stay++
		}
		out[id] = m
	}
	return out, nil
}
