package serve

import (
	"context"
	"fmt"
	"slices"
	"time"

	"memoir"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

// Generation is one published state of a memory.
type Generation struct {
	Project     string         `json:"project"`
	Generation  int            `json:"generation"`
	Live        bool           `json:"live"`
	PublishedAt *time.Time     `json:"published_at"`
	Inputs      []string       `json:"inputs"` // session keys
	Files       int            `json:"files"`
	Bytes       int64          `json:"bytes"` // of the archive
	Redactions  map[string]int `json:"redactions"`
	EditedFrom  int            `json:"edited_from"`   // contains the hand edits of this generation; 0: none
	Restored    int            `json:"restored_from"` // has the content of this generation; 0: was not restored
	SetAside    int            `json:"set_aside"`     // sessions and notes that restoring left out until they change
	Forgotten   bool           `json:"forgotten"`     // it contains forgotten sessions
	Redacted    int            `json:"redacted_from"` // made by redacting this generation; 0: was not
	Error       string         `json:"error"`
}

// Notes are how many of the inputs are notes or other entries, Sessions how many are not.
func (g Generation) Notes() (n int) {
	for _, key := range g.Inputs {
		if memoir.IsEntry(key) {
			n++
		}
	}
	return n
}

// Sessions counts the sessions that a generation was made from.
func (g Generation) Sessions() int { return len(g.Inputs) - g.Notes() }

// Generations lists the generations of a project that are kept, the newest first.
func Generations(ctx context.Context, st *store.Store, home, project string) ([]Generation, error) {
	kept, err := memory.At(home, project).Generations()
	if err != nil {
		return nil, fmt.Errorf("list the generations of %s: %w", project, err)
	}
	forgotten, err := pipeline.RestingOnForgotten(ctx, st, kept)
	if err != nil {
		return nil, err
	}
	out := []Generation{}
	for _, g := range slices.Backward(kept) {
		m := g.Manifest
		row := Generation{
			Project: project, Generation: g.Number, Live: g.Live, PublishedAt: Time(g.ModTime), Inputs: []string{},
			Files: len(m.Files), Bytes: g.Bytes, Redactions: m.Redactions, EditedFrom: m.EditedFrom,
			Restored: m.RestoredFrom, SetAside: len(m.SetAside), Forgotten: forgotten[g.Number], Redacted: m.RedactedFrom,
		}
		for _, in := range m.Inputs {
			row.Inputs = append(row.Inputs, in.Session)
		}
		if row.Redactions == nil {
			row.Redactions = map[string]int{}
		}
		if g.Err != nil {
			row.Error = g.Err.Error()
		}
		out = append(out, row)
	}
	return out, nil
}

// Comparison is how two generations of a memory differ.
type Comparison struct {
	Project string    `json:"project"`
	From    int       `json:"from"` // 0: nothing
	To      int       `json:"to"`
	Live    bool      `json:"live"` // compared with the live files as they are now
	Files   []Changed `json:"files"`
}

// Changed is how one file differs.
type Changed struct {
	Path    string `json:"path"`
	Status  string `json:"status"` // added, deleted or changed
	Binary  bool   `json:"binary"`
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
	Diff    string `json:"diff"` // unified
}

// Compare compares two generations of a project: the last two that are kept where both numbers are 0, a generation and
// the live files where to is 0. The error that one is not kept has the code memoir.CodeNotFound.
func Compare(root memory.Root, project string, from, to int) (Comparison, error) {
	out := Comparison{Project: project, From: from, To: to, Live: from > 0 && to == 0, Files: []Changed{}}
	if from == 0 && to == 0 {
		kept, err := root.Kept()
		if err == nil && len(kept) == 0 {
			err = memoir.Errorf(memoir.CodeNotFound, "`memoir run` publishes the first", "no generation is stored")
		}
		if err != nil {
			return out, err
		}
		if len(kept) > 1 {
			out.From = kept[len(kept)-2]
		}
		out.To = kept[len(kept)-1]
	}
	var before, after memory.Files
	var err error
	if out.From > 0 {
		if before, err = root.ReadArchive(out.From); err != nil {
			return out, err
		}
	}
	if out.Live {
		var live memory.Snapshot
		live, err = root.Current()
		out.To, after = live.Generation, live.Files
	} else {
		after, err = root.ReadArchive(out.To)
	}
	if err != nil {
		return out, err
	}
	for _, c := range memory.Changes(before, after) {
		status := "changed"
		switch {
		case c.Created:
			status = "added"
		case c.Deleted:
			status = "deleted"
		}
		out.Files = append(out.Files, Changed{c.Path, status, c.Binary, c.Added, c.Removed, c.Text})
	}
	return out, nil
}

func (s *server) listGenerations(c call) (any, error) {
	generations, err := Generations(c.Context(), c.st, s.Home, c.project.ID)
	return struct {
		Generations []Generation `json:"generations"`
	}{generations}, err
}

func (s *server) compareGenerations(c call) (any, error) {
	from, err := number(c.URL.Query().Get("from"))
	if err != nil {
		return nil, err
	}
	to, err := number(c.URL.Query().Get("to"))
	if err != nil {
		return nil, err
	}
	return s.compare(c.project.ID, from, to)
}

// compare is Compare, cleaned.
func (s *server) compare(id string, from, to int) (Comparison, error) {
	out, err := Compare(memory.At(s.Home, id), id, from, to)
	for i := range out.Files {
		out.Files[i].Path, out.Files[i].Diff = s.clean(out.Files[i].Path), s.clean(out.Files[i].Diff)
	}
	return out, err
}
