package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/entry"
	"memoir/extract"
	"memoir/memory"
	"memoir/store"
)

// inputs selects the input of a consolidation.
func (r *run) inputs(ctx context.Context, project memoir.Project, live memory.Snapshot) (consolidate.Input, error) {
	most := r.opts.Settings.Memories.MaxRawMemoriesForGlobal
	extractions, others, err := r.store.Selected(ctx, project.ID, most)
	if err == nil && project.IsUser() { // besides the user's notes
		var shared []memoir.Extraction
		shared, err = r.sharedRules(ctx, most)
		extractions = append(extractions, shared...)
	}
	if err != nil {
		return consolidate.Input{}, err
	}
	extractions, deferred := withoutDeferred(extractions, live.Manifest.Deferred)
	others = append(others, deferred...) // lines of the memory that cite them may stay
	last, err := r.store.LastInputs(ctx, project.ID)
	if err != nil {
		return consolidate.Input{}, err
	}
	edits, err := r.store.HandEdits(ctx, project.ID)
	if err != nil {
		return consolidate.Input{}, err
	}
	settings, err := r.settingsOf(project)
	if err != nil {
		return consolidate.Input{}, err
	}
	current, err := r.currentOf(project, live)
	if err != nil {
		return consolidate.Input{}, err
	}
	in := consolidate.Input{
		Project:        project,
		Extractions:    extractions,
		Changed:        map[string]bool{},
		Known:          others,
		HandEdits:      edits,
		SummaryTokens:  settings.Memories.SummaryInjectionTokenLimit,
		MaxMemoryBytes: settings.Memories.MaxMemorySize,
		Current:        current,
	}
	for _, e := range extractions {
		if last[e.SessionKey] != e.ContentHash {
			in.Changed[e.SessionKey] = true
		}
		delete(last, e.SessionKey)
	}
	for _, key := range others {
		delete(last, key)
	}
	if settings.MemConsolidate.Enabled && slices.ContainsFunc(slices.Collect(maps.Keys(in.Changed)), memoir.IsJournal) {
		// takeInJournals has reported read errors.
		if week := r.week(project); week.Read(ctx) == nil {
			in.Journals = week.Text
		}
	}
	in.Withdrawn, err = r.withdrawn(ctx, project.ID, last)
	return in, err
}

// currentOf is the live memory as a consolidation reads it, without secrets from hand edits.
func (r *run) currentOf(project memoir.Project, live memory.Snapshot) (*memoir.Consolidation, error) {
	if len(live.Edited) > 0 {
		files, _, err := r.cleanFiles(live.Files)
		if err != nil {
			return nil, fmt.Errorf("redact the live memory: %w", err)
		}
		live.Files = files
	}
	return live.Consolidation(), nil
}

// withoutDeferred leaves out the extractions that Restore deferred. A session that was extracted again since
// is an input.
func withoutDeferred(extractions []memoir.Extraction, deferred []memory.Input) (
	left []memoir.Extraction, keys []string) {
	for _, e := range extractions {
		if slices.Contains(deferred, memory.Input{Session: e.SessionKey, Hash: e.ContentHash}) {
			keys = append(keys, e.SessionKey)
		} else {
			left = append(left, e)
		}
	}
	return left, keys
}

// stillDeferred returns the sessions that stay deferred: those that are neither inputs nor withdrawn.
func stillDeferred(deferred []memory.Input, in consolidate.Input) (left []memory.Input) {
	for _, input := range deferred {
		if !slices.Contains(in.Withdrawn, input.Session) && !slices.ContainsFunc(in.Extractions,
			func(e memoir.Extraction) bool { return e.SessionKey == input.Session }) {
			left = append(left, input)
		}
	}
	return left
}

// withdrawn lists the sessions that must leave no trace: forgotten and disabled ones, and missing, the
// inputs of the live generation that are no longer inputs.
func (r *run) withdrawn(ctx context.Context, projectID string, missing map[string]string) ([]string, error) {
	withdrawn := slices.Collect(maps.Keys(missing))
	sessions, err := r.store.Sessions(ctx, store.Filter{Project: projectID, Reason: memoir.ReasonDisabled})
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		withdrawn = append(withdrawn, s.Key())
	}
	forgotten, err := r.store.ForgottenOf(ctx, projectID)
	if err != nil {
		return nil, err
	}
	withdrawn = append(withdrawn, forgotten...)
	slices.Sort(withdrawn)
	return slices.Compact(withdrawn), nil
}

