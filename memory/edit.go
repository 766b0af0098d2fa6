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

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// Edit is one file that a person changed since it was published.
type Edit struct {
	Path      string
	Published []byte // nil: the file is new
	Now       []byte // nil: the file was deleted
}

// findEdits compares a snapshot with the published files. It reads the archive only if a published file was
// changed or deleted. Without the archive, nobody knows which lines of a changed file are a person's, so the whole
// file counts as theirs, and snap.Lost says why. An archive that merely cannot be opened or read now is an error.
func (r Root) findEdits(snap *Snapshot) error {
	published := snap.Manifest.published(snap.Files)
	if len(published) < len(snap.Manifest.Files) {
		archived, err := r.ReadArchive(snap.Generation)
		if path := new(fs.PathError); errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("find the hand edits of generation %d: %w", snap.Generation, err)
		}
		if snap.Lost = err; err == nil {
			published = archived
		}
	}
	snap.Edited = Differences(published, snap.Files)
	return nil
}

// maxEdited bounds a file that a person changed, in bytes.
const maxEdited = 1 << 20

// Refused is the error of a file that is too large since a person changed it: no run publishes it.
func (r Root) Refused(live Snapshot) error {
	for _, e := range live.Edited {
		if len(e.Now) > maxEdited {
			return memoir.Errorf(memoir.CodeStorage, "shorten it, or move it away; it stays as it is until then",
				"%s was edited and has %d bytes, more than %d", filepath.Join(r.Link(), e.Path), len(e.Now), maxEdited)
		}
	}
	return nil
}

// previous returns the number of the newest live directory before the linked generation, 0 if none exists.
func (r Root) previous(linked int) (int, error) {
	lives, err := r.lives()
	i, _ := slices.BinarySearch(lives, linked)
	if i == 0 {
		return 0, err
	}
	return lives[i-1], err
}

// PastEdits lists the hand edits of one generation: the difference between its archive and the archive of the
// edited state.
type PastEdits struct {
	Base  int       // the generation that was edited
	At    time.Time // when the edited state was archived
	Edits []Edit
}

// PastEdits lists the hand edits of earlier generations, the oldest first. Edits whose archives are not kept,
// or cannot be read, are left out.
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
		before, err1 := r.ReadArchive(base)
		after, err2 := r.ReadArchive(g.Number)
		if errors.Join(err1, err2) != nil {
			continue
		}
		past = append(past, PastEdits{Base: base, At: g.ModTime, Edits: Differences(before, after)})
	}
	slices.SortStableFunc(past, func(a, b PastEdits) int { return a.Base - b.Base })
	return past, nil
}

// unmergedName is the folder of a project for files that were saved too late (see keepLate).
const unmergedName = "unmerged"

// Journal returns the directory of a project's journals, which has a Markdown file for each day.
func (r Root) Journal() string { return filepath.Join(r.dir, "journal") }

// Conversations returns the directory of the conversations of applications without transcripts, which package
// rollout reads.
func (r Root) Conversations() string { return filepath.Join(r.dir, "conversations") }

// History returns the file with a paragraph for each session of a project, or of a month (2026-07).
func (r Root) History(month string) string {
	if month != "" {
		month = "-" + month
	}
	return filepath.Join(r.dir, "HISTORY"+month+".md")
}

// keepLate keeps the files that somebody saved in an earlier live directory after the next generation was
// staged. It moves them to unmerged/<n> and returns their new paths. They are not merged: the next generation
// was made without them. If the directory cannot be read, it moves the whole directory.
func (r Root) keepLate(n int) (kept []string, err error) {
	lives, err := r.lives()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(lives, func(next int) bool { return next > n })
	if i < 0 || !slices.Contains(lives, n) {
		return nil, nil // it is live, was never live, or is gone
	}
	var since time.Time // when the next generation was staged; zero: unknown
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
	published := live.manifest.published(live.files)
	for _, path := range live.files.Paths() {
		from := filepath.Join(r.Live(n), path)
		info, err := os.Lstat(from)
		if _, unchanged := published[path]; unchanged || err != nil || !changed(info).After(since) {
			continue
		}
		to := filepath.Join(r.dir, unmergedName, strconv.Itoa(n), filepath.FromSlash(path))
		if err := makeDir(filepath.Dir(to)); err != nil {
			return kept, err
		}
		if err := failpoint.Rename(from, to); err != nil {
			return kept, err
		}
		kept = append(kept, to)
	}
	return kept, nil
}

// Beside reads a project's files that are not part of the memory, by their paths relative to the project's
// folder: history, journals, conversations, and files saved too late (unmerged/). People have to copy what
// they need of the latter. Symbolic links are left out.
func (r Root) Beside() (Files, error) {
	files := Files{}
	places := []string{filepath.Join(r.dir, unmergedName), r.Journal(), r.Conversations()}
	listed, _ := os.ReadDir(r.dir) // a folder that cannot be listed has no memory either
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
				files[filepath.ToSlash(name)], err = disk.ReadIn(r.dir, path, 1<<40)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, storageError(err, "read %s", place)
		}
	}
	return files, nil
}

// RewriteBeside rewrites each file that Beside reads. It removes a file whose new text is empty.
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
