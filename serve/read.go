package serve

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/entry"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/search"
	"memoir/store"
)

// listProjects lists projects, for a page by their last activity, those without memory last.
func (s *server) listProjects(c call) (any, error) {
	out, err := operation.ListProjects(c.Context(), c.st, s.Home, s.Clean)
	if wantsPage(c.Request) {
		empty := func(p operation.Project) int64 { return -min(p.Generation+int64(p.Notes), 1) }
		slices.SortStableFunc(out.Projects, func(a, b operation.Project) int {
			return cmp.Or(cmp.Compare(empty(a), empty(b)), b.ActiveAt.Compare(a.ActiveAt))
		})
	}
	return out, err
}

func (s *server) latestNotes(c call) (any, error) {
	notes, err := entry.Book{Store: c.st}.Latest(c.Context(), c.URL.Query().Get("category"))
	return operation.EntriesOf(notes), err
}

// noteProjects returns the projects whose notes a session of the call's project gets: the user's and its own.
func (c call) noteProjects() []string {
	return slices.Compact([]string{memoir.UserProjectID, c.project.ID})
}

func (s *server) listNotes(c call) (any, error) {
	notes, err := entry.Book{Store: c.st}.Notes(c.Context(), c.noteProjects(), c.URL.Query().Get("category"))
	return operation.EntriesOf(notes), err
}

func (s *server) recallNotes(c call) (any, error) {
	query := c.URL.Query()
	words := strings.Fields(query.Get("words"))
	notes, err := entry.Book{Store: c.st}.Recall(c.Context(), c.noteProjects(), query.Get("category"), words)
	return operation.EntriesOf(notes), err
}

// A memoryPage is a memory with what waits for an answer, or one file of it.
type memoryPage struct {
	operation.Memory
	File   string
	Review operation.Review
}

// projectMemory returns a memory, or the file of it that a query names.
func (s *server) projectMemory(c call) (any, error) {
	if name := c.URL.Query().Get("file"); name != "" {
		m, err := s.File(c.project.ID, name)
		if err != nil || !wantsPage(c.Request) {
			return m, err
		}
		return memoryPage{Memory: m, File: s.Clean(name)}, nil
	}
	injected, err := s.Injected(c.Context(), c.project.ID)
	if err != nil {
		return nil, err
	}
	m, err := s.Memory(c.project.ID, injected)
	if err != nil || !wantsPage(c.Request) {
		return m, err
	}
	out := memoryPage{Memory: m}
	out.Review, err = s.Review(c.Context(), c.st, c.project.ID, false)
	return out, cmp.Or(err, s.Explain(c.Context(), c.st, m, false))
}

func (s *server) why(c call) (any, error) {
	return s.Why(c.Context(), c.st, c.project.ID, c.URL.Query().Get("of"))
}

func (s *server) lastMessages(c call) (any, error) {
	session, err := pipeline.LastSession(c.Context(), c.st, c.project.ID)
	if err != nil {
		return nil, err
	}
	out, err := s.Recap(c.Context(), session)
	out.Session = s.Clean(out.Session)
	return out, err
}

func (s *server) listGenerations(c call) (any, error) {
	return operation.ListGenerations(c.Context(), c.st, s.Home, c.project.ID)
}

func (s *server) compareGenerations(c call) (any, error) {
	from, err := number("from", c.URL.Query().Get("from"))
	to, errTo := number("to", c.URL.Query().Get("to"))
	if err = cmp.Or(err, errTo); err != nil {
		return nil, err
	}
	return s.compare(c.project.ID, from, to)
}

func (s *server) compare(id string, from, to int) (operation.Comparison, error) {
	out, err := operation.Compare(s.Home, id, from, to)
	for i := range out.Files {
		out.Files[i].Path, out.Files[i].Diff = s.Clean(out.Files[i].Path), s.Clean(out.Files[i].Diff)
	}
	return out, err
}

// perPage bounds the sessions of a page.
const perPage = 100

// A sessionsPage is a page of the list of sessions.
type sessionsPage struct {
	operation.Sessions
	Page, First, Last int
	More              bool
}

