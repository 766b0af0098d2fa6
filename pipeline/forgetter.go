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
	"memoir/internal/failpoint"
	"memoir/model"
	"memoir/search"
	"memoir/store"
)

// Forgetting says what to forget.
type Forgetting struct {
	Keys     []string // sessions
	Text     string   // lines of the memories of Projects that contain it; empty: none
	Projects []string // ids; only with Text
	Purge    bool     // also remove earlier generations that depend on it, copies, logs and free pages

	// Instead is an entry that replaces the forgotten ones in its project, in one step; nil: none. Forget sets its ID.
	// If another process holds that project's lease, nothing is written or forgotten.
	Instead *memoir.Entry
}

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

// Forget forgets sessions for good, and lines that contain a text. For each project whose memory depends
// on them it takes the lease, writes tombstones, publishes a generation without them, and checks the
// published files. No language model is called. If a forgotten text is left, the error has the code
// memoir.CodeInvalid and names file and line. Forget waits opts.Wait for a lease of another process; then
// the error has the code memoir.CodeBusy, and nothing of that project is forgotten.
//
// Entries and conversations are always purged: an entry is removed from its journal's file, and a
// conversation's file is deleted.
//
// If the process is killed, the next run finishes the work.
func Forget(ctx context.Context, st *store.Store, opts Options, what Forgetting) (ForgetReport, error) {
	report := ForgetReport{Projects: []ForgottenIn{}, Removed: []string{}}
	p, err := newPhases(st, opts)
	if err != nil {
		return report, err
	}
	f := forgetter{p}
	what.Purge = what.Purge || slices.ContainsFunc(what.Keys, memoir.IsKept)
	if err := errors.Join(f.book().Erase(ctx, what.Keys), f.eraseConversations(what.Keys)); err != nil {
		return report, err
	}
	found, err := f.remembering(ctx, what)
	if err != nil {
		return report, err
	}
	if what.Instead != nil {
		one, err := f.replace(ctx, what)
		report.Projects = append(report.Projects, one)
		if err != nil {
			return report, err
		}
		delete(found, what.Instead.ProjectID)
	}
	others, err := f.forgetEach(ctx, found, what)
	report.Projects = append(report.Projects, others...)
	if err == nil {
		report.Removed, err = f.endForgetting(ctx, what.Purge)
	}
	return report, err
}

// remembering returns the projects that must forget, with the keys of their sessions. Sessions of no project are
// forgotten at once.
func (f *forgetter) remembering(ctx context.Context, what Forgetting) (map[string][]string, error) {
	found, err := f.store.Remembering(ctx, what.Keys)
	if err != nil {
		return nil, err
	}
	if what.Text != "" {
		for _, id := range what.Projects {
			found[id] = slices.Clone(found[id])
		}
	}
	if keys := found[""]; len(keys) > 0 {
		if err := f.store.ForgetUnplaced(ctx, keys, what.Purge); err != nil {
			return nil, err
		}
		if err := search.Update(ctx, f.store, f.opts.Home, f.clean, true); err != nil {
			return nil, err
		}
	}
	delete(found, "")
	return found, nil
}

// replace replaces what a project forgets by an entry.
func (f *forgetter) replace(ctx context.Context, what Forgetting) (out ForgottenIn, err error) {
	e, statements, err := f.book().Checked(*what.Instead)
	if err != nil {
		return out, err
	}
	out, err = f.forgetIn(ctx, e.ProjectID,
		&store.Forgetting{Keys: what.Keys, Purge: what.Purge, Instead: &e, Statements: statements})
	if *what.Instead = e; err == nil {
		err = f.book().File(ctx, e.ID)
	}
	return out, err
}

// forgetEach forgets in each of the projects. One that fails does not stop the others.
func (f *forgetter) forgetEach(ctx context.Context, found map[string][]string, what Forgetting) (
	out []ForgottenIn, err error) {
	for _, id := range slices.Sorted(maps.Keys(found)) {
		begin := store.Forgetting{Keys: found[id], Purge: what.Purge}
		if slices.Contains(what.Projects, id) {
			begin.Text = what.Text
		}
		one, failed := f.forgetIn(ctx, id, &begin)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("project %s: %w", id, failed))
		}
		out = append(out, one)
	}
	return out, err
}

// endForgetting purges, or makes the backup that was removed before something was forgotten.
func (f *forgetter) endForgetting(ctx context.Context, purge bool) (removed []string, err error) {
	if purge {
		return Purge(ctx, f.store, f.opts.Home)
	}
	f.keepBackup(ctx, true)
	return []string{}, nil
}

