package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/internal/failpoint"
	"memoir/memory"
	"memoir/model"
	"memoir/store"
)

// Forgetting says what to forget.
type Forgetting struct {
	Keys     []string // sessions
	Text     string   // lines of the memories of Projects that hold it; empty: none
	Projects []string // ids; only with Text
	Purge    bool     // earlier generations that rest on it, too, and what copies, logs and free pages hold
}

// ForgetReport is what was done.
type ForgetReport struct {
	Projects []ForgottenIn `json:"projects"` // whose memory rested on what was forgotten
	Removed  []string      `json:"removed"`  // by a purge: copies of the database, and logs
}

// ForgottenIn is how the memory of one project stands afterwards.
type ForgottenIn struct {
	Project    string   `json:"project"`
	Name       string   `json:"name"`
	Outcome    Outcome  `json:"outcome"`
	Generation int      `json:"generation"` // the live one; 0: none
	Root       string   `json:"root,omitempty"`
	Archives   []string `json:"archives"` // files that still hold what was forgotten, or did until they were purged
	Detail     string   `json:"detail,omitempty"`
}

// Forget withdraws sessions for good, and lines that hold a text. In each project
// whose memory rests on them, and which it holds meanwhile, tombstones come first;
// then code, and no language model, publishes a generation without them, and holds
// the published files against what was forgotten: the error that something is left
// has the code memoir.CodeInvalid and names file and line. A project that another
// process holds is waited for as long as opts.Wait; when that is not enough the error
// has the code memoir.CodeBusy, and nothing of it is forgotten.
//
// A process that dies on the way leaves what it began to the next run.
func Forget(ctx context.Context, st *store.Store, opts Options, f Forgetting) (ForgetReport, error) {
	report := ForgetReport{Projects: []ForgottenIn{}, Removed: []string{}}
	r, err := newRun(st, opts)
	if err != nil {
		return report, err
	}
	if err := r.useWithdrawal(); err != nil {
		return report, err
	}
	found, err := st.Remembering(ctx, f.Keys)
	if err != nil {
		return report, err
	}
	for _, id := range f.Projects {
		if _, ok := found[id]; !ok && f.Text != "" {
			found[id] = nil
		}
	}
	if keys := found[""]; len(keys) > 0 {
		if _, err := st.BeginForgetting(ctx, store.ProjectClaim{}, store.Forgetting{Keys: keys, Purge: f.Purge}); err != nil {
			return report, err
		}
	}
	delete(found, "")
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(found)) {
		one, err := r.forgetIn(ctx, id, &store.Forgetting{Keys: found[id], Text: f.Text, Purge: f.Purge})
		if err != nil {
			errs = append(errs, fmt.Errorf("project %s: %w", id, err))
			r.noteUnforgotten(ctx, id, err)
		}
		report.Projects = append(report.Projects, one)
	}
	if err := errors.Join(errs...); err != nil {
		return report, worst(errs, err)
	}
	if f.Purge {
		report.Removed, err = Purge(ctx, st, opts.Home)
		return report, err
	}
	r.keepBackup(ctx, true)
	return report, nil
}

// keepBackup makes a backup of the database, if now is set even of today. Before something
// is forgotten the earlier one is removed, so one that cannot be made brings nothing back.
func (r *run) keepBackup(ctx context.Context, now bool) {
	if err := r.store.Backup(ctx, now); err != nil {
		r.warn("the backup of the database was not made: "+err.Error(), memoir.HintOf(err))
	}
}

// worst gives several errors the code of one that is not CodeBusy, if there is one.
func worst(errs []error, all error) error {
	for _, err := range errs {
		if code := memoir.CodeOf(err); code != memoir.CodeBusy || err == errs[len(errs)-1] {
			return memoir.Errorf(code, memoir.HintOf(err), "%w", all)
		}
	}
	return all
}

