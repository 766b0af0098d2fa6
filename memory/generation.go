package memory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/internal/failpoint"
)

// Generation is one archived state of a memory.
type Generation struct {
	Number   int
	Live     bool
	Bytes    int64     // of the archive
	ModTime  time.Time // of the archive: when it was published, if nobody touched the file
	Manifest Manifest
	Err      error // why the archive cannot be read; Manifest is then empty
}

// Kept lists the numbers of the archives, ascending. Nothing is read.
func (r Root) Kept() ([]int, error) { return r.archives() }

// Generations lists the archives, oldest first: all, or those of some numbers. A damaged
// one is listed with its error. Only manifests are read.
func (r Root) Generations(only ...int) ([]Generation, error) {
	numbers, err := r.archives()
	if err != nil {
		return nil, err
	}
	if len(only) > 0 {
		numbers = slices.DeleteFunc(numbers, func(n int) bool { return !slices.Contains(only, n) })
	}
	linked, err := r.linked()
	if err != nil {
		linked = 0 // the archives can be listed, and restored from, all the same
	}
	out := make([]Generation, 0, len(numbers))
	for _, n := range numbers {
		info, err := os.Stat(r.Archive(n))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, storageError(err, "list the generations")
		}
		g := Generation{Number: n, Live: n == linked, Bytes: info.Size(), ModTime: info.ModTime()}
		_, g.Manifest, g.Err = openArchive(r.Archive(n), n, false)
		out = append(out, g)
	}
	return out, nil
}

// archives lists the numbers of the archives, ascending.
func (r Root) archives() ([]int, error) {
	return numbered(filepath.Join(r.dir, archivesName), archiveSuffix)
}

// lives lists the numbers of the live directories, ascending.
func (r Root) lives() ([]int, error) {
	return numbered(filepath.Join(r.dir, liveName), "")
}

func numbered(dir, suffix string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, storageError(err, "read %s", dir)
	}
	var out []int
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), suffix); ok {
			if n, ok := generation(name); ok {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// ReadArchive unpacks generation n. It fails with memoir.CodeNotFound where it is
// not kept and memoir.CodeStorage where the archive is damaged.
func (r Root) ReadArchive(n int) (Files, error) {
	files, _, err := r.ReadGeneration(n)
	return files, err
}

// ReadGeneration unpacks generation n with its manifest.
func (r Root) ReadGeneration(n int) (Files, Manifest, error) {
	return openArchive(r.Archive(n), n, true)
}

// RemoveArchive deletes the archive of generation n for good. The live
// generation's stays: hand edits are told by it.
func (r Root) RemoveArchive(n int) error {
	if err := r.notLive(n); err != nil {
		return err
	}
	if err := failpoint.Remove(r.Archive(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storageError(err, "remove the archive of generation %d", n)
	}
	return syncIfThere(filepath.Join(r.dir, archivesName))
}

func (r Root) notLive(n int) error {
	linked, err := r.linked()
	if err != nil {
		return err
	}
	if linked == n {
		return memoir.Errorf(memoir.CodeUsage, "publish another generation first", "generation %d is live", n)
	}
	return nil
}

func syncIfThere(dir string) error {
	if err := syncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storageError(err, "flush %s", dir)
	}
	return nil
}

// remove deletes a file, if it is there.
func remove(path string) error {
	if err := failpoint.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
