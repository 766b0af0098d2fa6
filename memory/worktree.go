package memory

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"memoir"
	"memoir/extract"
)

// Bounds of the reads in one check of a working tree, so that it takes milliseconds.
const (
	maxTreeFile = 1 << 20  // bytes of a file; larger ones are not read
	maxTreeRead = 16 << 20 // bytes of all files
	maxSearched = 24 << 20 // bytes that searches for moved texts read
	openCost    = 96 << 10 // bytes that opening a file counts as in maxSearched
	maxEntries  = 4000     // names that are listed to find moved files
)

// skippedDirs have files that are not the project's own text.
var skippedDirs = []string{".git", ".hg", ".svn", "node_modules", "vendor", "target", ".venv"}

// Tree is a working tree in which anchors are checked. It reads only regular files below its top directory,
// each once, follows no link out of it, and starts no process. It is not safe for concurrent use.
type Tree struct {
	root     *os.Root
	files    map[string]treeFile
	read     int                 // bytes of files
	searched int                 // bytes
	names    []string            // of files, nearest to the top first; nil until the first call of list
	more     bool                // files are not in names
	dirs     map[string]*os.Root // open directories
	moves    map[string]move
	verdicts map[memoir.Anchor]Checked
}

// A treeFile is the text at a path. err is fs.ErrNotExist if nothing is there, and errNoText or another error if
// there is no readable text.
type treeFile struct {
	text string
	err  error
}

// A move counts the texts of a missing file that were found elsewhere, and those that were not.
type move struct {
	to          string // the file in which the first text was found
	found, lost int
}

var errNoText = errors.New("not a text file, or too large")

// OpenTree opens the working tree at a directory.
func OpenTree(dir string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	return &Tree{root: root, files: map[string]treeFile{}, dirs: map[string]*os.Root{}, moves: map[string]move{},
		verdicts: map[memoir.Anchor]Checked{}}, err
}

// Close releases the directories.
func (t *Tree) Close() {
	for _, d := range t.dirs {
		_ = d.Close()
	}
	_ = t.root.Close()
}

// Look returns the text of a file; exists is also true for a directory, and for a file without a readable text.
func (t *Tree) Look(name string) (text string, exists bool) {
	text, err := t.look(name)
	return text, !absent(err)
}

func (t *Tree) look(name string) (string, error) {
	f, known := t.files[name]
	if !known {
		f.text, f.err = t.fetch(name)
		t.files[name] = f
	}
	return f.text, f.err
}

func (t *Tree) fetch(name string) (string, error) {
	f, err := t.open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxTreeFile || t.read+int(info.Size()) > maxTreeRead {
		return "", cmp.Or(err, errNoText)
	}
	content := make([]byte, info.Size())
	n, err := io.ReadFull(f, content)
	t.read += n
	if err != nil || bytes.IndexByte(content, 0) >= 0 {
		return "", cmp.Or(err, errNoText)
	}
	return string(content), nil
}

// open opens a path for reading. It never waits for the other end of a named pipe. It keeps directories open,
// since to resolve a path from the top takes a system call for each of them.
func (t *Tree) open(name string) (*os.File, error) {
	at := path.Dir(name)
	if t.dirs[at] == nil {
		dir, err := t.root.OpenRoot(at)
		if err != nil {
			return nil, err
		}
		t.dirs[at] = dir
	}
	f, err := t.dirs[at].OpenFile(path.Base(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil || absent(err) {
		return f, err
	}
	return t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // the name may be a link out of its directory
}

// absent reports whether nothing is at a path, also because one of its parents is a file.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// list returns the names of the tree's files, up to maxEntries, those near the top first. It does not list
// through os.Root, which needs a system call for the type of each entry; files are only read through it.
func (t *Tree) list() []string {
	if t.names != nil {
		return t.names
	}
	t.names = []string{}
	left := maxEntries
	for dirs := []string{"."}; len(dirs) > 0 && left > 0; dirs = dirs[1:] {
		d, err := os.OpenFile(filepath.Join(t.root.Name(), dirs[0]), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		entries, _ := d.ReadDir(left)
		_ = d.Close()
		left -= len(entries)
		t.more = left == 0
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		for _, e := range entries {
			name := path.Join(dirs[0], e.Name())
			if e.IsDir() && !slices.Contains(skippedDirs, e.Name()) {
				dirs = append(dirs, name)
			} else if e.Type().IsRegular() {
				t.names = append(t.names, name)
			}
		}
	}
	return t.names
}

// Own reads the instruction and build files at the top of a working tree and in a directory of a session below it.
func Own(top, dir string) extract.Own {
	own := extract.Own{Files: map[string]string{}}
	tree, err := OpenTree(top)
	if err != nil {
		return own
	}
	defer tree.Close()
	if below, err := filepath.Rel(top, dir); err == nil && filepath.IsLocal(below) {
		own.Dir = filepath.ToSlash(below)
	}
	for _, at := range []string{".", path.Join(".", own.Dir)} {
		f, err := tree.open(at)
		if err != nil {
			continue
		}
		names, _ := f.Readdirnames(maxEntries)
		_ = f.Close()
		for _, name := range append(names, ".cargo/config.toml") {
			if !extract.OwnFile(name) {
				continue
			}
			if text, err := tree.look(path.Join(at, name)); err == nil && len(text) <= extract.MaxOwnFile {
				own.Files[path.Join(at, name)] = text
			}
		}
	}
	return own
}

// elsewhere finds the file to which an anchor's text was moved, "" if it is not found. It first looks in the
// file that has another text of the same file, then in files of the same name, then in those of the same
// directory and extension; if the file still exists, only in the last. For an anchor without a text, it returns
// the file with most texts of the old one, else the only file of the same name unless most texts are lost.
func (t *Tree) elsewhere(a memoir.Anchor, removed bool) string {
	var same, near []string
	for _, name := range t.list() {
		switch {
		case name == a.Path:
		case removed && path.Base(name) == path.Base(a.Path):
			same = append(same, name)
		case path.Ext(name) == path.Ext(a.Path) && path.Dir(name) == path.Dir(a.Path):
			near = append(near, name)
		}
	}
	m := t.moves[a.Path]
	switch {
	case a.Text != "":
	case m.found > max(1, 2*m.lost):
		return m.to
	case len(same) == 1 && m.found >= m.lost:
		return same[0]
	default:
		return ""
	}
	for _, name := range slices.Concat([]string{m.to}, same, near) {
		if t.searched > maxSearched {
			break
		}
		if _, known := t.files[name]; !known {
			t.searched += openCost
		}
		text, _ := t.look(name)
		t.searched += len(text)
		if _, ok := memoir.Token(text, cmp.Or(a.Key, a.Text), 0); !ok || a.In(text) != memoir.Present {
			continue
		}
		if removed && (m.to == "" || m.to == name) {
			t.moves[a.Path] = move{name, m.found + 1, m.lost}
		}
		return name
	}
	m.lost++
	t.moves[a.Path] = m
	return ""
}
