package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/entry"
	"memoir/extract"
	"memoir/memory"
	"memoir/secrets"
	"memoir/store"
	"memoir/team"
	"memoir/team/wire"
)

// A consolidation is work on a claimed project.
type consolidation struct {
	*run
	project memoir.Project
	root    memory.Root
	claim   *store.ProjectClaim
	report  ProjectReport

	consolidator consolidate.Consolidator // of this project; see consolidatorOf

	forgetting *forgetting // nil unless the work is part of forgetting
	here       []string    // words of lines of a hub that change removes on this machine alone
}

// A draft is a memory that is not published yet.
type draft struct {
	live memory.Snapshot
	in   consolidate.Input
	made *memoir.Consolidation // nil: there is nothing to publish
}

// inputs selects the input of a consolidation.
func (c *consolidation) inputs(ctx context.Context, live memory.Snapshot) (consolidate.Input, error) {
	most := c.opts.Settings.Memories.MaxRawMemoriesForGlobal
	extractions, others, err := c.store.Selected(ctx, c.project.ID, most)
	extractions = extract.OfKnown(extractions)
	if err == nil && c.project.IsUser() { // besides the user's notes
		var shared []memoir.Extraction
		shared, err = c.sharedRules(ctx, most)
		extractions = append(extractions, shared...)
	}
	if err != nil {
		return consolidate.Input{}, err
	}
	here, err := c.keptOut(ctx, others)
	if err != nil {
		return consolidate.Input{}, err
	}
	extractions = once(extractions, here)
	extractions, deferred := withoutDeferred(extractions, live.Manifest.Deferred)
	extractions = extract.Later(extractions)
	others = append(others, deferred...) // lines of the memory that cite them may stay
	last, err1 := c.store.LastInputs(ctx, c.project.ID)
	settings, err3 := c.settingsOf(c.project)
	current, err4 := c.currentOf(live)
	accepted, err5 := c.store.Answered(ctx, c.project.ID)
	base, err6 := c.base(ctx)
	edits, err2 := c.handEdits(ctx, base)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return consolidate.Input{}, err
	}
	extractions, own := ownOf(c.project, extractions)
	in := consolidate.Input{
		Own: own, Base: base,
		Project:        c.project,
		Extractions:    extractions,
		Changed:        map[string]bool{},
		Known:          others,
		HandEdits:      edits,
		Accepted:       accepted,
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
		if week := c.week(c.project, c.consolidator); week.Read(ctx) == nil {
			in.Journals = week.Text
		}
	}
	in.Withdrawn, err = c.withdrawn(ctx, last)
	return in, err
}

// handEdits returns the hand edits of the project, and records which of them are of lines of a base, which may be nil.
func (c *consolidation) handEdits(ctx context.Context, base *consolidate.Base) ([]memoir.HandEdit, error) {
	edits, err := c.store.HandEdits(ctx, c.project.ID)
	if marked := base.MarkEdits(c.project, edits); err == nil && base != nil {
		err = c.store.MarkHandEdits(ctx, marked)
	}
	return edits, err
}

// base returns what a hub made of the project: nil if it made nothing.
func (c *consolidation) base(ctx context.Context) (*consolidate.Base, error) {
	if !team.HasBase(c.opts.Home, c.project.ID) {
		return nil, nil
	}
	all, _, err1 := c.store.Selected(ctx, c.project.ID, -1)
	off, err2 := c.keptOut(ctx, nil)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(slices.Clone(all), func(e memoir.Extraction) bool { return memoir.IsReceived(e.SessionKey) })
	all = slices.DeleteFunc(all, func(e memoir.Extraction) bool { return !memoir.IsReceived(e.SessionKey) })
	return c.run.team().Base(c.project, append(own, once(all, off)...))
}

// ownOf marks the statements that the project's own files say: as its working tree has them, which it also returns,
// else as any session saw them.
func ownOf(project memoir.Project, extractions []memoir.Extraction) (out []memoir.Extraction, tree extract.Own) {
	top := ""
	for _, top = range project.Directories {
		if tree = memory.Own(top, top); len(tree.Files) > 0 {
			break
		}
	}
	saw, by := map[string]string{}, map[string]extract.Own{} // by statement and by directory
	for _, e := range extractions {
		for _, st := range e.Statements {
			saw[st.ID] = cmp.Or(saw[st.ID], st.Stands)
		}
	}
	for _, e := range extractions {
		if by[e.CWD].Files == nil {
			by[e.CWD] = memory.Own(top, e.CWD)
		}
		e.Statements = slices.Clone(e.Statements)
		for i, st := range e.Statements {
			if st.Stands = saw[st.ID]; len(tree.Files) > 0 {
				st.Stands = by[e.CWD].In(st)
			}
			if !memoir.IsEntry(e.SessionKey) {
				e.Statements[i] = st
			}
		}
		out = append(out, e)
	}
	return out, tree
}

// retold reports whether the project's own files say other statements than when its memory was published. It reads them
// only if one was written or removed since.
func retold(home string, row store.ProjectRow) bool {
	root := memory.At(home, row.ID)
	live, err := os.Stat(filepath.Join(root.Link(), memory.StatementsFile))
	if row.Generation == 0 || err != nil || !slices.ContainsFunc(row.Directories, func(dir string) bool {
		return slices.ContainsFunc(append([]string{"."}, extract.OwnFiles...), func(name string) bool {
			info, err := os.Stat(filepath.Join(dir, name))
			return err == nil && info.ModTime().After(live.ModTime())
		})
	}) {
		return false
	}
	content, _ := root.Open(memory.StatementsFile)
	was, _ := memory.DecodeStatements(content)
	is, _ := ownOf(row.Project, was)
	return !bytes.Equal(memory.EncodeStatements(is, strings.Clone), content)
}

