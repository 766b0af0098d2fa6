package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/failpoint"
	"memoir/memory"
	"memoir/project"
	"memoir/store"
	"memoir/team"
)

// StoredRedaction is the result of RedactStored.
type StoredRedaction struct {
	StoredReport
	Rows     int      `json:"rows"`     // texts of the database that were rewritten
	Archives int      `json:"archives"` // of earlier generations that were removed
	Removed  []string `json:"removed"`  // logs and copies of the database
}

// RedactStored removes the secrets that ScanStored finds, and reports those. It publishes the live files without them
// as a new generation, removes archives that have one, and rewrites texts of the database. Then it clears the
// database's free pages and log, and removes copies of it and logs of runs. Content hashes stay, so that
// nothing is extracted again.
//
// While another process has jobs it waits opts.Wait; then the error has the code memoir.CodeBusy and nothing
// was changed. If the process is killed, another call does the rest. The error has the code
// memoir.CodeChanged if secrets were stored meanwhile.
func RedactStored(ctx context.Context, st *store.Store, opts Options) (out StoredRedaction, err error) {
	out.Removed = []string{}
	s, err := newStoredScan(ctx, st, opts)
	if err != nil {
		return out, err
	}
	if err := s.quiet(ctx); err != nil {
		return out, err
	}
	if out.StoredReport, err = s.findSecrets(ctx); err != nil || len(out.Places) == 0 {
		return out, err
	}
	if err := s.redactMemories(ctx, &out); err != nil {
		return out, err
	}
	if err := s.redactRows(ctx, &out); err != nil {
		return out, err
	}
	left, err := s.findSecrets(ctx)
	if err == nil && len(left.Places) > 0 {
		err = memoir.Errorf(memoir.CodeChanged, "run it again",
			"%d places hold secrets that were stored meanwhile", len(left.Places))
	}
	out.Unread = left.Unread
	return out, err
}

// quiet waits until no other process has jobs, and finishes the forgetting and removals of killed processes.
func (s *storedScan) quiet(ctx context.Context) error {
	if err := untilFree(ctx, s.opts.Wait, func() error { return s.store.Working(ctx) }); err != nil {
		return err
	}
	return (&forgetter{s.phases}).finishForgetting(ctx)
}

