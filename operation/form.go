package operation

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// The JSON forms of stored data for --json and the API. Times are UTC; unknown times are null.

// Project is the form of a registered project.
type Project struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Root        string     `json:"root"` // path of the live memory; empty before the first publication
	Directories []string   `json:"directories"`
	Remote      string     `json:"remote"`
	Aliases     []string   `json:"aliases"`
	Sessions    int        `json:"sessions"`
	Extractions int        `json:"extractions"` // sessions that are inputs of a consolidation
	Notes       int        `json:"notes"`
	Generation  int64      `json:"generation"`
	PublishedAt *time.Time `json:"published_at"`
	Due         bool       `json:"due"`
}

// Projects is a list of projects.
type Projects struct {
	Projects []Project `json:"projects"`
}

// ProjectOf returns the form of a project. The caller redacts its fields before.
func ProjectOf(home string, r store.ProjectRow) Project {
	return Project{
		ID: r.ID, Name: r.Name, Root: LiveRoot(home, r.ID), Directories: list(r.Directories), Remote: r.Remote,
		Aliases: list(r.Aliases), Sessions: r.Sessions, Extractions: r.Extractions, Notes: r.Notes,
		Generation: int64(r.Generation), PublishedAt: Time(r.PublishedAt), Due: r.Due,
	}
}

// LiveRoot returns the path of a project's live memory, "" if nothing is published.
func LiveRoot(home, projectID string) string {
	link := memory.At(home, projectID).Link()
	if _, err := os.Stat(link); err != nil {
		return ""
	}
	return link
}

// CleanProject redacts the fields of a project, except its id: a folder has that name.
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

// Session is the form of a session.
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

// Sessions is a list of sessions without entries.
type Sessions struct {
	Sessions []Session `json:"sessions"`
}

// SessionOf returns the form of a session. The caller redacts its fields before.
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

// Key returns the session's key.
func (s Session) Key() string { return memoir.SessionKey(memoir.Source(s.Source), s.ID) }

// CleanSession redacts the fields of a session, except the paths of its files: a person needs them to find the files.
func CleanSession(s *memoir.Session, redact func(string) string) {
	for _, text := range []*string{&s.ID, &s.ParentID, &s.Title, &s.CWD, &s.Branch, &s.Remote, &s.Error} {
		*text = redact(*text)
	}
}

// Item is the form of a session's item.
type Item struct {
	N      int        `json:"n"`
	Kind   string     `json:"kind"`
	Role   string     `json:"role"`
	Text   string     `json:"text"`
	Tool   string     `json:"tool"`
	Input  string     `json:"input"`
	Output string     `json:"output"`
	Exit   *int       `json:"exit"` // exit code; null if the transcript has none
	At     *time.Time `json:"at"`
	CWD    string     `json:"cwd"`
	Branch string     `json:"branch"`
	Origin string     `json:"origin"`
	Failed bool       `json:"failed"`
	Final  bool       `json:"final"`
	Shown  string     `json:"-"` // text for a page
}

// ItemOf returns the form of an item.
func ItemOf(it memoir.Item) Item {
	return Item{
		N: it.N, Kind: it.Kind, Role: it.Role, Text: it.Text, Tool: it.Tool, Input: it.Input, Output: it.Output,
		Exit: it.Exit, At: Time(it.At), CWD: it.CWD, Branch: it.Branch, Origin: string(it.Origin),
		Failed: it.Failed, Final: it.Final, Shown: ItemText(it),
	}
}

// A Reading is a session with its items as Phase 1 reads them.
type Reading struct {
	Session Session `json:"session"`
	Items   []Item  `json:"items"`
	Omitted int     `json:"omitted"`
	Tokens  int     `json:"tokens"`
}

// ItemText returns the text of an item for display and for token counts.
func ItemText(it memoir.Item) string {
	if it.Kind != memoir.ItemTool {
		who := it.Role
		if string(it.Origin) != it.Role && it.Origin != memoir.OriginAgent {
			who += " (" + strings.ReplaceAll(string(it.Origin), "_", " ") + ")"
		}
		return fmt.Sprintf("[%d] %s\n%s", it.N, who, strings.TrimRight(it.Text, "\n"))
	}
	text := fmt.Sprintf("[%d] %s", it.N, it.Tool)
	if it.Exit != nil {
		text += fmt.Sprintf(" exit %d", *it.Exit)
	} else if it.Failed {
		text += " failed"
	}
	if it.Shell() {
		text += "\n$ " + it.Input
	} else if it.Input != "" {
		text += "\n" + it.Input
	}
	if it.Output != "" {
		text += "\n" + strings.TrimRight(it.Output, "\n")
	}
	return text
}

// Entry is the form of a note, a journal line or another entry.
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

// EntryOf returns the form of an entry.
func EntryOf(e memoir.Entry) Entry {
	const layout = "2006-01-02T15:04:05.000Z"
	return Entry{e.ID, e.ProjectID, string(e.Kind), e.Category, string(e.Author), e.Text,
		e.CreatedAt.UTC().Format(layout), e.AccessedAt.UTC().Format(layout)}
}

// Entries is a list of entries.
type Entries struct {
	Entries []Entry `json:"entries"`
}

// EntriesOf returns the form of a list of entries.
func EntriesOf(entries []memoir.Entry) Entries {
	out := Entries{[]Entry{}}
	for _, e := range entries {
		out.Entries = append(out.Entries, EntryOf(e))
	}
	return out
}

// Time returns a time in UTC, nil for the zero time.
func Time(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// list returns items, and an empty slice for nil: JSON then has [], not null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
