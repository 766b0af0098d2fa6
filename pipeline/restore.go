package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/secrets"
	"memoir/store"
)

// Restored says what Restore did.
type Restored struct {
	Project    string   `json:"project"`
	Restored   int      `json:"restored"`   // the generation whose content is live again
	Generation int      `json:"generation"` // the live one now
	Over       int      `json:"over"`       // the generation that keeps what was live before; 0: nothing was
	ByHand     []int    `json:"by_hand"`    // the generations that keep what people had edited
	SetAside   []string `json:"set_aside"`  // keys of sessions that this content knows nothing of
	Left       []string `json:"left_out"`   // keys of sessions that were taken out of memory since
	Lines      int      `json:"left_out_lines"`
	Unchanged  bool     `json:"unchanged"` // the live memory had that content already
	Root       string   `json:"root"`      // path of the live memory
}

// Restore makes the content of an earlier generation live again, as a generation of
// its own. What people edited since the last one is kept as another before it. What
// rests on sessions that were taken out of memory since does not come back. What the
// restoring took away stays away: it is noted like an edit by hand, and the sessions that
// the content knows nothing of are set aside until they go on.
//
// It takes the project's lease as a consolidation does and waits opts.Wait for it;
// then the error has the code memoir.CodeBusy. The project stays due for whatever
// it was due for.
func Restore(ctx context.Context, st *store.Store, opts Options, project memoir.Project, n int) (Restored, error) {
	r, err := newRun(st, opts)
	if err != nil {
		return Restored{}, err
	}
	if err := r.finishBefore(ctx, project); err != nil {
		return Restored{}, err
	}
	var out Restored
	err = r.holding(ctx, project, opts.Wait, func(ctx context.Context, c *consolidation) (err error) {
		out, err = c.restore(ctx, n)
		return err
	})
	return out, err
}

// finishBefore ends what a process that died had begun to forget: only then it is known
// what of an earlier generation may not come back.
func (r *run) finishBefore(ctx context.Context, project memoir.Project) error {
	if err := r.finishForgetting(ctx); err != nil {
		return err
	}
	left, err := r.store.Withdrawals(ctx)
	if err == nil && slices.ContainsFunc(left, func(w store.Withdrawal) bool { return w.ProjectID == project.ID }) {
		err = memoir.Errorf(
			memoir.CodeBusy,
			"`memoir run` finishes it",
			"what %s forgets is not cleared away yet, so nothing is restored",
			project.Name,
		)
	}
	return err
}

func (c *consolidation) restore(ctx context.Context, n int) (out Restored, err error) {
	out = Restored{
		Project: c.project.ID, Restored: n, Root: c.root.Link(),
		ByHand: []int{}, SetAside: []string{}, Left: []string{},
	}
	live, err := c.current(ctx)
	if err != nil {
		return out, err
	}
	files, m, err := c.root.ReadGeneration(n)
	if err != nil {
		return out, err
	}
	files, counts, err := c.restorable(ctx, files, m, live, &out)
	if err != nil {
		return out, err
	}
	if out.Generation = live.Generation; live.Generation > 0 && files.Equal(live.Files) {
		out.Unchanged, out.Over = true, live.Generation
		return out, nil
	}
	inputs, aside, err := c.restoredInputs(ctx, m, live, out.Left)
	if err != nil {
		return out, err
	}
	if err := c.recordDecisions(ctx, live, files); err != nil {
		return out, err
	}
	manifest := memory.Manifest{
		Inputs: inputs, Redactions: counts, RestoredFrom: n, SetAside: aside, Citations: m.Citations,
	}
	if err := c.publish(ctx, live, files, manifest, store.GenerationRecord{}, c.store.PublishPart); err != nil {
		return out, err
	}
	out.Generation, out.Over = c.report.Generation, live.Generation
	if out.ByHand = append(out.ByHand, c.report.ByHand...); len(out.ByHand) > 0 {
		out.Over = out.ByHand[len(out.ByHand)-1]
	}
	for _, in := range aside {
		out.SetAside = append(out.SetAside, in.Session)
	}
	slices.Sort(out.SetAside)
	return out, nil
}

// restorable is what of a generation's files may come back, redacted by the rules of today.
// Of a generation whose sessions were all taken out only headings would be left, so that is
// an error.
func (c *consolidation) restorable(
	ctx context.Context, files memory.Files, m memory.Manifest, live memory.Snapshot, out *Restored,
) (memory.Files, secrets.Counts, error) {
	var err error
	if out.Left, err = c.takenOutOf(ctx, c.project.ID, m.Inputs); err != nil {
		return nil, nil, err
	}
	if len(out.Left) > 0 {
		before := lines(files)
		if files, err = c.withoutSessions(ctx, files, m, live, out.Left); err != nil {
			return nil, nil, err
		}
		out.Lines = max(0, before-lines(files))
	}
	if err := c.obey(c.project); err != nil {
		return nil, nil, err
	}
	return c.cleanFiles(c.project.ID, files)
}

