package serve

import (
	"slices"
	"strings"

	"memoir"
	"memoir/entry"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/search"
	"memoir/store"
)

func (s *server) listProjects(c call) (any, error) {
	return operation.ListProjects(c.Context(), c.st, s.Home, s.Clean)
}

func (s *server) latestNotes(c call) (any, error) {
	notes, err := entry.Book{Store: c.st}.Latest(c.Context(), c.URL.Query().Get("category"))
	return operation.EntriesOf(notes), err
}

// told returns the projects whose notes a session of the call's project gets: the user's and its own.
func (c call) told() []string { return slices.Compact([]string{memoir.UserProjectID, c.project.ID}) }

func (s *server) listNotes(c call) (any, error) {
	notes, err := entry.Book{Store: c.st}.Notes(c.Context(), c.told(), c.URL.Query().Get("category"))
	return operation.EntriesOf(notes), err
}

func (s *server) recallNotes(c call) (any, error) {
	query := c.URL.Query()
	words := strings.Fields(query.Get("words"))
	notes, err := entry.Book{Store: c.st}.Recall(c.Context(), c.told(), query.Get("category"), words)
	return operation.EntriesOf(notes), err
}

func (s *server) projectMemory(c call) (any, error) {
	injected, err := s.Injected(c.Context(), c.project.ID)
	if err != nil {
		return nil, err
	}
	return s.Memory(c.project.ID, injected)
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
	if err != nil {
		return nil, err
	}
	to, err := number("to", c.URL.Query().Get("to"))
	if err != nil {
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

func (s *server) listSessions(c call) (any, error) {
	filter := store.Filter{Reason: memoir.Reason(c.URL.Query().Get("reason")), Project: c.project.ID}
	if filter.Reason != "" && !slices.Contains(memoir.Reasons, filter.Reason) {
		return nil, usage("for example eligible or up_to_date", "%q is not a reason",
			memoir.Cut(string(filter.Reason), 100))
	}
	return operation.ListSessions(c.Context(), c.st, filter, 0, s.Clean)
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
	q := search.Query{Text: strings.TrimSpace(query.Get("q")), ProjectID: c.project.ID, Max: most, Redact: s.Redact}
	switch {
	case q.Text == "" && wantsPage(c.Request): // the page before a search
		return none, nil
	case q.Text == "", len(q.Text) > maxQuery:
		return none, usage("", "q must have 1 to %d bytes, not %d", maxQuery, len(q.Text))
	}
	out, err := search.Find(c.Context(), s.Home, q)
	for i := range out.Hits {
		out.Hits[i].Snippet = s.Clean(out.Hits[i].Snippet)
	}
	return out, err
}

func (s *server) showQueue(c call) (any, error) {
	return operation.ReadQueue(c.Context(), c.st, s.Clean)
}

func (s *server) showUsage(c call) (any, error) {
	return operation.ReadSpending(c.Context(), c.st)
}
