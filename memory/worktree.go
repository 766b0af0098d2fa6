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
	maxLost      = 6        // missing texts of one file after which no other is looked for
)

// skippedDirs hold what is not the project's own text.
var skippedDirs = []string{".git", ".hg", ".svn", "node_modules", "vendor", "target", ".venv"}

// Tree is a working tree that anchors are looked up in. It reads regular files below its top directory,
// follows no link out of it, starts no process, and reads each file once. It is not safe for
// concurrent use.
type Tree struct {
	root     *os.Root
	files    map[string]treeFile
	buffer   []byte
	read     int                    // bytes of files
	apart    int                    // bytes read of files that no anchor names
	searched int                    // bytes
	names    []string               // of files, nearest to the top first; nil until somebody asks
	went     map[string]whereabouts // of texts of files that are gone
	lost     map[string]int         // how many texts of a file were found nowhere
	verdicts map[memoir.Anchor]verdict
}

// whereabouts are the file in which texts of another one were found, and how many were.
type whereabouts struct {
	to    string
	texts int
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
	return &Tree{root: root, files: map[string]treeFile{}, went: map[string]whereabouts{}, lost: map[string]int{},
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
	size := int(info.Size())
	if len(t.buffer) <= size {
		t.buffer = make([]byte, max(size+1, 64<<10))
	}
	n, err := io.ReadFull(f, t.buffer[:size+1]) // one byte more shows that it grew
	t.read += n
	if err != io.EOF && err != io.ErrUnexpectedEOF || bytes.IndexByte(t.buffer[:n], 0) >= 0 {
		return treeFile{kind: unread}
	}
	return treeFile{textFile, string(t.buffer[:n])}
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
// of its texts went, else the file whose name and directory are like its own, unless its texts are not to be found.
func (t *Tree) elsewhere(a memoir.Anchor, removed bool) string {
	same, near := t.kin(a.Path, removed)
	went := t.went[a.Path]
	if a.Text == "" {
		switch {
		case went.texts > 1 && went.texts > 2*t.lost[a.Path]:
			return went.to
		case went.texts < t.lost[a.Path]:
			return ""
		}
		return likest(same, a.Path)
	}
	if t.lost[a.Path] >= maxLost {
		return ""
	}
	all := slices.Concat(same, near)
	if went.texts > 0 {
		all = slices.Insert(all, 0, went.to)
	}
	for _, name := range all[:min(len(all), maxNear)] {
		before := t.read
		_, known := t.files[name]
		if !known && t.apart > maxElsewhere || t.searched > maxSearched {
			continue
		}
		text := t.look(name).text
		t.apart += t.read - before
		t.searched += len(text)
		if !standsAs(a, text) {
			continue
		}
		if removed && went.to == name {
			t.went[a.Path] = whereabouts{name, went.texts + 1}
		} else if removed && went.texts == 0 {
			t.went[a.Path] = whereabouts{name, 1}
		}
		return name
	}
	t.lost[a.Path]++
	return ""
}

// likest is the one of some paths that ends like another one in most of its parts, "" if several do.
func likest(paths []string, like string) (found string) {
	parts := strings.Split(like, "/")
	best, tie := 0, false
	for _, name := range paths {
		n := 0
		for n < len(parts) && strings.HasSuffix("/"+name, "/"+strings.Join(parts[len(parts)-n-1:], "/")) {
			n++
		}
		if tie = n == best; n > best {
			found, best = name, n
		}
	}
	if tie {
		return ""
	}
	return found
}

// kin are the files that have the name of another one, which was removed, and those of its kind in its
// directory.
func (t *Tree) kin(file string, removed bool) (same, near []string) {
	for _, name := range t.list() {
		switch {
		case name == file:
		case removed && path.Base(name) == path.Base(file):
			same = append(same, name)
		case path.Ext(name) == path.Ext(file) && path.Dir(name) == path.Dir(file):
			near = append(near, name)
		}
	}
	return same, near
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
