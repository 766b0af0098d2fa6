package pipeline

import (
	"context"
	"maps"
	"strings"

	"memoir"
	"memoir/entry"
	"memoir/memory"
	"memoir/store"
)

// Patched is a memory after a patch.
type Patched struct {
	Project    string `json:"project"`
	Generation int    `json:"generation"`
	Content    string `json:"content"` // of MEMORY.md
	Lines      int    `json:"lines"`
}

// Patch changes MEMORY.md of a project by lines, as entry.Apply does, and publishes a generation with it. It counts
// as an edit by hand: later consolidations keep it. Secrets are taken out. It takes the project's lease and waits
// opts.Wait for it; then the error has the code memoir.CodeBusy. A project without a memory gives CodeNotFound.
func Patch(ctx context.Context, st *store.Store, opts Options, project memoir.Project, patch []byte) (Patched, error) {
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
		if live.Generation == 0 {
			return memoir.Errorf(memoir.CodeNotFound, "`memoir run` makes one, of sessions or notes",
				"%s has no memory yet", project.Name)
		}
		settings, err := r.settingsOf(project)
		if err != nil {
			return err
		}
		text, err := entry.Apply(string(live.Files[memoir.MemoryFile]), patch, settings.Memories.MaxMemorySize)
		if err != nil {
			return err
		}
		files := maps.Clone(live.Files)
		files[memoir.MemoryFile] = []byte(text)
		files, counts, err := c.cleanFiles(project, files)
		if err != nil {
			return err
		}
		edited := memory.Notes(project.ID, memory.Differences(live.Files, files), c.now())
		if err := c.record(ctx, live, append(c.editsOf(live), edited...)); err != nil {
			return err
		}
		manifest := live.Manifest
		manifest.Redactions, manifest.RestoredFrom, manifest.RedactedFrom, manifest.EditedFrom = counts, 0, 0, 0
		if err := c.publish(ctx, live, files, manifest, store.GenerationRecord{}, c.store.PublishPart); err != nil {
			return err
		}
		out.Generation, out.Content = c.report.Generation, string(files[memoir.MemoryFile])
		out.Lines = strings.Count(out.Content, "\n")
		return nil
	})
	if err == nil {
		r.index(ctx)
	}
	return out, err
}
