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

	"memoir"
	"memoir/deliver"
	"memoir/entry"
	"memoir/internal/failpoint"
	"memoir/memory"
	"memoir/model"
	"memoir/search"
	"memoir/store"
)

// ForgetReport is the result of Forget.
type ForgetReport struct {
	Projects []ForgottenIn `json:"projects"` // whose memory depended on forgotten sessions or had the text
	Removed  []string      `json:"removed"`  // by a purge: copies of the database, and logs
}

// ForgottenIn is the state of one project's memory afterwards.
type ForgottenIn struct {
	Project    string   `json:"project"` // its id
	Name       string   `json:"name"`
	Outcome    Outcome  `json:"outcome"`
	Generation int      `json:"generation"` // the live one; 0: none
	Archives   []string `json:"archives"`   // that a purge removed
}

// A forgetter removes sessions and text from memories. It calls no language model.
type forgetter struct{ *phases }

// Forget forgets for good: it writes tombstones, then for each project whose memory depends on what is forgotten it
// takes the lease, publishes a generation without it, and checks the published files. No language model is called. If
// a forgotten text is left, the error has the code memoir.CodeInvalid and names file and line. Forget waits opts.Wait
// for a lease of another process; then the error has the code memoir.CodeBusy.
//
// Entries and conversations are always purged: an entry is removed from its journal's file, and a
// conversation's file is deleted.
//
// If the process is killed or a memory is busy, the next run finishes the work.
func Forget(ctx context.Context, st *store.Store, opts Options, what store.Forgetting) (ForgetReport, error) {
	var report ForgetReport
	p, err := newPhases(st, opts)
	if err != nil {
		return report, err
	}
	f := forgetter{p}
	what.Purge = what.Purge || slices.ContainsFunc(what.Keys, memoir.IsKept)
	if what.Instead != nil {
		if *what.Instead, what.Statements, err = f.book().Checked(*what.Instead); err != nil {
			return report, err
		}
	}
	if what.Keys, err = st.Derived(ctx, what); err != nil {
		return report, err
	}
	if err := errors.Join(f.book().Erase(ctx, what.Keys), f.eraseConversations(what.Keys),
		deliver.Forget(opts.Home, what.Project, what.Keys)); err != nil {
		return report, err
	}
	if err := st.BeginForgetting(ctx, what); err != nil {
		return report, err
	}
	if what.Instead != nil {
		if err := f.book().File(ctx, what.Instead.ID); err != nil {
			return report, err
		}
	}
	return f.finish(ctx, true)
}

// finish completes all forgetting that was begun, and reports on each memory. One that fails does not stop the others.
// Without begun it does nothing if nothing was.
func (f *forgetter) finish(ctx context.Context, begun bool) (ForgetReport, error) {
	report := ForgetReport{Projects: []ForgottenIn{}, Removed: []string{}}
	if err := errors.Join(f.keepTombstones(ctx), RemoveFolders(ctx, f.store, f.opts.Home, f.clean)); err != nil {
		return report, err
	}
	left, err := f.store.Withdrawals(ctx)
	if err == nil && len(left) == 0 && begun { // of sessions in no project
		err = search.Update(ctx, f.store, f.opts.Home, f.clean, true)
	}
	for _, w := range left {
		one, failed := f.forgetIn(ctx, w.ProjectID)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("project %s: %w", w.ProjectID, failed))
		}
		report.Projects = append(report.Projects, one)
	}
	for _, w := range left {
		if err == nil && w.Purge && w.ProjectID != memoir.UserProjectID {
			err = f.removeEmpty(ctx, w.ProjectID)
		}
	}
	purging, failed := f.store.Purging(ctx)
	switch err = errors.Join(err, failed); {
	case err != nil:
	case purging:
		report.Removed, err = Purge(ctx, f.store, f.opts.Home)
	case begun || len(left) > 0:
		f.keepBackup(ctx, true) // instead of the one that was removed before something was forgotten
	}
	return report, err
}

// removeEmpty removes a project to which nothing belongs any more, not even a file beside its memory.
func (f *forgetter) removeEmpty(ctx context.Context, id string) error {
	beside, err := memory.At(f.opts.Home, id).Beside()
	if err != nil || len(beside) > 0 {
		return err
	}
	if err := f.store.RemoveEmpty(ctx, id); err != nil {
		return err
	}
	return RemoveFolders(ctx, f.store, f.opts.Home, f.clean)
}

// finishForgetting finishes what a killed or interrupted process had begun, or one for which a memory was busy. It only
// warns of a failure; the error is ctx's.
func (f *forgetter) finishForgetting(ctx context.Context) error {
	if _, err := f.finish(ctx, false); err != nil && ctx.Err() == nil {
		f.warn("forgetting is not finished: "+f.redact(err.Error()), cmp.Or(memoir.HintOf(err), "a later run tries again"))
	}
	return context.Cause(ctx)
}

