package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// readTree reads the regular files of a live directory, without the manifest and the temporary files
// of editors. A symbolic link or a special file is an error: memoir writes none, and to follow a link would
// publish its target.
func readTree(root *os.Root) (Files, error) {
	files, total := Files{}, 0
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		at := filepath.Join(root.Name(), name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // an editor's temporary file, removed meanwhile
		case err != nil:
			return storageError(err, "read %s", at)
		case name == "." || name == manifestName:
			return nil
		case memoir.EditorsOwn(entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case memoir.EditorsOwn(entry.Name()), entry.IsDir():
			return nil
		}
		info, err := entry.Info()
		if err == nil && !info.Mode().IsRegular() {
			return memoir.Errorf(memoir.CodeStorage,
				"remove it, or put a file in its place: only files and directories belong in a memory",
				"%s is a %s", at, kind(info.Mode()))
		}
		var content []byte
		if err == nil {
			content, err = readBounded(root, name)
		}
		switch total += len(content); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return storageError(err, "read %s", at)
		case total > maxTotal || len(files) == maxFiles:
			return memoir.Errorf(memoir.CodeStorage, "move files that do not belong there out of it",
				"%s contains more than %d files or %d bytes", root.Name(), maxFiles, maxTotal)
		}
		files[name] = content
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := memoir.CheckPaths(files.Paths()); err != nil {
		return nil, storageError(err, "a file in %s cannot be kept", root.Name())
	}
	return files, nil
}

// readBounded reads a regular file below root. A file of more than maxFile bytes, and a special file such as a
// named pipe, which could block, are errors.
func readBounded(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a %s", name, kind(info.Mode()))
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buffer := bytes.NewBuffer(make([]byte, 0, min(info.Size(), maxFile)+bytes.MinRead))
	if _, err := buffer.ReadFrom(io.LimitReader(f, maxFile+1)); err != nil {
		return nil, err
	}
	content := buffer.Bytes()
	if len(content) > maxFile {
		return nil, memoir.Errorf(memoir.CodeStorage, "move it out of the memory",
			"%s is larger than %d bytes, the limit for a file", name, maxFile)
	}
	return content, nil
}

// writers bounds the files that are written concurrently: concurrent flushes cost a file system hardly more than one.
const writers = 8

// writeTree creates a directory with files in it, durably: it flushes each file and directory, and their names.
func writeTree(ctx context.Context, dir string, files Files, manifest []byte) error {
	if err := failpoint.Mkdir(dir, dirMode); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()

	dirs := directories(files)
	for _, d := range dirs {
		if err := failpoint.Before("make directory " + d); err != nil {
			return err
		}
		if err := root.Mkdir(d, dirMode); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, p := range files.Paths() {
		group.Go(func() error { return writeFile(ctx, root, p, files[p]) })
	}
	group.Go(func() error { return writeFile(ctx, root, manifestName, manifest) })
	if err := group.Wait(); err != nil {
		return err
	}
	for _, d := range slices.Backward(dirs) {
		if err := disk.SyncDir(filepath.Join(dir, d)); err != nil {
			return err
		}
	}
	if err := disk.SyncDir(dir); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(dir))
}

func writeFile(ctx context.Context, root *os.Root, name string, content []byte) (err error) {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := failpoint.Before("create " + name); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := failpoint.Before("sync " + name); err != nil {
		return err
	}
	return f.Sync()
}

// directories lists the directories that files need, parents first.
func directories(files Files) []string {
	seen := map[string]bool{}
	for p := range files {
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			seen[d] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
