package serve

import (
	"net/http"
	"strings"

	"memoir/search"
)

// maxQuery bounds the words to look for, in bytes, and mostHits the hits.
const (
	maxQuery = 2000
	mostHits = 100
)

func (s *server) search(r *http.Request) (any, error) {
	query, none := r.URL.Query(), search.Result{Hits: []search.Hit{}}
	most, err := number(query.Get("max"))
	if err != nil || most > mostHits {
		return none, usage("", "max is a number from 0 to %d", mostHits)
	}
	q := search.Query{Text: strings.TrimSpace(query.Get("q")), ProjectID: query.Get("project"), Max: most}
	switch {
	case q.Text == "" && wantsPage(r): // nobody has typed yet
		return none, nil
	case q.Text == "", len(q.Text) > maxQuery:
		return none, usage("", "q has 1 to %d bytes, this one %d", maxQuery, len(q.Text))
	}
	out, err := search.Find(r.Context(), s.Home, q)
	for i := range out.Hits {
		out.Hits[i].Snippet = s.clean(out.Hits[i].Snippet)
	}
	return out, err
}
