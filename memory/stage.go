package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"memoir"
	"memoir/internal/disk"
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
	return disk.SyncDir(filepath.Dir(path))
}

func (r Root) readTreeBack(n int, m Manifest) error {
	root, err := os.OpenRoot(r.Staged(n))
	if err != nil {
		return err
	}
	defer root.Close()
	files, err := readTree(root)
	if err == nil {
		err = m.verify(files)
	}
	if err != nil {
		return fmt.Errorf("read back the staged files: %w", err)
	}
	return nil
}

func (r Root) readArchiveBack(n int, m Manifest) error {
	_, archived, err := r.openArchive(r.stagedArchive(n), n, true)
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
	err := errors.Join(failpoint.RemoveAll(r.Staged(n)), disk.Discard(r.stagedArchive(n)), disk.Discard(r.stagedLink(n)))
	if err != nil && !errors.Is(err, syscall.ENOTDIR) {
		return storageError(err, "discard the staged generation %d", n)
	}
	return nil
}

// Layout returns the files of a root: the texts of a consolidation and the extra files (rollout summaries, raw
// memories, files that people added). Texts of Markdown end with a newline. The error is memoir.CodeInvalid
// if a name is illegal, two files have one path, or a bound is exceeded; so the result can be staged.
func Layout(c memoir.Consolidation, extra Files) (Files, error) {
	for i, skill := range c.Skills {
		if !memoir.LegalSkill(skill.Name) {
			return nil, memoir.Errorf(memoir.CodeInvalid, "",
				"skill name %q is not of the form lower-case-words, at most 64 bytes", skill.Name)
		}
		if slices.ContainsFunc(c.Skills[:i], func(s memoir.Skill) bool { return s.Name == skill.Name }) {
			return nil, memoir.Errorf(memoir.CodeInvalid, "", "the skill %s occurs twice", skill.Name)
		}
	}
	files := Files{}
	for path, text := range c.Files() {
		name, folder, _, _ := memoir.SkillPath(path)
		if page := name == "" || folder == ""; page && text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		files[path] = []byte(text)
	}
	for path, content := range extra {
		if _, taken := files[path]; taken {
			return nil, memoir.Errorf(memoir.CodeInvalid, "", "path %q occurs twice", path)
		}
		files[path] = content
	}
	return files, files.check()
}

// Files are the files of a root: slash-separated paths relative to it, with
// their contents. The manifest is not one of them.
type Files map[string][]byte

// Paths lists the paths in order.
func (f Files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

// Equal reports whether both have the same paths with the same bytes.
func (f Files) Equal(g Files) bool { return maps.EqualFunc(f, g, bytes.Equal) }

// Bounds of a root's files. They keep a root readable by people, and prevent that an unpacked archive fills
// memory or disk.
const (
	maxFile  = 16 << 20 // bytes of a file
	maxTotal = 64 << 20 // bytes of all files
	maxFiles = 8192
)

// check enforces memoir.CheckPaths and the bounds.
func (f Files) check() error {
	if len(f) > maxFiles {
		return memoir.Errorf(memoir.CodeInvalid, "", "a memory of %d files is more than %d", len(f), maxFiles)
	}
	total := 0
	for path, content := range f {
		if len(content) > maxFile {
			return memoir.Errorf(memoir.CodeInvalid, "", "%s has more than %d bytes", path, maxFile)
		}
		total += len(content)
	}
	if total > maxTotal {
		return memoir.Errorf(memoir.CodeInvalid, "", "a memory of %d bytes is more than %d", total, maxTotal)
	}
	return memoir.CheckPaths(f.Paths())
}

// Consolidation converts the files to Phase 2's result; Layout is its inverse. A skill needs a SKILL.md; other
// files are in Extra.
func (f Files) Consolidation() memoir.Consolidation {
	texts := make(map[string]string, len(f))
	for path, content := range f {
		texts[path] = string(content)
	}
	return memoir.ConsolidationOf(texts)
}

// Extra returns the files that do not fit into a Consolidation: rollout summaries, raw memories, and files
// that people added.
func (f Files) Extra() Files {
	out, made := Files{}, f.Consolidation().Files()
	for path, content := range f {
		if _, ok := made[path]; !ok {
			out[path] = content
		}
	}
	return out
}
