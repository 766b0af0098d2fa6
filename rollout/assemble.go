package rollout

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Assemble puts the files of one thread in reading order. Of copies of the same
// file one stays: one that can be read, from a database rather than of the files that came before it,
// plain rather than compressed, from sessions rather than the
// archive, larger rather than smaller. Where files continue each other, the
// newest one and the chain of those it rests on are read; what a revert left
// behind is dropped. A missing link is bridged by the time of the files rather
// than losing them.
func Assemble(parts []Part) (ordered, dropped []Part) {
	parts, dropped = dropCopies(parts)
	if len(parts) < 2 {
		return parts, dropped
	}
	slices.SortStableFunc(parts, byTime)
	used := make([]bool, len(parts))
	tip := tipOf(parts)
	for at := tip; at >= 0; {
		used[at] = true
		ordered = append(ordered, parts[at])
		at = baseOf(parts, used, at)
	}
	slices.Reverse(ordered)
	for i, p := range parts {
		if !used[i] {
			dropped = append(dropped, p)
		}
	}
	return ordered, dropped
}

func byTime(a, b Part) int {
	return cmp.Or(a.Head.FileAt.Compare(b.Head.FileAt), cmp.Compare(a.Head.FirstOrdinal, b.Head.FirstOrdinal), cmp.Compare(a.Path, b.Path))
}

// tipOf returns the newest part that no other continues.
func tipOf(parts []Part) int {
	for i := len(parts) - 1; i >= 0; i-- {
		continued := slices.ContainsFunc(parts, func(p Part) bool {
			return p.Head.BaseID != "" && p.Head.BaseID == parts[i].Head.FileID && p.Path != parts[i].Path
		})
		if !continued {
			return i
		}
	}
	return len(parts) - 1
}

// baseOf returns the part that part at continues, -1 if it begins the thread.
func baseOf(parts []Part, used []bool, at int) int {
	h := parts[at].Head
	if h.BaseID == "" {
		// Files that know of no predecessor are read in the order of their times.
		for i := at - 1; i >= 0; i-- {
			if !used[i] && parts[i].Head.BaseID == "" {
				return i
			}
		}
		return -1
	}
	for i, p := range parts {
		if !used[i] && p.Head.FileID == h.BaseID {
			return i
		}
	}
	if h.ParentID != "" && h.BaseID == h.ParentID {
		return -1 // a fork rests on another thread's file
	}
	for i := at - 1; i >= 0; i-- {
		p := parts[i].Head
		if !used[i] && (p.FileID == "" || p.BaseID == "") && (h.BaseEnd < 0 || p.FirstOrdinal < h.BaseEnd) {
			return i
		}
	}
	return -1
}

// copyKey is equal for copies of one file: they begin alike, however far each goes.
type copyKey struct {
	file, base string
	at         int64 // of the first record
	ordinal    int64
}

// dropCopies keeps the best of the files that are copies of each other.
func dropCopies(parts []Part) (kept, dropped []Part) {
	best := map[copyKey]int{}
	for _, p := range parts {
		key := copyKey{p.Head.FileID, p.Head.BaseID, p.Head.FileAt.UnixNano(), p.Head.FirstOrdinal}
		i, seen := best[key]
		switch {
		case !seen:
			best[key] = len(kept)
			kept = append(kept, p)
		case better(p, kept[i]):
			dropped = append(dropped, kept[i])
			kept[i] = p
		default:
			dropped = append(dropped, p)
		}
	}
	return kept, dropped
}

func better(a, b Part) bool {
	return cmp.Or(
		cmpBool(!a.Withheld, !b.Withheld),
		cmpBool(isMember(a.Path), isMember(b.Path)),
		cmpBool(!compressed(a.Path), !compressed(b.Path)),
		cmpBool(!archived(a.Path), !archived(b.Path)),
		cmpBool(!isDocumentName(a.Path), !isDocumentName(b.Path)),
		cmp.Compare(a.Head.Size, b.Head.Size),
		cmp.Compare(b.Path, a.Path)) > 0
}

func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// isDocumentName reports whether a file is by its name a document: Gemini CLI goes on
// with a session of that form in a file of lines, whose name has one letter more.
func isDocumentName(path string) bool { return strings.HasSuffix(path, ".json") }

// Appended reports whether a file that was being read was no more than written on at
// its end, by what it was before and after: then what was read is what it was before. A
// document is written anew each time.
func Appended(path string, before, after fs.FileInfo) bool {
	if !os.SameFile(before, after) || before.Size() > after.Size() {
		return false
	}
	return !isDocumentName(path) || before.Size() == after.Size() && before.ModTime().Equal(after.ModTime())
}

func compressed(path string) bool { return strings.HasSuffix(path, ".zst") }

func archived(path string) bool {
	return filepath.Base(filepath.Dir(path)) == "archived_sessions"
}
