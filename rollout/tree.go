package rollout

import (
	"context"
)

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

// Some agents begin the file of a forked session with copies of the entries of the
// session it was forked from, ids and all, and name that session. What that session
// gives itself is not given twice; an entry that was undone there, and stands here,
// is kept.

// inherited returns the keys of the entries that the session in a file gives; nil if
// there is no such file, or nothing can be read of it. plan says which records of a
// session do not stand; keys are equal for an entry and its copy, and none for what
// is no entry.
func inherited(ctx context.Context, path string,
	plan func(context.Context, *tape) (dead func(record int) bool, err error),
	keys func(raw []byte) []uint64) (map[uint64]bool, error) {
	if path == "" {
		return nil, nil
	}
	t := &tape{parts: []Part{{Path: path}}, stats: &Stats{}}
	dead, err := plan(ctx, t)
	if err != nil {
		return nil, ctx.Err()
	}
	out := map[uint64]bool{}
	err = t.each(ctx, false, func(at place, raw []byte) error {
		if !dead(at.index) {
			for _, key := range keys(raw) {
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

// isInherited reports whether an entry is one of those that another session gives.
func isInherited(given map[uint64]bool, keys []uint64) bool {
	for _, key := range keys {
		if given[key] {
			return true
		}
	}
	return false
}
