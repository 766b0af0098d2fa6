package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/secrets"
	"memoir/store"
)

// A consolidation is work on a project that is claimed.
type consolidation struct {
	*run
	project memoir.Project
	root    memory.Root
	claim   *store.ProjectClaim
	report  ProjectReport

	consolidator consolidate.Consolidator // in place of the run's

	forgetting *forgetting // nil unless the memory is made for the sake of forgetting
}

func (r *run) workOn(project memoir.Project, claim *store.ProjectClaim) *consolidation {
	return &consolidation{run: r, project: project, root: memory.At(r.opts.Home, project.ID), claim: claim,
		consolidator: r.consolidatorOf(project.ID)}
}

// current puts the memory in order after a crash, reads it, and records what people changed in
// it since it was published, before anything replaces it.
func (c *consolidation) current(ctx context.Context) (memory.Snapshot, error) {
	if err := c.recoverRoot(ctx); err != nil {
		return memory.Snapshot{}, err
	}
	live, err := c.root.Current()
	if err != nil {
		return live, fmt.Errorf("read the live memory: %w", err)
	}
	if live.Generation == 0 {
		return live, nil
	}
	// A file that an editor was just writing would look as if lines had been deleted.
	if same, err := c.root.Unchanged(live); err != nil || !same {
		return live, errors.Join(err, errChanged())
	}
	return live, c.record(ctx, live, c.editsOf(live))
}

// recoverRoot removes what a killed run left behind, and records a generation
// that was linked just before its process died.
func (c *consolidation) recoverRoot(ctx context.Context) error {
	recovered, err := c.root.Recover(int(c.claim.Generation))
	c.warnOfLate(c.project.ID, recovered.Late)
	if err != nil {
		return fmt.Errorf("recover the memory after a crash: %w", err)
	}
	m := recovered.Ahead
	if m == nil {
		return nil
	}
	err = c.store.RecordGeneration(ctx, c.project.ID, store.GenerationRecord{
		N: int64(m.Generation), ManifestHash: m.Hash(), Inputs: inputsByKey(m.Inputs), At: c.now(),
		Fence: c.claim.Fence, Redactions: m.Redactions,
	})
	if err != nil {
		return fmt.Errorf("record generation %d: %w", m.Generation, err)
	}
	c.claim.Generation = int64(m.Generation)
	return nil
}

// editsOf are notes on what people changed in the live files. Files are redacted as a whole:
// no line of a key tells by itself that it is one.
func (c *consolidation) editsOf(live memory.Snapshot) []memoir.Note {
	edits := slices.Clone(live.Edited)
	for i, e := range edits {
		if e.Now != nil {
			edits[i].Now = []byte(c.redactFor(c.project, string(e.Now)))
		}
	}
	return memory.Notes(c.project.ID, edits, c.now())
}

// record stores the notes on the live generation, in place of those from before.
func (c *consolidation) record(ctx context.Context, live memory.Snapshot, notes []memoir.Note) error {
	for i := range notes {
		n := &notes[i] // as the published files will have it, or the anchors would not be found
		for _, text := range []*string{&n.Text, &n.After, &n.Section} {
			*text = c.redactFor(c.project, *text)
		}
		n.File = c.cleanNameFor(c.project, n.File)
	}
	if err := c.store.RecordNotes(ctx, c.project.ID, int64(live.Generation), notes); err != nil {
		return fmt.Errorf("keep the edits of %s: %w", c.project.Name, err)
	}
	return nil
}

func errChanged() error {
	return memoir.Errorf(
		memoir.CodeChanged,
		"the next run tries again",
		"the live memory was edited while it was consolidated",
	)
}

// publishResult publishes what was made of an input, with what people wrote, unless it is what
// is live already. The claim ends with it, or else stays ours; then sessions that are open stay
// new, or changed, to the next consolidation.
func (c *consolidation) publishResult(
	ctx context.Context, result memoir.Consolidation, in consolidate.Input, live memory.Snapshot, ends bool,
) error {
	open := result.Open
	result = consolidate.ApplyNotes(result, consolidate.LiveNotes(in.Notes, in))
	if err := consolidate.Verify(result, in); err != nil {
		return fmt.Errorf("check the consolidation: %w", &memoir.AnswerError{Err: err})
	}
	files, err := memory.Layout(result, c.beside(in, live))
	if err != nil {
		return fmt.Errorf("lay out the memory: %w", err)
	}
	files, counts, err := c.cleanFiles(c.project, files)
	if err != nil {
		return err
	}
	counts.Merge(workOf(ctx).taken)
	result.Anchors = consolidate.Anchors(result, in)
	aside := stillAside(live.Manifest.SetAside, in)
	if live.Generation > 0 && len(live.Edited) == 0 && len(aside) == len(live.Manifest.SetAside) &&
		files.Equal(live.Files) && (ends || len(open) == 0) &&
		maps.EqualFunc(result.Anchors, live.Manifest.Anchors, slices.Equal) {
		c.report.Outcome = cmp.Or(c.report.Outcome, OutcomeUnchanged)
		if !ends {
			return nil
		}
		return c.store.FinishProjectUnchanged(ctx, *c.claim)
	}
	manifest := memory.Manifest{
		Inputs: restingOn(in, open, live.Manifest.Inputs), Redactions: counts, SetAside: aside, Citations: result.Citations,
		Anchors: result.Anchors,
	}
	commit, record := c.store.PublishPart, store.GenerationRecord{Part: len(open) > 0}
	if ends {
		commit = c.store.Publish
	}
	return c.publish(ctx, live, files, manifest, record, commit)
}