// listSessions lists sessions: all, or a page of them.
func (s *server) listSessions(c call) (any, error) {
	query := c.URL.Query()
	filter := store.Filter{Reason: memoir.Reason(query.Get("reason")), Project: c.project.ID,
		Source: memoir.Source(query.Get("source"))}
	if filter.Reason != "" && !slices.Contains(memoir.Reasons, filter.Reason) {
		return nil, usage("for example eligible or up_to_date", "%q is not a reason",
			memoir.Cut(string(filter.Reason), 100))
	}
	page, err := number("page", query.Get("page"))
	since, errSince := day(query.Get("since"))
	until, errUntil := day(query.Get("until"))
	if err = cmp.Or(err, errSince, errUntil); err != nil {
		return nil, err
	}
	if filter.Since = since; !until.IsZero() {
		filter.Until = until.AddDate(0, 0, 1)
	}
	if filter.NoFiles = wantsPage(c.Request); filter.NoFiles || page > 0 {
		page = min(max(page, 1), 1_000_000)
		filter.First, filter.Most = (page-1)*perPage, perPage+1 // one more says whether there are more; counting reads all
	}
	out, err := operation.ListSessions(c.Context(), c.st, filter, 0, s.Clean)
	n := len(out.Sessions)
	if filter.Most > 0 {
		out.Sessions = out.Sessions[:min(n, perPage)]
	}
	if err != nil || !wantsPage(c.Request) {
		return out, err
	}
	return sessionsPage{out, page, filter.First + 1, filter.First + min(n, perPage), n > perPage}, nil
}

// day parses a date, in UTC; the zero time for "".
func day(text string) (time.Time, error) {
	at, err := time.Parse(time.DateOnly, cmp.Or(text, "0001-01-01"))
	if err != nil {
		err = usage("for example 2026-07-01", "%q is not a date", memoir.Cut(text, 50))
	}
	return at, err
}

func (s *server) showSession(c call) (any, error) {
	at, err := number("at", c.URL.Query().Get("at"))
	if err != nil {
		return nil, err
	}
	return s.Show(c.Context(), c.st, c.PathValue("key"), at)
}

const (
	maxQuery = 2000 // bytes
	mostHits = 100
)

func (s *server) search(c call) (any, error) {
	query, none := c.URL.Query(), search.Result{Hits: []search.Hit{}}
	most, err := number("max", query.Get("max"))
	if err != nil || most > mostHits {
		return none, usage("", "max must be a number from 0 to %d", mostHits)
	}
	q := search.Query{Text: strings.TrimSpace(query.Get("q")), ProjectID: c.project.ID, Max: most,
		Weak: query.Has("weak"), Redact: s.Redact, Filter: search.Filter{Kind: query.Get("kind"),
			Source: query.Get("source"), Since: query.Get("since"), Until: query.Get("until"), Typed: query.Has("typed"),
			Replaced: query.Has("replaced")}}
	switch {
	case q.Text == "" && wantsPage(c.Request): // the page before a search
		return none, nil
	case q.Text == "", len(q.Text) > maxQuery:
		return none, usage("", "q must have 1 to %d bytes, not %d", maxQuery, len(q.Text))
	}
	missed := s.CatchUp(c.Context())
	out, err := search.Find(c.Context(), s.Home, q)
	out.Behind = out.Behind || missed != nil
	for i := range out.Hits {
		h := &out.Hits[i]
		h.Snippet, h.ReplacedBy = s.Clean(h.Snippet), s.Clean(h.ReplacedBy)
	}
	return out, err
}

func (s *server) showQueue(c call) (any, error) {
	return operation.ReadQueue(c.Context(), c.st, s.Clean)
}

func (s *server) showUsage(c call) (any, error) {
	return operation.ReadSpending(c.Context(), c.st)
}

func (s *server) showDelivered(c call) (any, error) { return s.Delivered(c.Context(), c.st) }

type noteIn struct {
	Category string `json:"category"` // empty: fact
	Content  string `json:"content"`
	Source   string `json:"source"` // user, auto or agent; empty: user
}

func noteOf(r *http.Request) (in noteIn, err error) {
	if byForm(r) {
		if err := r.ParseForm(); err != nil {
			return in, usage("", "read the form: %w", err)
		}
		return noteIn{Category: r.PostForm.Get("category"), Content: r.PostForm.Get("content")}, nil
	}
	return in, decode(r, &in, `{"category": "fact", "content": "…"}`)
}

