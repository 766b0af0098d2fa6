package memory

import (
	"cmp"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Late reports whether a person changed an earlier generation's files after the live
// one was made. The live files do not show that until the next publication.
func (r Root) Late() (bool, error) {
	linked, err := r.linked()
	if err != nil || linked == 0 {
		return false, err
	}
	return len(r.lateEdits(linked)) > 0, nil
}

// lateEdits finds what was saved in an earlier generation's directory, or deleted from
// it, after the link was made that left it. What cannot be told is passed over, and so
// are deletions where files went that each memory has: earlier directories are kept as
// a courtesy.
func (r Root) lateEdits(linked int) []Edit {
	lives, err := r.lives()
	if err != nil {
		return nil
	}
	link, err := os.Lstat(r.Link())
	if err != nil {
		return nil
	}
	var edits []Edit
	for _, n := range lives {
		if n >= linked {
			continue
		}
		fresh, gone, whole := r.changedSince(n, link.ModTime())
		if len(fresh) == 0 && !gone {
			continue
		}
		left, _, err := r.leftAs(n, linked)
		if err != nil {
			continue
		}
		for _, at := range []string{MemoryFile, SummaryFile} { // which each memory has: who deletes one clears up
			if _, had := left[at]; had && !whole[at] {
				gone = false
			}
		}
		for _, at := range union(left, fresh) {
			was, had := left[at]
			now, has := fresh[at]
			switch {
			case has && had && string(was) == string(now):
			case has:
				edits = append(edits, Edit{Path: at, Published: was, Now: now, Late: true, From: n})
			case gone && !whole[at]:
				edits = append(edits, Edit{Path: at, Published: was, Late: true, From: n})
			}
		}
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(a.From-b.From, strings.Compare(a.Path, b.Path)) })
	return edits
}

// leftAs is what an earlier generation's files were when a later one took their place:
// as published, or as people had edited them by then.
func (r Root) leftAs(n, linked int) (Files, Manifest, error) {
	archives, err := r.archives()
	if err != nil {
		return nil, Manifest{}, err
	}
	for _, at := range slices.Backward(archives) {
		if at <= n || at >= linked {
			continue
		}
		if _, m, err := openArchive(r.Archive(at), at, false); err == nil && m.EditedFrom == n {
			return r.ReadGeneration(at)
		}
	}
	return r.ReadGeneration(n)
}

// changedSince reads the files of a live directory that were written, or put there,
// since a time. gone says that something may have been deleted since, and whole has the
// paths that are there. A directory that is being removed has none of it.
func (r Root) changedSince(n int, since time.Time) (fresh Files, gone bool, whole map[string]bool) {
	root, err := r.openLive(n)
	if err != nil {
		return nil, false, nil
	}
	defer root.Close()
	before, err := root.Stat(".")
	if err != nil {
		return nil, false, nil
	}
	fresh, whole = Files{}, map[string]bool{}
	manifest, total := false, 0
	_ = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if name != "." && foreign(entry.Name()) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		if entry.IsDir() {
			gone = gone || !info.ModTime().Before(since)
			return nil
		}
		if name == manifestName {
			manifest = true
			return nil
		}
		at, ok := legalName(name)
		if !ok {
			return nil
		}
		whole[at] = true
		if !entry.Type().IsRegular() || info.ModTime().Before(since) && putThere(info).Before(since) || len(fresh) == maxFiles {
			return nil
		}
		if content, err := readBounded(root, name, maxFile); err == nil && total+len(content) <= maxTotal {
			fresh[at], total = content, total+len(content)
		}
		return nil
	})
	// Whoever removes the directory renames it first, or removes the manifest as well.
	after, err := os.Lstat(r.Live(n))
	if err != nil || !os.SameFile(before, after) || !manifest {
		return nil, false, nil
	}
	return fresh, gone, whole
}

// unwanted reports whether a live directory may go: it is neither the linked one nor the
// previous one, and nobody saved anything in it since the link was made.
func (r Root) unwanted(n, linked, previous int) bool {
	if n == linked || n == previous {
		return false
	}
	if n > linked {
		return true
	}
	return !slices.ContainsFunc(r.lateEdits(linked), func(e Edit) bool { return e.From == n })
}

// lateBy groups late edits by the generation in whose directory they were made, and
// gives what that directory's files became.
func (r Root) lateBy(snap Snapshot) (states []HandState) {
	for _, edit := range snap.Edited {
		if !edit.Late || len(states) > 0 && states[len(states)-1].Manifest.EditedFrom == edit.From {
			continue
		}
		// If the archive went meanwhile, or the files do not go together, the notes
		// alone have the edit.
		files, m, err := r.leftAs(edit.From, snap.Generation)
		if err != nil {
			continue
		}
		for _, late := range snap.Edited {
			switch {
			case !late.Late || late.From != edit.From:
			case late.Now == nil:
				delete(files, late.Path)
			default:
				files[late.Path] = late.Now
			}
		}
		if files.check() == nil {
			states = append(states, handState(edit.From, files, m))
		}
	}
	return states
}

// sameEdits reports whether two readings found the same late edits.
func sameEdits(a, b []Edit) bool {
	return slices.EqualFunc(a, b, func(a, b Edit) bool {
		return a.From == b.From && a.Path == b.Path && (a.Now == nil) == (b.Now == nil) && string(a.Now) == string(b.Now)
	})
}

// lateOnly are the late ones of some edits.
func lateOnly(edits []Edit) (late []Edit) {
	for _, e := range edits {
		if e.Late {
			late = append(late, e)
		}
	}
	return late
}
