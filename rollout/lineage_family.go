package rollout

import (
	"cmp"
	"context"
	"slices"

	"memoir"
)

// kin is a session of a family.
type kin struct {
	file    int             // in its directory
	id      string          // of the thread
	main    bool            // a person drives it
	origins map[string]bool // ids of the threads that it says it was copied from
	entries []kinEntry
}

type kinEntry struct {
	id      uint64 // of the first of all copies
	own     uint64 // hash of this one's own id
	at      int64  // nanoseconds
	ordinal int    // of its record in the file

	numbered bool // see mark
}

// family are the sessions that share entries, in the order of their thread ids.
type family struct {
	kin  []kin
	byID map[string]int
	wins map[[2]int]bool // whether the first of two is the original
	akin map[[2]int]bool // whether what two have in common is more than numbers
}

// maxFamily bounds the entries that are held of one family. In a larger one every
// session keeps what it holds.
const maxFamily = 512 << 10

// newFamily reads the files of a family. Of several files of one thread one is
// taken, for another place chooses among those.
func newFamily(ctx context.Context, marker func([]byte) mark, dir *kinDir, members []int) (*family, error) {
	f := &family{byID: map[string]int{}, wins: map[[2]int]bool{}, akin: map[[2]int]bool{}}
	copies := map[uint64]uint64{}
	total := 0
	slices.Sort(members)
	for _, at := range members {
		path := dir.files[at].Path
		h, err := Probe(Entry{File: memoir.File{Path: path}})
		if err != nil || h.Kind == memoir.KindSubagent {
			continue
		}
		if _, twice := f.byID[h.ID]; twice {
			continue
		}
		k := kin{file: at, id: h.ID, main: h.Kind == memoir.KindMain, origins: map[string]bool{}}
		records := 0
		err = eachRecord(ctx, path, func(raw []byte) error {
			m := marker(raw)
			if m.origin != "" && m.origin != k.id && len(k.origins) < 64 {
				k.origins[m.origin] = true
			}
			if records++; m.id == 0 {
				return nil
			}
			if total++; total > maxFamily {
				return errStop
			}
			if m.of != 0 && m.of != m.id {
				copies[m.id] = m.of
			}
			k.entries = append(k.entries, kinEntry{m.id, m.own, m.at.UnixNano(), records, m.numbered})
			return nil
		})
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case total > maxFamily:
			return &family{}, nil
		case err == nil:
			f.byID[k.id] = at
			f.kin = append(f.kin, k)
		}
	}
	for _, k := range f.kin {
		for i := range k.entries {
			for range 64 { // a copy of a copy of a copy
				of, ok := copies[k.entries[i].id]
				if !ok {
					break
				}
				k.entries[i].id = of
			}
		}
	}
	slices.SortFunc(f.kin, func(a, b kin) int { return cmp.Compare(a.id, b.id) })
	for i, k := range f.kin {
		f.byID[k.id] = i
	}
	return f, nil
}

// share gives every entry to one session, and returns for each session the ids of
// those that are not its own.
func (f *family) share() []map[uint64]bool {
	held := map[uint64][]int{} // the sessions that hold an entry
	for i, k := range f.kin {
		for _, e := range k.entries {
			if h := held[e.id]; len(h) == 0 || h[len(h)-1] != i {
				held[e.id] = append(h, i)
			}
		}
	}
	out := make([]map[uint64]bool, len(f.kin))
	for i, k := range f.kin {
		for _, e := range k.entries {
			among := held[e.id]
			if e.numbered {
				among = f.relatives(i, among)
			}
			if len(among) < 2 {
				continue
			}
			owner := f.owner(among)
			if owner == i || e.numbered && !f.related(i, owner) {
				continue
			}
			if out[i] == nil {
				out[i] = map[uint64]bool{}
			}
			out[i][e.own] = true
		}
	}
	return out
}

// maxNumbered is how many sessions may hold an entry whose id is a number: if more
// do, it is no copy but what a program begins its sessions with.
const maxNumbered = 64

