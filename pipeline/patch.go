package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/entry"
	"memoir/extract"
	"memoir/memory"
	"memoir/model"
	"memoir/prompts"
	"memoir/secrets"
	"memoir/store"
)

// Patched is a memory after a patch.
type Patched struct {
	Project    string `json:"project"`
	Generation int    `json:"generation"`
	Content    string `json:"content"` // of MEMORY.md
	Lines      int    `json:"lines"`
}

// Patch changes lines of a project's MEMORY.md, as entry.Patch does, and publishes a generation. The change counts as
// a hand edit, so later consolidations keep it. An agent's lines are marked as not confirmed, and an agent cannot
// change a person's lines. A project without a memory gets one from entry.Template. Secrets are redacted. Patch waits
// opts.Wait for the project's lease; then the error has the code memoir.CodeBusy.
func Patch(ctx context.Context, st *store.Store, opts Options, project memoir.Project, author memoir.Author,
	patch []byte) (Patched, error) {
	r, err := newPhases(st, opts)
	if err != nil {
		return Patched{}, err
	}
	return r.patch(ctx, project, author,
		"", func(context.Context, *consolidation, memory.Snapshot) ([]byte, error) { return patch, nil })
}

// ChangeLines replaces the lines of a project's MEMORY.md that have the words of a key by its value, or removes them if
// that is empty, like Patch for the user. The sessions that say them stay. Lines of a hub that are here are removed on
// this machine alone. The error has the code memoir.CodeNotFound if there is no such line, and memoir.CodeUsage if it
// is a heading.
func ChangeLines(ctx context.Context, st *store.Store, opts Options, project memoir.Project,
	changes map[string]string, here ...string) (Patched, error) {
	r, err := newPhases(st, opts)
	if err != nil {
		return Patched{}, err
	}
	wanted := map[string]string{}
	for line, instead := range changes {
		wanted[words(line)] = instead
	}
	return r.patch(ctx, project, memoir.AuthorUser, "",
		func(_ context.Context, c *consolidation, live memory.Snapshot) ([]byte, error) {
			c.here = memoir.Map(here, words)
			var ops []map[string]any
			for i, text := range slices.Backward(strings.Split(string(live.Files[memoir.MemoryFile]), "\n")) {
				instead, has := wanted[words(text)]
				if words(text) == "" || !has {
					continue
				}
				if memoir.IsHeading(text) {
					return nil, memoir.Errorf(memoir.CodeUsage, "edit MEMORY.md to remove it", "that line is a heading")
				}
				op := map[string]any{"op": "remove", "line": i + 1}
				if instead != "" {
					op["op"], op["content"] = "update", instead
				}
				ops = append(ops, op)
			}
			if len(ops) == 0 {
				return nil, memoir.Errorf(memoir.CodeNotFound, "`memoir cat MEMORY.md` shows the lines",
					"MEMORY.md of %s has no such line", project.Name)
			}
			return json.Marshal(map[string]any{"ops": ops})
		})
}

func words(line string) string { return memoir.Folded(memoir.LineText(memory.Neutralise(line))) }

// patch applies the patch that from makes from the live memory, under the project's lease; nil changes nothing. An
// agent's lines cite a session.
func (p *phases) patch(ctx context.Context, project memoir.Project, author memoir.Author, cite string,
	from func(context.Context, *consolidation, memory.Snapshot) ([]byte, error)) (Patched, error) {
	out := Patched{Project: project.ID}
	err := p.holding(ctx, project, p.opts.Wait, func(ctx context.Context, c *consolidation) error {
		live, err := c.current(ctx)
		if err != nil {
			return err
		}
		patch, err := from(ctx, c, live)
		if err != nil || patch == nil {
			return err
		}
		files, err := c.patched(ctx, live, author, cite, patch)
		if err != nil {
			return err
		}
		files, counts, err := c.cleanFiles(files)
		if err != nil {
			return err
		}
		out.Content = string(files[memoir.MemoryFile])
		out.Lines = strings.Count(out.Content, "\n")
		if live.Generation == 0 {
			err = c.begin(ctx, live, files)
		} else {
			err = c.change(ctx, live, files, counts)
		}
		out.Generation = c.report.Generation
		return err
	})
	if err == nil {
		p.index(ctx)
	}
	return out, err
}

