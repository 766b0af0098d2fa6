package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"memoir"
	"memoir/memory"
	"memoir/secrets"
	"memoir/store"
)

// published says which generations a publication made.
type published struct {
	generation int
	byHand     []int // the states before it that people had made
}

// A committer records a generation and calls swap as the last step of the transaction.
type committer func(ctx context.Context, claim store.ProjectClaim, record store.GenerationRecord, swap func() error) error

// publish makes files the live generation in place of a snapshot. What people
// edited since that was published becomes a generation of its own before it, in
// the same step. The manifest needs inputs and redactions; both it and the record
// are completed. Commit is store.Publish or store.PublishPart. The error code
// CodeChanged says that the live files changed.
func (r *run) publish(ctx context.Context, root memory.Root, live memory.Snapshot, claim store.ProjectClaim,
	files memory.Files, manifest memory.Manifest, record store.GenerationRecord, commit committer) (out published, err error) {
	next, err := root.Next(int(claim.Generation))
	if err != nil {
		return out, err
	}
	defer func() {
		if err != nil {
			for n := next; n <= next+len(out.byHand); n++ {
				err = errors.Join(err, root.Discard(n))
			}
			out = published{}
		}
	}()
	var gone secrets.Counts
	if out.byHand, gone, err = r.stageEdits(root, claim.ProjectID, live, next); err != nil {
		return out, err
	}
	out.generation = next + len(out.byHand)
	if manifest.RestoredFrom > 0 {
		manifest.RestoredOver = stateOf(live, out.byHand)
	}
	manifest = manifest.Describing(out.generation, files)
	if err := root.Stage(ctx, out.generation, files, manifest); err != nil {
		return out, err
	}
	record.N, record.ManifestHash, record.At, record.Redactions = int64(out.generation), manifest.Hash(), r.now(), manifest.Redactions
	err = commit(ctx, claim, record, func() error {
		if same, err := root.Unchanged(live); err != nil || !same {
			return errors.Join(err, errChanged())
		}
		return root.Swap(out.generation, out.byHand...)
	})
	if err != nil {
		return out, err
	}
	r.addRedactions(manifest.Redactions)
	if gone.Total() > 0 { // which else would stand there until the next publication
		if err := root.RemovePrevious(); err != nil {
			r.warn(fmt.Sprintf("what was edited by hand held secrets and stays in %s: %v", root.Live(live.Generation), err), "remove that directory")
		}
	}
	return out, nil
}

// stageEdits stages the live files as people edited them, redacted like all that is
// published, as generation n. It returns n, or nothing if nobody edited them.
func (r *run) stageEdits(root memory.Root, projectID string, live memory.Snapshot, n int) (numbers []int, gone secrets.Counts, err error) {
	state, edited := live.HandState()
	if !edited {
		return nil, secrets.Counts{}, nil
	}
	files, gone, err := r.cleanFiles(projectID, state.Files)
	if err != nil {
		return nil, gone, fmt.Errorf("keep the edits of generation %d: %w", live.Generation, err)
	}
	state.Manifest.Redactions = gone
	if err := root.StageArchive(n, files, state.Manifest); err != nil {
		return nil, gone, err
	}
	return []int{n}, gone, nil
}

// stateOf is the generation whose archive has the live files as they are now.
func stateOf(live memory.Snapshot, byHand []int) int {
	if len(byHand) > 0 {
		return byHand[len(byHand)-1]
	}
	return live.Generation
}

// prune removes the archives that the settings do not keep. Their age is that of
// the files, so it is told by the clock, whatever time the run was given.
func (r *run) prune(root memory.Root, name string) {
	memories := r.opts.Settings.Memories
	var before time.Time
	if days := memories.GenerationsMaxAgeDays; days > 0 {
		before = time.Now().Add(-time.Duration(days * 24 * float64(time.Hour)))
	}
	kept, err := root.Prune(memories.GenerationsKept, before)
	for _, path := range kept {
		r.warn(fmt.Sprintf("project %s: %s was saved after a newer generation was published, so it was not merged", name, path),
			"copy what you need from it into the live memory, then remove it")
	}
	if err != nil {
		r.warn(fmt.Sprintf("project %s: old generations stay: %v", name, err), memoir.HintOf(err))
	}
}
