package ask

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"memoir"
	"memoir/entry"
	"memoir/search"
)

const (
	usualHits = 6
	mostHits  = 50
	maxQuery  = 2000 // bytes

	maxSnippet = 100 // tokens of a recalled note
)

type memorySearchIn struct {
	Query      string `json:"query,omitempty" jsonschema:"words; empty only with kind note: those recalled last"`
	MaxResults int    `json:"maxResults,omitempty" jsonschema:"1 to 50, else the nearest; default 6"`
	Scope      string `json:"scope,omitempty" jsonschema:"project (default), all projects if configured, or user"`
	Date       string `json:"date,omitempty" jsonschema:"only of this day: today, yesterday or a date"`
	Since      string `json:"since,omitempty" jsonschema:"not before this day or time"`
	Until      string `json:"until,omitempty" jsonschema:"not after this day or time"`
	Source     string `json:"source,omitempty" jsonschema:"only sessions of this agent: claude, codex, ..."`
	Typed      bool   `json:"typed,omitempty" jsonschema:"only a person's words"`
	Replaced   bool   `json:"replaced,omitempty" jsonschema:"also what something newer replaces"`
	MaxTokens  int    `json:"maxTokens,omitempty" jsonschema:"budget: 500 to 8000, else the nearest; default 2000"`
	Weak       bool   `json:"weak,omitempty" jsonschema:"also hits far below the best"`

	Kind string `json:"kind,omitempty" jsonschema:"memory history note journal message session said command error output"`
}

type memorySearchOut struct {
	Results []hit  `json:"results"`
	Weak    bool   `json:"weak,omitempty" jsonschema:"probably nothing answers the query"`
	Note    string `json:"note,omitempty" jsonschema:"that nothing matches, and what was left out"`
}

// hit is one match, in 50 to 100 tokens.
type hit struct {
	Path      string  `json:"path" jsonschema:"for memory_get"`
	StartLine int     `json:"startLine" jsonschema:"or item of the session"`
	EndLine   int     `json:"endLine"`
	Score     float64 `json:"score"`
	Match     float64 `json:"match" jsonschema:"0 to 1: how much of the query it has"`
	Snippet   string  `json:"snippet"`
	Source    string  `json:"source" jsonschema:"such as memory, statement, typed, agent, command, error or note"`
	Date      string  `json:"date,omitempty"`
	State     string  `json:"state,omitempty" jsonschema:"stale or gone: the working tree no longer holds it"`

	ReplacedBy string `json:"replacedBy,omitempty" jsonschema:"what replaces it"`
}

func (s *server) memorySearch(ctx context.Context, in memorySearchIn) (out memorySearchOut, err error) {
	hits, weak, notes, err := s.find(ctx, in, "memory_search with a larger maxResults shows them")
	return fit(budget(in.MaxTokens), len(hits), func(n int) memorySearchOut {
		shown, left := first(n, hits)
		return memorySearchOut{Results: shown, Weak: weak, Note: strings.Join(append(notes, left...), "; ")}
	}), err
}

type searchIn struct {
	Query string `json:"query"`
}

type searchOut struct {
	Results []found `json:"results"`
	Note    string  `json:"note,omitempty"`
}

type found struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

func (s *server) search(ctx context.Context, in searchIn) (out searchOut, err error) {
	hits, _, notes, err := s.find(ctx, memorySearchIn{Query: in.Query}, "use a narrower query")
	var results []found
	for _, h := range hits {
		id := fmt.Sprintf("%s#%d", h.Path, h.StartLine)
		results = append(results, found{ID: id, Title: h.Source + ": " + h.Snippet, URL: id})
	}
	return fit(usualTokens, len(results), func(n int) searchOut {
		shown, left := first(n, results)
		return searchOut{Results: shown, Note: strings.Join(append(notes, left...), "; ")}
	}), err
}

