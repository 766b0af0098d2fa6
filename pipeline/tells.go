package pipeline

import (
	"context"
	"slices"

	"memoir/memory"
	"memoir/store"
)

// TellOfForgotten returns which generations of a project tell of what was forgotten: they
// rest on forgotten sessions, or have lines that were forgotten. Where nothing was
// forgotten no archive is read.
func TellOfForgotten(ctx context.Context, st *store.Store, root memory.Root, projectID string, generations []memory.Generation) (map[int]bool, error) {
	sessions, err := st.Forgotten(ctx)
	if err != nil {
		return nil, err
	}
	lines, err := st.ForgottenLines(ctx, projectID)
	if err != nil {
		return nil, err
	}
	out := map[int]bool{}
	for _, g := range generations {
		rests := slices.ContainsFunc(g.Manifest.Inputs, func(in memory.Input) bool { return sessions[in.Session] })
		if !rests && lines.Len() > 0 {
			if files, err := root.ReadArchive(g.Number); err == nil {
				rests = tells(files, lines)
			}
		}
		if rests {
			out[g.Number] = true
		}
	}
	return out, nil
}
