package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/secrets"
	"memoir/store"
)

// makeGeneration consolidates once and publishes the result, unless it is what is
// live already. The error code CodeChanged asks for another round.
func (r *run) makeGeneration(
	ctx context.Context,
	root memory.Root,
	project store.ProjectRow,
	claim store.ProjectClaim,
	report ProjectReport,
) (out ProjectReport, err error) {
	out = report
	defer func() { err = r.lostOr(ctx, claim, err) }()
	defer r.survive(&err)
	if err := r.recoverRoot(ctx, root, &claim); err != nil {
		return report, err
	}
	live, err := root.Current()
	if err != nil {
		return report, fmt.Errorf("read the live memory: %w", err)
	}
	if err := r.keepEdits(ctx, root, project, live); err != nil {
		return report, err
	}
	in, err := r.inputs(ctx, project, live)
	if err != nil {
		return report, err
	}
	in.Forced = claim.Forced
	report.Inputs, report.Generation = len(in.Extractions), live.Generation
	if live.Generation > 0 {
		report.Root = root.Link()
	}
	accountOf(ctx).redactBy(r.scannersFor(project.ID)...)
	result, err := r.makeMemory(ctx, in, live)
	stopped := ctx.Err() != nil
	if accountOf(ctx).paid() {
		var done func()
		ctx, done = keeping(ctx, r.grace(keepWithin))
		defer done()
	}
	var part *consolidate.Partly
	switch {
	case errors.As(err, &part) && ctx.Err() == nil && (!stopped || part.Steps > 0):
		made, published := r.publishPaid(ctx, root, project, claim, part, in, live, r.store.PublishPart)
		if ownFault(published) || memoir.CodeOf(published) == memoir.CodeLeaseLost {
			return report, errors.Join(published, err) // the first one's code counts
		}
		if published != nil {
			return report, errors.Join(err, published)
		}
		report.Generation, report.ByHand, report.Root = made.generation, made.byHand, root.Link()
		return report, err
	case err != nil:
		return report, err
	case result == nil:
		report.Outcome = OutcomeEmpty
		return report, r.store.FinishProjectUnchanged(ctx, claim)
	}
	return r.publishResult(ctx, root, project, claim, *result, in, live, report)
}

// lostOr is err, or an error of code CodeLeaseLost if a file was gone because another process, such as
// `memoir clear`, took the project over and removed its folder.
func (r *run) lostOr(ctx context.Context, claim store.ProjectClaim, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours, failed := r.store.ExtendProject(context.WithoutCancel(ctx), claim, r.leaseUntil(r.phase2Lease()))
	if ours || failed != nil {
		return err
	}
	return memoir.Errorf(memoir.CodeLeaseLost, "a later run does it again",
		"project %s was taken over: %w", claim.ProjectID, err)
}

// publishResult publishes what a consolidation made, unless it is what is live already.
func (r *run) publishResult(
	ctx context.Context,
	root memory.Root,
	project store.ProjectRow,
	claim store.ProjectClaim,
	result memoir.Consolidation,
	in consolidate.Input,
	live memory.Snapshot,
	report ProjectReport,
) (ProjectReport, error) {
	files, counts, err := r.files(result, in, live)
	if err != nil {
		return report, err
	}
	counts.Merge(accountOf(ctx).redactions())
	aside, withdrawn := stillAside(live.Manifest.SetAside, in)
	// The archive by which it is told what restoring took away may tell of what is
	// forgotten, and be purged. That is noted by now, and the next generation does not
	// ask for it.
	purges := r.forgetting != nil && live.Manifest.RestoredOver > 0
	if live.Generation > 0 && len(live.Edited) == 0 && !withdrawn && !purges && files.Equal(live.Files) {
		report.Outcome = OutcomeUnchanged
		return report, r.store.FinishProjectUnchanged(ctx, claim)
	}

	inputs := restingOn(in)
	record := store.GenerationRecord{Inputs: inputsByKey(inputs)}
	manifest := memory.Manifest{Inputs: inputs, Redactions: counts, SetAside: aside, Citations: result.Citations}
	published, err := r.publish(ctx, root, live, claim, files, manifest, record, r.store.Publish)
	if memoir.CodeOf(err) == memoir.CodeChanged && accountOf(ctx).paid() {
		// Asking again would cost as much again, and a person who goes on editing could
		// make it cost that without end.
		whole := &consolidate.Partly{Result: result}
		if published, err = r.publishPaid(ctx, root, project, claim, whole, in, live, r.store.Publish); err != nil {
			report.Outcome = OutcomeEdited
		}
	}
	if err != nil {
		return report, err
	}
	report.Outcome, report.Root = OutcomePublished, root.Link()
	report.Generation, report.ByHand = published.generation, published.byHand
	r.prune(root, project.Name)
	return report, nil
}

