// Package memory stores a project's memory on disk: the live root that agents read, the archived generations,
// atomic publication, hand edits, and memory:// addresses. It does not know models, sessions or databases. The
// caller holds the lease that allows it to publish.
//
// Start with root.go (layout on disk), then stage.go and swap.go (publication), recover.go (repair after a
// crash), snapshot.go and edit.go (hand edits), open.go (the read path), worktree.go and
// check.go (the check of lines against the project's files).
package memory

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
)

// The names in a project's folder and in its root.
const (
	linkName       = "memory"
	liveName       = "live"
	archivesName   = "generations"
	archiveSuffix  = ".tar.zst"
	manifestName   = "manifest.json"
	dirMode        = fs.FileMode(0o700)
	fileMode       = fs.FileMode(0o600)
	stagePrefix    = ".stage-"  // live/: a generation being written
	gonePrefix     = ".gone-"   // live/: a generation being removed
	newLinkPrefix  = ".memory-" // the project's folder: the link of a staged generation
	newArchiveMark = "."        // generations/: the archive of a staged generation
)

// Root is the memory of one project. It is a value: creating one does not access the disk.
//
// Until Swap publishes a generation, its files have names that are unique to this Root and its copies. So a process
// that continues after its lease has expired writes into its own files, never into those of its successor.
type Root struct {
	dir     string
	attempt string
}

// At returns the memory of a project below a home directory.
func At(home, projectID string) Root {
	if !oneFolder(projectID) {
		// An illegal id could name a path outside of the home, so its hash becomes the name.
		sum := sha256.Sum256([]byte(projectID))
		projectID = "illegal-" + hex.EncodeToString(sum[:8])
	}
	return Root{
		dir:     filepath.Join(home, "projects", projectID),
		attempt: strings.ToLower(rand.Text()[:12]),
	}
}

func oneFolder(id string) bool {
	return id != "" && id[0] != '.' && len(id) <= 255 &&
		!strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`/\:`, r) })
}

// Dir returns the project's folder; all other paths are below it.
func (r Root) Dir() string { return r.dir }

// Link returns the path that agents read: a symbolic link to the live generation.
func (r Root) Link() string { return filepath.Join(r.dir, linkName) }

// Live returns the directory of generation n while it is live.
func (r Root) Live(n int) string { return filepath.Join(r.dir, liveName, strconv.Itoa(n)) }

// Archive returns the file that keeps generation n.
func (r Root) Archive(n int) string {
	return filepath.Join(r.dir, archivesName, strconv.Itoa(n)+archiveSuffix)
}

// Staged returns the directory that Stage fills and Swap renames to Live(n).
func (r Root) Staged(n int) string {
	return filepath.Join(r.dir, liveName, stagePrefix+strconv.Itoa(n)+"-"+r.attempt)
}

func (r Root) stagedArchive(n int) string {
	return filepath.Join(r.dir, archivesName, newArchiveMark+strconv.Itoa(n)+"-"+r.attempt+archiveSuffix)
}

func (r Root) stagedLink(n int) string {
	return filepath.Join(r.dir, newLinkPrefix+strconv.Itoa(n)+"-"+r.attempt)
}

// linkTarget returns the target of the link to generation n. It is relative, so that a home can be moved.
func linkTarget(n int) string { return filepath.Join(liveName, strconv.Itoa(n)) }

// Linked returns the live generation, 0 if there is no link. The error is memoir.CodeInvalid if the link is
// something else, or does not point to a generation.
func (r Root) Linked() (int, error) {
	target, err := os.Readlink(r.Link())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		if info, statErr := os.Lstat(r.Link()); statErr == nil && info.Mode()&fs.ModeSymlink == 0 {
			return 0, memoir.Errorf(memoir.CodeInvalid,
				"move it out of the project's directory, then run `memoir rebuild` and `memoir run`, which create the link again",
				"%s is not the link that memoir made, but a %s", r.Link(), kind(info.Mode()))
		}
		return 0, storageError(err, "read the link %s", r.Link())
	}
	dir, name := filepath.Split(filepath.Clean(filepath.FromSlash(target)))
	n, ok := generation(name)
	if filepath.IsAbs(target) || filepath.Clean(dir) != liveName || !ok {
		return 0, memoir.Errorf(memoir.CodeInvalid,
			"remove the link, then `memoir rebuild` and `memoir run` create it again",
			"%s points to %q, which is not a generation of this project", r.Link(), target)
	}
	return n, nil
}

// generation parses a generation's number in the form that memoir writes.
func generation(name string) (int, bool) {
	n, err := strconv.Atoi(name)
	return n, err == nil && n > 0 && strconv.Itoa(n) == name
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode.IsRegular():
		return "file"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	}
	return "special file"
}

// storageError wraps a failure of the disk, if there is one, with a hint for people. An error with a code keeps it.
func storageError(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	const unchanged = "the published memory is unchanged"
	var coded *memoir.Error
	if errors.As(err, &coded) {
		return memoir.Errorf(coded.Code, coded.Hint, format+": %w", append(args, err)...)
	}
	hint := unchanged
	if known := disk.HintOr(err, "--home"); known != "" {
		hint = known + "; " + unchanged
	}
	return memoir.Errorf(memoir.CodeStorage, hint, format+": %w", append(args, err)...)
}

// makeDir creates a directory with its missing parents, durably: it flushes the parent of each.
func makeDir(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(path)
	if parent == path {
		return err
	}
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := failpoint.Mkdir(path, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return disk.SyncDir(parent)
}