// currentOf is the live memory as a consolidation reads it, without secrets from hand edits.
func (c *consolidation) currentOf(live memory.Snapshot) (*memoir.Consolidation, error) {
	if len(live.Edited) > 0 {
		files, _, err := c.cleanFiles(live.Files)
		if err != nil {
			return nil, fmt.Errorf("redact the live memory: %w", err)
		}
		live.Files = files
	}
	return live.Consolidation(), nil
}

// keptOut adds to the keys of sessions those that a person or a setting keeps out of the project's memory.
func (c *consolidation) keptOut(ctx context.Context, keys []string) ([]string, error) {
	disabled, err := c.store.Sessions(ctx, store.Filter{Project: c.project.ID, Reason: memoir.ReasonDisabled})
	return slices.Concat(keys, memoir.Map(disabled, memoir.Session.Key)), err
}

// once leaves out what other machines sent of sessions that this machine has extracted, too, or keeps out of memory.
func once(extractions []memoir.Extraction, others []string) []memoir.Extraction {
	others = append(others, memoir.Map(extractions, func(e memoir.Extraction) string { return e.SessionKey })...)
	here := memoir.Set(memoir.Map(others, func(key string) string { return wire.SessionHash(key, "") }))
	return slices.DeleteFunc(extractions, func(e memoir.Extraction) bool {
		_, session := memoir.ReceivedGroup(e.SessionKey)
		return memoir.IsReceived(e.SessionKey) && here[session]
	})
}

// withoutDeferred leaves out the extractions that Restore deferred. A session that was extracted again since
// is an input if it changed, but not if it was only read by another model.
func withoutDeferred(extractions []memoir.Extraction, deferred []memory.Input) (
	left []memoir.Extraction, keys []string) {
	for _, e := range extractions {
		if slices.ContainsFunc(deferred, func(in memory.Input) bool {
			return in.Session == e.SessionKey && memoir.Content(in.Hash) == memoir.Content(e.ContentHash)
		}) {
			keys = append(keys, e.SessionKey)
		} else {
			left = append(left, e)
		}
	}
	return left, keys
}

// stillDeferred returns the sessions that stay deferred: those that are neither inputs nor withdrawn.
func stillDeferred(deferred []memory.Input, in consolidate.Input) []memory.Input {
	return slices.DeleteFunc(slices.Clone(deferred), func(input memory.Input) bool {
		return slices.Contains(in.Withdrawn, input.Session) || slices.ContainsFunc(in.Extractions,
			func(e memoir.Extraction) bool { return e.SessionKey == input.Session })
	})
}

// withdrawn lists the sessions that must leave no trace: forgotten and disabled ones, and missing, the
// inputs of the live generation that are no longer inputs.
func (c *consolidation) withdrawn(ctx context.Context, missing map[string]string) ([]string, error) {
	withdrawn, err1 := c.store.ForgottenOf(ctx, c.project.ID)
	withdrawn = slices.AppendSeq(withdrawn, maps.Keys(missing))
	withdrawn, err2 := c.keptOut(ctx, withdrawn)
	slices.Sort(withdrawn)
	return slices.Compact(withdrawn), errors.Join(err1, err2)
}

// openMark is the prefix of the hash of an open input: one whose new version is not in the memory yet. The
// rest is the hash of the version that is.
const openMark = "open "

// adopted is the hash of the version of an input that is in the memory.
func adopted(hash string) string { return strings.TrimPrefix(hash, openMark) }

func inputsByKey(inputs []memory.Input) map[string]string {
	return memoir.MapOf(inputs, func(in memory.Input) (string, string) { return in.Session, in.Hash })
}

// week returns a project's journals. A person's line becomes the statements that the signals find in it. With a
// language model, a line without any becomes one statement, and a line of an agent or a run a claim.
func (r *run) week(project memoir.Project, by consolidate.Consolidator) *entry.Week {
	asks := by.Name() != consolidate.BuiltinName
	states := func(e memoir.Entry) []memoir.Statement {
		whole := memoir.Statement{Kind: memoir.StatementClaim, Text: e.Text, Signal: memoir.SignalJournal, By: memoir.ByAgent,
			Items: []int{1}, At: e.CreatedAt.UTC().Format(time.DateOnly)}
		if e.Author == memoir.AuthorUser {
			said := memoir.Item{N: 1, Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: e.Text}
			found, err := extract.NewBuiltin().Extract(context.Background(), extract.Input{Items: []memoir.Item{said}})
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

// takenOutOf lists the inputs that are forgotten or disabled, or that now belong to another project.
func (c *consolidation) takenOutOf(ctx context.Context, inputs []memory.Input) ([]string, error) {
	forgotten, err1 := c.store.Forgotten(ctx)
	keys := slices.AppendSeq([]string{}, maps.Keys(inputsByKey(inputs)))
	sessions, err2 := c.store.Sessions(ctx, store.Filter{Keys: keys})
	moves := c.project.ID != memoir.UserProjectID // whose inputs are sessions of other projects
	for _, s := range sessions {
		if s.Reason == memoir.ReasonDisabled || moves && s.ProjectID != "" && s.ProjectID != c.project.ID {
			forgotten[s.Key()] = true
		}
	}
	slices.Sort(keys)
	return slices.DeleteFunc(keys, func(key string) bool { return !forgotten[key] }), errors.Join(err1, err2)
}

// cleanFiles redacts the files to publish and their names.
func (r *run) cleanFiles(files memory.Files) (memory.Files, secrets.Counts, error) {
	return files.Redacted(r.scanner.Session())
}