// find returns the hits of a query without injected ones, whether they are weak, and notes about omitted hits. further
// says how to get those beyond the limit.
func (s *server) find(ctx context.Context, in memorySearchIn, further string) (
	hits []hit, weak bool, notes []string, err error) {
	q := search.Query{Text: strings.TrimSpace(in.Query), Max: mostHits, Weak: in.Weak, Redact: s.Redact,
		Filter: search.Filter{Kind: in.Kind, Source: in.Source, Since: cmp.Or(in.Since, in.Date),
			Until: cmp.Or(in.Until, in.Date), Typed: in.Typed, Replaced: in.Replaced}}
	recalled := q.Filter == search.Filter{Kind: string(memoir.EntryNote)}
	if q.Text == "" && !recalled || len(q.Text) > maxQuery {
		return nil, false, nil, usage("", "a query must have 1 to %d bytes, not %d", maxQuery, len(q.Text))
	}
	missed := s.CatchUp(ctx)
	own, root, none := s.root(ctx)
	if switchedOff(none) {
		return nil, false, nil, none
	}
	switch in.Scope {
	case "", "project":
		q.ProjectID, err = own.ID, none
	case "user":
		q.ProjectID = memoir.UserProjectID
	case "all":
		if !s.AllProjects {
			err = errOther
		}
	default:
		err = usage("project, all or user", "%.100q is not a scope", in.Scope)
	}
	var result search.Result
	if err == nil && recalled {
		in.MaxResults = cmp.Or(in.MaxResults, entry.MaxRecall)
		result.Hits, err = s.recall(ctx, q)
	}
	if err == nil && len(result.Hits) == 0 && q.Text != "" {
		result, err = search.Find(ctx, s.Home, q)
	}
	if err != nil {
		return nil, false, nil, err
	}
	var marks map[int]string
	if none == nil { // otherwise no hit is from the client's project
		page, _ := root.Open(memoir.MemoryFile)
		marks = outdated(own, root, strings.Split(string(page), "\n"))
	}
	hits, notes = s.filter(result.Hits, in.MaxResults, own.ID, marks, further)
	if missed != nil {
		notes = append(notes, "what agents wrote since the last run was not read: "+s.Clean(missed.Error()))
	}
	return hits, result.Weak, append(notes, remarks(result)...), nil
}

func remarks(r search.Result) (notes []string) {
	if r.Weak {
		notes = append(notes, "weak: probably nothing answers the query")
	}
	if r.Below > 0 {
		notes = append(notes, fmt.Sprintf("far below the best, shown with weak: %d", r.Below))
	}
	if r.Unread > 0 {
		notes = append(notes, memoir.Count(r.Unread, "session")+" not read yet")
	} else if r.Behind {
		notes = append(notes, "the newest sessions are not indexed yet")
	}
	return notes
}

// recall returns the notes of a project and of the user that contain all words of a query, last accessed first. It
// records the access. Without a project, it searches all projects.
func (s *server) recall(ctx context.Context, q search.Query) (hits []search.Hit, err error) {
	_, st, err := s.Change(ctx)
	if memoir.CodeOf(err) == memoir.CodeStorage { // the access cannot be recorded
		st, err = s.Read(ctx)
	}
	if err != nil {
		return nil, err
	}
	defer st.Close()
	var projects []string
	if q.ProjectID != "" {
		projects = []string{memoir.UserProjectID, q.ProjectID}
	}
	notes, err := entry.Book{Store: st}.Recall(ctx, projects, "", strings.Fields(q.Text))
	for _, n := range notes {
		hits = append(hits, search.Hit{ProjectID: n.ProjectID, Path: sessionScheme + n.Key(), Item: 1, At: n.CreatedAt,
			Source: "note", Snippet: memoir.Cut(n.Text, 4*maxSnippet)})
	}
	return hits, err
}

// filter removes injected hits and hits beyond most; 0 is usualHits. Its notes have the numbers of removed hits.
func (s *server) filter(all []search.Hit, most int, own string, marks map[int]string, further string) (
	hits []hit, notes []string) {
	most = cmp.Or(max(min(most, mostHits), 0), usualHits)
	known, more := 0, 0
	for _, h := range all {
		switch {
		case s.injected().repeats(h.Snippet):
			known++
		case len(hits) == most:
			more++
		default:
			hits = append(hits, s.hit(h, own, marks))
		}
	}
	if len(all) == 0 {
		notes = append(notes, "no match")
	}
	if known > 0 {
		notes = append(notes, fmt.Sprintf("omitted, since this session got them at its start: %d", known))
	}
	if more > 0 {
		notes = append(notes, memoir.Count(more, "more hit")+": "+further)
	}
	return hits, notes
}

func (s *server) hit(h search.Hit, own string, marks map[int]string) hit {
	out := hit{Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine, Source: h.Source,
		Score: h.Score, Match: h.Match, Snippet: s.Clean(h.Snippet), ReplacedBy: s.Clean(h.ReplacedBy)}
	path, inFile := strings.CutPrefix(h.Path, rootAddress)
	switch {
	case !inFile:
		out.StartLine, out.EndLine = max(h.Item, 1), max(h.Item, 1)
	case h.ProjectID == memoir.UserProjectID:
		out.Path = userAddress + path
	case h.ProjectID != own:
		out.Path = memoryScheme + h.ProjectID + path
	case h.Source == search.SourceMemory:
		out.State = marks[h.StartLine-1]
	}
	if !h.At.IsZero() {
		out.Date = h.At.UTC().Format(time.DateOnly)
	}
	return out
}
