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

// RewriteArchive passes each file of generation n through edit and replaces the
// archive in one step; a nil result drops the file. It reports whether anything
// changed. The live generation cannot be rewritten: publish another instead.
func (r Root) RewriteArchive(n int, edit func(path string, content []byte) []byte) (bool, error) {
	_, changed, err := r.ReplaceArchive(n, func(files Files, m Manifest) (Files, Manifest, error) {
		rewritten := Files{}
		for _, path := range files.Paths() {
			if content := edit(path, files[path]); content != nil {
				rewritten[path] = content
			}
		}
		return rewritten, m, nil
	})
	return changed, err
}

// ReplaceArchive is RewriteArchive for whoever gives files other names, or has more to
// say in the manifest, which is returned as the archive has it now. The error
// memoir.CodeInvalid says that what edit returned is no memory.
func (r Root) ReplaceArchive(n int, edit func(Files, Manifest) (Files, Manifest, error)) (m Manifest, changed bool, err error) {
	if err := r.notLive(n); err != nil {
		return m, false, err
	}
	files, manifest, err := r.ReadGeneration(n)
	if err != nil {
		return m, false, err
	}
	rewritten, m, err := edit(files, manifest)
	if err != nil || rewritten.Equal(files) {
		return manifest, false, err
	}
	if err := rewritten.check(); err != nil {
		return manifest, false, err
	}
	m = m.Describing(n, rewritten)
	if err := r.replaceArchive(n, rewritten, m); err != nil {
		return manifest, false, storageError(errors.Join(err, remove(r.stagedArchive(n))), "rewrite the archive of generation %d", n)
	}
	return m, true, nil
}

func (r Root) replaceArchive(n int, files Files, m Manifest) error {
	info, err := os.Stat(r.Archive(n))
	if err != nil {
		return err
	}
	if err := remove(r.stagedArchive(n)); err != nil {
		return err
	}
	packed, err := encodeArchive(files, m.Encode())
	if err != nil {
		return err
	}
	if err := r.writeArchive(n, packed); err != nil {
		return err
	}
	if err := failpoint.Before("date archive"); err != nil {
		return err
	}
	// Its age is that of the generation.
	if err := os.Chtimes(r.stagedArchive(n), info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	if err := r.readArchiveBack(n, m); err != nil {
		return err
	}
	if err := r.step("replace archive"); err != nil {
		return err
	}
	if err := failpoint.Rename(r.stagedArchive(n), r.Archive(n)); err != nil {
		return err
	}
	return r.sync(filepath.Join(r.dir, archivesName))
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
