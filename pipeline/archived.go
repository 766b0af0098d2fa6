package pipeline

import (
	"context"
	"maps"
	"slices"

	"memoir/memory"
	"memoir/store"
)

// archived are the generations up to the live one that were published and that an archive
// is kept of.
func archived(root memory.Root, live int) ([]store.GenerationRecord, error) {
	kept, err := root.Generations()
	if err != nil {
		return nil, err
	}
	var out []store.GenerationRecord
	for _, g := range kept {
		if g.Number > live || g.Err != nil || g.Manifest.EditedFrom > 0 {
			continue
		}
		_, m, err := root.ReadGeneration(g.Number)
		if err != nil {
			continue // `doctor` tells of it
		}
		out = append(out, store.GenerationRecord{N: int64(g.Number), ManifestHash: m.Hash(), Inputs: inputsByKey(m.Inputs), At: g.ModTime})
	}
	return out, nil
}

// RecordArchived has the database say of each project's generations what their archives
// tell, and returns how many rows of which projects that changes. A project whose memory
// cannot be read is left as it is.
func RecordArchived(ctx context.Context, st *store.Store, home string) (map[string]int, error) {
	return eachArchived(ctx, st, home, func(id string, kept []store.GenerationRecord) (int, error) {
		return st.RecordArchived(ctx, id, kept)
	})
}

// UnlikeArchives counts, by project, what RecordArchived would change. It only reads.
func UnlikeArchives(ctx context.Context, st *store.Store, home string) (map[string]int, error) {
	return eachArchived(ctx, st, home, func(id string, kept []store.GenerationRecord) (n int, err error) {
		recorded, err := st.Generations(ctx, id)
		for _, g := range kept {
			if !slices.ContainsFunc(recorded, func(r store.GenerationRecord) bool {
				return r.N == g.N && r.ManifestHash == g.ManifestHash && maps.Equal(r.Inputs, g.Inputs)
			}) {
				n++
			}
		}
		return n, err
	})
}

// eachArchived calls fn with the archived generations of each project, and returns the
// numbers that it gave and that are not 0.
func eachArchived(ctx context.Context, st *store.Store, home string, fn func(id string, kept []store.GenerationRecord) (int, error)) (map[string]int, error) {
	projects, err := st.Projects(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	for _, p := range projects {
		root := memory.At(home, p.ID)
		linked, err := root.Linked()
		if err != nil || linked == 0 || int64(linked) != p.Generation {
			continue // a run records it
		}
		kept, err := archived(root, linked)
		if err != nil {
			continue
		}
		n, err := fn(p.ID, kept)
		if err != nil {
			return found, err
		}
		if n > 0 {
			found[p.ID] = n
		}
	}
	return found, nil
}
