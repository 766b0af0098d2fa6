package rollout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"path/filepath"
	"slices"
	"time"

	"memoir"
)

// Part is one file of a thread.
type Part struct {
	Path     string
	Head     Head
	Withheld bool // it cannot be read now, so a readable copy is preferred
	Whole    bool // Read also emits what only other files show to be a copy
}

// Stats counts the results of reading a thread.
type Stats struct {
	Items     int // items emitted
	Malformed int // lines or values that are not JSON
	Elided    int // strings of more than 1 MiB that were cut
	Oversized int // records that were skipped because they are too large even after cutting
	Undone    int // records that were rolled back, reverted or left on an abandoned branch
	Copied    int // records copied from another session
	CutTail   bool
	OwnRun    bool           // the session is a model call of memoir
	Unknown   map[string]int // records of a type that the reader does not know

	Instructions string // the text of the project's AGENTS.md, if the agent put it before the first request; not redacted
}

// Bounds on Stats.Unknown.
const (
	maxTypes = 100 // types that are counted separately
	maxType  = 80  // bytes of one
)

// unknown counts a record of an unknown type. A long type is replaced and not cut, since a cut secret may not be
// recognised.
func (s *Stats) unknown(kind string) {
	if s.Unknown == nil {
		s.Unknown = map[string]int{}
	}
	switch {
	case kind == "":
		kind = "(none)"
	case len(kind) > maxType:
		kind = "(long)"
	}
	if len(s.Unknown) >= maxTypes && s.Unknown[kind] == 0 {
		kind = "(others)"
	}
	s.Unknown[kind]++
}

// Read passes the items of one thread, in order, to fn. The parts are the files of the thread as Assemble orders
// them, with their heads. The memory that Read uses does not depend on the length of the session. Damage is counted in
// Stats and is not an error. An error of fn ends the reading and is returned.
func Read(ctx context.Context, parts []Part, fn func(memoir.Item) error) (Stats, error) {
	stats := Stats{}
	if len(parts) == 0 {
		return stats, memoir.Errorf(memoir.CodeUnreadable, "", "a session without files")
	}
	i := slices.IndexFunc(Agents, func(a Agent) bool { return a.Source == parts[0].Head.Source })
	if i < 0 {
		return stats, memoir.Errorf(memoir.CodeUnreadable, "", "read session %s: no reader for %q", parts[0].Path,
			parts[0].Head.Source)
	}
	e := newEmitter(fn, &stats, parts[0].Head.Kind)
	err := Agents[i].Read(ctx, &tape{parts: parts, stats: &stats}, e)
	if err == nil {
		e.finish()
		err = unstop(e.err)
	}
	return stats, err
}

// Assemble puts the files of one thread in reading order. Of copies of one file it keeps the best: readable, plain
// rather than compressed, not archived, the largest. If files continue each other, it keeps the newest one and
// those that it continues; files of a reverted branch are dropped. If a file in this chain is missing, the times of
// the files decide which one comes before.
func Assemble(parts []Part) (ordered []Part) {
	parts = dropCopies(parts)
	if len(parts) < 2 {
		return parts
	}
	slices.SortStableFunc(parts, func(a, b Part) int {
		return cmp.Or(a.Head.FileAt.Compare(b.Head.FileAt), cmp.Compare(a.Head.FirstOrdinal, b.Head.FirstOrdinal),
			cmp.Compare(a.Path, b.Path))
	})
	used := make([]bool, len(parts))
	for at := tipOf(parts); at >= 0; at = baseOf(parts, used, at) {
		used[at] = true
		ordered = append(ordered, parts[at])
	}
	slices.Reverse(ordered)
	return ordered
}

// tipOf returns the newest part that no other continues.
func tipOf(parts []Part) int {
	for i := len(parts) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(parts, func(p Part) bool { // one that continues it
			return p.Head.BaseID != "" && p.Head.BaseID == parts[i].Head.FileID && p.Path != parts[i].Path
		}) {
			return i
		}
	}
	return len(parts) - 1
}