// relatives are those among sessions that are related to session i, perhaps through
// others, itself among them, in their order.
func (f *family) relatives(i int, among []int) []int {
	if len(among) > maxNumbered {
		return nil
	}
	in := map[int]bool{i: true}
	for next := []int{i}; len(next) > 0; next = next[1:] {
		for _, j := range among {
			if !in[j] && f.related(next[0], j) {
				in[j] = true
				next = append(next, j)
			}
		}
	}
	var out []int
	for _, j := range among {
		if in[j] {
			out = append(out, j)
		}
	}
	return out
}

// related reports whether one of two sessions can be a copy of the other although
// programs number their entries: it says so, or they have more than one entry in
// common and none of which only the number is the same.
func (f *family) related(a, b int) bool {
	pair := [2]int{min(a, b), max(a, b)}
	akin, known := f.akin[pair]
	if !known {
		akin = a == b || f.descends(a, b) || f.descends(b, a) || f.agree(a, b)
		f.akin[pair] = akin
	}
	return akin
}

func (f *family) agree(a, b int) bool {
	theirs := make(map[uint64]uint64, len(f.kin[b].entries))
	for _, e := range f.kin[b].entries {
		theirs[e.own] = e.id
	}
	common := 0
	for _, e := range f.kin[a].entries {
		switch id, ok := theirs[e.own]; {
		case ok && id != e.id:
			return false
		case ok:
			common++
		}
	}
	return common > 1
}

// owner chooses among sessions in the order of their ids, so that all of them come
// to the same answer.
func (f *family) owner(among []int) int {
	best := among[0]
	for _, i := range among[1:] {
		pair := [2]int{i, best}
		wins, known := f.wins[pair]
		if !known {
			wins = f.original(i, best)
			f.wins[pair] = wins
		}
		if wins {
			best = i
		}
	}
	return best
}

// original reports whether session a is the original of session b, whose id is the
// smaller one. A session that no person drives is none, for it is not where people's
// words are looked for. What else decides does not change when either goes on: what a
// session says of itself; then that a copy is written in one go, while an original
// has other records among those that are shared; then that nothing was added to
// the original, or that it went on earlier.
func (f *family) original(a, b int) bool {
	switch {
	case f.kin[a].main != f.kin[b].main:
		return f.kin[a].main
	case f.descends(b, a) && !f.descends(a, b):
		return true
	case f.descends(a, b) && !f.descends(b, a):
		return false
	}
	x, y := f.compare(a, b), f.compare(b, a)
	switch {
	case x.among != y.among:
		return x.among > y.among
	case x.more != y.more:
		return y.more
	}
	return x.next < y.next
}

// descends reports whether session a says that it was copied from b, at however
// many removes.
func (f *family) descends(a, b int) bool {
	seen, next := map[int]bool{a: true}, []int{a}
	for len(next) > 0 {
		for origin := range f.kin[next[0]].origins {
			up, ok := f.byID[origin]
			if ok && up == b {
				return true
			}
			if ok && !seen[up] {
				seen[up], next = true, append(next, up)
			}
		}
		next = next[1:]
	}
	return false
}

// shared is how a session holds the entries that it shares with another.
type shared struct {
	among int   // its other records between the first and the last of those
	more  bool  // it has entries that it does not share
	next  int64 // the time of the first of them
}

func (f *family) compare(a, b int) shared {
	theirs := make(map[uint64]bool, len(f.kin[b].entries))
	for _, e := range f.kin[b].entries {
		theirs[e.id] = true
	}
	s, first, last, n := shared{}, 0, 0, 0
	for _, e := range f.kin[a].entries {
		if !theirs[e.id] {
			if !s.more || e.at < s.next {
				s.more, s.next = true, e.at
			}
			continue
		}
		if n++; n == 1 {
			first = e.ordinal
		}
		last = e.ordinal
	}
	s.among = last - first + 1 - n
	return s
}