// makeMemory consolidates and checks the result; nil says that there is nothing to
// make memory of. Zero inputs never wipe a root: only when all that a memory rests
// on was taken out by a person or a setting is what they wrote by hand left alone. Where
// the rest of it is lost, the memory stays as it is but for what was taken out.
func (r *run) makeMemory(
	ctx context.Context,
	in consolidate.Input,
	live memory.Snapshot,
) (*memoir.Consolidation, error) {
	if len(in.Extractions) == 0 {
		if live.Generation == 0 || len(live.Manifest.Inputs) == 0 {
			return nil, nil
		}
		out := 0
		for _, input := range live.Manifest.Inputs {
			takenOut, err := r.takenOut(ctx, in.Project.ID, input.Session)
			if err != nil {
				return nil, err
			}
			if takenOut {
				out++
			}
		}
		switch {
		case out == len(live.Manifest.Inputs):
			left := consolidate.OnlyNotes(in)
			return &left, nil
		case out == 0:
			return nil, nil
		}
		files, _ := without(live.Files, live.Manifest.Inputs, in.Withdrawn)
		left := consolidate.ApplyNotes(files.Consolidation(), consolidate.LiveNotes(in.Notes, in))
		return &left, nil
	}
	result, err := apart(ctx, r, r.grace(handOver), func() (memoir.Consolidation, error) {
		c, _, err := r.consolidator.Consolidate(ctx, in) // what it spent is in the ledger
		return c, err
	})
	if err != nil {
		return nil, err
	}
	result = consolidate.ApplyNotes(result, consolidate.LiveNotes(in.Notes, in))
	if err := consolidate.Verify(result, in); err != nil {
		return nil, fmt.Errorf("check the consolidation: %w", &memoir.AnswerError{Answer: result.MemoryMD, Err: err})
	}
	return &result, nil
}

// takenOut reports whether a person or a setting took a session out of memory, or
// it counts for another project now, which has what it gave.
func (r *run) takenOut(ctx context.Context, projectID, key string) (bool, error) {
	sessions, err := r.store.Sessions(ctx, store.Filter{Keys: []string{key}})
	if err != nil || len(sessions) == 0 {
		return false, err
	}
	s := sessions[0]
	elsewhere := s.ProjectID != "" && s.ProjectID != projectID
	if s.Reason == memoir.ReasonDisabled || elsewhere {
		return true, nil
	}
	forgotten, err := r.store.Forgotten(ctx)
	return forgotten[key], err
}

// recoverRoot removes what a killed run left behind, and records a generation
// that was linked just before its process died.
func (r *run) recoverRoot(ctx context.Context, root memory.Root, claim *store.ProjectClaim) error {
	recovered, err := root.Recover(int(claim.Generation))
	r.warnOfLate(claim.ProjectID, recovered.Late)
	if err != nil {
		return fmt.Errorf("put the memory in order after a crash: %w", err)
	}
	m := recovered.Ahead
	if m == nil {
		return nil
	}
	err = r.store.RecordGeneration(ctx, claim.ProjectID, store.GenerationRecord{
		N: int64(m.Generation), ManifestHash: m.Hash(), Inputs: inputsByKey(m.Inputs), At: r.now(),
		Fence: claim.Fence, Redactions: m.Redactions,
	})
	if err != nil {
		return fmt.Errorf("record generation %d: %w", m.Generation, err)
	}
	claim.Generation = int64(m.Generation)
	return nil
}

// keepEdits records what people changed in the live files since they were
// published, before anything replaces those files.
func (r *run) keepEdits(ctx context.Context, root memory.Root, project store.ProjectRow, live memory.Snapshot) error {
	_ = r.obey(project.Project) // where they are invalid, the run does not come here but to take something out
	if live.Generation == 0 {
		return nil
	}
	// A file that an editor was just writing would look as if lines had been deleted.
	if same, err := root.Unchanged(live); err != nil || !same {
		return errors.Join(err, errChanged())
	}
	restored, err := root.RestoredEdits(live)
	if errors.Is(err, fs.ErrNotExist) {
		r.warn(
			fmt.Sprintf(
				"project %s: what restoring took away may come back: the archive of generation %d is gone",
				project.Name,
				live.Manifest.RestoredOver,
			),
			"take out by hand what comes back",
		)
		err = nil
	}
	if err != nil {
		return err
	}
	earlier, err := r.store.NotesBefore(ctx, project.ID, int64(live.Generation))
	if err != nil {
		return fmt.Errorf("read notes: %w", err)
	}
	decisions := decided(memory.Notes(project.ID, restored, r.now()), earlier)
	notes := append(decisions, memory.Notes(project.ID, r.cleanEdits(project.ID, live.Edited), r.now())...)
	for i := range notes {
		n := &notes[i] // as the published files will have it, or the anchors would not be found
		for _, text := range []*string{&n.Text, &n.After, &n.Section} {
			*text = r.redactFor(project.ID, *text)
		}
		n.File = r.cleanNameFor(project.ID, n.File)
	}
	if err := r.store.RecordNotes(ctx, project.ID, int64(live.Generation), notes); err != nil {
		return fmt.Errorf("keep the edits of %s: %w", project.Name, err)
	}
	return nil
}

// cleanEdits redacts files as a whole: no line of a key tells by itself that it is one.
func (r *run) cleanEdits(projectID string, edits []memory.Edit) []memory.Edit {
	clean := slices.Clone(edits)
	for i, e := range clean {
		if e.Now != nil {
			clean[i].Now = []byte(r.redactFor(projectID, string(e.Now)))
		}
	}
	return clean
}

func errChanged() error {
	return memoir.Errorf(
		memoir.CodeChanged,
		"it is tried again at the next run",
		"the live memory was edited while it was consolidated",
	)
}

// files lays the artifact set out and redacts each file and name in it.
func (r *run) files(
	c memoir.Consolidation,
	in consolidate.Input,
	live memory.Snapshot,
) (memory.Files, secrets.Counts, error) {
	theirs := r.beside(in, live)
	files, err := memory.Layout(c, theirs)
	if err != nil {
		return nil, nil, fmt.Errorf("lay out the memory: %w", err)
	}
	return r.cleanFiles(in.Project.ID, files)
}
