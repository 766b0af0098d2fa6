package rollout

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"memoir"
)

// opencodeTree is a session of files:
//
//	storage/session/<project>/<session>.json, storage/message/<session>/<message>.json,
//	storage/part/<message>/<part>.json
//
// and before that, below project/<name>/storage/session:
//
//	info/<session>.json, message/<session>/<message>.json, part/<session>/<message>/<part>.json
//
// All is opened below root, so that no symbolic link leads out of it.
type opencodeTree struct {
	path string // of the session's own file
	root string // slash-separated paths below are relative to it
	file string
	id   string
	old  bool // of the earlier form
}

// treeOf says by a file's path whether a tree begins in it.
func treeOf(path string) (opencodeTree, bool) {
	name := filepath.Base(path)
	if !isSessionName(name) {
		return opencodeTree{}, false
	}
	dir := filepath.Dir(path)
	above := filepath.Dir(dir)
	if filepath.Base(above) != "session" {
		return opencodeTree{}, false
	}
	t := opencodeTree{path: path, root: filepath.Dir(above), id: strings.TrimSuffix(name, ".json")}
	t.file = "session/" + filepath.Base(dir) + "/" + name
	switch filepath.Base(dir) {
	case "info":
		t.root, t.file, t.old = above, "info/"+name, true
	case "message", "part":
		return opencodeTree{}, false
	}
	return t, true
}

// belongsToTree reports that a file is one of the others of a tree: of a message,
// a part, or what OpenCode keeps beside them.
func belongsToTree(path string) bool {
	if !strings.HasSuffix(path, ".json") {
		return false
	}
	dir := filepath.Dir(path)
	kind, above := filepath.Base(dir), filepath.Dir(dir)
	switch kind { // directly below the root
	case "session_diff", "session_share", "project", "todo", "permission":
		return isDir(filepath.Join(above, "session")) && isDir(filepath.Join(above, "message"))
	}
	for range 2 {
		kind, above = filepath.Base(above), filepath.Dir(above)
		if kind == "message" || kind == "part" {
			return isDir(filepath.Join(above, "session")) || filepath.Base(above) == "session" &&
				isDir(filepath.Join(above, "info"))
		}
	}
	return false
}

func (t opencodeTree) messageDir() string { return "message/" + t.id }

func (t opencodeTree) partDir(message string) string {
	if t.old {
		return "part/" + t.id + "/" + message
	}
	return "part/" + message
}

// look sums up the session's own file, the directory of its messages, and the
// newest of these with their parts. The times of directories tell of files that
// were added or replaced, those of files of ones that were written over.
func (t opencodeTree) look() (memoir.File, error) {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return memoir.File{}, err
	}
	defer root.Close()
	info, err := root.Stat(t.file)
	if err != nil {
		return memoir.File{Path: t.path}, err
	}
	f := memoir.File{Path: t.path, Size: info.Size(), ModTime: info.ModTime()}
	digest := fnv.New64a()
	take := func(info fs.FileInfo) {
		if !info.IsDir() {
			f.Size += info.Size()
		}
		if info.ModTime().After(f.ModTime) {
			f.ModTime = info.ModTime()
		}
		fmt.Fprintln(digest, info.Name(), info.Size(), info.ModTime().UnixNano())
	}
	fmt.Fprintln(digest, inode(info), info.Size(), info.ModTime().UnixNano())
	messages := jsonFiles(root, t.messageDir())
	fmt.Fprintln(digest, len(messages))
	for _, name := range messages[max(0, len(messages)-newestRows):] {
		if info, err := root.Stat(t.messageDir() + "/" + name); err == nil {
			take(info)
		}
		parts := t.partDir(strings.TrimSuffix(name, ".json"))
		for _, part := range jsonFiles(root, parts) {
			if info, err := root.Stat(parts + "/" + part); err == nil {
				take(info)
			}
		}
	}
	if info, err := root.Stat(t.messageDir()); err == nil && info.ModTime().After(f.ModTime) {
		f.ModTime = info.ModTime()
	}
	f.Inode = digest.Sum64() >> 1
	return f, nil
}

