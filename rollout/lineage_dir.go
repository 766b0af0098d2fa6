package rollout

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memoir"
)

// kinDir is what is known of the session files of a directory.
type kinDir struct {
	path string

	mu        sync.Mutex
	modTime   time.Time
	settled   bool // the directory's time tells whether files were added since
	files     []kinFile
	index     map[string]int
	byFirst   map[uint64][]int
	byOrigin  map[string][]int        // by what their first entry says
	starts    []time.Time             // of their first entries, ascending
	unlooked  []int                   // files that were not read whole yet
	elsewhere map[int]map[uint64]bool // by file, of the families that are known
}

// kinFile is what the ends of a file say.
type kinFile struct {
	memoir.File
	first  uint64 // id of its first entry, or of that which it copies; 0: it has none
	origin string // of its first entry
	from   time.Time
	to     time.Time // not before its last entry
	holds  []int     // the files whose first entry it holds, once looked at
	heldBy []int     // the files that hold its first entry, once those were looked at
}

const (
	kinHead = 16 << 10  // bytes of a file that are read at once for its first entry
	kinMost = 512 << 10 // bytes that are read for it at most
	kinTail = 16 << 10  // bytes that are read for the time of its last record
)

// refresh looks at the directory's files, if any were added or replaced. That a
// file grew in the meantime changes nothing of what is asked here. A directory's
// time is trusted once it is older than the clock by which file systems tell times.
func (d *kinDir) refresh(marker func([]byte) mark) {
	info, err := os.Stat(d.path)
	if err != nil {
		d.files, d.index, d.settled = nil, nil, false
		return
	}
	if d.settled && info.ModTime().Equal(d.modTime) {
		return
	}
	d.modTime, d.settled = info.ModTime(), time.Since(info.ModTime()) > 2*time.Second
	entries, _ := os.ReadDir(d.path) // what could not be read owns nothing
	var files []kinFile
	same := true
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		path := filepath.Join(d.path, e.Name())
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		f := kinFile{File: memoir.File{Path: path, Size: info.Size(), ModTime: info.ModTime(), Inode: inode(info)}}
		if at, ok := d.index[path]; ok && d.files[at].File == f.File {
			f.first, f.origin, f.from, f.to = d.files[at].first, d.files[at].origin, d.files[at].from, d.files[at].to
		} else {
			f.ends(marker)
			same = false
		}
		files = append(files, f)
	}
	if same && len(files) == len(d.files) {
		return
	}
	d.files, d.index, d.elsewhere = files, map[string]int{}, map[int]map[uint64]bool{}
	d.byFirst, d.byOrigin, d.starts, d.unlooked = map[uint64][]int{}, map[string][]int{}, nil, nil
	for i, f := range files {
		d.index[f.Path] = i
		if f.first == 0 {
			continue
		}
		d.byFirst[f.first] = append(d.byFirst[f.first], i)
		d.byOrigin[f.origin] = append(d.byOrigin[f.origin], i)
		d.starts = append(d.starts, f.from)
		d.unlooked = append(d.unlooked, i)
	}
	slices.SortFunc(d.starts, time.Time.Compare)
}

// ends reads a file's first entry and the time of its last record.
func (f *kinFile) ends(marker func([]byte) mark) {
	file, err := openFile(f.Path)
	if err != nil {
		return
	}
	defer file.Close()
	r := &Reader{src: io.LimitReader(file, kinMost), in: make([]byte, kinHead), known: true, brief: true}
	for f.first == 0 {
		raw, err := r.Next()
		if err != nil {
			return
		}
		m := marker(raw)
		if f.origin == "" {
			f.origin = m.origin
		}
		if f.first, f.from = m.id, m.at; m.of != 0 {
			f.first = m.of
		}
	}
	f.to = f.ModTime
	from := max(0, f.Size-kinTail)
	piece := make([]byte, f.Size-from)
	n, _ := file.ReadAt(piece, from)
	if i := bytes.IndexByte(piece[:n], '\n'); from > 0 && i >= 0 {
		piece, n = piece[i+1:], n-i-1
	}
	last := time.Time{}
	r = &Reader{src: bytes.NewReader(piece[:n]), in: r.in, known: true}
	for raw, err := r.Next(); err == nil; raw, err = r.Next() {
		if m := marker(raw); m.at.After(last) {
			last = m.at
		}
	}
	if !last.IsZero() {
		f.to = last
	}
}

