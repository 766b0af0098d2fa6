package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/store"
)

// publishPart makes a part of a consolidation live, so that it is not paid for again and
// what was withdrawn is gone, whatever becomes of the rest. The sessions that are not in
// it yet stay new, or changed, to the next consolidation.
func (r *run) publishPart(ctx context.Context, root memory.Root, claim store.ProjectClaim, part *consolidate.Partly, in consolidate.Input, live memory.Snapshot) (int, error) {
	result := consolidate.ApplyNotes(part.Result, consolidate.LiveNotes(in.Notes, in))
	if err := consolidate.Verify(result, in); err != nil {
		return 0, fmt.Errorf("check a part of the consolidation: %w", err)
	}
	files, counts, err := r.files(result, in, live)
	if err != nil {
		return 0, err
	}
	last := map[string]bool{}
	for _, input := range live.Manifest.Inputs {
		last[input.Session] = true
	}
	inputs := map[string]string{}
	var listed []memory.Input
	for _, e := range in.Extractions {
		hash := e.ContentHash
		if slices.Contains(part.Open, e.SessionKey) {
			if hash = ""; !last[e.SessionKey] {
				continue
			}
		}
		inputs[e.SessionKey] = hash
		listed = append(listed, memory.Input{Session: e.SessionKey, Hash: hash})
	}
	next, err := root.Next(int(claim.Generation))
	if err != nil {
		return 0, err
	}
	manifest := memory.NewManifest(next, files, listed, counts)
	if err := root.Stage(ctx, next, files, manifest); err != nil {
		return 0, err
	}
	err = r.store.PublishPart(ctx, claim, store.GenerationRecord{
		N: int64(next), ManifestHash: manifest.Hash(), Inputs: inputs, At: r.now(), Redactions: counts, Model: r.consolidator.Name(), Run: r.id,
	}, func() error {
		if same, err := root.Unchanged(live); err != nil || !same {
			return errors.Join(err, errChanged())
		}
		return root.Swap(next)
	})
	if err != nil {
		return 0, errors.Join(err, root.Discard(next))
	}
	r.addRedactions(counts)
	if err := root.Prune(r.opts.Settings.Memories.GenerationsKept); err != nil {
		r.warn(fmt.Sprintf("project %s: old generations stay: %v", in.Project.Name, err), memoir.HintOf(err))
	}
	return next, nil
}
