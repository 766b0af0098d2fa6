package serve

import (
	"context"
	"net/http"
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
	maxSources = 5    // sessions behind a line whose items are shown
	maxCited   = 10   // items of such a session
	maxText    = 4000 // characters of an item
)

// A shownItem is an item on a page.
type shownItem struct {
	N    int
	Text string
}

// shown are items of a reading, at most some.
func (r Reading) shown(most int, wanted func(n int) bool) (out []shownItem) {
	for i, it := range r.Items {
		if len(out) < most && wanted(it.N) {
			out = append(out, shownItem{it.N, memoir.Cut(r.texts[i], maxText)})
		}
	}
	return out
}

// A source is what a line of a memory rests on: a session and the items of it that say so, or a note.
type source struct {
	Key, Title, Date string
	Note             *Entry
	Statement        string // of the session, that comes closest to the line
	Items            []shownItem
	Error            string // why it cannot be shown

	cited []int // items that are wanted
}

// sources are what a line of MEMORY.md rests on, the newest first.
func (s *server) sources(ctx context.Context, st *store.Store, line string, lists map[string][]string) (
	[]source, error) {
	var out []source
	for _, ref := range consolidate.Cited(line, lists) {
		found, err := st.FindSessions(ctx, ref)
		if err != nil && memoir.CodeOf(err) != memoir.CodeNotFound {
			return nil, err
		}
		if len(found) != 1 || found[0].Reason == memoir.ReasonForgotten {
			out = append(out, source{Key: s.clean(ref), Error: "this session is not known any more"})
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
	source, error) {
	out := source{Key: session.Key(), Title: memoir.ShortTitle(s.clean(session.Title)),
		Date: session.UpdatedAt.UTC().Format("2006-01-02")}
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

// fill reads the items that lines rest on, each session once.
func (s *server) fill(ctx context.Context, st *store.Store, lines []line) error {
	wanted := map[string][]*source{}
	for i := range lines {
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
			one.Items = reading.shown(maxCited, func(n int) bool { return slices.Contains(one.cited, n) })
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

// A line is a line of a memory on a page.
type line struct {
	N       int // in MEMORY.md
	Text    string
	Heading bool
	Project string   // whose MEMORY.md has it
	Rests   bool     // on sessions or notes
	Note    int64    // the number of the note that it is
	Sources []source // in a file; a server shows them on a page of their own
}

// A memoryView is the memory of a project on a page.
type memoryView struct {
	Project  Project
	Injected []line
	Memory   []line
}

// memoryOf is a project's memory: what the next session is told, and MEMORY.md.
func (s *server) memoryOf(ctx context.Context, st *store.Store, row store.ProjectRow) (out memoryView, err error) {
	row.Project = CleanProject(row.Project, s.clean)
	out.Project = ProjectOf(s.Home, row)
	told, err := s.Injected(ctx, row.ID)
	if err != nil {
		return out, err
	}
	known := map[string]line{}
	for _, id := range []string{memoir.UserProjectID, row.ID} {
		lines, _, err := s.linesOf(id)
		if err != nil {
			return out, err
		}
		for _, l := range lines {
			if l.Rests {
				known[memoir.LineKey(l.Text)] = l
			}
		}
		out.Memory = lines // those of the project come last
	}
	for text := range strings.Lines(s.Redact(told)) { // which is inert
		l := lineOf(strings.TrimRight(text, "\n"))
		if same, ok := known[memoir.LineKey(l.Text)]; ok && !l.Heading {
			l.N, l.Project, l.Rests = same.N, same.Project, true
		}
		out.Injected = append(out.Injected, l)
	}
	return out, nil
}

// lineOf is a line by its text alone.
func lineOf(text string) line {
	l := line{Text: text, Heading: strings.HasPrefix(text, "#")}
	if number, ok := strings.CutPrefix(text, "- [#"); ok {
		number, _, _ = strings.Cut(number, "]")
		l.Note = memoir.EntryID(string(memoir.SourceEntry) + ":note-" + number)
	}
	return l
}

// linesOf are the lines of a project's MEMORY.md as they are shown, and what sessions are behind them.
func (s *server) linesOf(projectID string) (out []line, lists map[string][]string, err error) {
	live, err := memory.At(s.Home, projectID).Current()
	if err != nil || live.Generation == 0 {
		return nil, nil, err
	}
	text := s.clean(string(live.Files[memoir.MemoryFile]))
	for n, text := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		l := lineOf(text)
		l.N, l.Project, l.Note = n+1, projectID, 0
		l.Rests = len(consolidate.Cited(text, live.Manifest.Citations)) > 0
		out = append(out, l)
	}
	return out, live.Manifest.Citations, nil
}

// lineAt is a line of a project's MEMORY.md with what it rests on.
func (s *server) lineAt(ctx context.Context, st *store.Store, projectID string, n int) (line, error) {
	lines, lists, err := s.linesOf(projectID)
	if err != nil {
		return line{}, err
	}
	if n < 1 || n > len(lines) {
		return line{}, memoir.Errorf(memoir.CodeNotFound, "", "MEMORY.md has %d lines, and no line %d", len(lines), n)
	}
	one := lines[n-1 : n]
	if one[0].Sources, err = s.sources(ctx, st, one[0].Text, lists); err == nil {
		err = s.fill(ctx, st, one)
	}
	return one[0], err
}

func (s *server) memoryPage(st *store.Store, r *http.Request, p *page) error {
	row, err := s.projectAsked(st, r, p)
	if err == nil {
		p.Data, err = s.memoryOf(r.Context(), st, row)
	}
	return err
}

func (s *server) linePage(st *store.Store, r *http.Request, p *page) error {
	row, err := s.projectAsked(st, r, p)
	if err != nil {
		return err
	}
	n, err := number(r, "n")
	if err == nil {
		p.Data, err = s.lineAt(r.Context(), st, row.ID, n)
	}
	return err
}

// projectMemory answers with what the next session is told, and MEMORY.md by whose lines a patch counts.
func (s *server) projectMemory(st *store.Store, r *http.Request) (any, error) {
	row, err := st.FindProject(r.Context(), r.PathValue("project"))
	if err != nil {
		return nil, err
	}
	out := struct {
		Project    string `json:"project"`
		Generation int    `json:"generation"`
		Injected   string `json:"injected"`
		Content    string `json:"content"`
		Lines      int    `json:"lines"`
	}{Project: row.ID, Generation: int(row.Generation)}
	if out.Injected, err = s.Injected(r.Context(), row.ID); err != nil {
		return nil, err
	}
	content, err := memory.At(s.Home, row.ID).Open(memoir.MemoryFile)
	if err != nil && memoir.CodeOf(err) != memoir.CodeNotFound {
		return nil, err
	}
	out.Content = s.Redact(string(content))
	out.Lines = strings.Count(out.Content, "\n")
	return out, nil
}

func (s *server) patchMemory(c change) (any, error) {
	row, err := c.st.FindProject(c.Context(), c.PathValue("project"))
	if err != nil {
		return nil, err
	}
	patch, err := body(c.Request)
	if err != nil {
		return nil, err
	}
	return pipeline.Patch(c.Context(), c.st, c.opts, row.Project, memoir.AuthorUser, patch)
}
