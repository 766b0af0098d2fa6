package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"memoir"
	"memoir/memory"
	"memoir/secrets"
	"memoir/store"
)

// redactFolders redacts the memories of the projects.
func (s *sweep) redactFolders(ctx context.Context, out *StoredRedaction) error {
	entries, err := os.ReadDir(filepath.Join(s.home, "projects"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return memoir.Errorf(memoir.CodeStorage, "", "list the projects' folders: %w", err)
	}
	var errs []error
	for i, entry := range entries {
		if !entry.IsDir() || s.project != "" && entry.Name() != s.project {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s.progress(Progress{Stage: StageRedact, Done: i, Total: len(entries)})
		if err := s.redactProject(ctx, entry.Name(), out); err != nil {
			errs = append(errs, fmt.Errorf("project %s: %w", s.redact(entry.Name()), err))
		}
	}
	return joined(errs)
}

// redactProject redacts one project's memory, with those merged into it.
func (s *sweep) redactProject(ctx context.Context, id string, out *StoredRedaction) error {
	root := memory.At(s.home, id)
	if !s.dirtyBelow(root.Dir(), out) && !out.Resumed {
		return nil
	}
	row, err := s.store.FindProject(ctx, id)
	if memoir.CodeOf(err) == memoir.CodeNotFound || err == nil && row.ID != id {
		return s.redactUnowned(ctx, root, id, out) // rows are gone, the folder is not
	}
	if err != nil {
		return err
	}
	for round := 1; ; round++ {
		err := s.holding(ctx, id, s.opts.Wait, func(ctx context.Context, claim *store.ProjectClaim) error {
			return s.publishRedacted(ctx, root, row, claim, out)
		})
		if memoir.CodeOf(err) != memoir.CodeChanged || round == maxRounds {
			if err != nil {
				return err
			}
			break
		}
	}
	// Publishing ended the claim.
	return s.holding(ctx, id, max(s.opts.Wait, finishWithin), func(ctx context.Context, claim *store.ProjectClaim) error {
		if err := s.recoverRoot(ctx, root, claim); err != nil {
			return err
		}
		if err := s.redactArchives(ctx, root, id, out); err != nil {
			return err
		}
		if err := s.recordArchives(ctx, root, id); err != nil {
			return err
		}
		merged, err := root.Merged()
		if err != nil {
			return err
		}
		for _, m := range merged {
			if err := s.redactUnowned(ctx, m, id, out); err != nil {
				return err
			}
		}
		return nil
	})
}

// dirtyBelow reports whether something in a folder is to be redacted.
func (s *sweep) dirtyBelow(dir string, out *StoredRedaction) bool {
	for path := range out.Left.dirty {
		if strings.HasPrefix(path, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// liveDirty reports whether live files, or what tells how people changed them, hold a
// secret: then all of it gives way to another generation.
func (s *sweep) liveDirty(ctx context.Context, root memory.Root, live memory.Snapshot) (dirty bool, err error) {
	look := func(at StoredPlace, text string) error {
		dirty = dirty || s.mask(at.owner, text) != text
		return nil
	}
	if err := s.tree(ctx, filepath.Join(root.Dir(), inLive), look); err != nil || dirty {
		return dirty, err
	}
	err = s.file(ctx, s.placeOf(root.Archive(live.Generation)), look)
	if errors.Is(err, fs.ErrNotExist) || unreadable(err) {
		err = nil
	}
	return dirty, err
}

// publishRedacted makes a generation of the live files without their secrets. What people
// edited becomes one before it, as always.
func (s *sweep) publishRedacted(ctx context.Context, root memory.Root, row store.ProjectRow, claim *store.ProjectClaim, out *StoredRedaction) (err error) {
	defer s.survive(&err)
	if err := s.recoverRoot(ctx, root, claim); err != nil {
		return err
	}
	live, err := root.Current()
	if err != nil || live.Generation == 0 {
		return err
	}
	if dirty, err := s.liveDirty(ctx, root, live); err != nil || !dirty {
		return err
	}
	if err := s.keepEdits(ctx, root, row, live); err != nil {
		return err
	}
	files, counts, err := s.cleanFiles(row.ID, live.Files)
	if err != nil {
		return err
	}
	counts.Merge(live.Manifest.Redactions)
	inputs, err := s.store.LastInputs(ctx, row.ID)
	if err != nil {
		return err
	}
	published, err := s.publish(ctx, root, live, *claim, files,
		memory.Manifest{Inputs: live.Manifest.Inputs, Redactions: counts, RedactedFrom: live.Generation, SetAside: live.Manifest.SetAside},
		store.GenerationRecord{Inputs: inputs, Restored: true, Run: s.id}, s.store.Publish)
	if err != nil {
		return err
	}
	out.Generations = append(out.Generations, RedactedIn{Project: row.ID, From: live.Generation, Generation: published.generation})
	return nil
}

// redactUnowned redacts a memory in which nothing is published any more.
func (s *sweep) redactUnowned(ctx context.Context, root memory.Root, owner string, out *StoredRedaction) error {
	recovered, err := root.Recover(0)
	if err != nil {
		return err
	}
	live, err := root.Current()
	if err != nil {
		return err
	}
	if live.Generation > 0 {
		dirty, err := s.liveDirty(ctx, root, live)
		if err != nil {
			return err
		}
		if dirty {
			files, counts, err := s.cleanFiles(owner, live.Files)
			if err != nil {
				return err
			}
			counts.Merge(live.Manifest.Redactions)
			m := live.Manifest
			m.Redactions, m.RedactedFrom = counts, live.Generation
			if err := root.Stage(ctx, recovered.Next, files, m); err != nil {
				return err
			}
			if err := root.Swap(recovered.Next); err != nil {
				return errors.Join(err, root.Discard(recovered.Next))
			}
		}
	}
	if err := s.redactArchives(ctx, root, owner, out); err != nil {
		return err
	}
	merged, err := root.Merged()
	for _, m := range merged {
		if err := s.redactUnowned(ctx, m, owner, out); err != nil {
			return err
		}
	}
	return err
}

// redactArchives rewrites the archives that hold secrets, and removes the live directories
// that are no longer linked.
func (s *sweep) redactArchives(ctx context.Context, root memory.Root, owner string, out *StoredRedaction) error {
	if err := root.RemovePrevious(); err != nil {
		return err
	}
	generations, err := root.Generations()
	if err != nil {
		return err
	}
	for _, g := range generations {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if g.Live || g.Err != nil || !out.Left.dirty[root.Archive(g.Number)] {
			continue
		}
		_, changed, err := root.ReplaceArchive(g.Number, func(files memory.Files, m memory.Manifest) (memory.Files, memory.Manifest, error) {
			clean, counts, err := s.cleanFiles(owner, files)
			if err != nil {
				return nil, m, err
			}
			redactions := secrets.Counts{}
			maps.Copy(redactions, m.Redactions)
			redactions.Merge(counts)
			m.Redactions = redactions
			return clean, m, nil
		})
		if err != nil {
			return fmt.Errorf("generation %d: %w", g.Number, err)
		}
		if changed {
			out.Archives++
		}
	}
	return nil
}

// recordArchives has the database say of each archive what it is now: a process may have
// died between the two.
func (s *sweep) recordArchives(ctx context.Context, root memory.Root, id string) error {
	records, err := s.store.Generations(ctx, id)
	if err != nil {
		return err
	}
	hashes := map[int64]string{}
	for _, r := range records {
		hashes[r.N] = r.ManifestHash
	}
	generations, err := root.Generations()
	if err != nil {
		return err
	}
	for _, g := range generations {
		recorded, known := hashes[int64(g.Number)]
		if !known || g.Err != nil || g.Manifest.Hash() == recorded {
			continue
		}
		if _, _, err := root.ReadGeneration(g.Number); err != nil {
			continue // it is damaged, and what it was is worth knowing
		}
		if err := s.store.SetManifestHash(ctx, id, int64(g.Number), g.Manifest.Hash()); err != nil {
			return err
		}
	}
	return nil
}
