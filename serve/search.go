package serve

import (
	"strings"

	"memoir/search"
)

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
		out.Hits[i].Snippet = s.clean(out.Hits[i].Snippet)
	}
	return out, err
}
