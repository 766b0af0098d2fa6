package pipeline

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/secrets"
	"memoir/store"
)

// Restored is the result of Restore.
type Restored struct {
	Project    string   `json:"project"`
	Restored   int      `json:"restored"`   // the generation whose content is live again
	Generation int      `json:"generation"` // the live one now
	Over       int      `json:"over"`       // the generation that was live before; 0: none
	ByHand     []int    `json:"by_hand"`    // the generations with hand edits
	Deferred   []string `json:"set_aside"`  // keys of sessions that are not inputs of this content
	Unchanged  bool     `json:"unchanged"`  // the live memory had that content already
	Root       string   `json:"root"`       // path of the live memory
}

// Restore publishes the content of an earlier generation as a new one. Hand edits of the live memory become a
// separate generation before it. If the content depends on sessions that were forgotten, disabled or moved
// since, the error has the code memoir.CodeInvalid. Later consolidations keep the removal of lines, as for
// hand edits, and sessions that are not inputs of the content are set aside until they change.
//
// It waits opts.Wait for the project's lease; then the error has the code memoir.CodeBusy. A project that is
// due stays due.
func Restore(ctx context.Context, st *store.Store, opts Options, project memoir.Project, n int) (Restored, error) {
	r, err := newPhases(st, opts)
	if err != nil {
		return Restored{}, err
	}
	var out Restored
	err = r.holding(ctx, project, opts.Wait, func(ctx context.Context, c *consolidation) (err error) {
		out, err = c.restore(ctx, n)
		return err
	})
	if err == nil {
		r.index(ctx)
	}
	return out, err
}

func (c *consolidation) restore(ctx context.Context, n int) (out Restored, err error) {
	out = Restored{
		Project: c.project.ID, Restored: n, Root: c.root.Link(),
		ByHand: []int{}, Deferred: []string{},
	}
	live, err := c.current(ctx)
	if err != nil {
		return out, err
	}
	files, m, err := c.root.ReadGeneration(n)
	if err != nil {
		return out, err
	}
	files, counts, err := c.restorable(ctx, files, m)
	if err != nil {
		return out, err
	}
	if out.Generation = live.Generation; live.Generation > 0 && files.Equal(live.Files) {
		out.Unchanged, out.Over = true, live.Generation
		return out, nil
	}
	inputs, deferred, err := c.restoredInputs(ctx, m, live)
	if err != nil {
		return out, err
	}
	if err := c.recordDecisions(ctx, live, files); err != nil {
		return out, err
	}
	manifest := memory.Manifest{
		Inputs: inputs, Redactions: counts, RestoredFrom: n, Deferred: deferred, Citations: m.Citations,
		Anchors: m.Anchors, Lines: m.Lines, Edited: live.Manifest.Edited,
	}
	if err := c.publish(ctx, live, files, manifest, store.PublishPart); err != nil {
		return out, err
	}
	out.Generation, out.Over = c.report.Generation, live.Generation
	if out.ByHand = append(out.ByHand, c.report.ByHand...); len(out.ByHand) > 0 {
		out.Over = out.ByHand[len(out.ByHand)-1]
	}
	out.Deferred = memoir.Map(deferred, func(in memory.Input) string { return in.Session })
	slices.Sort(out.Deferred)
	return out, nil
}

// restorable returns a generation's files, redacted with the present rules. It returns an error if they
// depend on sessions that were forgotten, disabled or moved since.
func (c *consolidation) restorable(
	ctx context.Context, files memory.Files, m memory.Manifest,
) (memory.Files, secrets.Counts, error) {
	gone, err := c.takenOutOf(ctx, m.Inputs)
	if err != nil {
		return nil, nil, err
	}
	in := consolidate.Input{Known: slices.Collect(maps.Keys(inputsByKey(m.Inputs)))}
	if in.Withdrawn, err = c.withdrawn(ctx, nil); err != nil {
		return nil, nil, err
	}
	unfinished, err := loadForgetting(ctx, c.store, c.project.ID)
	if err != nil {
		return nil, nil, err
	}
	if traces := unfinished.what.Traces(files, in); len(gone) == 0 && len(traces) > 0 {
		gone = append(gone, traces[0].String()) // a line may depend on other sessions than the inputs
	}
	if len(gone) > 0 {
		return nil, nil, memoir.Errorf(memoir.CodeInvalid,
			"restore a later generation, or bring them back with `memoir forget --undo` or `memoir sessions enable`",
			"generation %d contains sessions that were forgotten, disabled or moved to another project since: %s",
			m.Generation, strings.Join(gone, ", "))
	}
	return c.cleanFiles(files)
}

// restoredInputs returns the inputs of a restored generation: those of its content, with their latest
// version. Other inputs of the memory before it are set aside, so that no later consolidation adds their
// content again.
func (c *consolidation) restoredInputs(
	ctx context.Context, m memory.Manifest, live memory.Snapshot,
) (inputs, deferred []memory.Input, err error) {
	seen, err := c.store.LastInputs(ctx, c.project.ID)
	if err != nil {
		return nil, nil, err
	}
	for _, in := range live.Manifest.Deferred {
		seen[in.Session] = in.Hash
	}
	for _, in := range m.Inputs {
		hash, known := seen[in.Session]
		if !known {
			hash = in.Hash
		}
		delete(seen, in.Session)
		inputs = append(inputs, memory.Input{Session: in.Session, Hash: adopted(hash)})
	}
	for key, hash := range seen {
		deferred = append(deferred, memory.Input{Session: key, Hash: adopted(hash)})
	}
	out, err := c.takenOutOf(ctx, deferred)
	deferred = slices.DeleteFunc(deferred, func(in memory.Input) bool { return slices.Contains(out, in.Session) })
	return inputs, deferred, err // the manifest orders them
}

// recordDecisions records the changes of a restoration as hand edits, besides earlier ones. Companions are
// left out, since they are made from the sessions.
func (c *consolidation) recordDecisions(ctx context.Context, live memory.Snapshot, files memory.Files) error {
	if live.Generation == 0 {
		return nil
	}
	before, _, err1 := c.cleanFiles(live.Files)
	earlier, err2 := c.store.HandEdits(ctx, c.project.ID)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	changed := memory.Differences(before, files)
	changed = slices.DeleteFunc(changed, func(e memory.Edit) bool { return isCompanion(e.Path) })
	edits := append(c.editsOf(live), consolidate.Decided(memory.HandEdits(c.project.ID, changed, c.now()), earlier)...)
	return c.record(ctx, live, edits)
}
