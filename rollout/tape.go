package rollout

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
)

// tape is a thread's records in reading order. It can be played more than once:
// what is undone, replayed or said twice is known only at the end, so agents
// play it first to plan and then to emit, instead of holding a session in memory.
type tape struct {
	parts []Part
	heads [][]byte // plays these records instead of the parts' files
	stats *Stats
	bad   map[int][]int // what an earlier play found not to be JSON, by part
	sizes map[int]int64 // of the parts when they were first played: a live file may grow meanwhile
	spare *Reader       // of an earlier play, whose buffers the next one takes over
}

// place says where a record stands.
type place struct {
	part  int // index in the tape's parts
	index int // of the record in the whole tape, from 0
}

// errStop ends a play early without being an error.
var errStop = errors.New("stop")

// each plays the records; fn's raw bytes are good until it returns. The stats
// count a play only if count is set, so that planning counts nothing.
func (t *tape) each(ctx context.Context, count bool, fn func(at place, raw []byte) error) error {
	at := place{}
	if t.heads != nil {
		for _, raw := range t.heads {
			if err := fn(at, raw); err != nil {
				return unstop(err)
			}
			at.index++
		}
		return nil
	}
	for at.part = range t.parts {
		if err := t.eachOf(ctx, count, &at, fn); err != nil {
			return unstop(err)
		}
	}
	return nil
}

func unstop(err error) error {
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

func (t *tape) eachOf(ctx context.Context, count bool, at *place, fn func(place, []byte) error) error {
	path := t.parts[at.part].Path
	f, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := &Reader{src: t.bounded(f, at.part)}
	if t.spare != nil {
		r.in, r.buf = t.spare.in, t.spare.buf
	}
	if n := chunkOf(f); len(r.in) < n {
		r.in = make([]byte, n)
	}
	t.spare = r
	r.bad, r.known = t.bad[at.part]
	defer func() {
		r.Close()
		if !r.known && r.eof {
			if t.bad == nil {
				t.bad = map[int][]int{}
			}
			t.bad[at.part] = r.bad
		}
		if count {
			t.stats.Malformed += r.Malformed
			t.stats.Elided += r.Elided
			t.stats.Oversized += r.Oversized
			t.stats.CutTail = r.CutTail
		}
	}()
	for {
		if at.index%64 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		raw, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return openError(path, err)
		}
		if err := fn(*at, raw); err != nil {
			return err
		}
		at.index++
	}
}

// bounded ends a plain file where it ended when it was first played.
func (t *tape) bounded(f io.Reader, part int) io.Reader {
	plain, ok := f.(*os.File)
	if !ok {
		return f
	}
	size, seen := t.sizes[part]
	if !seen {
		info, err := plain.Stat()
		if err != nil {
			return f
		}
		if t.sizes == nil {
			t.sizes = map[int]int64{}
		}
		size = info.Size()
		t.sizes[part] = size
	}
	return io.LimitReader(f, size)
}

// tree is a conversation whose entries name their parents: what stands is the path
// from the last entry to the root. Records that are no entries always stand. Where a
// parent was lost, what the file holds before its child is kept, for nothing tells
// whether it was left. An entry that does not say what its parent is follows the one
// before it, and where no entry says so they are a line.
type tree struct {
	fragments bool // entries with the same id are parts of one; else the last replaces the others

	entries []treeEntry
	byID    map[string]int // index in entries, of the last
	last    int            // index in entries of the tip, -1
	index   map[int]int    // of records, in entries
	live    map[string]bool
	from    int  // records before this one have unknown relations, and stay
	related bool // an entry has a parent
}

type treeEntry struct {
	record     int // in the tape
	id, parent string
}

func newTree(fragments bool) *tree {
	return &tree{fragments: fragments, byID: map[string]int{}, last: -1, index: map[int]int{}}
}

