package rollout

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
)

// tape is a thread's records in reading order. It can be read more than once: undone, copied and repeated records
// are only known at the end. So agents make a first pass to plan and a second one to emit, instead of keeping a
// session in memory.
type tape struct {
	parts []Part
	heads [][]byte // records to read instead of the parts' files
	stats *Stats
	bad   map[int][]int // by part: records that an earlier pass found not to be JSON
	sizes map[int]int64 // by part: size in the first pass, since a live file may grow
	spare *Reader       // of an earlier pass; the next one reuses its buffers
}

type place struct {
	part  int // index in the tape's parts
	index int // of the record in the whole tape, from 0
}

// errStop ends a pass early, without an error.
var errStop = errors.New("stop")

// each makes a pass over the records; fn's raw bytes are valid until it returns. Stats count the pass only if
// count is set, as in the second one.
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
	if t.bad == nil {
		t.bad, t.sizes = map[int][]int{}, map[int]int64{}
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

// bounded limits a plain file to its size in the first pass.
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
		size = info.Size()
		t.sizes[part] = size
	}
	return io.LimitReader(f, size)
}

// branchPlan says which records of a session are live. Its entries name their parents, and those on the path from
// the last one to the root are live; records that are not entries are always live. If a parent is missing, all
// records before its child are live, since it is unknown whether they were undone. An entry without a parent member
// follows the one before it. If no entry has a parent, all are live.
type branchPlan struct {
	branching
	resets  []int           // indexes of the records at which the conversation was reset
	reset   int             // the last live one of these; earlier records are dead
	results map[uint64]bool // hashed ids of calls with a result
	parent  string          // original session of a fork, as the fork names it
	entries []treeEntry
	byID    map[string]int // index in entries of the last one with the id
	last    int            // index in entries of the tip; -1: none
	index   map[int]int    // by record: index in entries
	live    map[string]bool
	from    int  // records before this one have unknown parents and are live
	related bool // an entry has a parent
}

type treeEntry struct {
	record     int // in the tape
	id, parent string
}

// add adds an entry; the raw value of its parent is null for a root. tip says that it may be the last entry of the
// conversation.
func (t *branchPlan) add(record int, id string, raw []byte, tip bool) {
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

// grow finds the live entries after all were added.
func (t *branchPlan) grow() {
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

// dead reports whether a record is an entry that is not live.
func (t *branchPlan) dead(record int) bool {
	if record < t.reset {
		return true
	}
	i, ok := t.index[record]
	if !ok || record < t.from {
		return false
	}
	id := t.entries[i].id
	return !t.live[id] || !t.fragments && t.byID[id] != i
}

// branching is the form of an agent's sessions that are trees of entries. Some agents begin the file of a forked
// session with copies of the original entries, with their ids, and name the original session. Entries that are
// live in the original are left out of the fork; those that were undone there are kept.
type branching struct {
	fragments bool                                       // entries with one id are parts of one; else the last counts
	plan      func(p *branchPlan, index int, raw []byte) // adds a record
	keys      func(raw []byte) []uint64                  // equal for an entry and its copy; none if it is not an entry
	file      func(path, session string) string          // of another session beside a file, "" if there is none
}

func (b branching) planOf(ctx context.Context, t *tape) (*branchPlan, error) {
	p := &branchPlan{branching: b, results: map[uint64]bool{}, byID: map[string]int{}, last: -1, index: map[int]int{}}
	err := t.each(ctx, false, func(at place, raw []byte) error {
		b.plan(p, at.index, raw)
		return nil
	})
	p.grow()
	for _, i := range p.resets {
		if !p.dead(i) {
			p.reset = i
		}
	}
	return p, err
}

// read passes the live records that are not copies to fn.
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
			if get(raw, "message") != nil { // other records are not messages
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

// inherited returns the keys of the live entries of the session in a file; nil if the file does not exist or
// cannot be read.
func (b branching) inherited(ctx context.Context, path string) (map[uint64]bool, error) {
	if path == "" {
		return nil, nil
	}
	t := &tape{parts: []Part{{Path: path}}, stats: &Stats{}}
	out := map[uint64]bool{}
	plan, err := b.planOf(ctx, t)
	if err == nil {
		err = t.each(ctx, false, func(at place, raw []byte) error {
			for _, key := range b.keys(raw) {
				out[key] = out[key] || !plan.dead(at.index)
			}
			return nil
		})
	}
	if err != nil {
		return nil, ctx.Err()
	}
	return out, nil
}
