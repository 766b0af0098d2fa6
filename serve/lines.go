package serve

import (
	"context"
	"io"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

// Bounds of what is shown at once.
const (
	maxSources = 5  // sessions behind a line whose items are shown
	maxCited   = 10 // items of such a session
)

// A Source is what a line of a memory rests on: a session and the items of it that say so, or a note.
type Source struct {
	Key       string `json:"session"`
	Title     string `json:"title"`
	Date      string `json:"date"`
	Note      *Entry `json:"note"`
	Statement string `json:"statement"` // of the session, that comes closest to the line
	Items     []Item `json:"items"`
	Error     string `json:"error"` // why it cannot be shown

	cited []int // items that are wanted
}

// sources are what a line of MEMORY.md rests on, the newest first.
func (s *server) sources(ctx context.Context, st *store.Store, line string, lists map[string][]string) (
	[]Source, error) {
	out := []Source{}
	for _, ref := range consolidate.Cited(line, lists) {
		found, err := st.FindSessions(ctx, ref)
		if err != nil && memoir.CodeOf(err) != memoir.CodeNotFound {
			return nil, err
		}
		if len(found) != 1 || found[0].Reason == memoir.ReasonForgotten {
			out = append(out, Source{Key: s.clean(ref), Items: []Item{}, Error: "this session is no longer registered"})
			continue
		}
		one, err := s.sourceOf(ctx, st, found[0], line, len(out) < maxSources)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// sourceOf is a session as the source of a line; whole says whether its items are wanted.
func (s *server) sourceOf(ctx context.Context, st *store.Store, session memoir.Session, line string, whole bool) (
	Source, error) {
	out := Source{Key: session.Key(), Title: memoir.ShortTitle(s.clean(session.Title)),
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
	stated := closest(memoir.ParseStatements(extraction.RawMemory), line)
	out.Statement, out.cited = s.clean(stated.Text), stated.Items
	return out, nil
}

// fill adds to lines what they rest on, and reads each session once.
func (s *server) fill(ctx context.Context, st *store.Store, lines []Line, lists map[string][]string) (err error) {
	wanted := map[string][]*Source{}
	for i := range lines {
		if lines[i].Sources, err = s.sources(ctx, st, lines[i].Text, lists); err != nil {
			return err
		}
		for j := range lines[i].Sources {
			if one := &lines[i].Sources[j]; len(one.cited) > 0 {
				wanted[one.Key] = append(wanted[one.Key], one)
			}
		}
	}
	for key, sources := range wanted {
		reading, err := s.read(ctx, st, key, 0)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, one := range sources {
			if err != nil { // its file may be gone
				one.Error = s.clean(err.Error())
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

// closest is the statement that has the most words of a line, and at least half of them; of several the shortest.
func closest(statements []memoir.Statement, line string) (best memoir.Statement) {
	words := strings.Fields(memoir.RuleKey(consolidate.Words(line)))
	most, shortest := (len(words)+1)/2, 0
	for _, st := range statements {
		own := strings.Fields(memoir.RuleKey(st.Text))
		common := 0
		for _, w := range words {
			if slices.Contains(own, w) {
				common++
			}
		}
		if common > most || common == most && (best.Text == "" || len(own) < shortest) {
			best, most, shortest = st, common, len(own)
		}
	}
	return best
}

// A Line is a line of a memory.
type Line struct {
	N       int      `json:"n"` // in MEMORY.md
	Text    string   `json:"text"`
	Sources []Source `json:"sources"`
	Project string   `json:"-"` // whose MEMORY.md has it
	Rests   bool     `json:"-"` // on sessions or notes
	Note    string   `json:"-"` // the number of the note that it is
}

// Memory is a project's memory: the text for the next session, and MEMORY.md.
type Memory struct {
	Project    string `json:"project"`
	Generation int    `json:"generation"`
	Injected   string `json:"injected"`
	Content    string `json:"content"`
	Lines      int    `json:"lines"`
	Told, Text []Line `json:"-"` // on a page

	lists map[string][]string // the sessions behind lines
}

// memoryOf is the memory of a project. Lines of what is injected are known again by their words.
func (s *server) memoryOf(ctx context.Context, projectID string) (out Memory, err error) {
	if out, err = s.file(projectID); err != nil {
		return out, err
	}
	if out.Injected, err = s.Injected(ctx, projectID); err != nil {
		return out, err
	}
	user, err := s.file(memoir.UserProjectID)
	if err != nil {
		return out, err
	}
	known := map[string]Line{}
	for _, l := range slices.Concat(user.Text, out.Text) {
		if l.Rests {
			known[memoir.LineKey(l.Text)] = l
		}
	}
	out.Injected = s.Redact(out.Injected) // it is inert
	for text := range strings.Lines(out.Injected) {
		text = strings.TrimRight(text, "\n")
		l := known[memoir.LineKey(text)]
		l.Text = text
		if number, ok := strings.CutPrefix(text, "- [#"); ok {
			l.Note, _, _ = strings.Cut(number, "]")
		}
		out.Told = append(out.Told, l)
	}
	return out, nil
}

// file is MEMORY.md of a project as it is now.
func (s *server) file(projectID string) (Memory, error) {
	live, err := memory.At(s.Home, projectID).Current()
	out := Memory{Project: projectID, Generation: live.Generation, lists: live.Manifest.Citations}
	out.Content = s.Redact(string(live.Files[memoir.MemoryFile]))
	out.Lines = strings.Count(out.Content, "\n")
	for text := range strings.Lines(s.clean(out.Content)) {
		text = strings.TrimRight(text, "\n")
		out.Text = append(out.Text, Line{N: len(out.Text) + 1, Text: text, Project: projectID,
			Rests: len(consolidate.Cited(text, out.lists)) > 0})
	}
	return out, err
}

func (s *server) projectMemory(c call) (any, error) {
	return s.memoryOf(c.Context(), c.project.ID)
}

// memoryLine is a line of a project's MEMORY.md with what it rests on.
func (s *server) memoryLine(c call) (any, error) {
	n, err := number(c.PathValue("line"))
	if err != nil {
		return nil, err
	}
	m, err := s.file(c.project.ID)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > len(m.Text) {
		return nil, memoir.Errorf(memoir.CodeNotFound, "", "MEMORY.md has only %d lines, not %d", len(m.Text), n)
	}
	err = s.fill(c.Context(), c.st, m.Text[n-1:n], m.lists)
	return m.Text[n-1], err
}

func (s *server) patchMemory(c call) (any, error) {
	patch, err := io.ReadAll(c.Body)
	if err != nil {
		return nil, usage("", "read the request: %w", err)
	}
	return pipeline.Patch(c.Context(), c.st, c.opts, c.project.Project, memoir.AuthorUser, patch)
}