// baseOf returns the part that part at continues, -1 if it begins the thread.
func baseOf(parts []Part, used []bool, at int) int {
	h := parts[at].Head
	before := func(fits func(Head) bool) int {
		i := at - 1
		for i >= 0 && (used[i] || !fits(parts[i].Head)) {
			i--
		}
		return i
	}
	if h.BaseID == "" {
		// Files without a predecessor are read in the order of their times.
		return before(func(p Head) bool { return p.BaseID == "" })
	}
	for i, p := range parts {
		if !used[i] && p.Head.FileID == h.BaseID {
			return i
		}
	}
	if h.ParentID != "" && h.BaseID == h.ParentID {
		return -1 // a fork continues another thread's file
	}
	return before(func(p Head) bool {
		return (p.FileID == "" || p.BaseID == "") && (h.BaseEnd < 0 || p.FirstOrdinal < h.BaseEnd)
	})
}

// copyKey is equal for copies of one file, which have the same beginning.
type copyKey struct {
	file, base string
	at         int64 // of the first record
	ordinal    int64
}

// dropCopies keeps the best of the files that are copies of each other.
func dropCopies(parts []Part) (kept []Part) {
	best := map[copyKey]int{}
	for _, p := range parts {
		key := copyKey{p.Head.FileID, p.Head.BaseID, p.Head.FileAt.UnixNano(), p.Head.FirstOrdinal}
		if i, seen := best[key]; !seen {
			best[key] = len(kept)
			kept = append(kept, p)
		} else if better(p, kept[i]) {
			kept[i] = p
		}
	}
	return kept
}

func better(a, b Part) bool {
	for _, bad := range []func(Part) bool{
		func(p Part) bool { return p.Withheld },
		func(p Part) bool { return filepath.Ext(p.Path) == ".zst" },
		func(p Part) bool { return filepath.Base(filepath.Dir(p.Path)) == "archived_sessions" },
		// Gemini CLI continues a document in a file of lines, whose name has one letter more.
		func(p Part) bool { return filepath.Ext(p.Path) == ".json" },
	} {
		if bad(a) != bad(b) {
			return bad(b)
		}
	}
	return cmp.Or(cmp.Compare(a.Head.Size, b.Head.Size), cmp.Compare(b.Path, a.Path)) > 0
}

// FilterVersion is the version of the rules that select and cut items. It grows when the same files give other
// items, since content hashes of different versions cannot be compared.
const FilterVersion = 1

// Hasher makes the content hash of a thread's items: of their texts, not of times, places or files. The zero value
// is ready.
type Hasher struct{ h hash.Hash }

// Add adds an item.
func (h *Hasher) Add(it memoir.Item) {
	if h.h == nil {
		h.h = sha256.New()
	}
	var n [8]byte
	for _, s := range []string{it.Kind, it.Role, string(it.Origin), it.Text, it.Tool, it.Input, it.Output} {
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.h.Write(n[:])
		h.h.Write([]byte(s))
	}
	exit := []byte{0}
	if it.Exit != nil {
		exit = binary.AppendVarint([]byte{1}, int64(*it.Exit))
	}
	if it.Lost { // a result may come later, even an empty one
		exit = append(exit, 1)
	}
	h.h.Write(exit)
}

// Mark identifies an item and its copies in other sessions by a hash of its time and words: a fork repeats both. It is
// empty without a time, and for Codex, which gives copies new times. A tool's result is left out: a copy may lack it.
func Mark(source memoir.Source, it memoir.Item) string {
	if it.At.IsZero() || source == memoir.SourceCodex {
		return ""
	}
	var h Hasher
	at := it.At.UTC().Format(time.RFC3339Nano)
	h.Add(memoir.Item{Kind: it.Kind, Role: at, Text: it.Text, Tool: it.Tool, Input: it.Input})
	return h.Sum()[:16]
}

// Sum returns the hash of the items so far, in hexadecimal.
func (h *Hasher) Sum() string {
	if h.h == nil {
		h.h = sha256.New()
	}
	return hex.EncodeToString(h.h.Sum(nil))
}
