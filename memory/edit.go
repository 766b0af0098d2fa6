package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"memoir/internal/failpoint"
)

// Edit is one file that a person changed since it was published.
type Edit struct {
	Path      string
	Published []byte // nil: the file is new
	Now       []byte // nil: the file was deleted
}

// edits compares a snapshot with what was published. Only where people changed or deleted a
// part of that, the archive has to tell what it was.
func (r Root) edits(snap Snapshot) ([]Edit, error) {
	published := snap.Manifest.published(snap.Files)
	if len(published) < len(snap.Manifest.Files) {
		var err error
		if published, err = r.ReadArchive(snap.Generation); err != nil {
			return nil, fmt.Errorf("tell the hand edits of generation %d: %w", snap.Generation, err)
		}
	}
	return Differences(published, snap.Files), nil
}

// previous is the newest live directory below the linked generation, 0 if there
// is none.
func (r Root) previous(linked int) (int, error) {
	lives, err := r.lives()
	if err != nil {
		return 0, err
	}
	previous := 0
	for _, n := range lives {
		if n < linked {
			previous = n
		}
	}
	return previous, nil
}

// HandState is a memory as people left it: the files of one generation with what
// they changed in them.
type HandState struct {
	Files    Files
	Manifest Manifest // EditedFrom and Inputs are set
}

// HandState returns the live memory as people edited it, to be kept as a generation of
// its own; ok is false if nobody edited it.
func (s Snapshot) HandState() (state HandState, ok bool) {
	manifest := Manifest{EditedFrom: s.Generation, Inputs: s.Manifest.Inputs}
	return HandState{Files: s.Files, Manifest: manifest}, len(s.Edited) > 0
}

// PastEdits is what people changed in one generation, as its archive and that of the
// state that they made of it tell.
type PastEdits struct {
	Base  int       // the generation that was edited
	At    time.Time // when their state was kept
	Edits []Edit
}

// PastEdits lists what people changed in earlier generations, the oldest first, as far
// as the archives are kept: each state by hand against the generation it was made of.
func (r Root) PastEdits() ([]PastEdits, error) {
	generations, err := r.Generations()
	if err != nil {
		return nil, err
	}
	var past []PastEdits
	for _, g := range generations {
		base := g.Manifest.EditedFrom
		if g.Err != nil || base == 0 {
			continue
		}
		before, err := r.ReadArchive(base)
		if err != nil {
			continue
		}
		after, err := r.ReadArchive(g.Number)
		if err != nil {
			continue
		}
		past = append(past, PastEdits{Base: base, At: g.ModTime, Edits: Differences(before, after)})
	}
	slices.SortStableFunc(past, func(a, b PastEdits) int { return a.Base - b.Base })
	return past, nil
}

// unmergedName is a project's folder for files that were saved too late.
const unmergedName = "unmerged"

// keepLate moves the files of an earlier live directory that somebody saved after the
// following generation was staged to unmerged/<n>, and returns their new paths. They are
// not merged: what the next generation has was made without them. A directory of which it
// cannot be told what was saved is moved whole.
func (r Root) keepLate(n int) (kept []string, err error) {
	lives, err := r.lives()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(lives, func(next int) bool { return next > n })
	if i < 0 || !slices.Contains(lives, n) {
		return nil, nil // it never was live, still is, or is gone
	}
	var since time.Time // zero: nothing tells when the following generation was staged
	if staged, err := os.Stat(filepath.Join(r.Live(lives[i]), manifestName)); err == nil {
		since = staged.ModTime()
	}
	late, err := r.lateFiles(n, since)
	if err != nil {
		to := filepath.Join(r.dir, unmergedName, strconv.Itoa(n))
		if err := makeDir(filepath.Dir(to)); err != nil {
			return nil, err
		}
		return []string{to}, failpoint.Rename(r.Live(n), to)
	}
	for _, f := range late {
		to := filepath.Join(r.dir, unmergedName, strconv.Itoa(n), filepath.FromSlash(f.path))
		if err := makeDir(filepath.Dir(to)); err != nil {
			return kept, err
		}
		if err := failpoint.Rename(filepath.Join(r.Live(n), f.path), to); err != nil {
			return kept, err
		}
		kept = append(kept, to)
	}
	return kept, nil
}

// lateFiles lists the files of live directory n that came or changed after a time and are
// not what was published there. An error means that it cannot be told.
func (r Root) lateFiles(n int, since time.Time) (late []liveFile, err error) {
	root, err := r.openLive(n)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, list, err := readTree(root)
	if err != nil {
		return nil, err
	}
	published := map[string]FileSum{}
	if m, err := r.manifest(root, n, true); err == nil {
		published = m.sums()
	}
	for _, f := range list {
		if changed(f.info).After(since) && published[f.path].SHA256 != sum(files[f.path]) {
			late = append(late, f)
		}
	}
	return late, nil
}

// Unmerged lists the files that were saved into a directory that was no longer live. A
// person has to copy what they need from them and may remove them.
func (r Root) Unmerged() (paths []string, err error) {
	err = filepath.WalkDir(filepath.Join(r.dir, unmergedName), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return paths, err
}

// ReadUnmerged reads the files that Unmerged lists, by their paths relative to the project's
// folder. Symbolic links are left out.
func (r Root) ReadUnmerged() (Files, error) {
	paths, err := r.Unmerged()
	if err != nil {
		return nil, storageError(err, "list %s", filepath.Join(r.dir, unmergedName))
	}
	files := Files{}
	for _, path := range paths {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, storageError(err, "read %s", path)
		}
		name, err := filepath.Rel(r.dir, path)
		if err != nil {
			return nil, err
		}
		files[filepath.ToSlash(name)] = content
	}
	return files, nil
}

// RewriteUnmerged replaces the text of each file that ReadUnmerged reads. A file of which
// nothing is left is removed.
func (r Root) RewriteUnmerged(rewrite func(name, text string) string) error {
	files, err := r.ReadUnmerged()
	if err != nil {
		return err
	}
	for _, name := range files.Paths() {
		path := filepath.Join(r.dir, filepath.FromSlash(name))
		before := string(files[name])
		after := rewrite(name, before)
		switch {
		case after == before:
		case after == "":
			err = failpoint.Remove(path)
		default:
			if err = failpoint.WriteFile(path+".new", []byte(after), fileMode); err == nil {
				err = failpoint.Rename(path+".new", path)
			}
		}
		if err != nil {
			return storageError(err, "rewrite %s", path)
		}
	}
	return nil
}