// forgetIn forgets in one project all that was begun.
func (f *forgetter) forgetIn(ctx context.Context, id string) (ForgottenIn, error) {
	out := ForgottenIn{Project: id, Outcome: OutcomeFailed, Archives: []string{}}
	row, err := f.store.FindProject(ctx, id)
	if err != nil {
		return out, err
	}
	out.Name, out.Generation = row.Name, int(row.Generation)
	err = f.holding(ctx, row.Project, f.opts.Wait, func(ctx context.Context, c *consolidation) error {
		return f.publishWithout(ctx, c, &out)
	})
	switch memoir.CodeOf(err) {
	case memoir.CodeBusy, memoir.CodeLeaseLost: // to a process that clears the project
		out.Outcome = OutcomeBusy
		err = memoir.Errorf(memoir.CodeBusy, "the next run removes it from this memory", "%w", err)
	}
	return out, err
}

// publishWithout publishes a generation without what the project must forget, and removes that from all other files.
//
// The built-in model makes the memory from scratch, since a line that other sessions support may quote a forgotten
// one. Of what a language model made, lines are removed.
func (f *forgetter) publishWithout(ctx context.Context, c *consolidation, out *ForgottenIn) (err error) {
	if c.forgetting, err = loadForgetting(ctx, c.store, c.project.ID); err != nil {
		return err
	}
	makes := c.withoutGone
	if out.Generation > 0 && f.builtin(c.project.ID) {
		makes = c.askOnce
	}
	if err := c.rewrite(ctx, makes); err != nil {
		return err
	}
	if c.report.Outcome == OutcomePublished {
		c.report.Project, c.report.Name = c.project.ID, c.project.Name
		f.reportProject(c.report)
	}
	out.Outcome = cmp.Or(c.report.Outcome, OutcomeUnchanged)
	out.Generation = cmp.Or(c.report.Generation, out.Generation)
	if err := cmp.Or(c.verifyForgotten(), f.team().ForgetBase(c.project, c.forgetting.in.Base)); err != nil {
		return err
	}
	archives, err := c.forgetting.clearFiles(ctx, c.store, c.root)
	if out.Archives = append(out.Archives, archives...); err != nil {
		return err
	}
	if err := search.Update(ctx, c.store, c.opts.Home, c.clean, true); err != nil {
		return err
	}
	return c.store.FinishForgetting(ctx, c.project.ID, c.forgetting.seq, c.forgetting.edit)
}

// builtin reports whether the built-in model makes a project's memory. Models are not opened yet.
func (f *forgetter) builtin(projectID string) bool {
	_, two := model.Phases(f.opts.Settings.ModelRoles)
	spec, err := model.SpecOf(f.opts.Settings, two.Model)
	return f.alwaysBuiltin(projectID) || f.opts.Phases == nil && err == nil && spec.Builtin()
}

// verifyForgotten checks the live files, and removes those before them.
func (c *consolidation) verifyForgotten() error {
	live, err := c.root.Current()
	if err != nil {
		return err
	}
	if traces := c.forgetting.what.Traces(live.Files, c.forgetting.in); len(traces) > 0 {
		return memoir.Errorf(memoir.CodeInvalid, "remove the line from that file, then forget again",
			"the forgotten text is still in %d places of the live memory: %s", len(traces), traces[0])
	}
	late, err := c.root.RemovePrevious() // otherwise it stays until the next publication
	c.warnOfLate(late)
	return err
}

// keepBackup makes a backup of the database if the existing one is older than a day, or if now is set. A
// failure is only a warning.
func (r *run) keepBackup(ctx context.Context, now bool) {
	if err := r.store.Backup(ctx, now); err != nil {
		r.warn("cannot back up the database: "+err.Error(), memoir.HintOf(err))
	}
}

// Purge removes deleted text from where it may remain: free pages and the log of the database, its copies,
// the logs of background runs, and the index, which the next run rebuilds. It returns the files that it
// removed.
func Purge(ctx context.Context, st *store.Store, home string) (removed []string, err error) {
	removed = []string{}
	if err := search.Discard(home); err != nil {
		return removed, err
	}
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
	if err == nil {
		_ = st.Backup(ctx, true) // if it fails, the next run that publishes makes it
	}
	return append(removed, copies...), err
}

// RemoveFolders removes the folders of cleared, forgotten and merged projects, and their texts from the index. First it
// moves the files of merged and split ones. redact is as in search.Update.
func RemoveFolders(ctx context.Context, st *store.Store, home string, redact func(string) string) error {
	folders, err := st.RemovedFolders(ctx)
	if err != nil || len(folders) == 0 {
		return err
	}
	if err := search.Update(ctx, st, home, redact, true); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(folders)) {
		failed := st.Alone(ctx, func() error { // another process may be filing entries in it
			if to := folders[id]; to != "" {
				if err := moveBeside(ctx, st, home, id, to); err != nil || to == id {
					return err
				}
			}
			return memory.At(home, id).Remove()
		})
		if failed == nil {
			failed = entry.Book{Store: st, Home: home, Redact: redact}.File(ctx, 0)
		}
		if failed == nil {
			failed = st.FolderRemoved(ctx, id)
		}
		err = errors.Join(err, failed)
	}
	return err
}