// spans reports whether a file may hold an entry of a time.
func (f *kinFile) spans(at time.Time) bool {
	return at.IsZero() || f.from.IsZero() || !at.Before(f.from) && !at.After(f.to)
}

// family returns the files that have entries in common with a file, or with one that
// has: itself first.
func (d *kinDir) family(ctx context.Context, marker func([]byte) mark, at int) ([]int, error) {
	members, in := []int{at}, map[int]bool{at: true}
	join := func(kin []int) {
		for _, i := range kin {
			if !in[i] {
				in[i] = true
				members = append(members, i)
			}
		}
	}
	for n := 0; n < len(members); n++ {
		i := members[n]
		if err := d.lookFor(ctx, marker, i); err != nil {
			return nil, err
		}
		me := &d.files[i]
		join(d.byFirst[me.first])
		join(me.holds)
		join(me.heldBy)
	}
	return members, nil
}

// lookFor looks at the files that may hold a file's first entry, and at the file
// itself if it may hold that of another. Each file is looked at once, so that many
// sessions of the same time cost no more than reading them.
func (d *kinDir) lookFor(ctx context.Context, marker func([]byte) mark, at int) error {
	me := &d.files[at]
	origin, named := d.index[filepath.Join(d.path, me.origin+".jsonl")]
	var left []int
	for n, i := range d.unlooked {
		holds := i != at && (d.files[i].spans(me.from) || named && i == origin)
		if !holds && (i != at || !d.mayHold(at)) {
			left = append(left, i)
			continue
		}
		if err := d.look(ctx, marker, i); err != nil {
			d.unlooked = append(left, d.unlooked[n:]...)
			return err
		}
	}
	d.unlooked = left
	return nil
}

// mayHold reports whether another file's first entry may stand in this one.
func (d *kinDir) mayHold(at int) bool {
	me := &d.files[at]
	for _, i := range d.byOrigin[stem(me.Path)] {
		if i != at {
			return true
		}
	}
	if me.from.IsZero() || d.starts[0].IsZero() {
		return true
	}
	first, _ := slices.BinarySearchFunc(d.starts, me.from, time.Time.Compare)
	return first+1 < len(d.starts) && !d.starts[first+1].After(me.to) // the first is its own
}

// look reads a whole file for the first entries of the others. What cannot be read
// holds none.
func (d *kinDir) look(ctx context.Context, marker func([]byte) mark, at int) error {
	f := &d.files[at]
	_ = eachRecord(ctx, f.Path, func(raw []byte) error {
		m := marker(raw)
		for _, id := range []uint64{m.id, m.of} {
			if id == 0 {
				continue
			}
			for _, j := range d.byFirst[id] {
				if j != at && !slices.Contains(f.holds, j) {
					f.holds = append(f.holds, j)
					d.files[j].heldBy = append(d.files[j].heldBy, at)
				}
			}
		}
		return nil
	})
	if ctx.Err() != nil { // looked at again: an edge found twice is one
		return context.Cause(ctx)
	}
	return nil
}

// eachRecord gives a plain file's records to fn, whether they are valid JSON
// throughout or not.
func eachRecord(ctx context.Context, path string, fn func(raw []byte) error) error {
	file, err := openFile(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := NewReader(file)
	r.known = true
	for n := 0; ; n++ {
		if n%64 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		raw, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := fn(raw); err != nil {
			return unstop(err)
		}
	}
}