// withoutSessions takes sessions out of an earlier generation. A line that cites nobody may
// rest on them: it comes back only if the live memory has it. So does a file that a person
// wrote, as it is now; what is beside the memory is made of the sessions that stay.
func (c *consolidation) withoutSessions(
	ctx context.Context, files memory.Files, m memory.Manifest, live memory.Snapshot, gone []string,
) (memory.Files, error) {
	all, _, err := c.store.Selected(ctx, c.project.ID, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	kept := memory.Files{}
	for at, text := range files {
		if _, folder, _, ok := memoir.SkillPath(at); !ok || folder == "" || bytes.Equal(text, live.Files[at]) {
			kept[at] = text // half a script is none
		}
	}
	current := kept.Consolidation()
	current.Citations = m.Citations
	in := consolidate.Input{Project: c.project, Withdrawn: gone, Current: &current}
	for _, input := range m.Inputs {
		i := slices.IndexFunc(all, func(e memoir.Extraction) bool { return e.SessionKey == input.Session })
		if i >= 0 && !slices.Contains(gone, input.Session) {
			in.Extractions = append(in.Extractions, all[i])
		}
	}
	if len(in.Extractions) == 0 {
		return nil, memoir.Errorf(memoir.CodeInvalid,
			"`memoir forget --undo` or `memoir sessions enable` lets a session in again",
			"all sessions of generation %d were disabled or forgotten since, so nothing of it comes back", m.Generation)
	}
	left, _, err := consolidate.Forgotten{Live: live.Consolidation()}.Withdraw(in)
	if err != nil {
		return nil, err
	}
	beside := companions(in.Extractions)
	for path := range files.Extra() {
		if now, kept := live.Files[path]; kept && !isCompanion(path) {
			beside[path] = now
		}
	}
	return memory.Layout(left, beside)
}

func lines(files memory.Files) (n int) {
	for _, text := range files {
		n += bytes.Count(text, []byte("\n"))
	}
	return n
}

// restoredInputs is what a restored generation rests on: the sessions of the
// content that it has. What else the memory before it had taken in is set aside: no
// later consolidation learns from it again what the restoring took away. Of a
// session that went on in between the later state counts as taken in.
func (c *consolidation) restoredInputs(
	ctx context.Context, m memory.Manifest, live memory.Snapshot, gone []string,
) (inputs, aside []memory.Input, err error) {
	seen, err := c.store.LastInputs(ctx, c.project.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("read the last inputs: %w", err)
	}
	for _, in := range live.Manifest.SetAside {
		seen[in.Session] = in.Hash
	}
	for _, in := range m.Inputs {
		hash, known := seen[in.Session]
		if !known {
			hash = in.Hash
		}
		if delete(seen, in.Session); !slices.Contains(gone, in.Session) {
			inputs = append(inputs, memory.Input{Session: in.Session, Hash: takenIn(hash)})
		}
	}
	for key, hash := range seen {
		aside = append(aside, memory.Input{Session: key, Hash: takenIn(hash)})
	}
	out, err := c.takenOutOf(ctx, c.project.ID, aside)
	aside = slices.DeleteFunc(aside, func(in memory.Input) bool { return slices.Contains(out, in.Session) })
	return inputs, aside, err // the manifest orders them
}

// recordDecisions notes what a restoring changes, beside what people edited before. The
// files beside a consolidation are made anew of the sessions.
func (c *consolidation) recordDecisions(ctx context.Context, live memory.Snapshot, files memory.Files) error {
	if live.Generation == 0 {
		return nil
	}
	before, _, err := c.cleanFiles(c.project.ID, live.Files)
	if err != nil {
		return err
	}
	earlier, err := c.store.Notes(ctx, c.project.ID)
	if err != nil {
		return fmt.Errorf("read notes: %w", err)
	}
	changed := memory.Differences(before, files)
	changed = slices.DeleteFunc(changed, func(e memory.Edit) bool { return isCompanion(e.Path) })
	notes := append(c.editsOf(live), consolidate.Decided(memory.Notes(c.project.ID, changed, c.now()), earlier)...)
	return c.record(ctx, live, notes)
}

// isCompanion reports whether a file beside a memory is made of the sessions.
func isCompanion(path string) bool {
	return path == rawMemoriesFile || strings.HasPrefix(path, summariesDir)
}
