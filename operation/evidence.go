package operation

import (
	"context"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/store"
)

// Bounds on the sources of a line.
const (
	maxSources = 5  // sources whose items are read
	maxCited   = 10 // items of each
)

// A Source is the evidence of a memory's line: a session with the items that support the line, or a note.
type Source struct {
	Key       string `json:"session"`
	Title     string `json:"title"`
	Date      string `json:"date"`
	Note      *Entry `json:"note"`
	Statement string `json:"statement"` // the session's statement that is closest to the line
	Items     []Item `json:"items"`
	Error     string `json:"error"` // why the items cannot be shown

	cited []int // numbers of the statement's items
}

// sources returns the sessions and notes that a line of MEMORY.md cites, newest first. It reads no items.
func (a Access) sources(ctx context.Context, st *store.Store, line string, lists map[string][]string) (
	[]Source, error) {
	out := []Source{}
	for _, ref := range consolidate.Cited(line, lists) {
		found, err := st.FindSessions(ctx, ref)
		if err != nil && memoir.CodeOf(err) != memoir.CodeNotFound {
			return nil, err
		}
		if len(found) != 1 || found[0].Reason == memoir.ReasonForgotten {
			out = append(out, Source{Key: a.Clean(ref), Items: []Item{}, Error: "this session is no longer registered"})
			continue
		}
		one, err := a.sourceOf(ctx, st, found[0], line, len(out) < maxSources)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// sourceOf returns a session or note as the source of a line; whole adds the statement and the numbers of its items.
func (a Access) sourceOf(ctx context.Context, st *store.Store, session memoir.Session, line string, whole bool) (
	Source, error) {
	out := Source{Key: session.Key(), Title: memoir.ShortTitle(a.Clean(session.Title)),
		Date: session.UpdatedAt.UTC().Format("2006-01-02"), Items: []Item{}}
	if id := memoir.EntryID(out.Key); id != 0 {
		notes, err := st.Entries(ctx, store.EntryFilter{ID: id})
		if err == nil && len(notes) > 0 {
			note := EntryOf(notes[0])
			out.Note = &note
		}
		return out, err
	}
	extraction, err := st.Extraction(ctx, out.Key)
	if err != nil || extraction == nil || !whole {
		return out, err
	}
	nearest := closest(extraction.Statements, line)
	out.Statement, out.cited = a.Clean(nearest.Text), nearest.Items
	return out, nil
}

// Line returns a line of a project's MEMORY.md with its sources.
func (a Access) Line(ctx context.Context, st *store.Store, projectID string, n int) (Line, error) {
	m, err := a.file(projectID)
	if err != nil {
		return Line{}, err
	}
	if n < 1 || n > len(m.Text) {
		return Line{}, memoir.Errorf(memoir.CodeNotFound, "", "MEMORY.md has only %d lines, not %d", len(m.Text), n)
	}
	err = a.Fill(ctx, st, m, m.Text[n-1:n])
	return m.Text[n-1], err
}

// Fill sets the sources of lines of a memory with their items. It reads each session once.
func (a Access) Fill(ctx context.Context, st *store.Store, m Memory, lines []Line) (err error) {
	wanted := map[string][]*Source{}
	for i := range lines {
		if lines[i].Sources, err = a.sources(ctx, st, lines[i].Text, m.lists); err != nil {
			return err
		}
		for j := range lines[i].Sources {
			if one := &lines[i].Sources[j]; len(one.cited) > 0 {
				wanted[one.Key] = append(wanted[one.Key], one)
			}
		}
	}
	for key, sources := range wanted {
		reading, err := a.Show(ctx, st, key, 0)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, one := range sources {
			if err != nil { // for example, its file was deleted
				one.Error = a.Clean(err.Error())
			}
			for _, it := range reading.Items {
				if slices.Contains(one.cited, it.N) && len(one.Items) < maxCited {
					one.Items = append(one.Items, it)
				}
			}
		}
	}
	return nil
}

// closest returns the statement with the most words of a line, the shortest of several. It is empty if no statement
// has at least half of the words.
func closest(statements []memoir.Statement, line string) (best memoir.Statement) {
	words := memoir.WordsOf(consolidate.Words(line))
	most, shortest := (len(words)+1)/2, 0
	for _, st := range statements {
		own := memoir.WordsOf(st.Text)
		if n := words.Shared(own); n > most || n == most && (best.Text == "" || len(own) < shortest) {
			best, most, shortest = st, n, len(own)
		}
	}
	return best
}

// A Line is a line of MEMORY.md or of the injected text.
type Line struct {
	N       int      `json:"n"` // line number in MEMORY.md
	Text    string   `json:"text"`
	Sources []Source `json:"sources"`
	Project string   `json:"-"` // whose MEMORY.md contains it
	Rests   bool     `json:"-"` // it cites sessions or notes
	Note    string   `json:"-"` // number, if it is a note
}

// Memory is the text that the next session of a project gets, and the project's MEMORY.md.
type Memory struct {
	Project             string `json:"project"`
	Generation          int    `json:"generation"`
	Injected            string `json:"injected"`
	Content             string `json:"content"`
	Lines               int    `json:"lines"`
	InjectedLines, Text []Line `json:"-"` // lines of Injected and Content for pages

	lists map[string][]string // the manifest's Citations
}

// Memory returns the memory of a project with the neutralised text that its next session gets. It finds the lines of
// this text in MEMORY.md by their keys.
func (a Access) Memory(projectID, injected string) (Memory, error) {
	out, err := a.file(projectID)
	if err != nil {
		return out, err
	}
	user, err := a.file(memoir.UserProjectID)
	if err != nil {
		return out, err
	}
	known := map[string]Line{}
	for _, l := range slices.Concat(user.Text, out.Text) {
		if l.Rests {
			known[memoir.LineKey(l.Text)] = l
		}
	}
	out.Injected = a.Redact(injected)
	for text := range strings.Lines(out.Injected) {
		text = strings.TrimRight(text, "\n")
		l := known[memoir.LineKey(text)]
		l.Text = text
		if number, ok := strings.CutPrefix(text, "- [#"); ok {
			l.Note, _, _ = strings.Cut(number, "]")
		}
		out.InjectedLines = append(out.InjectedLines, l)
	}
	return out, nil
}

// file returns the current MEMORY.md of a project, without the injected text.
func (a Access) file(projectID string) (Memory, error) {
	live, err := memory.At(a.Home, projectID).Current()
	out := Memory{Project: projectID, Generation: live.Generation, lists: live.Manifest.Citations}
	out.Content = a.Redact(string(live.Files[memoir.MemoryFile]))
	out.Lines = strings.Count(out.Content, "\n")
	for text := range strings.Lines(a.Clean(out.Content)) {
		text = strings.TrimRight(text, "\n")
		out.Text = append(out.Text, Line{N: len(out.Text) + 1, Text: text, Project: projectID,
			Rests: len(consolidate.Cited(text, out.lists)) > 0})
	}
	return out, err
}
