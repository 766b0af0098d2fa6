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
	"memoir/entry"
	"memoir/internal/failpoint"
	"memoir/memory"
	"memoir/model"
	"memoir/search"
	"memoir/store"
)

// Forgetting says what to forget.
type Forgetting struct {
	Keys     []string // sessions
	Text     string   // lines of the memories of Projects that hold it; empty: none
	Projects []string // ids; only with Text
	Purge    bool     // earlier generations that rest on it, too, and what copies, logs and free pages hold

	// Instead is an entry that is written in the place of what is forgotten, in one step, in its project; nil: none.
	// It gets its ID here. Where another process holds that project, nothing is written or forgotten.
	Instead *memoir.Entry
}

// ForgetReport is what was done.
type ForgetReport struct {
	Projects []ForgottenIn `json:"projects"` // whose memory rested on what was forgotten
	Removed  []string      `json:"removed"`  // by a purge: copies of the database, and logs
}

// ForgottenIn is how the memory of one project stands afterwards.
type ForgottenIn struct {
	Project    string   `json:"project"` // its id
	Name       string   `json:"name"`
	Outcome    Outcome  `json:"outcome"`
	Generation int      `json:"generation"` // the live one; 0: none
	Archives   []string `json:"archives"`   // files that still hold what was forgotten, or did until they were purged
}