// openMark is the prefix of the hash of an open input: one whose new version is not in the memory yet. The
// rest is the hash of the version that is.
const openMark = "open "

// adopted is the hash of the version of an input that is in the memory.
func adopted(hash string) string { return strings.TrimPrefix(hash, openMark) }

// inputsOf returns the inputs of a generation. Open sessions keep the version that the generation before
// has, marked as open; those that it does not have are left out.
func inputsOf(in consolidate.Input, open []string, before []memory.Input) []memory.Input {
	inputs := make([]memory.Input, 0, len(in.Extractions))
	for _, e := range in.Extractions {
		if !slices.Contains(open, e.SessionKey) {
			inputs = append(inputs, memory.Input{Session: e.SessionKey, Hash: e.ContentHash})
			continue
		}
		for _, was := range before {
			if was.Session == e.SessionKey {
				inputs = append(inputs, memory.Input{Session: e.SessionKey, Hash: openMark + adopted(was.Hash)})
			}
		}
	}
	return inputs
}

func inputsByKey(inputs []memory.Input) map[string]string {
	out := make(map[string]string, len(inputs))
	for _, in := range inputs {
		out[in.Session] = in.Hash
	}
	return out
}

const (
	summariesDir    = "rollout_summaries/"
	skillsDir       = "skills/"
	rawMemoriesFile = "raw_memories.md"
)

// beside returns the files that are published beside a consolidation: the companions, with hand edits, and
// files that people added. Lines that depend only on withdrawn sessions are removed.
func (c *consolidation) beside(in consolidate.Input, live memory.Snapshot) memory.Files {
	shown := in.Extractions
	if c.project.IsUser() { // the projects' companions have the shared rules
		shown = slices.DeleteFunc(slices.Clone(shown),
			func(e memoir.Extraction) bool { return !memoir.IsEntry(e.SessionKey) })
	}
	files := companions(shown)
	if len(in.Extractions) > 0 {
		files[memory.StatementsFile] = memory.EncodeStatements(newestFirst(in.Extractions), memory.Neutralise)
	}
	for path, content := range live.Files.Extra() {
		if !isCompanion(path) {
			files[path] = []byte(c.forgetting.clean(string(content), in))
		}
	}
	for _, edit := range in.HandEdits {
		if _, known := files[edit.File]; known && edit.Action == memoir.EditFile {
			files[edit.File] = []byte(c.forgetting.clean(edit.Text, in))
		}
	}
	return files
}

// companions returns the files that lead from citations back to the sessions: a summary of each session, and
// the raw memories of all, newest first.
func companions(extractions []memoir.Extraction) memory.Files {
	short := consolidate.ShortIDs(extractions)
	files := memory.Files{}
	if len(extractions) == 0 {
		return files
	}
	for _, e := range extractions {
		if memoir.IsEntry(e.SessionKey) {
			continue // it has no summary
		}
		name := consolidate.SummaryFileName(e, short[e.SessionKey])
		files[name] = []byte(header(e) + passive(e.RolloutSummary) + "\n")
	}

	var raw strings.Builder
	raw.WriteString(
		"# Raw memories\n\nWhat was extracted from each session, newest first; " +
			"numbers in brackets are items of that session.\n",
	)
	for _, e := range newestFirst(extractions) {
		fmt.Fprintf(&raw, "\n# %s %s\n\n%s%s\n", short[e.SessionKey], passive(oneLine(e.Title)), header(e),
			passive(e.RawMemory()))
	}
	files[rawMemoriesFile] = []byte(raw.String())
	return files
}

func newestFirst(extractions []memoir.Extraction) []memoir.Extraction {
	return slices.SortedStableFunc(slices.Values(extractions),
		func(a, b memoir.Extraction) int { return b.EndedAt.Compare(a.EndedAt) })
}

// passive makes a text safe for a file of a memory: it can neither control a terminal, nor hide or load anything.
func passive(text string) string {
	return consolidate.Passive(strings.TrimSpace(memory.Neutralise(text)))
}

