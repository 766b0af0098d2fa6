package memory

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"memoir/internal/failpoint"
)

// rearchive makes the archive of a live generation again that is gone or damaged, as
// long as its files are those that were published: hand edits are told by it. Where
// people changed them meanwhile, what was published is lost, and nothing is done.
func (r Root) rearchive(n int) error {
	if _, _, err := r.ReadGeneration(n); err == nil {
		return nil
	}
	root, err := r.openLive(n)
	if err != nil {
		return err
	}
	defer root.Close()
	files, _, err := readTree(root)
	if err != nil {
		return err
	}
	data, err := readBounded(root, manifestName, maxFile)
	if err != nil {
		return nil // without it nothing tells what was published
	}
	m, err := parseManifest(data)
	if err != nil || m.Generation != n || m.verify(files) != nil {
		return nil
	}
	packed, err := encodeArchive(files, m.Encode())
	if err == nil {
		err = makeDir(filepath.Join(r.dir, archivesName))
	}
	if err == nil {
		err = r.writeArchive(n, packed)
	}
	if err == nil {
		err = failpoint.Rename(r.stagedArchive(n), r.Archive(n))
	}
	if err != nil {
		return storageError(err, "make the archive of generation %d again", n)
	}
	return syncIfThere(filepath.Join(r.dir, archivesName))
}

// remanifest puts back the manifest of a live generation that is gone or damaged, from
// its archive.
func (r Root) remanifest(n int) error {
	root, err := r.openLive(n)
	if err != nil {
		return err
	}
	defer root.Close()
	data, err := readBounded(root, manifestName, maxFile)
	if errors.Is(err, fs.ErrPermission) {
		return nil // it may be sound; whoever reads it says what is wrong
	}
	if err == nil {
		if m, err := parseManifest(data); err == nil && m.Generation == n {
			return nil
		}
	}
	_, m, err := openArchive(r.Archive(n), n, false)
	if err != nil {
		return nil // whoever reads the live memory says so
	}
	staged := stagePrefix + manifestName + "-" + r.attempt
	if err = r.writeFile(context.Background(), root, staged, m.Encode()); err == nil {
		err = failpoint.Before("put back manifest")
	}
	if err == nil {
		err = root.Rename(staged, manifestName)
	}
	if err != nil {
		return storageError(err, "put the manifest of generation %d back", n)
	}
	return nil
}

// ManifestStands reports whether the live directory has the manifest
// that a snapshot went by: where its own is gone or damaged, that is the archive's.
func (r Root) ManifestStands(snap Snapshot) bool {
	data, err := os.ReadFile(filepath.Join(r.Live(snap.Generation), manifestName))
	return err == nil && bytes.Equal(data, snap.Manifest.Encode())
}
