package pipeline

import (
	"context"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/entry"
	"memoir/memory"
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

// Patch changes MEMORY.md of a project by lines, as entry.Patch does, and publishes a generation with it. It counts
// as an edit by hand: later consolidations keep it. What an agent writes is marked as not confirmed, and it changes
// no line that a person wrote. A project without a memory gets one of entry.Template. Secrets are taken out. Patch
// takes the project's lease and waits opts.Wait for it; then the error has the code memoir.CodeBusy.
func Patch(ctx context.Context, st *store.Store, opts Options, project memoir.Project, author memoir.Author,
	patch []byte) (Patched, error) {
	out := Patched{Project: project.ID}
	r, err := newRun(st, opts)
	if err != nil {
		return out, err
	}
	err = r.holding(ctx, project, opts.Wait, func(ctx context.Context, c *consolidation) error {
		live, err := c.current(ctx)
		if err != nil {
			return err
		}
		files, err := c.patched(ctx, live, author, patch)
		if err != nil {
			return err
		}
		files, counts, err := c.cleanFiles(project, files)
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
		r.index(ctx)
	}
	return out, err
}

// patched are the live files with MEMORY.md patched.
func (c *consolidation) patched(ctx context.Context, live memory.Snapshot, author memoir.Author, patch []byte) (
	memory.Files, error) {
	settings, err := c.settingsOf(c.project)
	if err != nil {
		return nil, err
	}
	notes, err := c.store.Notes(ctx, c.project.ID)
	if err != nil {
		return nil, err
	}
	text := string(live.Files[memoir.MemoryFile])
	if live.Generation == 0 {
		text = entry.Template(c.project.Name)
	}
	text, err = entry.Patch{Text: text, Most: settings.Memories.MaxMemorySize, Author: author,
		Own: func(line string) bool { return byPerson(line, notes) }}.Apply(patch)
	files := maps.Clone(live.Files)
	if files == nil {
		files = memory.Files{}
	}
	files[memoir.MemoryFile] = []byte(text)
	return files, err
}

// byPerson reports whether a line of MEMORY.md is what a person wrote there or noted, or a rule that quotes them.
func byPerson(line string, notes []memoir.Note) bool {
	line = strings.TrimSpace(line)
	return strings.Contains(line, "“") || strings.Contains(line, "["+string(memoir.EntryNote)+"-") ||
		slices.ContainsFunc(notes, func(n memoir.Note) bool {
			return n.Action == memoir.NoteAdded && n.File == memoir.MemoryFile && strings.TrimSpace(n.Text) == line &&
				line != "" && !strings.HasSuffix(line, memoir.Unconfirmed)
		})
}

// change publishes files in place of the live ones, as an edit.
func (c *consolidation) change(ctx context.Context, live memory.Snapshot, files memory.Files,
	counts secrets.Counts) error {
	edited := memory.Notes(c.project.ID, memory.Differences(live.Files, files), c.now())
	if err := c.record(ctx, live, append(c.editsOf(live), edited...)); err != nil {
		return err
	}
	manifest := live.Manifest
	manifest.Redactions, manifest.RestoredFrom, manifest.RedactedFrom, manifest.EditedFrom = counts, 0, 0, 0
	return c.publish(ctx, live, files, manifest, store.GenerationRecord{}, c.store.PublishPart)
}

// begin publishes a first memory with the MEMORY.md of files. What is the template's is no edit, but its headings.
func (c *consolidation) begin(ctx context.Context, live memory.Snapshot, files memory.Files) error {
	edited := memory.Notes(c.project.ID, memory.Differences(nil, files), c.now())
	ours := strings.Split(entry.Template(c.project.Name), "\n")
	edited = slices.DeleteFunc(edited, func(n memoir.Note) bool {
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
	return c.publishResult(ctx, consolidate.Written(in, string(files[memoir.MemoryFile])), in, live, false)
}
