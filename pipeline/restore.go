package pipeline

import (
	"context"
	"fmt"
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
// restoring took away stays away: it is noted like an edit by hand when the next
// generation is made, and the sessions that the content knows nothing of are set
// aside until they go on.
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
	for round := 1; ; round++ {
		var out Restored
		err := r.holding(ctx, project.ID, opts.Wait, func(ctx context.Context, claim *store.ProjectClaim) (err error) {
			out, err = r.restore(ctx, memory.At(opts.Home, project.ID), project, claim, n)
			return err
		})
		if memoir.CodeOf(err) != memoir.CodeChanged || round == maxRounds {
			return out, err
		}
	}
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

func (r *run) restore(
	ctx context.Context,
	root memory.Root,
	project memoir.Project,
	claim *store.ProjectClaim,
	n int,
) (out Restored, err error) {
	defer r.survive(&err)
	out = Restored{
		Project: project.ID, Restored: n, Root: root.Link(),
		ByHand: []int{}, SetAside: []string{}, Left: []string{},
	}
	if err := r.recoverRoot(ctx, root, claim); err != nil {
		return out, err
	}
	live, err := root.Current()
	if err != nil {
		return out, fmt.Errorf("read the live memory: %w", err)
	}
	files, m, err := root.ReadGeneration(n)
	if err != nil {
		return out, err
	}
	files, counts, err := r.restorable(ctx, project, files, live.Files, m, &out)
	if err != nil {
		return out, err
	}
	if out.Generation = live.Generation; live.Generation > 0 && files.Equal(live.Files) {
		out.Unchanged, out.Over = true, live.Generation
		return out, nil
	}
	if err := r.keepEdits(ctx, root, store.ProjectRow{Project: project}, live); err != nil {
		return out, err
	}
	inputs, aside, err := r.restoredInputs(ctx, project.ID, m, live, out.Left)
	if err != nil {
		return out, err
	}
	published, err := r.publish(ctx, root, live, *claim, files,
		memory.Manifest{Inputs: inputs, Redactions: counts, RestoredFrom: n, SetAside: aside, Citations: m.Citations},
		store.GenerationRecord{Inputs: inputsByKey(inputs), Restored: true}, r.store.Publish)
	if err != nil {
		return out, err
	}
	out.Generation, out.Over = published.generation, stateOf(live, published.byHand)
	out.ByHand = append(out.ByHand, published.byHand...)
	for _, in := range aside {
		out.SetAside = append(out.SetAside, in.Session)
	}
	slices.Sort(out.SetAside)
	r.prune(root, project.Name)
	return out, nil
}

// restorable is what of a generation's files may come back, redacted by the rules of today.
// Of a generation whose sessions were all taken out only headings would be left, so that is
// an error.
func (r *run) restorable(
	ctx context.Context,
	project memoir.Project,
	files, live memory.Files,
	m memory.Manifest,
	out *Restored,
) (memory.Files, secrets.Counts, error) {
	var err error
	if out.Left, err = r.takenOutOf(ctx, project.ID, m.Inputs); err != nil {
		return nil, nil, err
	}
	if len(out.Left) > 0 && len(out.Left) == len(m.Inputs) {
		return nil, nil, memoir.Errorf(memoir.CodeInvalid,
			"`memoir forget --undo` or `memoir sessions enable` lets a session in again",
			"all sessions of generation %d were disabled or forgotten since, so nothing of it comes back", out.Restored)
	}
	files, out.Lines = withoutSessions(files, live, m.Inputs, out.Left)
	if err := r.obey(project); err != nil {
		return nil, nil, err
	}
	return r.cleanFiles(project.ID, files)
}

// takenOutOf lists the inputs that a person or a setting took out of memory.
func (r *run) takenOutOf(ctx context.Context, projectID string, inputs []memory.Input) ([]string, error) {
	forgotten, err := r.store.Forgotten(ctx)
	if err != nil {
		return nil, err
	}
	gone := []string{}
	for _, in := range inputs {
		out := forgotten[in.Session]
		if !out {
			if out, err = r.takenOut(ctx, projectID, in.Session); err != nil {
				return nil, err
			}
		}
		if out {
			gone = append(gone, in.Session)
		}
	}
	return gone, nil
}

// restoredInputs is what a restored generation rests on: the sessions of the
// content that it has. What else the memory before it had taken in is set aside: no
// later consolidation learns from it again what the restoring took away. Of a
// session that went on in between the later state counts as taken in.
func (r *run) restoredInputs(
	ctx context.Context,
	projectID string,
	m memory.Manifest,
	live memory.Snapshot,
	gone []string,
) (inputs, aside []memory.Input, err error) {
	seen, err := r.store.LastInputs(ctx, projectID)
	if err != nil {
		return nil, nil, fmt.Errorf("read the last inputs: %w", err)
	}
	for _, in := range live.Manifest.SetAside {
		seen[in.Session] = in.Hash
	}
	if err := r.fillTakenIn(ctx, projectID, seen); err != nil {
		return nil, nil, err
	}
	for _, in := range m.Inputs {
		hash, known := seen[in.Session]
		if !known {
			hash = in.Hash
		}
		if delete(seen, in.Session); !slices.Contains(gone, in.Session) {
			inputs = append(inputs, memory.Input{Session: in.Session, Hash: hash})
		}
	}
	for key, hash := range seen {
		aside = append(aside, memory.Input{Session: key, Hash: hash})
	}
	out, err := r.takenOutOf(ctx, projectID, aside)
	aside = slices.DeleteFunc(aside, func(in memory.Input) bool { return slices.Contains(out, in.Session) })
	return inputs, aside, err // the manifest orders them
}

// fillTakenIn says of sessions that a part of a consolidation left open, which have no
// hash, what memory took in of them before, or else what is stored of them.
func (r *run) fillTakenIn(ctx context.Context, projectID string, inputs map[string]string) error {
	var open []string
	for key, hash := range inputs {
		if hash == "" {
			open = append(open, key)
		}
	}
	if len(open) == 0 {
		return nil
	}
	generations, err := r.store.Generations(ctx, projectID) // the latest first
	if err != nil {
		return err
	}
	for _, key := range open {
		for _, g := range generations {
			if inputs[key] == "" {
				inputs[key] = g.Inputs[key]
			}
		}
		if inputs[key] != "" {
			continue
		}
		e, err := r.store.Prior(ctx, key)
		if err != nil {
			return err
		}
		if e != nil {
			inputs[key] = e.ContentHash
		}
	}
	return nil
}

func inputsByKey(inputs []memory.Input) map[string]string {
	out := make(map[string]string, len(inputs))
	for _, in := range inputs {
		out[in.Session] = in.Hash
	}
	return out
}

// decided are the notes on what a restoring changed that outlive it. The files
// beside a consolidation are made anew of the sessions.
func decided(notes, earlier []memoir.Note) []memoir.Note {
	var kept []memoir.Note
	for _, n := range notes {
		if n.File != rawMemoriesFile && !strings.HasPrefix(n.File, summariesDir) {
			kept = append(kept, n)
		}
	}
	return consolidate.Decided(kept, earlier)
}