// useWithdrawal sees to it that forgetting asks no language model: where one makes
// the memory, code takes out of it what must go; the built-in model makes it anew.
func (r *run) useWithdrawal() error {
	r.forgetting = &forgetting{}
	if r.opts.Phases != nil {
		_, c, err := r.opts.Phases(r.meter.of)
		r.forgetting.edits = err == nil && c.Name() != consolidate.BuiltinName
		return err
	}
	_, two := model.Phases(r.opts.Settings.ModelRoles)
	spec, err := model.SpecOf(r.opts.Settings, two.Model)
	r.forgetting.edits = err != nil || !spec.Builtin()
	return nil
}

// forgetIn makes one project's memory forget: what is named, and what was begun before.
func (r *run) forgetIn(ctx context.Context, id string, f *store.Forgetting) (ForgottenIn, error) {
	out := ForgottenIn{Project: id, Outcome: OutcomeFailed, Archives: []string{}}
	row, err := r.store.FindProject(ctx, id)
	if err != nil {
		return out, err
	}
	out.Name, out.Generation = row.Name, int(row.Generation)
	began := false
	for round := 1; ; round++ {
		err := r.holding(ctx, id, r.opts.Wait, func(ctx context.Context, claim *store.ProjectClaim) error {
			if f != nil && !began {
				var err error
				if *claim, err = r.store.BeginForgetting(ctx, *claim, *f); err != nil {
					return err
				}
				began = true
			}
			return r.withdraw(ctx, row, claim, &out)
		})
		if memoir.CodeOf(err) == memoir.CodeLeaseLost { // to a process that clears the project
			err = memoir.Errorf(memoir.CodeBusy, "wait for it, for instance with --wait", "busy: %w", err)
		}
		if memoir.CodeOf(err) == memoir.CodeBusy {
			out.Outcome, out.Detail = OutcomeBusy, err.Error()
		}
		if memoir.CodeOf(err) != memoir.CodeChanged || round == maxRounds {
			if err != nil {
				return out, err
			}
			break
		}
	}
	// Publishing ended the claim. Somebody may be consolidating by now, who knows of
	// the tombstones, and is waited for.
	err = r.holding(ctx, id, max(r.opts.Wait, finishWithin), func(ctx context.Context, claim *store.ProjectClaim) error {
		return r.settleForgetting(ctx, row, claim, &out)
	})
	if code := memoir.CodeOf(err); code == memoir.CodeBusy || code == memoir.CodeLeaseLost {
		err = memoir.Errorf(memoir.CodeBusy, "the next `memoir run` finishes it",
			"its memory forgot, and what is left to clear away waits: %w", err)
	}
	return out, err
}

// finishWithin is how long what is left to do after a publication waits for others.
const finishWithin = 10 * time.Second

// withdraw publishes a generation without what was forgotten.
func (r *run) withdraw(ctx context.Context, row store.ProjectRow, claim *store.ProjectClaim, out *ForgottenIn) error {
	if err := r.forgetting.load(ctx, r.store, row.ID); err != nil {
		return err
	}
	if r.forgetting.edits {
		r.consolidator = consolidate.NewWithdrawal(r.forgetting.what)
	}
	if r.forgetting.edits || row.Generation == 0 {
		claim.Seq = 0 // whatever else is new is still to be consolidated
	}
	held, _ := begin(ctx, store.Call{Work: claim.Token, Phase: phaseConsolidate, ProjectID: row.ID})
	report, err := r.makeGeneration(held, memory.At(r.opts.Home, row.ID), row, *claim, reportOf(row))
	if err != nil {
		return err
	}
	out.Outcome, out.Generation, out.Root = report.Outcome, report.Generation, report.Root
	return nil
}