// A committer records a generation and calls swap as the last step of the transaction.
type committer func(ctx context.Context, claim store.ProjectClaim, record store.GenerationRecord,
	swap func() error) error

// publish makes files the live generation in place of a snapshot. What people
// edited since that was published becomes a generation of its own before it, in
// the same step. The manifest needs inputs and redactions; both it and the record
// are completed. The error code CodeChanged says that the live files changed.
func (c *consolidation) publish(
	ctx context.Context,
	live memory.Snapshot,
	files memory.Files,
	manifest memory.Manifest,
	record store.GenerationRecord,
	commit committer,
) (err error) {
	next, err := c.root.Next(int(c.claim.Generation))
	if err != nil {
		return err
	}
	byHand, gone, err := c.stageEdits(ctx, live, next)
	defer func() {
		if err != nil {
			for n := next; n <= next+len(byHand); n++ {
				err = errors.Join(err, c.root.Discard(n))
			}
		}
	}()
	if err != nil {
		return err
	}
	n := next + len(byHand)
	manifest = manifest.Describing(n, files)
	if err := c.root.Stage(ctx, n, files, manifest); err != nil {
		return err
	}
	record.N, record.ManifestHash, record.Inputs = int64(n), manifest.Hash(), inputsByKey(manifest.Inputs)
	record.At, record.Redactions = c.now(), manifest.Redactions
	err = commit(ctx, *c.claim, record, func() error {
		if same, err := c.root.Unchanged(live); err != nil || !same {
			return errors.Join(err, errChanged())
		}
		return c.root.Swap(n, byHand...)
	})
	if err != nil {
		return err
	}
	c.addRedactions(manifest.Redactions)
	if gone.Total() > 0 {
		c.dropEdited(live)
	}
	c.claim.Generation = int64(n)
	c.report.Outcome, c.report.Generation, c.report.Root = OutcomePublished, n, c.root.Link()
	c.report.ByHand = append(c.report.ByHand, byHand...)
	c.dropOld()
	return nil
}

// dropEdited removes an earlier live directory whose hand edits held secrets, which else would
// stay until the next publication.
func (c *consolidation) dropEdited(live memory.Snapshot) {
	late, err := c.root.RemovePrevious()
	c.warnOfLate(c.project.ID, late)
	if err != nil {
		c.warn(fmt.Sprintf("cannot remove hand edits with secrets from %s: %v",
			c.root.Live(live.Generation), err), "remove that directory")
	}
}

// stageEdits stages the live files as people edited them, redacted like all that is
// published, as generation n. It returns n, or nothing if nobody edited them.
func (c *consolidation) stageEdits(
	ctx context.Context, live memory.Snapshot, n int,
) (numbers []int, gone secrets.Counts, err error) {
	if len(live.Edited) == 0 {
		return nil, nil, nil
	}
	files, gone, err := c.cleanFiles(c.project, live.Files)
	if err != nil {
		return nil, gone, fmt.Errorf("keep the edits of generation %d: %w", live.Generation, err)
	}
	m := memory.Manifest{EditedFrom: live.Generation, Inputs: live.Manifest.Inputs, Redactions: gone}
	if err := c.root.Stage(ctx, n, files, m); err != nil {
		return nil, gone, err
	}
	return []int{n}, gone, nil
}

// dropOld removes the archives that the settings do not keep. Their age is that of
// the files, so it is told by the clock, whatever time the run was given.
func (c *consolidation) dropOld() {
	memories := c.opts.Settings.Memories
	var before time.Time
	if days := memories.GenerationsMaxAgeDays; days > 0 {
		before = time.Now().Add(-time.Duration(days * 24 * float64(time.Hour)))
	}
	kept, err := c.root.Prune(memories.GenerationsKept, before)
	c.warnOfLate(c.project.Name, kept)
	if err != nil {
		c.warn(fmt.Sprintf("project %s: cannot remove old generations: %v", c.project.Name, err), memoir.HintOf(err))
	}
}

// warnOfLate warns of files that were saved too late to be merged.
func (r *run) warnOfLate(project string, paths []string) {
	for _, path := range paths {
		r.warn(fmt.Sprintf("project %s: %s was saved after a newer generation was published, so it was not merged",
			project, path), "copy what you need from it into the live memory, then remove it")
	}
}
