package ask

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memoir/search"
)

const (
	usualHits = 6
	mostHits  = 50
	maxQuery  = 2000 // bytes
)

// The scopes of a search.
const (
	scopeProject = "project"
	scopeAll     = "all"
	scopeUser    = "user"
)

type memorySearchIn struct {
	Query      string `json:"query" jsonschema:"words to look for"`
	MaxResults int    `json:"maxResults,omitempty" jsonschema:"1 to 50, default 6"`
	Scope      string `json:"scope,omitempty" jsonschema:"project (default), all projects if configured, or user"`
	MaxTokens  int    `json:"maxTokens,omitempty" jsonschema:"budget of the answer, 500 to 8000, default 2000"`
}

type memorySearchOut struct {
	Results []hit  `json:"results"`
	Note    string `json:"note,omitempty" jsonschema:"that nothing matches, and what was left out"`
	Notice  string `json:"notice"`
}

// hit is one place that matches, told in 50 to 100 tokens.
type hit struct {
	Path      string  `json:"path" jsonschema:"for memory_get"`
	StartLine int     `json:"startLine" jsonschema:"or item of the session"`
	EndLine   int     `json:"endLine"`
	Score     float64 `json:"score"`
	Snippet   string  `json:"snippet"`
	Source    string  `json:"source" jsonschema:"memory, summary, statement, claim, typed or agent"`
	Date      string  `json:"date,omitempty"`
}

// memorySearch is the tool memory_search.
func (s *server) memorySearch(ctx context.Context, _ *mcp.CallToolRequest, in memorySearchIn) (
	*mcp.CallToolResult, memorySearchOut, error) {
	hits, notes, err := s.find(ctx, in)
	if err != nil {
		return nil, memorySearchOut{}, err
	}
	out, err := fit(budget(in.MaxTokens), func(room int) (memorySearchOut, error) {
		shown, left := within(room, hits)
		return memorySearchOut{Results: shown, Note: note(notes, left), Notice: notice}, nil
	})
	return nil, out, err
}

// within are as many of the first hits as fit into room bytes, and what there is to say about the others.
func within[T any](room int, hits []T) (shown []T, left string) {
	shown = append([]T{}, hits...)
	for len(shown) > 0 && size(shown)-envelope > room {
		shown = shown[:len(shown)-1]
	}
	return shown, leftOut(len(hits)-len(shown), "hit", "ask for fewer or with a larger budget")
}

// note joins what there is to say.
func note(notes []string, more ...string) string {
	all := slices.DeleteFunc(slices.Concat(notes, more), func(text string) bool { return text == "" })
	return strings.Join(all, "; ")
}

// leftOut says how many things were left out, if any.
func leftOut(n int, what, hint string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 %s left out: %s", what, hint)
	}
	return fmt.Sprintf("%d %ss left out: %s", n, what, hint)
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

// search is the tool search.
func (s *server) search(ctx context.Context, _ *mcp.CallToolRequest, in searchIn) (
	*mcp.CallToolResult, searchOut, error) {
	hits, notes, err := s.find(ctx, memorySearchIn{Query: in.Query})
	if err != nil {
		return nil, searchOut{}, err
	}
	var results []found
	for _, h := range hits {
		id := fmt.Sprintf("%s#%d", h.Path, h.StartLine)
		results = append(results, found{ID: id, Title: h.Source + ": " + h.Snippet, URL: id})
	}
	out, err := fit(usualTokens, func(room int) (searchOut, error) {
		shown, left := within(room, results)
		return searchOut{Results: shown, Note: note(notes, left)}, nil
	})
	return nil, out, err
}

// find returns the hits of a query that the session was not told yet, and what there is to say about them.
func (s *server) find(ctx context.Context, in memorySearchIn) (hits []hit, notes []string, err error) {
	query := strings.TrimSpace(in.Query)
	if query == "" || len(query) > maxQuery {
		return nil, nil, usage("", "a query has 1 to %d bytes, this one %d", maxQuery, len(query))
	}
	id, err := s.Project(ctx)
	if err != nil {
		return nil, nil, err
	}
	q := search.Query{Text: query, ProjectID: id, Max: mostHits}
	switch in.Scope {
	case "", scopeProject:
	case scopeUser:
		return nil, []string{"there is no user's memory yet"}, nil
	case scopeAll:
		if !s.AllProjects {
			return nil, nil, s.otherProject()
		}
		q.ProjectID = ""
	default:
		return nil, nil, usage("project, all or user", "no scope is named %.100q", in.Scope)
	}
	result, err := search.Find(ctx, s.Home, q)
	if err != nil {
		return nil, nil, err
	}
	told, more, most := 0, 0, in.MaxResults
	if most <= 0 {
		most = usualHits
	}
	for _, h := range result.Hits {
		switch {
		case s.given().repeats(h.Snippet):
			told++
		case len(hits) == min(most, mostHits):
			more++
		default:
			hits = append(hits, s.hit(h, id))
		}
	}
	switch {
	case len(result.Hits) == 0:
		notes = append(notes, "nothing matches")
	case told > 0:
		notes = append(notes, fmt.Sprintf("%d more in what this session was told at its start", told))
	}
	notes = append(notes, leftOut(more, "weaker hit", "raise maxResults"))
	if result.Behind {
		notes = append(notes, "the newest sessions are not in the index yet")
	}
	return hits, notes, nil
}

// hit is a hit as a client is told it.
func (s *server) hit(h search.Hit, own string) hit {
	out := hit{Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine, Source: h.Source,
		Score: math.Round(h.Score*1000) / 1000, Snippet: frame(s.clean(h.Snippet))}
	if rest, ok := strings.CutPrefix(h.Path, rootAddress+"/"); ok && h.ProjectID != own {
		out.Path = memoryScheme + h.ProjectID + "/" + rest
	}
	if strings.HasPrefix(h.Path, sessionScheme) {
		out.StartLine, out.EndLine = max(h.Item, 1), max(h.Item, 1)
	}
	if !h.At.IsZero() {
		out.Date = h.At.UTC().Format(time.DateOnly)
	}
	return out
}
