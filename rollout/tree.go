package rollout

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