// jsonFiles lists the names of the files in a directory, in order; none if it
// cannot be read or leads elsewhere.
func jsonFiles(root *os.Root, dir string) []string {
	d, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	all, err := d.Readdirnames(-1)
	if err != nil {
		return nil
	}
	names := slices.DeleteFunc(all, func(name string) bool {
		return !strings.HasSuffix(name, ".json") ||
			strings.HasPrefix(name, ".")
	})
	slices.Sort(names)
	return names
}

// open streams the session. A file that is gone, or leads out of the tree, is a
// value that is none, and is counted so.
func (t opencodeTree) open() (io.ReadCloser, error) {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return nil, openError(t.path, err)
	}
	head, err := t.read(root, t.file)
	if err != nil {
		root.Close()
		return nil, openError(t.path, err)
	}
	messages, last, size := t.messages(root)
	p := newPieces(func(yield func([]byte, error) bool) {
		w := &recordWriter{yield: yield}
		w.put([]byte(`{"info":`))
		w.value(head)
		w.put(fmt.Appendf(nil, `,"last":%d,"bytes":%d}`+"\n", last.UnixMilli(), size))
		for _, id := range messages {
			info, err := t.read(root, t.messageDir()+"/"+id+".json")
			if err != nil {
				info = jsonValue{}
			}
			w.message(info, func(part func(jsonValue) bool) {
				for _, name := range jsonFiles(root, t.partDir(id)) {
					v, err := t.read(root, t.partDir(id)+"/"+name)
					if err != nil {
						v = jsonValue{}
					}
					if !part(v) {
						return
					}
				}
			})
			if w.ended {
				return
			}
		}
	})
	p.onClose = root.Close
	return p, nil
}

// messages lists the ids of the session's messages in order of their times. Ids
// alone would do but for the days on which their clock begins anew. Size is that
// of all files together.
func (t opencodeTree) messages(root *os.Root) (ids []string, last time.Time, size int64) {
	type message struct {
		id string
		at time.Time
	}
	var all []message
	for _, name := range jsonFiles(root, t.messageDir()) {
		m := message{id: strings.TrimSuffix(name, ".json")}
		if f, err := openBelow(root, t.messageDir()+"/"+name); err == nil {
			beginning, _ := io.ReadAll(io.LimitReader(f, 64<<10)) // an error shows when the file is read
			if info, err := f.Stat(); err == nil {
				size += info.Size()
			}
			f.Close()
			m.at = instant(get(beginning, "time", "created"))
		}
		for _, part := range jsonFiles(root, t.partDir(m.id)) {
			if info, err := root.Stat(t.partDir(m.id) + "/" + part); err == nil {
				size += info.Size()
			}
		}
		all = append(all, m)
		last = laterOf(last, m.at)
	}
	slices.SortStableFunc(all, func(a, b message) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.id, b.id)) })
	for _, m := range all {
		ids = append(ids, m.id)
	}
	return ids, last, size
}

// openBelow opens a regular file of a tree.
func openBelow(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errors.New("it is not a file"), f.Close())
	}
	return f, nil
}

// read takes up a file as a value, whole if it is short.
func (t opencodeTree) read(root *os.Root, name string) (jsonValue, error) {
	f, err := openBelow(root, name)
	if err != nil {
		return jsonValue{}, err
	}
	defer f.Close()
	whole, err := io.ReadAll(io.LimitReader(f, wholePiece+1))
	if err != nil {
		return jsonValue{}, err
	}
	if len(whole) <= wholePiece {
		return jsonValue{whole: bytes.TrimPrefix(whole, []byte("\xEF\xBB\xBF"))}, nil
	}
	return jsonValue{pieces: longFile(root, name)}, nil
}

func longFile(root *os.Root, name string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := openBelow(root, name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		for {
			piece := make([]byte, pieceSize)
			n, err := f.Read(piece)
			if n > 0 && !yield(piece[:n], nil) {
				return
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}