// Reflect sends a session of a project and MEMORY.md to the language model of Phase 2, and applies the patch in its
// answer as an agent's, like Patch. The generation is 0 if nothing changes. The error has the code memoir.CodeConfig
// for the built-in model or a project whose memory is off, and memoir.CodeInvalid for an answer that is not usable.
func Reflect(ctx context.Context, st *store.Store, opts Options, project memoir.Project, session memoir.Session) (
	out Patched, err error) {
	r, err := newPhases(st, opts)
	if err != nil {
		return out, err
	}
	reader, most, err := r.reflecting(ctx, project)
	if err != nil {
		return out, err
	}
	loaded, err := LoadSession(ctx, r.opts.Home, session, r.rules)
	if err != nil {
		return out, err
	}
	call := store.Call{Phase: phaseConsolidate, SessionKey: session.Key(), ProjectID: project.ID}
	from := func(ctx context.Context, c *consolidation, live memory.Snapshot) ([]byte, error) {
		text := string(live.Files[memoir.MemoryFile])
		clean := r.clean(text)
		switch {
		case live.Generation == 0:
			return nil, memoir.Errorf(memoir.CodeNotFound, "`memoir run` creates it", "%s has no memory yet", project.Name)
		case strings.Count(clean, "\n") != strings.Count(text, "\n"):
			return nil, memoir.Errorf(memoir.CodeInvalid, "`memoir redact --stored` removes it",
				"%s contains a secret of several lines", memoir.MemoryFile)
		}
		call.Work = c.claim.Token
		system, frame := prompts.Reflect(project.Name, clean, most, "")
		shown := extract.Shown(loaded.Items, reader.Budget(memoir.Tokens(system)+memoir.Tokens(frame)))
		_, input := prompts.Reflect(project.Name, clean, most, shown)
		answer, err := reader.Model.Call(forWork(ctx, call), model.Request{System: system, Input: input})
		if failed := new(model.Error); errors.As(err, &failed) {
			return nil, memoir.Errorf(memoir.CodeModel, failed.Hint(), "%w", err)
		}
		if err != nil {
			return nil, err
		}
		return patchIn(answer)
	}
	sessions, err := st.Sessions(ctx, store.Filter{Project: project.ID})
	if err != nil {
		return out, err
	}
	out, err = r.patch(ctx, project, memoir.AuthorAgent, consolidate.Citation(session, sessions), from)
	outcome := "unchanged"
	if out.Generation > 0 {
		outcome = "published"
	}
	if memoir.CodeOf(err) == memoir.CodeUsage {
		err = &memoir.AnswerError{Err: memoir.Errorf(memoir.CodeInvalid, unpatched, "the patch cannot be applied: %w", err)}
	}
	if err != nil {
		outcome = outcomeOf(err)
	}
	r.endWork(ctx, call.Work, project.ID, outcome)
	return out, err
}

// reflecting returns the language model for Reflect, and the maximum size of the project's MEMORY.md in bytes.
func (p *phases) reflecting(ctx context.Context, project memoir.Project) (reader extract.LLM, most int, err error) {
	settings, err := p.settingsOf(project)
	if err == nil && settings.Off {
		err = memoir.Errorf(memoir.CodeConfig, "", "%s has no memory: its .memoir.yml switches it off", project.Name)
	}
	if err != nil {
		return reader, 0, err
	}
	_, role := model.Phases(p.opts.Settings.ModelRoles)
	m, o, err := p.modelOf(ctx, role, map[string]string{})
	if err == nil && m == nil {
		err = memoir.Errorf(memoir.CodeConfig,
			"set modelRoles.phase2 to a provider/model; unset, it is modelRoles.smol, else modelRoles.default",
			"the built-in model cannot reflect: a language model is needed")
	}
	return p.reader(m, o), settings.Memories.MaxMemorySize, err
}

// unpatched is the hint of an answer that is not usable.
const unpatched = "the memory is unchanged; try again, or try another model"

