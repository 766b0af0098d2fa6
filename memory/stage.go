package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"memoir"
	"memoir/internal/failpoint"
)

// Stage writes the directory, the archive and the future link of generation n, flushes them and reads them
// back. They are not visible before Swap; Discard removes them. Stage sets the manifest's Generation and Files.
// For a state that people edited (EditedFrom), it writes only an archive.
//
// On an error, Stage removes what it wrote; the earlier memory is unchanged. A failure of the disk is
// memoir.CodeStorage.
func (r Root) Stage(ctx context.Context, n int, files Files, m Manifest) error {
	err := r.stage(ctx, n, files, m)
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = fmt.Errorf("stage generation %d: %w", n, cause)
	} else if memoir.CodeOf(err) == memoir.CodeInternal {
		err = storageError(err, "stage generation %d in %s", n, r.dir)
	}
	return errors.Join(err, r.Discard(n))
}

func (r Root) stage(ctx context.Context, n int, files Files, m Manifest) error {
	if n < 1 {
		return memoir.Errorf(memoir.CodeInvalid, "", "generations count from 1, not %d", n)
	}
	if err := files.check(); err != nil {
		return err
	}
	if linked, err := r.Linked(); err != nil {
		return err
	} else if linked == n && !r.lost(n) {
		return memoir.Errorf(memoir.CodeChanged, "", "generation %d is already live", n)
	}
	for _, dir := range []string{liveName, archivesName} {
		if err := makeDir(filepath.Join(r.dir, dir)); err != nil {
			return err
		}
	}
	if err := r.Discard(n); err != nil { // of an earlier try
		return err
	}
	m = m.Describing(n, files)
	manifest, byHand := m.Encode(), m.EditedFrom > 0
	if !byHand {
		if err := writeTree(ctx, r.Staged(n), files, manifest); err != nil {
			return err
		}
	}
	if err := r.writeArchive(n, files, manifest); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if byHand {
		return r.readArchiveBack(n, m)
	}
	if err := errors.Join(r.readTreeBack(n, m), r.readArchiveBack(n, m)); err != nil {
		return err
	}
	// The link is created here and not in Swap: its time must precede each edit that the caller's check of the
	// live files can miss.
	return failpoint.Symlink(linkTarget(n), r.stagedLink(n))
}

// writeArchive writes the archive of generation n under its staged name.
func (r Root) writeArchive(n int, files Files, manifest []byte) error {
	packed, err := encodeArchive(files, manifest)
	if err != nil {
		return err
	}
	path := r.stagedArchive(n)
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := writeFile(context.Background(), root, filepath.Base(path), packed); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// readTreeBack compares the staged files with the manifest.
func (r Root) readTreeBack(n int, m Manifest) error {
	root, err := os.OpenRoot(r.Staged(n))
	if err != nil {
		return err
	}
	defer root.Close()
	files, _, err := readTree(root)
	if err == nil {
		err = m.verify(files)
	}
	if err != nil {
		return fmt.Errorf("read back the staged files: %w", err)
	}
	return nil
}

func (r Root) readArchiveBack(n int, m Manifest) error {
	_, archived, err := openArchive(r.stagedArchive(n), n, true)
	if err == nil && archived.Hash() != m.Hash() {
		err = errors.New("its manifest differs")
	}
	if err != nil {
		return fmt.Errorf("read back the staged archive: %w", err)
	}
	return nil
}

// Discard removes the files of generation n that this Root staged. It does not change published generations and
// the staged files of other processes.
func (r Root) Discard(n int) error {
	err := errors.Join(failpoint.RemoveAll(r.Staged(n)), remove(r.stagedArchive(n)), remove(r.stagedLink(n)))
	if err != nil && !isNotDir(err) {
		return storageError(err, "discard the staged generation %d", n)
	}
	return nil
}
