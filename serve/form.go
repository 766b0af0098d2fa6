package serve

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"memoir"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

// The forms in which --json and the API give what is stored. Times are UTC, and null where they are not known.

// Project is a project.
type Project struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Root        string     `json:"root"` // of the live memory; empty before the first publish
	Directories []string   `json:"directories"`
	Remote      string     `json:"remote"`
	Aliases     []string   `json:"aliases"`
	Sessions    int        `json:"sessions"`
	Extractions int        `json:"extractions"`
	Generation  int64      `json:"generation"`
	PublishedAt *time.Time `json:"published_at"`
	Due         bool       `json:"due"`
}

// ProjectOf is the form of a project, whose fields the caller has redacted.
func ProjectOf(home string, r store.ProjectRow) Project {
	return Project{
		ID: r.ID, Name: r.Name, Root: LiveRoot(home, r.ID), Directories: list(r.Directories), Remote: r.Remote,
		Aliases: list(r.Aliases), Sessions: r.Sessions, Extractions: r.Extractions, Generation: int64(r.Generation),
		PublishedAt: Time(r.PublishedAt), Due: r.Due,
	}
}

// LiveRoot is the path of a project's live memory, "" if nothing is published.
func LiveRoot(home, projectID string) string {
	link := memory.At(home, projectID).Link()
	if _, err := os.Stat(link); err != nil {
		return ""
	}
	return link
}

// CleanProject redacts the fields of a project, except its id, which is the name of its folder.
func CleanProject(project memoir.Project, redact func(string) string) memoir.Project {
	project.Directories, project.Aliases = slices.Clone(project.Directories), slices.Clone(project.Aliases)
	project.Name, project.Remote = redact(project.Name), redact(project.Remote)
	for _, texts := range [][]string{project.Directories, project.Aliases} {
		for i := range texts {
			texts[i] = redact(texts[i])
		}
	}
	return project
}

// Session is a session.
type Session struct {
	ID        string     `json:"id"`
	Source    string     `json:"source"`
	Project   string     `json:"project"`
	Title     string     `json:"title"`
	CWD       string     `json:"cwd"`
	Files     []string   `json:"files"`
	Bytes     int64      `json:"bytes"`
	CreatedAt *time.Time `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
	Kind      string     `json:"kind"`
	Reason    string     `json:"reason"`
	Error     string     `json:"error"`
	Parent    string     `json:"parent"`
	Branch    string     `json:"branch"`
	Remote    string     `json:"remote"`
}

// SessionOf is the form of a session, whose fields the caller has redacted.
func SessionOf(s memoir.Session) Session {
	out := Session{
		ID: s.ID, Source: string(s.Source), Project: s.ProjectID, Title: s.Title, CWD: s.CWD, Files: []string{},
		Bytes: s.Bytes, CreatedAt: Time(s.CreatedAt), UpdatedAt: Time(s.UpdatedAt), Kind: string(s.Kind),
		Reason: string(s.Reason), Error: s.Error, Parent: s.ParentID, Branch: s.Branch, Remote: s.Remote,
	}
	for _, f := range s.Files {
		out.Files = append(out.Files, f.Path)
	}
	return out
}

// Key is the session's key.
func (s Session) Key() string { return memoir.SessionKey(memoir.Source(s.Source), s.ID) }

// CleanSession redacts the fields of a session. The paths of its files stay: a person needs them to find the files.
func CleanSession(s *memoir.Session, redact func(string) string) {
	for _, text := range []*string{&s.ID, &s.ParentID, &s.Title, &s.CWD, &s.Branch, &s.Remote, &s.Error} {
		*text = redact(*text)
	}
}

// Item is an item of a session.
type Item struct {
	N      int        `json:"n"`
	Kind   string     `json:"kind"`
	Role   string     `json:"role"`
	Text   string     `json:"text"`
	Tool   string     `json:"tool"`
	Input  string     `json:"input"`
	Output string     `json:"output"`
	Exit   *int       `json:"exit"` // null if the format has none
	At     *time.Time `json:"at"`
	CWD    string     `json:"cwd"`
	Branch string     `json:"branch"`
	Origin string     `json:"origin"`
	Failed bool       `json:"failed"`
	Final  bool       `json:"final"`
}

// ItemOf is the form of an item.
func ItemOf(it memoir.Item) Item {
	return Item{
		N: it.N, Kind: it.Kind, Role: it.Role, Text: it.Text, Tool: it.Tool, Input: it.Input, Output: it.Output,
		Exit: it.Exit, At: Time(it.At), CWD: it.CWD, Branch: it.Branch, Origin: string(it.Origin),
		Failed: it.Failed, Final: it.Final,
	}
}

// Entry is a note, a line of a journal, or another entry.
type Entry struct {
	ID         int64  `json:"id"`
	Project    string `json:"project"`
	Kind       string `json:"kind"`
	Category   string `json:"category"`
	Source     string `json:"source"`
	Content    string `json:"content"`
	CreatedAt  string `json:"created_at"`
	AccessedAt string `json:"last_accessed"`
}

// EntryOf is the form of an entry.
func EntryOf(e memoir.Entry) Entry {
	const layout = "2006-01-02T15:04:05.000Z"
	return Entry{e.ID, e.ProjectID, string(e.Kind), e.Category, string(e.Author), e.Text,
		e.CreatedAt.UTC().Format(layout), e.AccessedAt.UTC().Format(layout)}
}

// Entries are several entries.
type Entries struct {
	Entries []Entry `json:"entries"`
}

// EntriesOf is the form of several entries.
func EntriesOf(entries []memoir.Entry) Entries {
	out := Entries{[]Entry{}}
	for _, e := range entries {
		out.Entries = append(out.Entries, EntryOf(e))
	}
	return out
}

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
	Forgotten   bool           `json:"forgotten"`     // it contains forgotten sessions
	Redacted    int            `json:"redacted_from"` // made by redacting this generation; 0: was not
	Error       string         `json:"error"`
}

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
			Restored: m.RestoredFrom, Forgotten: forgotten[g.Number], Redacted: m.RedactedFrom,
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
			err = memoir.Errorf(memoir.CodeNotFound, "`memoir run` publishes the first", "no generation is kept")
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

// Time is a time in these forms.
func Time(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// list is a slice that JSON gives as a list, never null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
