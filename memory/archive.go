package memory

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"memoir"
	"memoir/internal/disk"
)

// Pack returns the archive of a generation, with its manifest, which Describing has completed.
func Pack(files Files, m Manifest) ([]byte, error) { return encodeArchive(files, m.Encode()) }

// Unpack is the inverse of Pack. It checks the files against the manifest; the archive may be from anybody.
func Unpack(r io.Reader) (Files, Manifest, error) { return decodeArchive(r, true) }

// encodeArchive packs a generation: a tar of the manifest and then the files in order of path, without times
// or owners, compressed by zstd. The same generation gives the same bytes.
func encodeArchive(files Files, manifest []byte) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for i, path := range append([]string{manifestName}, files.Paths()...) {
		content := files[path]
		if i == 0 {
			content = manifest
		}
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: int64(fileMode),
			Size: int64(len(content))})
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	// At higher levels, most of the time for a small memory is spent on clearing the encoder's large tables.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(256<<10))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.EncodeAll(buf.Bytes(), nil), nil
}

// decodeArchive unpacks a generation and checks it against its manifest. Unless whole is set, it reads only
// the manifest. The archive is untrusted: it may be damaged, or from somebody else.
func decodeArchive(r io.Reader, whole bool) (Files, Manifest, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(2*maxTotal), zstd.WithDecoderMaxWindow(32<<20))
	if err != nil {
		return nil, Manifest{}, err
	}
	defer z.Close()
	// The limit includes headers, padding and the manifest.
	entries := tar.NewReader(io.LimitReader(z, maxTotal+maxFile+maxFiles*4096))
	path, content, err := nextEntry(entries)
	if err == nil && path != manifestName {
		err = fmt.Errorf("the first entry is %q and not the manifest", path)
	}
	if err != nil {
		return nil, Manifest{}, fmt.Errorf("read the first entry: %w", err)
	}
	manifest, err := parseManifest(content)
	if err != nil || !whole {
		return nil, manifest, err
	}
	files := Files{}
	for {
		path, content, err := nextEntry(entries)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, Manifest{}, err
		}
		if _, twice := files[path]; twice || path == manifestName {
			return nil, Manifest{}, fmt.Errorf("entry %q occurs twice", path)
		}
		if files[path] = content; len(files) > maxFiles {
			break // check returns the error
		}
	}
	if err := files.check(); err != nil {
		return nil, Manifest{}, err
	}
	return files, manifest, manifest.verify(files)
}

// nextEntry returns io.EOF after the last entry.
func nextEntry(entries *tar.Reader) (path string, content []byte, err error) {
	header, err := entries.Next()
	switch {
	case err != nil:
		return "", nil, err
	case header.Typeflag != tar.TypeReg:
		return "", nil, fmt.Errorf("entry %q is not a file", header.Name)
	case header.Size > maxFile:
		return "", nil, fmt.Errorf("entry %q has %d bytes", header.Name, header.Size)
	}
	if header.Name != manifestName {
		if err := memoir.CheckPath(header.Name); err != nil {
			return "", nil, err
		}
	}
	content, err = io.ReadAll(entries)
	return header.Name, content, err
}

// openArchive reads the archive of generation n at a path, or only its manifest unless whole is set.
func (r Root) openArchive(path string, n int, whole bool) (Files, Manifest, error) {
	f, err := disk.OpenIn(r.dir, path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) { // the path would not help the user
		return nil, Manifest{}, &memoir.Error{Code: memoir.CodeNotFound, Err: err,
			Hint: "`memoir log` lists the generations that are kept", Message: fmt.Sprintf("generation %d is not kept", n)}
	}
	if err != nil {
		return nil, Manifest{}, storageError(err, "open the archive of generation %d", n)
	}
	defer f.Close()
	files, manifest, err := decodeArchive(f, whole)
	if err == nil && manifest.Generation != n {
		err = fmt.Errorf("it contains generation %d", manifest.Generation)
	}
	if err != nil {
		return nil, Manifest{}, memoir.Errorf(memoir.CodeStorage,
			"restore the file from a backup, or remove it: other generations do not need it",
			"the archive %s is damaged: %w", path, err)
	}
	return files, manifest, nil
}

// Generation is one archived state of a memory.
type Generation struct {
	Number   int
	Live     bool
	Bytes    int64     // of the archive
	ModTime  time.Time // of the archive: the time of publication, unless the file was changed since
	Manifest Manifest
	Err      error // why the archive cannot be read; Manifest is then empty
}

// Generations lists the archives, oldest first. A damaged one is listed with its error. It reads only the manifests.
func (r Root) Generations() ([]Generation, error) {
	numbers, err := r.Kept()
	if err != nil {
		return nil, err
	}
	linked, err := r.Linked()
	if err != nil {
		linked = 0 // archives can be listed and restored without the link
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
		_, g.Manifest, g.Err = r.openArchive(r.Archive(n), n, false)
		out = append(out, g)
	}
	return out, nil
}

// Kept lists the numbers of the archives, ascending. It does not read them.
func (r Root) Kept() ([]int, error) {
	return numbered(filepath.Join(r.dir, archivesName), archiveSuffix)
}

func (r Root) lives() ([]int, error) {
	return numbered(filepath.Join(r.dir, liveName), "")
}

func numbered(dir, suffix string) ([]int, error) {
	names, err := namesIn(dir)
	var out []int
	for _, name := range names {
		if name, ok := strings.CutSuffix(name, suffix); ok {
			if n, ok := generation(name); ok {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out, err
}

// namesIn lists the names in a directory, none if the directory does not exist.
func namesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, storageError(err, "read %s", dir)
	}
	return memoir.Map(entries, fs.DirEntry.Name), nil
}

// ReadArchive unpacks generation n. The error is memoir.CodeNotFound if it has no archive, and
// memoir.CodeStorage if the archive is damaged.
func (r Root) ReadArchive(n int) (Files, error) {
	files, _, err := r.ReadGeneration(n)
	return files, err
}

// ReadGeneration unpacks generation n with its manifest. Errors are those of ReadArchive.
func (r Root) ReadGeneration(n int) (Files, Manifest, error) {
	return r.openArchive(r.Archive(n), n, true)
}

// RemoveArchive deletes the archive of generation n. For the live generation, the error is memoir.CodeUsage:
// hand edits are found by comparison with its archive.
func (r Root) RemoveArchive(n int) error {
	linked, err := r.Linked()
	if err != nil {
		return err
	}
	if linked == n {
		return memoir.Errorf(memoir.CodeUsage, "publish another generation first", "generation %d is live", n)
	}
	if err := disk.Discard(r.Archive(n)); err != nil {
		return storageError(err, "remove the archive of generation %d", n)
	}
	return syncIfThere(filepath.Join(r.dir, archivesName))
}

func syncIfThere(dir string) error {
	if err := disk.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storageError(err, "flush %s", dir)
	}
	return nil
}
