package memory

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"memoir"
)

// Bounds of what is read of a working tree in one check, so that it takes milliseconds.
const (
	maxTreeFile = 1 << 20  // bytes of a file; a larger one is not looked at
	maxTreeRead = 16 << 20 // bytes of all files
	maxSearched = 24 << 20 // bytes that searches for what is missing go over
	maxEntries  = 4000     // names that are listed to find out where a file went
)

// skippedDirs hold what is not the project's own text.
var skippedDirs = []string{".git", ".hg", ".svn", "node_modules", "vendor", "target", ".venv"}

// Tree is a working tree that anchors are looked up in. It reads regular files below its top directory,
// follows no link out of it, starts no process, and reads each file once. It is not safe for
// concurrent use.
type Tree struct {
	root     *os.Root
	files    map[string]treeFile
	read     int                 // bytes of files
	searched int                 // bytes
	names    []string            // of files, nearest to the top first; nil until somebody asks
	went     map[string][]string // by path of a file that is gone: the file that holds its texts now, once a text
	lost     map[string]int      // by path of a file that is gone: how many of its texts were found nowhere
	verdicts map[memoir.Anchor]verdict
}

// A treeFile is what stands at a path.
type treeFile struct {
	kind treeKind
	text string
}

type treeKind int

const (
	nothing treeKind = iota
	textFile
	directory
	unread // binary, too large, not to be read, outside
)

// OpenTree opens the working tree at a directory.
func OpenTree(dir string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Tree{root: root, files: map[string]treeFile{}, went: map[string][]string{}, lost: map[string]int{},
		verdicts: map[memoir.Anchor]verdict{}}, nil
}

// Close releases the directory.
func (t *Tree) Close() error { return t.root.Close() }

// Look returns the text of a file; exists is also true of a directory, and of a file whose text
// cannot be had.
func (t *Tree) Look(name string) (text string, exists bool) {
	f := t.look(name)
	return f.text, f.kind != nothing
}

func (t *Tree) look(name string) treeFile {
	f, known := t.files[name]
	if !known {
		f = t.fetch(name)
		t.files[name] = f
	}
	return f
}

// fetch reads a path. Opening never waits for the other end of a named pipe.
func (t *Tree) fetch(name string) treeFile {
	f, err := t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return treeFile{kind: nothing}
	}
	if err != nil {
		return treeFile{kind: unread}
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err == nil && info.IsDir():
		return treeFile{kind: directory}
	case err != nil || !info.Mode().IsRegular() || info.Size() > maxTreeFile || t.read+int(info.Size()) > maxTreeRead:
		return treeFile{kind: unread}
	}
	content := make([]byte, info.Size())
	n, err := io.ReadFull(f, content)
	t.read += n
	if err != nil || bytes.IndexByte(content, 0) >= 0 {
		return treeFile{kind: unread}
	}
	return treeFile{textFile, string(content)}
}

// exists reports whether there is something at a path, without reading it.
func (t *Tree) exists(name string) bool {
	_, err := t.root.Lstat(name)
	return err == nil
}

// list names the files of the tree, up to maxEntries, those near the top first.
func (t *Tree) list() []string {
	if t.names != nil {
		return t.names
	}
	t.names = []string{}
	left := maxEntries
	for dirs := []string{"."}; len(dirs) > 0 && left > 0; dirs = dirs[1:] {
		d, err := t.root.Open(dirs[0])
		if err != nil {
			continue
		}
		entries, _ := d.ReadDir(left)
		_ = d.Close()
		left -= len(entries)
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

// elsewhere finds where what an anchor names stands now that it left its file, "" if that cannot be
// told. Where another text of the file went is looked at first, then files of the same name, then those of
// the same kind in its directory; if the file is there still, only the latter. A path alone is where most
// of its texts went, else the only other file of its name, unless its texts are not to be found.
func (t *Tree) elsewhere(a memoir.Anchor, removed bool) string {
	went := t.went[a.Path]
	if a.Text == "" && len(went) > max(1, 2*t.lost[a.Path]) {
		return went[0]
	}
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
	if a.Text == "" {
		if len(same) == 1 && len(went) >= t.lost[a.Path] {
			return same[0]
		}
		return ""
	}
	for _, name := range slices.Concat(went[:min(1, len(went))], same, near) {
		if t.searched > maxSearched {
			break
		}
		text := t.look(name).text
		t.searched += len(text)
		if _, ok := memoir.Token(text, cmp.Or(a.Key, a.Text), 0); !ok || a.In(text) != memoir.Present {
			continue
		}
		if removed && (len(went) == 0 || went[0] == name) {
			t.went[a.Path] = append(went, name)
		}
		return name
	}
	t.lost[a.Path]++
	return ""
}