// header is the header of a session's text.
func header(e memoir.Extraction) string {
	source, id := memoir.SplitKey(e.SessionKey)
	var b strings.Builder
	fmt.Fprintf(&b, "session: %s\nagent: %s\nended: %s\n", oneLine(id), source, e.EndedAt.UTC().Format(time.RFC3339))
	if e.CWD != "" {
		fmt.Fprintf(&b, "cwd: %s\n", passive(oneLine(e.CWD)))
	}
	if e.Branch != "" {
		fmt.Fprintf(&b, "branch: %s\n", passive(oneLine(e.Branch)))
	}
	return b.String() + "\n"
}

// oneLine joins the lines of a recorded value, so that it cannot begin a new line.
func oneLine(text string) string {
	return strings.Join(strings.Fields(memory.Neutralise(text)), " ")
}

// adoptJournals makes new lines of the journals of the last days inputs of this run's consolidations. If one
// project's journals cannot be read, the others are still processed.
func (r *run) adoptJournals(ctx context.Context) error {
	projects, err := r.store.Projects(ctx)
	for _, row := range projects {
		err := r.adoptJournal(ctx, row.Project)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			r.warn(fmt.Sprintf("project %s: its journals are left out: %s", row.Name, r.redact(err.Error())), memoir.HintOf(err))
		}
	}
	return err
}

// adoptJournal does nothing if another process has the project's lease.
func (r *run) adoptJournal(ctx context.Context, project memoir.Project) error {
	week := r.week(project)
	if days, err := week.Days(project.ID); err != nil || len(days) == 0 || !r.selected(project.ID) {
		return err
	}
	settings, fault := r.settingsOf(project) // Phase 2 reports faults
	if fault != nil || settings.Off || !settings.MemConsolidate.Enabled {
		return nil
	}
	err := week.Read(ctx)
	since := r.now().Sub(week.Last)
	if err != nil || !week.Fresh() || since >= 0 && since.Hours() < settings.MemConsolidate.IntervalHours {
		return err
	}
	err = r.holding(ctx, project, 0, func(ctx context.Context, _ *consolidation) error {
		return week.Adopt(ctx)
	})
	if code := memoir.CodeOf(err); code == memoir.CodeBusy || code == memoir.CodeNotFound {
		return nil
	}
	return err
}

// Book returns the book to write entries of registered projects. A text is redacted with the person's rules as they are
// now, and then by redact. While the rules are invalid, the error has the code memoir.CodeConfig.
func Book(st *store.Store, opts Options, redact func(string) string) (entry.Book, error) {
	r, err := newRun(st, opts)
	if err != nil {
		return entry.Book{}, err
	}
	b := r.book()
	b.Redact = func(text string) string { return redact(r.clean(text)) }
	return b, nil
}

func (r *run) book() entry.Book {
	return entry.Book{Store: r.store, Home: r.opts.Home, Redact: r.clean}
}

// week returns a project's journals. A person's line becomes the statements that the signals find in it. With a
// language model, a line without any becomes one statement, and a line of an agent or a run a claim.
func (r *run) week(project memoir.Project) *entry.Week {
	asks := r.consolidatorOf(project.ID).Name() != consolidate.BuiltinName
	states := func(e memoir.Entry) []memoir.Statement {
		whole := memoir.Statement{Kind: memoir.StatementClaim, Text: e.Text, Signal: memoir.SignalJournal, By: memoir.ByAgent,
			Items: []int{1}, At: e.CreatedAt.UTC().Format(time.DateOnly)}
		if e.Author == memoir.AuthorUser {
			said := memoir.Item{N: 1, Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: e.Text}
			found, _, err := extract.NewBuiltin().Extract(context.Background(), extract.Input{Items: []memoir.Item{said}})
			if err == nil && len(found.Statements) > 0 {
				for i := range found.Statements {
					found.Statements[i].At = whole.At
				}
				return found.Statements
			}
			whole.Kind, whole.By = memoir.StatementFinding, memoir.ByPerson
		}
		if !asks {
			return nil
		}
		return []memoir.Statement{whole}
	}
	return &entry.Week{Book: r.book(), Project: project.ID, Now: r.now(), States: states}
}