// settleForgetting holds the live files against what was forgotten, and then clears
// away what was kept to tell it by.
func (r *run) settleForgetting(
	ctx context.Context,
	row store.ProjectRow,
	claim *store.ProjectClaim,
	out *ForgottenIn,
) error {
	root := memory.At(r.opts.Home, row.ID)
	if err := r.recoverRoot(ctx, root, claim); err != nil {
		return err
	}
	live, err := root.Current()
	if err != nil {
		return err
	}
	out.Generation = cmp.Or(live.Generation, out.Generation)
	f := r.forgetting
	if traces := f.what.Traces(live.Files, f.in); len(traces) > 0 {
		return memoir.Errorf(memoir.CodeInvalid, "take the line out of that file, and forget again",
			"what was forgotten is left in %d places of the live memory: %s", len(traces), traces[0])
	}
	if f.keys, err = r.store.Forgotten(ctx); err != nil {
		return err
	}
	if out.Archives, err = f.archives(root); err != nil {
		return err
	}
	return r.store.FinishForgetting(ctx, row.ID, f.seq, f.edit)
}

// finishForgetting does what a process that died, or was interrupted, had begun.
func (r *run) finishForgetting(ctx context.Context) error {
	left, err := r.store.Withdrawals(ctx)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		mine, err := newRun(r.store, r.opts)
		if err == nil {
			err = mine.useWithdrawal()
		}
		if err != nil {
			return err
		}
		for _, w := range left {
			_, err := mine.forgetIn(ctx, w.ProjectID, nil)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil:
				r.warn(fmt.Sprintf("project %s: forgetting is not finished: %s", w.ProjectID, r.redact(err.Error())),
					cmp.Or(memoir.HintOf(err), "a later run tries again"))
				r.noteUnforgotten(ctx, w.ProjectID, err)
			}
		}
	}
	purging, err := r.store.Purging(ctx)
	if err != nil {
		return err
	}
	if !purging {
		if len(left) > 0 {
			r.keepBackup(ctx, true)
		}
		return nil
	}
	if left, err = r.store.Withdrawals(ctx); err != nil || len(left) > 0 {
		return err
	}
	if _, err := Purge(ctx, r.store, r.opts.Home); err != nil {
		r.warn("purging is not finished: "+r.redact(err.Error()), memoir.HintOf(err))
	}
	return nil
}

// ForgetProject withdraws a project for good, with all its sessions, its memory and
// its generations, and returns how many sessions that were. It waits for opts.Wait
// while another process holds it; then the error has the code memoir.CodeBusy.
func ForgetProject(
	ctx context.Context,
	st *store.Store,
	opts Options,
	id string,
	purge bool,
) (sessions int, removed []string, err error) {
	r, err := newRun(st, opts)
	if err != nil {
		return 0, nil, err
	}
	if err := FinishMoves(ctx, st, opts.Home); err != nil {
		return 0, nil, err
	}
	err = r.holding(ctx, id, opts.Wait, func(ctx context.Context, _ *store.ProjectClaim) (err error) {
		if purge {
			if err := st.BeginPurge(ctx); err != nil {
				return err
			}
		}
		sessions, err = st.ForgetProject(ctx, id)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	if err := FinishMoves(ctx, st, opts.Home); err != nil {
		return sessions, nil, err
	}
	if !purge {
		r.keepBackup(ctx, true)
		return sessions, nil, nil
	}
	removed, err = Purge(ctx, st, opts.Home)
	return sessions, removed, err
}

// logFiles are what runs in the background said. They may quote what they worked on.
var logFiles = []string{"log/run.log", "log/run.log.1", "log/startup.log", "log/startup.log.1"}

// Purge takes what was deleted out of the places where it may have been left: free
// pages and the log of the database, its copies, the logs of background runs. It
// returns the files that it removed.
func Purge(ctx context.Context, st *store.Store, home string) (removed []string, err error) {
	removed = []string{}
	for _, name := range logFiles {
		path := filepath.Join(home, filepath.FromSlash(name))
		switch err := failpoint.Remove(path); {
		case err == nil:
			removed = append(removed, path)
		case !errors.Is(err, fs.ErrNotExist):
			return removed, memoir.Errorf(memoir.CodeStorage, "", "remove the log: %w", err)
		}
	}
	copies, err := st.Purge(ctx)
	if err != nil {
		return append(removed, copies...), err
	}
	_ = st.Backup(ctx, true) // the next run that publishes makes it, if this fails
	return append(removed, copies...), nil
}
