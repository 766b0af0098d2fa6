package rollout

import (
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
)

// opencodeTree is a session of files, as OpenCode kept them before it had a database:
//
//	storage/session/<project>/<session>.json, storage/message/<session>/<message>.json,
//	storage/part/<message>/<part>.json
//
// All is opened below storage, so that no symbolic link leads out of it.
type opencodeTree struct {
	path string // of the session's own file
	root string // slash-separated paths below are relative to it
	file string
	id   string
}

// treeOf says by a file's path whether a tree begins in it.
func treeOf(path string) (opencodeTree, bool) {
	name := filepath.Base(path)
	dir := filepath.Dir(path)
	project, above := filepath.Base(dir), filepath.Dir(dir)
	if !isSessionName(name) || filepath.Base(above) != "session" || project == "info" || project == "message" ||
		project == "part" { // an earlier form, which is not read
		return opencodeTree{}, false
	}
	return opencodeTree{path: path, root: filepath.Dir(above), file: "session/" + project + "/" + name,
		id: strings.TrimSuffix(name, ".json")}, true
}

// belongsToTree reports that a file is one of the others of a tree: of a message,
// a part, or what OpenCode keeps beside them.
func belongsToTree(path string) bool {
	if !strings.HasSuffix(path, ".json") {
		return false
	}
	dir := filepath.Dir(path)
	above := filepath.Dir(dir)
	switch filepath.Base(dir) {
	case "session_diff", "session_share", "project", "todo", "permission":
		return isDir(filepath.Join(above, "session")) && isDir(filepath.Join(above, "message"))
	}
	kind := filepath.Base(above)
	return (kind == "message" || kind == "part") && isDir(filepath.Join(filepath.Dir(above), "session"))
}

func (t opencodeTree) messageDir() string { return "message/" + t.id }

func partDir(message string) string { return "part/" + message }

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
		parts := partDir(strings.TrimSuffix(name, ".json"))
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

// open streams the session.
func (t opencodeTree) open() (io.ReadCloser, error) {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return nil, openError(t.path, err)
	}
	p, err := openStore(&opencodeFiles{t, root})
	if err != nil {
		return nil, openError(t.path, err)
	}
	return p, nil
}

// opencodeFiles is a tree that is open.
type opencodeFiles struct {
	opencodeTree
	dir *os.Root
}

// Close closes the tree's directory.
func (f *opencodeFiles) Close() error { return f.dir.Close() }

// head also says when the last message was written, and how many bytes all have.
func (f *opencodeFiles) head() ([]byte, error) {
	info, err := readBelow(f.dir, f.file, maxValue)
	if err != nil {
		return nil, err
	}
	names, size, last := jsonFiles(f.dir, f.messageDir()), int64(0), int64(0)
	if len(names) > 0 {
		message, _ := readBelow(f.dir, f.messageDir()+"/"+names[len(names)-1], maxValue) // an error shows when it is read
		last, _ = integer(get(message, "time", "created"))
	}
	for _, name := range names {
		size += sizeOf(f.dir, f.messageDir()+"/"+name)
		parts := partDir(strings.TrimSuffix(name, ".json"))
		for _, part := range jsonFiles(f.dir, parts) {
			size += sizeOf(f.dir, parts+"/"+part)
		}
	}
	return fmt.Appendf(nil, `{"info":%s,"last":%d,"bytes":%d}`, newValue(f.id, info).data, last, size), nil
}

func sizeOf(dir *os.Root, name string) int64 {
	info, err := dir.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// messages are in the order of their ids, which is that of time.
func (f *opencodeFiles) messages() iter.Seq2[opencodeValue, error] { return f.values(f.messageDir()) }

func (f *opencodeFiles) parts(message string) iter.Seq2[opencodeValue, error] {
	return f.values(partDir(message))
}

// values are the files of a directory. One that is gone, or leads out of the tree, is
// a value that is none.
func (f *opencodeFiles) values(dir string) iter.Seq2[opencodeValue, error] {
	return func(yield func(opencodeValue, error) bool) {
		for _, name := range jsonFiles(f.dir, dir) {
			content, err := readBelow(f.dir, dir+"/"+name, maxValue)
			if err != nil {
				content = nil
			}
			v := newValue(strings.TrimSuffix(name, ".json"), content)
			v.long = len(content) > maxValue
			if !yield(v, nil) {
				return
			}
		}
	}
}
