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
	own      uint64    // hash of its uuid, 0: the line is no entry of the conversation
	id       uint64    // hash of what a copy has, too: uuid and content
	at       time.Time // a copy keeps the time
	origin   string    // session id that it, or the line that it copies, was written under
	numbered bool      // its id is no UUID: other sessions have the same ids
}

func parseClaudeEntry(raw []byte) claudeEntry {
	e, uuid, of, session, asked, chain := claudeEntry{}, "", "", "", "", false
	var said []byte
	each(raw, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			switch word(value) {
			case "user", "assistant", "system", "attachment":
				chain = true
			}
		case "uuid":
			uuid = text(value)
		case "sessionId":
			session = text(value)
		case "requestSessionId":
			asked = text(value)
		case "timestamp":
			e.at = instant(value)
		case "forkedFrom":
			of, e.origin = getText(value, "messageUuid"), getText(value, "sessionId")
		case "message":
			said = get(value, "content")
		case "isSidechain": // a sub-agent's conversation, which no fork repeats
			if isTrue(value) {
				uuid, chain = "", false
				return false
			}
		}
		return true
	})
	if !chain || uuid == "" {
		return claudeEntry{}
	}
	e.own, e.numbered = textHash(uuid), !uuidForm.MatchString(uuid)
	e.id = textHash(cmp.Or(of, uuid)) ^ maphash.Bytes(hashSeed, said)
	if e.numbered {
		e.id ^= uint64(e.at.UnixNano())
	}
	e.origin = cmp.Or(e.origin, asked, session)
	return e
}

// claudeFirst is the id of a file's first entry, as the directory was last listed.
type claudeFirst struct {
	file memoir.File
	id   uint64 // 0: it has none
}

// claudeDir lists the first entries of the files of a directory.
type claudeDir struct {
	mu      sync.Mutex
	modTime time.Time // of the directory when it was listed
	settled bool      // no file can have been added since under the same time
	files   map[string]claudeFirst
	byFirst map[uint64][]string
	copies  map[string]map[uint64]bool // by path, of the families that were read
}

// claudeDirs are the directories listed so far, by path.
var claudeDirs struct {
	sync.Mutex
	byPath map[string]*claudeDir
}

const maxClaudeDirs = 4096 // directories that are kept; they can be listed again

// claudeCopies returns the hashed uuids of the entries in a session's file that belong
// to an older file beside it, nil if there are none. Files that cannot be read own
// nothing. The map is shared and must not be written to.
func claudeCopies(ctx context.Context, path string) (map[uint64]bool, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, nil
	}
	claudeDirs.Lock()
	dir := claudeDirs.byPath[filepath.Dir(path)]
	if dir == nil {
		if len(claudeDirs.byPath) >= maxClaudeDirs || claudeDirs.byPath == nil {
			claudeDirs.byPath = map[string]*claudeDir{}
		}
		dir = &claudeDir{}
		claudeDirs.byPath[filepath.Dir(path)] = dir
	}
	claudeDirs.Unlock()
	dir.mu.Lock()
	defer dir.mu.Unlock()
	dir.list(filepath.Dir(path))
	first := dir.files[path].id
	if first == 0 || len(dir.byFirst[first]) < 2 {
		return nil, nil
	}
	if known, ok := dir.copies[path]; ok {
		return known, nil
	}
	family, err := readFamily(ctx, dir.byFirst[first])
	if err != nil {
		return nil, err
	}
	for i, f := range family {
		dir.copies[f.path] = f.heldBy(family[:i])
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
	before, changed := d.files, false
	d.files, d.byFirst = map[string]claudeFirst{}, map[uint64][]string{}
	for _, e := range dirEntries(path) {
		file := filepath.Join(path, e.Name())
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(file, ".jsonl") {
			continue
		}
		f, known := before[file]
		if now := asFile(file, info); !known || f.file != now {
			f, changed = claudeFirst{now, firstClaudeEntry(file)}, true
		}
		d.files[file] = f
		if f.id != 0 {
			d.byFirst[f.id] = append(d.byFirst[f.id], file)
		}
	}
	if changed || len(d.files) != len(before) {
		d.copies = map[string]map[uint64]bool{}
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
	entries []kinEntry

	numbered bool  // see claudeEntry
	above    int   // how many files of the family it says it descends from
	among    int   // its other records among those entries that others share: a copy is written in one go
	went     int64 // when it went on with an entry that no other has; 0: it did not
}

// kinEntry is what is kept of a claudeEntry.
type kinEntry struct {
	own, id uint64
	at      int64 // nanoseconds since 1970
	record  int   // ordinal in the file
}

// maxFamily bounds the entries that are held of one family. In a larger one every
// session keeps what it holds.
const maxFamily = 512 << 10

// readFamily reads files with the same first entry and returns them oldest first. A
// session that no person drives comes last, for it is not where people's words are
// looked for; then counts what files say of their origin, then whether they were written
// in one go, then which went on first.
func readFamily(ctx context.Context, paths []string) ([]*kin, error) {
	var family []*kin
	total := 0
	for _, path := range paths {
		h, err := Probe(Entry{File: memoir.File{Path: path}})
		if err != nil || h.Kind == memoir.KindSubagent {
			continue
		}
		k := &kin{path: path, id: h.ID, main: h.Kind == memoir.KindMain, origins: map[string]bool{}}
		t := &tape{parts: []Part{{Path: path}}, stats: &Stats{}}
		err = t.each(ctx, false, func(at place, raw []byte) error {
			e := parseClaudeEntry(raw)
			if e.own == 0 {
				return nil
			}
			if total++; total > maxFamily {
				return errStop
			}
			if len(k.origins) < 64 {
				k.origins[e.origin] = true
			}
			k.numbered = k.numbered || e.numbered
			k.entries = append(k.entries, kinEntry{e.own, e.id, e.at.UnixNano(), at.index})
			return nil
		})
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case total > maxFamily:
			return nil, nil
		case err == nil:
			family = append(family, k)
		}
	}
	sortFamily(family)
	return family, nil
}