// redactMemories redacts the memories of all projects.
func (s *storedScan) redactMemories(ctx context.Context, out *StoredRedaction) (failed error) {
	if err := errors.Join(s.store.BeginPurge(ctx), s.moveProjects(ctx)); err != nil {
		return err
	}
	for i, p := range s.projects {
		s.progress(Progress{Stage: StageRedact, Done: i, Total: len(s.projects)})
		if err := s.redactProject(ctx, p, out); err != nil {
			failed = errors.Join(failed, fmt.Errorf("redacting: project %s: %w", p.ID, err))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return failed
}

// moveProjects gives each project whose id has a secret the id that follows from its redacted identity. Its folder gets
// that name first, since a merge leaves the memory behind. The next use of the memory records its generation.
func (s *storedScan) moveProjects(ctx context.Context) error {
	for i, p := range s.projects {
		if s.known.Text(p.ID) == p.ID {
			continue
		}
		into := project.Named(s.known.Text(p.Identity))
		into.Remote = s.known.Text(p.Remote)
		err := s.store.AddProject(ctx, into)
		if err == nil {
			err = Regroup(ctx, s.store, s.opts, p.Project, func(ctx context.Context, c store.ProjectClaim) error {
				err := failpoint.Rename(memory.At(s.opts.Home, p.ID).Dir(), memory.At(s.opts.Home, into.ID).Dir())
				if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) { // a killed process has moved it
					return err
				}
				return s.store.Merge(ctx, c, into.ID)
			})
		}
		if err != nil {
			return err
		}
		if s.projects[i].Project = into; s.project != "" {
			s.project = into.ID
		}
	}
	return nil
}

// redactRows redacts the database, after the memories: a rule may find a value only by its context there.
func (s *storedScan) redactRows(ctx context.Context, out *StoredRedaction) error {
	var redacted []store.Text
	err := s.store.Texts(ctx, s.project, func(t store.Text) error {
		t.New = t.Changed(s.known.Text)
		if t.Name {
			t.New = s.known.Name(t.Value)
		}
		if t.New != t.Value {
			redacted = append(redacted, t)
		}
		return nil
	})
	if err != nil {
		return err
	}
	out.Rows, err = s.store.ReplaceTexts(ctx, redacted)
	if err == nil {
		out.Removed, err = Purge(ctx, s.store, s.opts.Home)
	}
	return err
}

// redactProject publishes a generation without secrets if the live one has any, and removes archives that
// have one.
func (s *storedScan) redactProject(ctx context.Context, p store.ProjectRow, out *StoredRedaction) error {
	return s.holding(ctx, p.Project, s.opts.Wait, func(ctx context.Context, c *consolidation) error {
		// What a hub made is fetched again, and redacted by the rules of now.
		if err := cmp.Or(s.publishRedacted(ctx, c), team.DropBase(ctx, s.store, s.opts.Home, p.ID)); err != nil {
			return err
		}
		removed, err := dropGenerations(c.root, func(g memory.Generation) bool {
			files, err := c.root.ReadArchive(g.Number)
			return err == nil && s.dirty(files) // unreadable ones are in Unread
		})
		out.Archives += len(removed)
		if err != nil {
			return err
		}
		return c.store.Alone(ctx, func() error {
			return c.root.RewriteBeside(func(_, text string) string { return s.known.Text(text) })
		})
	})
}

// publishRedacted publishes the live files without their secrets, if they or their archive have any.
func (s *storedScan) publishRedacted(ctx context.Context, c *consolidation) error {
	live, err := c.current(ctx)
	if err != nil || live.Generation == 0 {
		return err
	}
	published, err := c.root.ReadArchive(live.Generation)
	if !s.dirty(live.Files) && (err != nil || !s.dirty(published)) {
		return nil
	}
	files, counts, err := live.Files.Redacted(s.known)
	if err != nil {
		return err
	}
	counts.Merge(live.Manifest.Redactions)
	manifest := live.Manifest
	manifest.Anchors = maps.Clone(manifest.Anchors)
	maps.DeleteFunc(manifest.Anchors, func(_ string, anchors []memoir.Anchor) bool {
		return slices.ContainsFunc(anchors, func(a memoir.Anchor) bool {
			text := a.Path + "\n" + a.Text + "\n" + a.Key
			return s.known.Text(text) != text
		})
	})
	manifest.Lines = originsOf(c.project.ID, manifest.Lines, live.Files, files)
	manifest.Redactions, manifest.RedactedFrom, manifest.RestoredFrom = counts, live.Generation, 0
	return c.publish(ctx, live, files, manifest, store.PublishPart)
}

// originsOf returns the origins of the lines of redacted files, and gives redacted statements new ids: keys and ids are
// hashes of texts that had secrets. Lines of a file whose number of lines changed have none until the next
// consolidation.
func originsOf(projectID string, origins map[string]memoir.LineOrigin, before, after memory.Files) (
	out map[string]memoir.LineOrigin) {
	ids := map[string]string{}
	was, _ := memory.DecodeStatements(before[memory.StatementsFile])
	is, err := memory.DecodeStatements(after[memory.StatementsFile])
	for i := range is[:min(len(is), len(was))] {
		for j, st := range is[i].Statements {
			if old := was[i].Statements[j]; old.Text != st.Text {
				ids[old.ID] = memoir.StatementID(projectID, st.Kind, st.Text)
				is[i].Statements[j].ID = ids[old.ID]
			}
		}
	}
	if err == nil && len(ids) > 0 {
		after[memory.StatementsFile] = memory.EncodeStatements(is, func(text string) string { return text })
	}
	out = map[string]memoir.LineOrigin{}
	for _, name := range []string{memoir.MemoryFile, memoir.SummaryFile} {
		old, now := strings.Split(string(before[name]), "\n"), strings.Split(string(after[name]), "\n")
		for i := range now {
			if len(old) != len(now) {
				break
			}
			origin, known := origins[memoir.LineKey(old[i])]
			if !known {
				continue
			}
			origin.Statements = slices.Clone(origin.Statements)
			for j, id := range origin.Statements {
				origin.Statements[j] = cmp.Or(ids[id], id)
			}
			out[memoir.LineKey(now[i])] = origin
		}
	}
	return out
}

// dirty reports whether a file or its name has a secret.
func (s *storedScan) dirty(files memory.Files) bool {
	return slices.ContainsFunc(files.Paths(), func(path string) bool {
		text := memory.Readable(path, files[path])
		return s.known.Text(path) != path || s.known.Text(text) != text
	})
}
