package operation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// Generation is one published state of a memory.
type Generation struct {
	Project       string         `json:"project"`
	Generation    int            `json:"generation"`
	Live          bool           `json:"live"`
	PublishedAt   *time.Time     `json:"published_at"`
	Inputs        []string       `json:"inputs"` // session keys
	Files         int            `json:"files"`
	Bytes         int64          `json:"bytes"` // of the archive
	Redactions    map[string]int `json:"redactions"`
	EditedFrom    int            `json:"edited_from"`   // the generation whose hand edits this one archives; 0: none
	Restored      int            `json:"restored_from"` // the generation whose content was restored; 0: none
	Deferred      int            `json:"set_aside"`     // sessions and notes excluded by a restoration until they change
	NotesDeferred int            `json:"-"`             // as many of these are notes
	Forgotten     bool           `json:"forgotten"`     // its inputs contain forgotten sessions
	Redacted      int            `json:"redacted_from"` // the generation that was redacted; 0: none
	Error         string         `json:"error"`
}

// Notes counts the inputs that are notes or other entries.
func (g Generation) Notes() (n int) {
	for _, key := range g.Inputs {
		if memoir.IsEntry(key) {
			n++
		}
	}
	return n
}

// Sessions counts the inputs that are not entries.
func (g Generation) Sessions() int { return len(g.Inputs) - g.Notes() }

// Generations is a list of generations.
type Generations struct {
	Generations []Generation `json:"generations"`
}

// ListGenerations lists the archived generations of a project, newest first.
func ListGenerations(ctx context.Context, st *store.Store, home, project string) (Generations, error) {
	out := Generations{[]Generation{}}
	kept, err := memory.At(home, project).Generations()
	if err != nil {
		return out, fmt.Errorf("list the generations of %s: %w", project, err)
	}
	forgotten, err := st.Forgotten(ctx)
	if err != nil {
		return out, err
	}
	for _, g := range slices.Backward(kept) {
		m := g.Manifest
		row := Generation{
			Project: project, Generation: g.Number, Live: g.Live, PublishedAt: Time(g.ModTime), Inputs: []string{},
			Files: len(m.Files), Bytes: g.Bytes, Redactions: m.Redactions, EditedFrom: m.EditedFrom,
			Restored: m.RestoredFrom, Deferred: len(m.Deferred), Redacted: m.RedactedFrom,
		}
		for _, in := range m.Inputs {
			row.Inputs = append(row.Inputs, in.Session)
			row.Forgotten = row.Forgotten || forgotten[in.Session]
		}
		for _, in := range m.Deferred {
			if memoir.IsEntry(in.Session) {
				row.NotesDeferred++
			}
		}
		if row.Redactions == nil {
			row.Redactions = map[string]int{}
		}
		if g.Err != nil {
			row.Error = g.Err.Error()
		}
		out.Generations = append(out.Generations, row)
	}
	return out, nil
}

// Comparison is the difference between two generations of a memory.
type Comparison struct {
	Project string          `json:"project"`
	From    int             `json:"from"` // 0: an empty memory
	To      int             `json:"to"`
	Live    bool            `json:"live"` // To is the live memory with its hand edits
	Files   []memory.Change `json:"files"`
}

// Compare compares two archived generations of a project. If to is 0, it compares generation from with the live files;
// if both are 0, the newest one with the live files if somebody edited these since, else the last two. If a generation
// is not archived, the error has the code memoir.CodeNotFound.
func Compare(home, project string, from, to int) (Comparison, error) {
	root := memory.At(home, project)
	out := Comparison{Project: project, From: from, To: to, Live: from > 0 && to == 0, Files: []memory.Change{}}
	if from == 0 && to == 0 {
		kept, err := root.Kept()
		if err == nil && len(kept) == 0 {
			err = memoir.Errorf(memoir.CodeNotFound, "`memoir run` publishes the first", "no generation is stored")
		}
		if err != nil {
			return out, err
		}
		out.To = kept[len(kept)-1]
		if out.Live = root.Edited(); out.Live {
			out.From = out.To
		} else if len(kept) > 1 {
			out.From = kept[len(kept)-2]
		}
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
	out.Files = memory.Changes(before, after)
	return out, nil
}

// markWritten marks the lines that a person wrote into the live memory since it was published.
func (a Access) markWritten(live *memory.Snapshot) {
	lines := map[string]memoir.LineOrigin{}
	maps.Copy(lines, live.Manifest.Lines)
	for _, n := range memory.HandEdits("", live.Edited, time.Time{}) {
		for line := range strings.Lines(a.Clean(a.Redact(n.Text))) {
			if n.Action == memoir.EditAdded && strings.TrimSpace(line) != "" {
				lines[memoir.LineKey(line)] = memoir.LineOrigin{Hand: true}
			}
		}
	}
	live.Manifest.Lines = lines
}
