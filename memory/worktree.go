package memory

import (
	"bytes"
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
	maxTreeFile  = 1 << 20  // bytes of a file; a larger one is not looked at
	maxTreeRead  = 16 << 20 // bytes of all files
	maxElsewhere = 4 << 20  // of these, bytes of files in which what is missing is looked for
	maxSearched  = 24 << 20 // bytes that such searches go over
	maxEntries   = 4000     // names that are listed to find out where a file went
	maxNear      = 200      // files in which one missing text is looked for
)

// skippedDirs hold what is not the project's own text.
var skippedDirs = []string{".git", ".hg", ".svn", "node_modules", "vendor", "target", ".venv"}

// Tree is a working tree that anchors are looked up in. It reads regular files below its top directory,
// follows no link out of it, starts no process, and reads each file once. It is not safe for
// concurrent use.
type Tree struct {
	root     *os.Root
	files    map[string]treeFile
	read     int      // bytes of files
	apart    int      // bytes read of files that no anchor names
	searched int      // bytes
	names    []string // of files, nearest to the top first; nil until somebody asks
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
	return &Tree{root: root, files: map[string]treeFile{}}, nil
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
	content, err := io.ReadAll(io.LimitReader(f, maxTreeFile+1))
	t.read += len(content)
	if err != nil || len(content) > maxTreeFile || bytes.IndexByte(content, 0) >= 0 {
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
// told. A file of the same name, one of the same directory, and one of the same kind are looked at,
// in this order; if the file is there still, only those of its directory. A path alone is found by the
// name of the file, if there is one such file.
func (t *Tree) elsewhere(a memoir.Anchor, removed bool) string {
	base, dir, kind := path.Base(a.Path), path.Dir(a.Path), path.Ext(a.Path)
	var same, near, far []string
	for _, name := range t.list() {
		switch {
		case name == a.Path:
		case removed && path.Base(name) == base:
			same = append(same, name)
		case a.Text != "" && path.Ext(name) == kind && path.Dir(name) == dir:
			near = append(near, name)
		case a.Text != "" && path.Ext(name) == kind && removed:
			far = append(far, name)
		}
	}
	if a.Text == "" {
		if len(same) == 1 {
			return same[0]
		}
		return ""
	}
	all := slices.Concat(same, near, far)
	for _, name := range all[:min(len(all), maxNear)] {
		before := t.read
		_, known := t.files[name]
		if !known && t.apart > maxElsewhere || t.searched > maxSearched {
			continue
		}
		text := t.look(name).text
		t.apart += t.read - before
		t.searched += len(text)
		if standsAs(a, text) {
			return name
		}
	}
	return ""
}

// standsAs reports whether the text of an anchor stands in another file: given to its key, if it has one.
func standsAs(a memoir.Anchor, text string) bool {
	if a.Key != "" {
		if _, ok := memoir.Token(text, a.Key, 0); !ok {
			return false
		}
	}
	return a.In(text) == memoir.Present
}