func (in noteIn) entry(projectID string) (memoir.Entry, error) {
	e := memoir.Entry{ProjectID: projectID, Kind: memoir.EntryNote, Category: cmp.Or(in.Category, "fact"),
		Author: memoir.Author(cmp.Or(in.Source, string(memoir.AuthorUser))), Text: in.Content}
	if !slices.Contains([]memoir.Author{memoir.AuthorUser, memoir.AuthorAuto, memoir.AuthorAgent}, e.Author) {
		return e, usage("user, auto or agent", "%q is not a source", memoir.Cut(in.Source, 100))
	}
	return e, nil
}

// takeNote adds a note, or changes the one with an id. HTML forms have no PUT and DELETE: one without a content forgets
// the note.
func (s *server) takeNote(c call) (any, error) {
	in, err := noteOf(c.Request)
	if err != nil {
		return nil, err
	}
	switch id := cmp.Or(c.PathValue("id"), c.PostForm.Get("id")); {
	case id != "" && byForm(c.Request) && !c.PostForm.Has("content"):
		return s.replace(c, id, nil)
	case id != "":
		return s.replace(c, id, &in)
	}
	e, err := in.entry(c.project.ID)
	if err != nil {
		return nil, err
	}
	stored, _, err := s.Remember(c.Context(), c.st, c.opts, e)
	return stored, err
}

func (s *server) forgetNote(c call) (any, error) {
	e, err := s.replace(c, c.PathValue("id"), nil)
	return struct {
		Forgotten int64 `json:"forgotten"`
	}{e.ID}, err
}

// replace forgets the note with a number and returns it. If there is another one, it stores that in its place, with the
// same category by default, and returns it instead.
func (s *server) replace(c call, number string, by *noteIn) (none operation.Entry, err error) {
	id, err := entry.Number(number)
	if err != nil {
		return none, err
	}
	found, err := c.st.Entries(c.Context(), store.EntryFilter{ID: id, Kind: memoir.EntryNote})
	if err == nil && len(found) == 0 {
		err = memoir.Errorf(memoir.CodeNotFound, "GET /memory lists notes", "no note is #%d", id)
	}
	if err != nil {
		return none, err
	}
	e, what := found[0], store.Forgetting{Keys: []string{found[0].Key()}}
	if by != nil {
		by.Category = cmp.Or(by.Category, e.Category)
		if e, err = by.entry(e.ProjectID); err != nil {
			return none, err
		}
		what.Instead = &e
	}
	_, err = pipeline.Forget(c.Context(), c.st, c.opts, what)
	if memoir.CodeOf(err) == memoir.CodeBusy {
		err = nil // the note is stored; the next run rewrites the memory
	}
	return operation.EntryOf(e), err
}

func (s *server) review(c call) (any, error) {
	return s.Review(c.Context(), c.st, c.project.ID, !wantsPage(c.Request))
}

// answerReview carries out one answer, and returns what is left.
func (s *server) answerReview(c call) (any, error) {
	var in struct{ ID, Answer, Text string }
	if byForm(c.Request) {
		in.ID, in.Answer, in.Text = c.PostFormValue("id"), c.PostFormValue("answer"), c.PostFormValue("text")
	} else if err := decode(c.Request, &in, `{"id": "…", "answer": "keep"}`); err != nil {
		return nil, err
	}
	r, err := s.Review(c.Context(), c.st, c.project.ID, true)
	i := slices.IndexFunc(r.Lines, func(l operation.ReviewLine) bool { return l.ID == in.ID })
	if err == nil && i < 0 {
		err = memoir.Errorf(memoir.CodeNotFound, "it may be answered", "nothing in the review is %s", memoir.Cut(in.ID, 50))
	}
	if err == nil {
		err = s.Answer(c.Context(), c.st, c.opts, c.project.Project,
			operation.Answer{Line: r.Lines[i], Answer: in.Answer, Text: in.Text})
	}
	if err != nil {
		return nil, err
	}
	return s.review(c)
}

func (s *server) patchMemory(c call) (any, error) {
	patch, err := io.ReadAll(c.Body)
	if err != nil {
		return nil, usage("", "read the request: %w", err)
	}
	return pipeline.Patch(c.Context(), c.st, c.opts, c.project.Project, memoir.AuthorUser, patch)
}

func (s *server) addMessages(c call) (any, error) {
	var in struct {
		Conversation string             `json:"conversation"`
		Messages     []pipeline.Message `json:"messages"`
	}
	if err := decode(c.Request, &in, `{"messages": [{"role": "user", "content": "…"}]}`); err != nil {
		return nil, err
	}
	return s.Say(c.Context(), c.st, c.opts, c.project.ID, in.Conversation, in.Messages)
}
