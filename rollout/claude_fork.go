package rollout

import (
	"cmp"
	"context"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memoir"
)

// Claude Code writes a new file when a session is forked, earlier versions also when it
// is resumed, and begins it with the entries of the old one. Files of a directory with
// the same first entry are such a family; an entry belongs to the oldest that holds it.

// claudeEntry is what a line says of where it comes from.
type claudeEntry struct {
	own    uint64 // hash of its uuid
	id     uint64 // hash of what a copy has, too: uuid, time and content; 0: the line is no entry
	origin string // session id that it, or the line that it copies, was written under
	record int    // ordinal in the file
}

func parseClaudeEntry(raw []byte) claudeEntry {
	l := parseClaudeLine(raw)
	switch l.kind {
	case "user", "assistant", "system", "attachment":
	default:
		return claudeEntry{}
	}
	if l.uuid == "" || l.sidechain { // no fork repeats a sub-agent's conversation
		return claudeEntry{}
	}
	id := textHash(cmp.Or(getText(l.fork, "messageUuid"), l.uuid))
	id ^= maphash.Bytes(hashSeed, get(l.message, "content")) ^ uint64(l.at().UnixNano())
	return claudeEntry{own: textHash(l.uuid), id: id, origin: cmp.Or(l.forkedFrom(), l.session)}
}

// claudeDir lists the first entries of the files of a directory.
type claudeDir struct {
	mu      sync.Mutex
	modTime time.Time // of the directory when it was listed
	settled bool      // no file can have been added since under the same time
	first   map[string]uint64
	byFirst map[uint64][]string
	copies  map[string]map[uint64]bool // by path, of the families that were read
}

// claudeDirs are the directories listed so far: *claudeDir by path.
var claudeDirs sync.Map

// claudeCopies returns the hashed uuids of the entries in a session's file that belong
// to an older file beside it, nil if there are none. Files that cannot be read own
// nothing. The map is shared and must not be written to.
func claudeCopies(ctx context.Context, path string) (map[uint64]bool, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, nil
	}
	known, _ := claudeDirs.LoadOrStore(filepath.Dir(path), &claudeDir{})
	dir := known.(*claudeDir)
	dir.mu.Lock()
	defer dir.mu.Unlock()
	dir.list(filepath.Dir(path))
	family := dir.byFirst[dir.first[path]]
	if _, known := dir.copies[path]; len(family) > 1 && !known {
		if err := dir.readFamily(ctx, family); err != nil {
			return nil, err
		}
	}
	return dir.copies[path], nil
}

// list lists the directory again if files may have been added or replaced; growing
// changes no first entry. A directory's time is trusted once it is older than the
// resolution of file times.
func (d *claudeDir) list(path string) {
	info, err := os.Stat(path)
	if err != nil || d.settled && info.ModTime().Equal(d.modTime) {
		return
	}
	d.modTime, d.settled = info.ModTime(), time.Since(info.ModTime()) > 2*time.Second
	d.first, d.byFirst, d.copies = map[string]uint64{}, map[uint64][]string{}, map[string]map[uint64]bool{}
	for _, e := range dirEntries(path) {
		file := filepath.Join(path, e.Name())
		if !strings.HasSuffix(file, ".jsonl") {
			continue
		}
		if first := firstClaudeEntry(file); first != 0 {
			d.first[file] = first
			d.byFirst[first] = append(d.byFirst[first], file)
		}
	}
}

const (
	firstChunk = 16 << 10  // bytes of a file that are read at once for its first entry
	firstMost  = 512 << 10 // bytes that are read for it at most
)

func firstClaudeEntry(path string) uint64 {
	file, err := openFile(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	r := &Reader{src: io.LimitReader(file, firstMost), in: make([]byte, firstChunk), known: true, brief: true}
	for {
		raw, err := r.Next()
		if err != nil {
			return 0
		}
		if e := parseClaudeEntry(raw); e.id != 0 {
			return e.id
		}
	}
}

// kin is a file of a family.
type kin struct {
	path    string
	id      string          // of the thread
	main    bool            // a person drives it
	origins map[string]bool // ids of the threads that its lines name
	entries []claudeEntry   // without origin

	above int // how many other files of the family its lines name
	among int // its other records among those entries that others share: a copy is written in one go
}

// maxFamily bounds the entries that are held of one family. In a larger one every
// session keeps what it holds.
const maxFamily = 512 << 10

// readFamily reads files with the same first entry and notes what each repeats of the
// older ones.
func (d *claudeDir) readFamily(ctx context.Context, paths []string) error {
	var family []*kin
	total := 0
	for _, path := range paths {
		d.copies[path] = nil
		h, err := Probe(Entry{File: memoir.File{Path: path}})
		if err != nil || h.Kind == memoir.KindSubagent {
			continue
		}
		k := &kin{path: path, id: h.ID, main: h.Kind == memoir.KindMain, origins: map[string]bool{}}
		t := &tape{parts: []Part{{Path: path}}, stats: &Stats{}}
		err = t.each(ctx, false, func(at place, raw []byte) error {
			e := parseClaudeEntry(raw)
			if e.id == 0 {
				return nil
			}
			if total++; total > maxFamily {
				return errStop
			}
			k.origins[e.origin] = true
			e.origin, e.record = "", at.index
			k.entries = append(k.entries, e)
			return nil
		})
		switch {
		case ctx.Err() != nil:
			clear(d.copies)
			return context.Cause(ctx)
		case total > maxFamily:
			return nil
		case err == nil:
			family = append(family, k)
		}
	}
	sortFamily(family)
	owners := map[uint64]string{} // of entries: the thread that has them first
	for _, k := range family {
		copies := map[uint64]bool{}
		for _, e := range k.entries {
			if owners[e.id] == "" {
				owners[e.id] = k.id
			}
			// Another file of the same thread takes nothing: whoever assembles the thread chooses.
			if owners[e.id] != k.id {
				copies[e.own] = true
			}
		}
		d.copies[k.path] = copies
	}
	return nil
}

// sortFamily puts the oldest first. A session that no person drives comes last, for it is
// not where people's words are looked for; then counts what files say of their origin,
// then whether they were written in one go, then their length.
func sortFamily(family []*kin) {
	holders := map[uint64]int{}
	for _, k := range family {
		for _, e := range k.entries {
			holders[e.id]++
		}
	}
	for _, k := range family {
		for _, other := range family {
			if other.id != k.id && k.origins[other.id] {
				k.above++
			}
		}
		shared := 0
		for _, e := range k.entries {
			if holders[e.id] > 1 {
				shared++
				k.among = e.record - k.entries[0].record + 1 - shared
			}
		}
	}
	slices.SortFunc(family, func(a, b *kin) int {
		return cmp.Or(-cmpBool(a.main, b.main), cmp.Compare(a.above, b.above), cmp.Compare(b.among, a.among),
			cmp.Compare(len(a.entries), len(b.entries)), cmp.Compare(a.id, b.id))
	})
}