// forgetIn forgets in one project: what begin says, if it is not nil, and all that was begun before. It records a
// failure.
func (f *forgetter) forgetIn(ctx context.Context, id string, begin *store.Forgetting) (ForgottenIn, error) {
	out := ForgottenIn{Project: id, Outcome: OutcomeFailed, Archives: []string{}}
	row, err := f.store.FindProject(ctx, id)
	if err != nil {
		return out, err
	}
	out.Name, out.Generation = row.Name, int(row.Generation)
	err = f.holding(ctx, row.Project, f.opts.Wait, func(ctx context.Context, c *consolidation) error {
		if begin != nil {
			if err := f.store.BeginForgetting(ctx, *c.claim, *begin); err != nil {
				return err
			}
			begin = nil
		}
		return f.publishWithout(ctx, c, &out)
	})
	if memoir.CodeOf(err) == memoir.CodeLeaseLost { // to a process that clears the project
		err = memoir.Errorf(memoir.CodeBusy, "wait for it, for instance with --wait", "busy: %w", err)
	}
	switch {
	case err == nil:
	case memoir.CodeOf(err) == memoir.CodeBusy:
		out.Outcome = OutcomeBusy
	case ctx.Err() == nil:
		if err := f.store.WithdrawalFailed(ctx, id, f.redact(err.Error())); err != nil {
			f.log.Warn("cannot record why a project could not forget", "error", err)
		}
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
	if out.Generation > 0 && (f.builtin() || c.project.IsUser()) {
		makes = c.askOnce
	}
	if err := c.rewrite(ctx, makes); err != nil {
		return err
	}
	out.Outcome = cmp.Or(c.report.Outcome, OutcomeUnchanged)
	out.Generation = cmp.Or(c.report.Generation, out.Generation)
	if err := c.verifyForgotten(); err != nil {
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

// builtin reports whether the built-in model makes memories. Models are not opened yet.
func (f *forgetter) builtin() bool {
	_, two := model.Phases(f.opts.Settings.ModelRoles)
	spec, err := model.SpecOf(f.opts.Settings, two.Model)
	return f.opts.Phases == nil && err == nil && spec.Builtin()
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

// finishForgetting finishes what a killed or interrupted process had begun.
func (f *forgetter) finishForgetting(ctx context.Context) error {
	begun, err := f.store.Withdrawals(ctx)
	if err != nil {
		return err
	}
	for _, w := range begun {
		_, err := f.forgetIn(ctx, w.ProjectID, nil)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			f.warn(fmt.Sprintf("project %s: forgetting is not finished: %s", w.ProjectID, f.redact(err.Error())),
				cmp.Or(memoir.HintOf(err), "a later run tries again"))
		}
	}
	purging, err := f.store.Purging(ctx)
	if err != nil || !purging && len(begun) == 0 {
		return err
	}
	if left, err := f.store.Withdrawals(ctx); err != nil || purging && len(left) > 0 {
		return err
	}
	if _, err := f.endForgetting(ctx, purging); err != nil {
		f.warn("purging is not finished: "+f.redact(err.Error()), memoir.HintOf(err))
	}
	return nil
}

// ForgetProject forgets a project for good, with its sessions, memory and generations, and returns the
// keys of its sessions and entries. Other memories that depend on the sessions forget them, too. It waits
// opts.Wait for the lease of another process; then the error has the code memoir.CodeBusy.
func ForgetProject(ctx context.Context, st *store.Store, opts Options, id string, purge bool) (
	keys, removed []string, err error) {
	p, err := newPhases(st, opts)
	if err != nil {
		return nil, nil, err
	}
	f := forgetter{p}
	if err := RemoveFolders(ctx, st, opts.Home, f.clean); err != nil {
		return nil, nil, err
	}
	err = f.holding(ctx, memoir.Project{ID: id, Name: id}, opts.Wait,
		func(ctx context.Context, _ *consolidation) (err error) {
			keys, err = st.ForgetProject(ctx, id, purge)
			return err
		})
	if err == nil {
		err = RemoveFolders(ctx, st, opts.Home, f.clean)
	}
	if err != nil {
		return keys, nil, err
	}
	found, err := st.Remembering(ctx, keys) // the user's memory, or that of a project to which a session belonged
	if err != nil {
		return keys, nil, err
	}
	delete(found, "")
	delete(found, id)
	if _, err := f.forgetEach(ctx, found, Forgetting{Purge: purge}); err != nil {
		return keys, nil, err
	}
	removed, err = f.endForgetting(ctx, purge)
	return keys, removed, err
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
	if err != nil {
		return append(removed, copies...), err
	}
	_ = st.Backup(ctx, true) // if it fails, the next run that publishes makes it
	return append(removed, copies...), nil
}