// add takes an entry in, whose parent is a raw value: null for a root. One that is
// not of the conversation cannot be its tip.
func (t *tree) add(record int, id string, raw []byte, tip bool) {
	parent := text(raw)
	if raw == nil && t.last >= 0 && t.entries[t.last].id != id {
		parent = t.entries[t.last].id
	}
	t.related = t.related || parent != ""
	if i, ok := t.byID[id]; ok && t.fragments {
		parent = t.entries[i].parent
	}
	t.byID[id] = len(t.entries)
	t.index[record] = len(t.entries)
	if tip {
		t.last = len(t.entries)
	}
	t.entries = append(t.entries, treeEntry{record, id, parent})
}

// grow finds what stands, once all entries are in.
func (t *tree) grow() {
	t.live = map[string]bool{}
	if t.last < 0 {
		t.from = 1 << 62
		return
	}
	if !t.related {
		for _, e := range t.entries {
			t.live[e.id] = true
		}
	}
	for e := t.entries[t.last]; !t.live[e.id]; {
		t.live[e.id] = true
		if e.parent == "" {
			return
		}
		up, ok := t.byID[e.parent]
		if !ok {
			t.from = e.record
			return
		}
		e = t.entries[up]
	}
}

// dead reports whether a record is an entry that does not stand.
func (t *tree) dead(record int) bool {
	i, ok := t.index[record]
	if !ok || record < t.from {
		return false
	}
	id := t.entries[i].id
	return !t.live[id] || !t.fragments && t.byID[id] != i
}

// branching is how an agent writes a session as a tree of entries. Some agents begin the
// file of a forked session with copies of the entries of the session it was forked from,
// ids and all, and name that session. What that session gives itself is not given twice;
// an entry that was undone there, and stands here, is kept.
type branching struct {
	fragments bool                                       // as in tree
	plan      func(p *branchPlan, index int, raw []byte) // takes a record in
	keys      func(raw []byte) []uint64                  // equal for an entry and its copy; none for what is no entry
	file      func(path, session string) string          // of another session beside a file, "" if there is none
}

// branchPlan says which records of a session stand.
type branchPlan struct {
	*tree
	resets  []int           // indexes of the records at which the conversation began anew
	reset   int             // records before the last one that stands are no longer the conversation
	results map[uint64]bool // hashes of the ids of calls that were answered
	parent  string          // the session that this was forked from, as it names it
}

func (p *branchPlan) dead(record int) bool { return record < p.reset || p.tree.dead(record) }

func (b branching) planOf(ctx context.Context, t *tape) (*branchPlan, error) {
	p := &branchPlan{tree: newTree(b.fragments), results: map[uint64]bool{}}
	err := t.each(ctx, false, func(at place, raw []byte) error {
		b.plan(p, at.index, raw)
		return nil
	})
	p.grow()
	for _, i := range p.resets {
		if !p.tree.dead(i) {
			p.reset = i
		}
	}
	return p, err
}

// read gives the records that stand, and are not given by the session that this one was
// forked from, to fn.
func (b branching) read(ctx context.Context, t *tape, e *emitter, fn func(raw []byte)) error {
	plan, err := b.planOf(ctx, t)
	if err != nil {
		return err
	}
	e.results = plan.results
	given, err := b.inherited(ctx, b.file(t.parts[0].Path, plan.parent))
	if err != nil {
		return err
	}
	return t.each(ctx, true, func(at place, raw []byte) error {
		if plan.dead(at.index) {
			if get(raw, "message") != nil { // else it is a note beside the conversation
				e.stats.Undone++
			}
		} else if len(given) == 0 || !slices.ContainsFunc(b.keys(raw), func(key uint64) bool { return given[key] }) {
			fn(raw)
		} else {
			e.stats.Copied++
		}
		return e.err
	})
}

// inherited returns the keys of the entries that the session in a file gives; nil if
// there is no such file, or nothing can be read of it.
func (b branching) inherited(ctx context.Context, path string) (map[uint64]bool, error) {
	if path == "" {
		return nil, nil
	}
	t := &tape{parts: []Part{{Path: path}}, stats: &Stats{}}
	plan, err := b.planOf(ctx, t)
	if err != nil {
		return nil, ctx.Err()
	}
	out := map[uint64]bool{}
	err = t.each(ctx, false, func(at place, raw []byte) error {
		if !plan.dead(at.index) {
			for _, key := range b.keys(raw) {
				out[key] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, ctx.Err()
	}
	return out, nil
}
