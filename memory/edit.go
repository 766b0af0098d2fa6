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

	"memoir/internal/disk"
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
			return nil, fmt.Errorf("find the hand edits of generation %d: %w", snap.Generation, err)
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

// Journal is the directory of a project's journals, a Markdown file a day.
func (r Root) Journal() string { return filepath.Join(r.dir, "journal") }

// Conversations is the directory of what applications without transcripts said: sessions that rollout reads.
func (r Root) Conversations() string { return filepath.Join(r.dir, "conversations") }

// History is the file that has a paragraph on each session of a project, or on those of a month (2026-07).
func (r Root) History(month string) string {
	if month != "" {
		month = "-" + month
	}
	return filepath.Join(r.dir, "HISTORY"+month+".md")
}

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
	live, err := r.readLive(n)
	if err != nil {
		to := filepath.Join(r.dir, unmergedName, strconv.Itoa(n))
		if err := makeDir(filepath.Dir(to)); err != nil {
			return nil, err
		}
		return []string{to}, failpoint.Rename(r.Live(n), to)
	}
	published := live.manifest.sums()
	for _, f := range live.list {
		if !changed(f.info).After(since) || published[f.path].SHA256 == sum(live.files[f.path]) {
			continue
		}
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

// Beside reads the files of people that are not a part of the memory, by their paths relative to the project's
// folder: its history, its journals, its conversations, and below unmerged/ what was saved into a directory that was
// no longer live, of which a person has to copy what they need. Symbolic links are left out.
func (r Root) Beside() (Files, error) {
	files := Files{}
	places := []string{filepath.Join(r.dir, unmergedName), r.Journal(), r.Conversations()}
	listed, _ := os.ReadDir(r.dir) // one that cannot be listed has no memory either
	for _, e := range listed {
		if ok, _ := filepath.Match("HISTORY*.md", e.Name()); ok {
			places = append(places, filepath.Join(r.dir, e.Name()))
		}
	}
	for _, place := range places {
		err := filepath.WalkDir(place, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			name, err := filepath.Rel(r.dir, path)
			if err == nil {
				files[filepath.ToSlash(name)], err = os.ReadFile(path)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, storageError(err, "read %s", place)
		}
	}
	return files, nil
}

// RewriteBeside replaces the text of each file that Beside reads. A file of which
// nothing is left is removed.
func (r Root) RewriteBeside(rewrite func(name, text string) string) error {
	files, err := r.Beside()
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
			err = disk.Replace(path, []byte(after), fileMode)
		}
		if err != nil {
			return storageError(err, "rewrite %s", path)
		}
	}
	return nil
}
