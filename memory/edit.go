package memory

import (
	"fmt"
	"slices"
	"strings"
)

// Edit is one file that a person changed since it was published.
type Edit struct {
	Path      string
	Published []byte // nil: the file is new
	Now       []byte // nil: the file was deleted
	// Late says that the file was saved in, or deleted from, an earlier generation's
	// directory after the live one was made: by an editor that had it open, say. The
	// live files do not show such an edit. From is that generation.
	Late bool
	From int
}

// edits compares a snapshot with what was published.
func (r Root) edits(snap Snapshot) ([]Edit, error) {
	edits, err := r.compare(snap.Generation, snap.Manifest, snap.Files)
	if err != nil {
		return nil, fmt.Errorf("tell the hand edits of generation %d: %w", snap.Generation, err)
	}
	return append(edits, r.lateEdits(snap.Generation)...), nil
}

// compare lists how files differ from what a manifest and the archive say, by path.
func (r Root) compare(n int, m Manifest, files Files) ([]Edit, error) {
	var edits []Edit
	sums := m.sums()
	var published bool // something that was published is needed to tell
	for path, content := range files {
		want, known := sums[path]
		if known && want.SHA256 == sum(content) {
			continue
		}
		published = published || known
		edits = append(edits, Edit{Path: path, Now: content})
	}
	for path := range sums {
		if _, ok := files[path]; !ok {
			published = true
			edits = append(edits, Edit{Path: path})
		}
	}
	slices.SortFunc(edits, func(a, b Edit) int { return strings.Compare(a.Path, b.Path) })
	if !published {
		return edits, nil
	}
	archived, err := r.ReadArchive(n)
	if err != nil {
		return nil, err
	}
	for i := range edits {
		edits[i].Published = archived[edits[i].Path]
	}
	return edits, nil
}

// previous is the newest live directory below the linked generation, 0 if there
// is none.
func (r Root) previous(linked int) (int, error) {
	lives, err := r.lives()
	if err != nil {
		return 0, err
	}
	previous := 0
	for _, n := range lives {
		if n < linked {
			previous = n
		}
	}
	return previous, nil
}