// Forget withdraws sessions for good, and lines that hold a text. In each project
// whose memory rests on them, and which it holds meanwhile, tombstones come first;
// then code, and no language model, publishes a generation without them, and holds
// the published files against what was forgotten: the error that something is left
// has the code memoir.CodeInvalid and names file and line. A project that another
// process holds is waited for as long as opts.Wait; when that is not enough the error
// has the code memoir.CodeBusy, and nothing of it is forgotten.
//
// An entry or a conversation is forgotten everywhere, as with Purge; the one is taken off its page, the other's file
// is removed.
//
// A process that dies on the way leaves what it began to the next run.
func Forget(ctx context.Context, st *store.Store, opts Options, f Forgetting) (ForgetReport, error) {
	report := ForgetReport{Projects: []ForgottenIn{}, Removed: []string{}}
	r, err := newRun(st, opts)
	if err != nil {
		return report, err
	}
	f.Purge = f.Purge || slices.ContainsFunc(f.Keys, memoir.IsKept)
	book := entry.Book{Store: st, Home: opts.Home, Redact: r.redact}
	if err = errors.Join(book.Erase(ctx, f.Keys), r.eraseConversations(f.Keys)); err != nil {
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
		if err := st.BeginForgetting(ctx, store.ProjectClaim{}, store.Forgetting{Keys: keys, Purge: f.Purge}); err != nil {
			return report, err
		}
		if err := search.Update(ctx, st, opts.Home, true); err != nil {
			return report, err
		}
	}
	delete(found, "")
	var errs []error
	if f.Instead != nil {
		one, err := r.replace(ctx, book, f)
		report.Projects = append(report.Projects, one)
		if err != nil {
			return report, err
		}
		delete(found, f.Instead.ProjectID)
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		one, err := r.forgetIn(ctx, id, &store.Forgetting{Keys: found[id], Text: f.Text, Purge: f.Purge})
		if err != nil {
			errs = append(errs, fmt.Errorf("project %s: %w", id, err))
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

// replace writes an entry in the place of what its project forgets.
func (r *run) replace(ctx context.Context, book entry.Book, f Forgetting) (out ForgottenIn, err error) {
	e, statements, err := book.Checked(*f.Instead)
	if err != nil {
		return out, err
	}
	out, err = r.forgetIn(ctx, e.ProjectID,
		&store.Forgetting{Keys: f.Keys, Purge: f.Purge, Instead: &e, Statements: statements})
	if *f.Instead = e; err == nil {
		err = book.File(ctx, e.ID)
	}
	return out, err
}

// keepBackup makes a backup of the database, if now is set even of today. Before something
// is forgotten the earlier one is removed, so one that cannot be made brings nothing back.
func (r *run) keepBackup(ctx context.Context, now bool) {
	if err := r.store.Backup(ctx, now); err != nil {
		r.warn("cannot back up the database: "+err.Error(), memoir.HintOf(err))
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

// forgetIn makes one project's memory forget: what is named, and what was begun before. That
// it could not is noted.
func (r *run) forgetIn(ctx context.Context, id string, f *store.Forgetting) (ForgottenIn, error) {
	out := ForgottenIn{Project: id, Outcome: OutcomeFailed, Archives: []string{}}
	row, err := r.store.FindProject(ctx, id)
	if err != nil {
		return out, err
	}
	out.Name, out.Generation = row.Name, int(row.Generation)
	err = r.holding(ctx, row.Project, r.opts.Wait, func(ctx context.Context, c *consolidation) (err error) {
		if f != nil {
			if err := r.store.BeginForgetting(ctx, *c.claim, *f); err != nil {
				return err
			}
			f = nil
		}
		if c.forgetting, err = loadForgetting(ctx, c.store, c.project.ID); err != nil {
			return err
		}
		makes := c.withoutGone
		if out.Generation > 0 && (r.anew() || c.project.IsUser()) {
			makes = c.askOnce // of the built-in model: no other is chosen yet
		}
		if _, err := c.generation(ctx, makes, false); err != nil {
			return err
		}
		out.Outcome = cmp.Or(c.report.Outcome, OutcomeUnchanged)
		out.Generation = cmp.Or(c.report.Generation, out.Generation)
		archives, err := c.settleForgetting(ctx)
		out.Archives = append(out.Archives, archives...)
		return err
	})
	code := memoir.CodeOf(err)
	if code == memoir.CodeLeaseLost { // to a process that clears the project
		code, err = memoir.CodeBusy, memoir.Errorf(memoir.CodeBusy, "wait for it, for instance with --wait", "busy: %w", err)
	}
	switch {
	case err == nil:
	case code == memoir.CodeBusy:
		out.Outcome = OutcomeBusy
	case ctx.Err() == nil:
		if err := r.store.WithdrawalFailed(ctx, id, r.redact(err.Error())); err != nil {
			r.log.Warn("cannot record why a project could not forget", "error", err)
		}
	}
	return out, err
}

// anew reports whether the built-in model makes memories. It makes one anew without what is
// forgotten: a line that others support as well may have had its words of a forgotten session.
// Where a language model does, code takes the lines out: forgetting asks none.
func (r *run) anew() bool {
	_, two := model.Phases(r.opts.Settings.ModelRoles)
	spec, err := model.SpecOf(r.opts.Settings, two.Model)
	return r.opts.Phases == nil && err == nil && spec.Builtin()
}

// settleForgetting holds the live files against what was forgotten, and then clears away the
// earlier ones and what was kept to tell it by. It returns the archives that hold it.
func (c *consolidation) settleForgetting(ctx context.Context) (archives []string, err error) {
	live, err := c.root.Current()
	if err != nil {
		return nil, err
	}
	f := c.forgetting
	if traces := f.what.Traces(live.Files, f.in); len(traces) > 0 {
		return nil, memoir.Errorf(memoir.CodeInvalid, "remove the line from that file, then forget again",
			"the forgotten text is still in %d places of the live memory: %s", len(traces), traces[0])
	}
	late, err := c.root.RemovePrevious() // which else stays until the next publication
	c.warnOfLate(c.project.ID, late)
	if err != nil {
		return nil, err
	}
	if f.keys, err = c.store.Forgotten(ctx); err != nil {
		return nil, err
	}
	if archives, err = f.archives(ctx, c.store, c.root); err != nil {
		return archives, err
	}
	if err := search.Update(ctx, c.store, c.opts.Home, true); err != nil {
		return archives, err
	}
	return archives, c.store.FinishForgetting(ctx, c.project.ID, f.seq, f.edit)
}

// finishForgetting does what a process that died, or was interrupted, had begun.
func (r *run) finishForgetting(ctx context.Context) error {
	left, err := r.store.Withdrawals(ctx)
	if err != nil {
		return err
	}
	for _, w := range left {
		_, err := r.forgetIn(ctx, w.ProjectID, nil)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			r.warn(fmt.Sprintf("project %s: forgetting is not finished: %s", w.ProjectID, r.redact(err.Error())),
				cmp.Or(memoir.HintOf(err), "a later run tries again"))
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
	if err := RemoveFolders(ctx, st, opts.Home); err != nil {
		return 0, nil, err
	}
	err = r.holding(ctx, memoir.Project{ID: id, Name: id}, opts.Wait, func(ctx context.Context, _ *consolidation) error {
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
	if err := RemoveFolders(ctx, st, opts.Home); err != nil {
		return sessions, nil, err
	}
	if !purge {
		r.keepBackup(ctx, true)
		return sessions, nil, nil
	}
	removed, err = Purge(ctx, st, opts.Home)
	return sessions, removed, err
}

// RemoveFolders removes the folders of projects that were cleared or forgotten, and what the index has of them.
func RemoveFolders(ctx context.Context, st *store.Store, home string) error {
	ids, err := st.RemovedProjects(ctx)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return nil
	}
	var errs []error
	if err := search.Update(ctx, st, home, true); err != nil {
		return err
	}
	for _, id := range ids {
		err := memory.At(home, id).Remove()
		if err == nil {
			err = st.FolderRemoved(ctx, id)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// maxLog bounds a log that is searched, in bytes; a run sets one of 1 MiB aside.
const maxLog = 64 << 20

// logFiles are what runs in the background said. They may quote what they worked on.
var logFiles = []string{"log/run.log", "log/run.log.1", "log/startup.log", "log/startup.log.1"}

// Purge takes what was deleted out of the places where it may have been left: free
// pages and the log of the database, its copies, the logs of background runs, the index, which the
// next run makes anew. It returns the files that it removed.
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
	_ = st.Backup(ctx, true) // the next run that publishes makes it, if this fails
	return append(removed, copies...), nil
}