// patchIn returns the patch in an answer; nil if it changes nothing.
func patchIn(a model.Answer) ([]byte, error) {
	ops, err := model.Object(a.Text, []string{"ops"})
	if a.Stop != "" && a.Stop != model.StopEnd && a.Stop != model.StopEmpty {
		err = fmt.Errorf("the answer is incomplete: %s", a.Stop)
	}
	if err != nil {
		return nil, &memoir.AnswerError{Err: memoir.Errorf(memoir.CodeInvalid, unpatched, "the model's %s",
			strings.TrimPrefix(err.Error(), "the "))}
	}
	if string(ops["ops"]) == "[]" {
		return nil, nil
	}
	return json.Marshal(ops)
}

// patched returns the live files with a patched MEMORY.md.
func (c *consolidation) patched(ctx context.Context, live memory.Snapshot, author memoir.Author, cite string,
	patch []byte) (memory.Files, error) {
	settings, err1 := c.settingsOf(c.project)
	edits, err2 := c.store.HandEdits(ctx, c.project.ID)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	text := string(live.Files[memoir.MemoryFile])
	if live.Generation == 0 {
		text = entry.Template(c.project.Name)
	}
	own := map[string]bool{} // lines that a person added
	for _, n := range edits {
		for line := range strings.Lines(n.Text) {
			if line = strings.TrimSpace(line); n.Action == memoir.EditAdded && n.File == memoir.MemoryFile {
				own[line] = line != "" && !strings.HasSuffix(line, memoir.Unconfirmed)
			}
		}
	}
	text, err := entry.Patch{Text: text, Most: settings.Memories.MaxMemorySize, Author: author, Cite: cite,
		Own: func(line string) bool { return byPerson(line, own) }}.Apply(patch)
	files := maps.Clone(live.Files)
	if files == nil {
		files = memory.Files{}
	}
	files[memoir.MemoryFile] = []byte(text)
	return files, err
}

// byPerson reports whether a line of MEMORY.md is a person's: a hand edit, a note, or a rule that quotes a person.
func byPerson(line string, added map[string]bool) bool {
	line = strings.TrimSpace(line)
	return strings.Contains(line, "“") || strings.Contains(line, "["+string(memoir.EntryNote)+"-") || added[line]
}

// change publishes files instead of the live ones as hand edits, and updates the summary.
func (c *consolidation) change(ctx context.Context, live memory.Snapshot, files memory.Files,
	counts secrets.Counts) error {
	before, _, err := c.cleanFiles(live.Files) // as a whole: a line of a key does not show that it is one
	if err != nil {
		return err
	}
	edited := memory.HandEdits(c.project.ID, memory.Differences(before, files), c.now())
	for i, n := range edited {
		if n.Action == memoir.EditRemoved && slices.Contains(c.here, words(n.Text)) {
			edited[i].Hub = memoir.EditHere
		}
	}
	if err := c.record(ctx, live, append(c.editsOf(live), edited...)); err != nil {
		return err
	}
	in, err := c.input(ctx, live)
	if err != nil {
		return err
	}
	told := consolidate.ApplyHandEdits(memoir.Consolidation{MemoryMD: string(files[memoir.MemoryFile]),
		MemorySummary: string(files[memoir.SummaryFile])}, consolidate.LiveHandEdits(in.HandEdits, in))
	files[memoir.SummaryFile] = []byte(told.MemorySummary)
	manifest := live.Manifest
	manifest.Redactions, manifest.RestoredFrom, manifest.RedactedFrom, manifest.EditedFrom = counts, 0, 0, 0
	return c.publish(ctx, live, files, manifest, store.PublishPart)
}

// begin publishes a first memory with the MEMORY.md of files. The template's headings count as hand edits, but not its
// other lines.
func (c *consolidation) begin(ctx context.Context, live memory.Snapshot, files memory.Files) error {
	edited := memory.HandEdits(c.project.ID, memory.Differences(nil, files), c.now())
	ours := strings.Split(entry.Template(c.project.Name), "\n")
	edited = slices.DeleteFunc(edited, func(n memoir.HandEdit) bool {
		text := strings.TrimSpace(n.Text)
		return !strings.HasPrefix(text, "##") && slices.Contains(ours, text)
	})
	if err := c.record(ctx, live, edited); err != nil {
		return err
	}
	in, err := c.input(ctx, live)
	if err != nil {
		return err
	}
	made := consolidate.Written(in, string(files[memoir.MemoryFile]))
	_, err = c.publishDraft(ctx, draft{live, in, &made}, store.PublishPart)
	return err
}
