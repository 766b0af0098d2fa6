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
	"strings"

	"memoir"
	"memoir/consolidate"
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
	Archives   []string `json:"archives"`   // files that still have forgotten text, or had it until the purge
}

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
func Forget(ctx context.Context, st *store.Store, opts Options, f Forgetting) (ForgetReport, error) {
	report := ForgetReport{Projects: []ForgottenIn{}, Removed: []string{}}
	p, err := newPhases(st, opts)
	if err != nil {
		return report, err
	}
	r := forgetter{p}
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
		if err := search.Update(ctx, st, opts.Home, r.clean, true); err != nil {
			return report, err
		}
	}
	delete(found, "")
	var errs []error
	if f.Instead != nil {
		one, err := r.replace(ctx, f)
		report.Projects = append(report.Projects, one)
		if err != nil {
			return report, err
		}
		delete(found, f.Instead.ProjectID)
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		what := store.Forgetting{Keys: found[id], Purge: f.Purge}
		if slices.Contains(f.Projects, id) {
			what.Text = f.Text
		}
		one, err := r.forgetIn(ctx, id, &what)
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

// A forgetter removes sessions and text from memories. It calls no language model.
type forgetter struct{ *phases }

// replace replaces what a project forgets by an entry.
func (f *forgetter) replace(ctx context.Context, what Forgetting) (out ForgottenIn, err error) {
	book := entry.Book{Store: f.store, Home: f.opts.Home, Redact: f.redact}
	e, statements, err := book.Checked(*what.Instead)
	if err != nil {
		return out, err
	}
	out, err = f.forgetIn(ctx, e.ProjectID,
		&store.Forgetting{Keys: what.Keys, Purge: what.Purge, Instead: &e, Statements: statements})
	if *what.Instead = e; err == nil {
		err = book.File(ctx, e.ID)
	}
	return out, err
}

// keepBackup makes a backup of the database if the existing one is older than a day, or if now is set. A
// failure is only a warning: before something is forgotten, the earlier backup was removed.
func (r *run) keepBackup(ctx context.Context, now bool) {
	if err := r.store.Backup(ctx, now); err != nil {
		r.warn("cannot back up the database: "+err.Error(), memoir.HintOf(err))
	}
}

// worst returns all with the code of one of several errors, not CodeBusy if possible.
func worst(errs []error, all error) error {
	for _, err := range errs {
		if code := memoir.CodeOf(err); code != memoir.CodeBusy || err == errs[len(errs)-1] {
			return memoir.Errorf(code, memoir.HintOf(err), "%w", all)
		}
	}
	return all
}

// forgetIn forgets in one project: f, if it is not nil, and all that was begun before. A failure is recorded.
func (f *forgetter) forgetIn(ctx context.Context, id string, what *store.Forgetting) (ForgottenIn, error) {
	out := ForgottenIn{Project: id, Outcome: OutcomeFailed, Archives: []string{}}
	row, err := f.store.FindProject(ctx, id)
	if err != nil {
		return out, err
	}
	out.Name, out.Generation = row.Name, int(row.Generation)
	err = f.holding(ctx, row.Project, f.opts.Wait, func(ctx context.Context, c *consolidation) (err error) {
		if what != nil {
			if err := f.store.BeginForgetting(ctx, *c.claim, *what); err != nil {
				return err
			}
			what = nil
		}
		if c.forgetting, err = loadForgetting(ctx, c.store, c.project.ID); err != nil {
			return err
		}
		makes := c.withoutGone
		if out.Generation > 0 && (f.anew() || c.project.IsUser()) {
			makes = c.askOnce // with the built-in model: no other is chosen yet
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
		if err := f.store.WithdrawalFailed(ctx, id, f.redact(err.Error())); err != nil {
			f.log.Warn("cannot record why a project could not forget", "error", err)
		}
	}
	return out, err
}

// anew reports whether the built-in model makes memories. Then forgetting makes the memory from scratch,
// since a line that other sessions support may quote a forgotten one. With a language model, forgetting
// removes lines instead and calls no model.
func (f *forgetter) anew() bool {
	_, two := model.Phases(f.opts.Settings.ModelRoles)
	spec, err := model.SpecOf(f.opts.Settings, two.Model)
	return f.opts.Phases == nil && err == nil && spec.Builtin()
}

// settleForgetting checks the live files for forgotten text, then removes earlier files and the extractions
// of forgotten sessions. It returns the archives that have forgotten text.
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
	late, err := c.root.RemovePrevious() // otherwise it stays until the next publication
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
	if err := search.Update(ctx, c.store, c.opts.Home, c.clean, true); err != nil {
		return archives, err
	}
	return archives, c.store.FinishForgetting(ctx, c.project.ID, f.seq, f.edit)
}

// finish finishes what a killed or interrupted process had begun.
func (f *forgetter) finish(ctx context.Context) error {
	left, err := f.store.Withdrawals(ctx)
	if err != nil {
		return err
	}
	for _, w := range left {
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
	if err != nil {
		return err
	}
	if !purging {
		if len(left) > 0 {
			f.keepBackup(ctx, true)
		}
		return nil
	}
	if left, err = f.store.Withdrawals(ctx); err != nil || len(left) > 0 {
		return err
	}
	if _, err := Purge(ctx, f.store, f.opts.Home); err != nil {
		f.warn("purging is not finished: "+f.redact(err.Error()), memoir.HintOf(err))
	}
	return nil
}

// ForgetProject forgets a project for good, with its sessions, memory and generations, and returns the
// keys of its sessions and entries. Other memories that depend on the sessions forget them, too. It waits
// opts.Wait for the lease of another process; then the error has the code memoir.CodeBusy.
func ForgetProject(
	ctx context.Context,
	st *store.Store,
	opts Options,
	id string,
	purge bool,
) (keys, removed []string, err error) {
	p, err := newPhases(st, opts)
	if err != nil {
		return nil, nil, err
	}
	r := forgetter{p}
	if err := RemoveFolders(ctx, st, opts.Home, r.clean); err != nil {
		return nil, nil, err
	}
	err = r.holding(ctx, memoir.Project{ID: id, Name: id}, opts.Wait, func(ctx context.Context, _ *consolidation) error {
		if purge {
			if err := st.BeginPurge(ctx); err != nil {
				return err
			}
		}
		keys, err = st.ForgetProject(ctx, id)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if err := RemoveFolders(ctx, st, opts.Home, r.clean); err != nil {
		return keys, nil, err
	}
	found, err := st.Remembering(ctx, keys)
	if err != nil {
		return keys, nil, err
	}
	delete(found, "")
	delete(found, id)
	for _, other := range slices.Sorted(maps.Keys(found)) { // the user's, or one to which a session belonged
		if _, err := r.forgetIn(ctx, other, &store.Forgetting{Keys: found[other], Purge: purge}); err != nil {
			return keys, nil, fmt.Errorf("project %s: %w", other, err)
		}
	}
	if !purge {
		r.keepBackup(ctx, true)
		return keys, nil, nil
	}
	removed, err = Purge(ctx, st, opts.Home)
	return keys, removed, err
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

// Found lists where a text was found, as memoir.Folded compares it.
type Found struct {
	Sessions []memoir.Session // whose extraction, messages, title or directory contain it, the latest first
	Lines    []FoundLine      // of live memories, journals, histories and conversations, by project
	Projects []string         // ids of those whose memory, archives or hand edits contain it; sorted
}

// Empty reports whether nothing was found.
func (f Found) Empty() bool { return len(f.Sessions)+len(f.Projects) == 0 }

// FoundLine is a line of a live memory, or of a file beside it.
type FoundLine struct {
	Project string
	Path    string // in the memory, or in the project's folder
	Line    int    // from 1; 0: the path contains the text
	Text    string
}

// FindText searches extractions, messages and memories for a text, but not transcripts. Forgotten sessions
// are left out. opts.ProjectIDs limits it to projects.
func FindText(ctx context.Context, st *store.Store, opts Options, text string) (Found, error) {
	var out Found
	text = memoir.Folded(text)
	s, err := newStoredScan(ctx, st, opts)
	if err != nil {
		return out, err
	}
	extracted := map[string]bool{}
	err = s.each(ctx, func(at StoredPlace, value string) {
		held := memoir.LinesHolding(value, text)
		switch {
		case len(held) == 0:
			return
		case at.Table == "extraction", at.Table == "fallback":
			extracted[at.Key] = true
			return
		case at.Table == "message":
			_, key, _ := strings.Cut(at.Key, " ")
			extracted[key] = true
			return
		case at.Table != "hand_edit" && at.Table != "" || at.Project == "":
			return
		case at.live != "" && at.Line == 0: // the path
			out.Lines = append(out.Lines, FoundLine{Project: at.Project, Path: at.live})
		case at.live != "":
			lines := strings.Split(value, "\n")
			for _, n := range held {
				out.Lines = append(out.Lines, FoundLine{at.Project, at.live, n, strings.TrimSpace(lines[n-1])})
			}
		}
		out.Projects = append(out.Projects, at.Project)
	})
	if err != nil {
		return out, err
	}
	slices.Sort(out.Projects)
	out.Projects = slices.Compact(out.Projects)
	if err := supporting(opts.Home, out.Lines, extracted); err != nil {
		return out, err
	}
	sessions, err := st.Sessions(ctx, store.Filter{})
	for _, session := range sessions {
		about := strings.Join([]string{session.Title, session.CWD, session.Branch, session.Remote, session.Error}, "\n")
		wanted := session.Reason != memoir.ReasonForgotten && (s.project == "" || s.project == session.ProjectID)
		if wanted && (extracted[session.Key()] || strings.Contains(memoir.Folded(about), text)) {
			out.Sessions = append(out.Sessions, session)
		}
	}
	return out, err
}

// supporting adds the sessions that a line of MEMORY.md cites if none of them contains the text. Otherwise
// the next consolidation would make the line from them again.
func supporting(home string, lines []FoundLine, holding map[string]bool) error {
	for _, line := range lines {
		if line.Path != memoir.MemoryFile {
			continue
		}
		live, err := memory.At(home, line.Project).Current()
		if err != nil {
			return err
		}
		inputs := live.Manifest.Inputs
		var cited []string
		for _, ref := range consolidate.Cited(line.Text, live.Manifest.Citations) {
			for _, in := range inputs {
				if _, id := memoir.SplitKey(in.Session); in.Session == ref || strings.HasPrefix(id, ref) {
					cited = append(cited, in.Session)
				}
			}
		}
		if !slices.ContainsFunc(cited, func(key string) bool { return holding[key] }) {
			for _, key := range cited {
				holding[key] = true
			}
		}
	}
	return nil
}

// RestingOnForgotten reports for each generation whether it depends on forgotten sessions.
func RestingOnForgotten(ctx context.Context, st *store.Store, generations []memory.Generation) (map[int]bool, error) {
	forgotten, err := st.Forgotten(ctx)
	out := map[int]bool{}
	for _, g := range generations {
		out[g.Number] = slices.ContainsFunc(g.Manifest.Inputs, func(in memory.Input) bool { return forgotten[in.Session] })
	}
	return out, err
}