func sortFamily(family []*kin) {
	byID, holders := map[string]*kin{}, map[uint64]int{}
	for _, k := range family {
		byID[k.id] = k
		for _, e := range k.entries {
			holders[e.id]++
		}
	}
	for _, k := range family {
		k.above = k.ancestors(byID)
		shared := 0
		for _, e := range k.entries {
			if holders[e.id] > 1 {
				shared++
				k.among = e.record - k.entries[0].record + 1 - shared
			} else if k.went == 0 {
				k.went = e.at
			}
		}
	}
	slices.SortFunc(family, func(a, b *kin) int {
		if a.main != b.main {
			return map[bool]int{true: -1, false: 1}[a.main]
		}
		return cmp.Or(cmp.Compare(a.above, b.above), cmp.Compare(b.among, a.among), cmp.Compare(a.went, b.went),
			cmp.Compare(len(a.entries), len(b.entries)), cmp.Compare(a.id, b.id))
	})
}

// ancestors counts the files that a file says it was copied from, at any remove.
func (k *kin) ancestors(byID map[string]*kin) int {
	seen, next := map[*kin]bool{k: true}, []*kin{k}
	for ; len(next) > 0; next = next[1:] {
		for origin := range next[0].origins {
			if up := byID[origin]; up != nil && !seen[up] {
				seen[up], next = true, append(next, up)
			}
		}
	}
	return len(seen) - 1
}

// heldBy returns the hashed uuids of the entries that older files hold, too. Another
// file of the same thread takes nothing: whoever assembles the thread chooses.
func (k *kin) heldBy(older []*kin) map[uint64]bool {
	var out map[uint64]bool
	mine := map[uint64]uint64{}
	for _, e := range k.entries {
		mine[e.id] = e.own
	}
	for _, o := range older {
		if o.id == k.id || !o.precedes(mine) {
			continue
		}
		for _, e := range o.entries {
			if own, held := mine[e.id]; held {
				if out == nil {
					out = map[uint64]bool{}
				}
				out[own] = true
			}
		}
	}
	return out
}

// precedes reports whether a file with given entries can be a copy of this one that
// went on. Where programs number the entries, sessions may begin alike by chance: then
// it must hold all of them, and more than one.
func (k *kin) precedes(entries map[uint64]uint64) bool {
	if !k.numbered {
		return true
	}
	for _, e := range k.entries {
		if _, held := entries[e.id]; !held {
			return false
		}
	}
	return len(k.entries) > 1
}
