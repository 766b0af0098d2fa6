package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"memoir"
	"memoir/consolidate"
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
type committer func(ctx context.Context, claim store.ProjectClaim, record store.GenerationRecord,
	swap func() error) error

// publish makes files the live generation in place of a snapshot. What people
// edited since that was published becomes a generation of its own before it, in
// the same step. The manifest needs inputs and redactions; both it and the record
// are completed. Commit is store.Publish or store.PublishPart. The error code
// CodeChanged says that the live files changed.
func (r *run) publish(
	ctx context.Context,
	root memory.Root,
	live memory.Snapshot,
	claim store.ProjectClaim,
	files memory.Files,
	manifest memory.Manifest,
	record store.GenerationRecord,
	commit committer,
) (out published, err error) {
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
	record.N, record.ManifestHash = int64(out.generation), manifest.Hash()
	record.At, record.Redactions = r.now(), manifest.Redactions
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
	if gone.Total() > 0 {
		r.dropEdited(root, claim.ProjectID, live)
	}
	return out, nil
}

// dropEdited removes an earlier live directory whose hand edits held secrets, which else would
// stay until the next publication.
func (r *run) dropEdited(root memory.Root, projectID string, live memory.Snapshot) {
	late, err := root.RemovePrevious()
	r.warnOfLate(projectID, late)
	if err != nil {
		r.warn(fmt.Sprintf("what was edited by hand held secrets and stays in %s: %v",
			root.Live(live.Generation), err), "remove that directory")
	}
}

// stageEdits stages the live files as people edited them, redacted like all that is
// published, as generation n. It returns n, or nothing if nobody edited them.
func (r *run) stageEdits(
	root memory.Root,
	projectID string,
	live memory.Snapshot,
	n int,
) (numbers []int, gone secrets.Counts, err error) {
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
	r.warnOfLate(name, kept)
	if err != nil {
		r.warn(fmt.Sprintf("project %s: old generations stay: %v", name, err), memoir.HintOf(err))
	}
}

// warnOfLate warns of files that were saved too late to be merged.
func (r *run) warnOfLate(project string, paths []string) {
	for _, path := range paths {
		r.warn(fmt.Sprintf("project %s: %s was saved after a newer generation was published, so it was not merged",
			project, path), "copy what you need from it into the live memory, then remove it")
	}
}

// publishPart makes a part of a consolidation live, so that it is not paid for again and
// what was withdrawn is gone, whatever becomes of the rest. The sessions that are not in
// it yet stay new, or changed, to the next consolidation.
func (r *run) publishPart(
	ctx context.Context,
	root memory.Root,
	claim store.ProjectClaim,
	part *consolidate.Partly,
	in consolidate.Input,
	live memory.Snapshot,
	commit committer,
) (made published, err error) {
	result := consolidate.ApplyNotes(part.Result, consolidate.LiveNotes(in.Notes, in))
	if err := consolidate.Verify(result, in); err != nil {
		return made, fmt.Errorf("check a part of the consolidation: %w", err)
	}
	files, counts, err := r.files(result, in, live)
	if err != nil {
		return made, err
	}
	counts.Merge(accountOf(ctx).redactions())
	last := map[string]bool{}
	for _, input := range live.Manifest.Inputs {
		last[input.Session] = true
	}
	var listed []memory.Input
	for _, input := range restingOn(in) {
		if slices.Contains(part.Open, input.Session) {
			if input.Hash = ""; !last[input.Session] {
				continue
			}
		}
		listed = append(listed, input)
	}
	aside, _ := stillAside(live.Manifest.SetAside, in)
	made, err = r.publish(
		ctx,
		root,
		live,
		claim,
		files,
		memory.Manifest{Inputs: listed, Redactions: counts, SetAside: aside, Citations: result.Citations},
		store.GenerationRecord{Inputs: inputsByKey(listed)},
		commit,
	)
	if err == nil {
		r.prune(root, in.Project.Name)
	}
	return made, err
}

// publishPaid is publishPart, again with what a person edited meanwhile, so that an edit
// does not cost what was paid for.
func (r *run) publishPaid(
	ctx context.Context,
	root memory.Root,
	project store.ProjectRow,
	claim store.ProjectClaim,
	part *consolidate.Partly,
	in consolidate.Input,
	live memory.Snapshot,
	commit committer,
) (published, error) {
	for round := 1; ; round++ {
		made, err := r.publishPart(ctx, root, claim, part, in, live, commit)
		for memoir.CodeOf(err) == memoir.CodeChanged && round < maxRounds {
			if live, err = root.Current(); err == nil {
				err = r.keepEdits(ctx, root, project, live)
			}
			if err == nil {
				break
			}
			round++
		}
		if err != nil {
			return made, err
		}
		if made.generation > 0 {
			return made, nil
		}
		if in.Notes, err = r.store.Notes(ctx, project.ID); err != nil {
			return made, err
		}
		if in.Current, err = r.currentOf(project.ID, live); err != nil {
			return made, err
		}
	}
}

// withdrawOnly takes what was withdrawn out of the memory of a project that is not
// consolidated now, because its model waits or must not be asked: that needs no model.
func (r *run) withdrawOnly(ctx context.Context, project store.ProjectRow, report ProjectReport) ProjectReport {
	if r.consolidator.Name() == consolidate.BuiltinName || project.Generation == 0 || report.Outcome == "" ||
		ctx.Err() != nil {
		return report
	}
	claim, ok, err := r.store.ClaimProject(
		ctx,
		project.ID,
		store.ProjectClaimOptions{Holder: r.holder, Lease: r.phase2Lease(), Always: true},
	)
	if err != nil || !ok {
		return report // another process is at it
	}
	made, err := r.pruneProject(ctx, project, claim)
	if err == nil && made.generation > 0 {
		report.Generation, report.ByHand, report.Root = made.generation, made.byHand, memory.At(r.opts.Home, project.ID).
			Link()
	}
	if err := errors.Join(err, r.store.GiveBackProject(context.WithoutCancel(ctx), claim)); err != nil &&
		memoir.CodeOf(err) != memoir.CodeLeaseLost {
		r.warn(
			fmt.Sprintf("project %s: what was withdrawn is not taken out yet: %v", project.Name, err),
			memoir.HintOf(err),
		)
	}
	return report
}

// pruneProject returns the generations that it made, if any.
func (r *run) pruneProject(
	ctx context.Context,
	project store.ProjectRow,
	claim store.ProjectClaim,
) (made published, err error) {
	defer r.survive(&err)
	root := memory.At(r.opts.Home, project.ID)
	if err := r.recoverRoot(ctx, root, &claim); err != nil {
		return made, err
	}
	live, err := root.Current()
	if err != nil {
		return made, fmt.Errorf("read the live memory: %w", err)
	}
	if err := r.keepEdits(ctx, root, project, live); err != nil {
		return made, err
	}
	in, err := r.inputs(ctx, project, live)
	if err != nil || len(in.Withdrawn) == 0 {
		return made, err
	}
	in.Forced = claim.Forced // else nothing would say from then on that all are to be asked about
	part := consolidate.Prune(in)
	if len(in.Extractions) == 0 { // what people wrote is all that may be left
		left, err := r.makeMemory(ctx, in, live)
		if err != nil || left == nil {
			return made, err
		}
		part = &consolidate.Partly{Result: *left}
	}
	if part == nil {
		return made, nil
	}
	return r.publishPart(ctx, root, claim, part, in, live, r.store.PublishPart)
}
