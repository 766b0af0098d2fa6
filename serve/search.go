package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"memoir"
	"memoir/search"
	"memoir/store"
)

// maxQuery bounds the words to look for, in bytes, and mostHits the hits.
const (
	maxQuery = 2000
	mostHits = 100
)

func (s *server) searchAll(r *http.Request) (any, error) {
	return s.found(r)
}

// found are the hits of a query.
func (s *server) found(r *http.Request) (search.Result, error) {
	most, err := number(r, "max")
	if err != nil || most > mostHits {
		return search.Result{}, usage("", "max is a number from 0 to %d", mostHits)
	}
	query := r.URL.Query()
	q := search.Query{Text: query.Get("q"), ProjectID: query.Get("project"), Max: most}
	if q.Text == "" || len(q.Text) > maxQuery {
		return search.Result{}, usage("", "q has 1 to %d bytes, this one %d", maxQuery, len(q.Text))
	}
	out, err := search.Find(r.Context(), s.Home, q)
	for i := range out.Hits {
		out.Hits[i].Snippet = s.clean(out.Hits[i].Snippet)
	}
	return out, err
}

// hits are what a search found.
type hits struct {
	Query string
	search.Result
}

func (s *server) searchPage(st *store.Store, r *http.Request, p *page) (err error) {
	out := hits{Query: r.URL.Query().Get("q")}
	if r.URL.Query().Get("project") != "" {
		if _, err := s.projectAsked(st, r, p); err != nil {
			return err
		}
	}
	if strings.TrimSpace(out.Query) != "" {
		if out.Result, err = s.found(r); memoir.CodeOf(err) == memoir.CodeUsage { // a word that says nothing
			failed := s.failureOf(err)
			p.Failure, err = &failed, nil
		}
	}
	out.Query, p.Data = s.clean(memoir.Cut(out.Query, maxQuery)), out
	return err
}

// hitAddress is the page that a hit leads to.
func hitAddress(h search.Hit) string {
	query := url.Values{}
	if h.Source == search.SourceMemory {
		query.Set("project", h.ProjectID)
		query.Set("n", strconv.Itoa(h.StartLine))
		return "/ui/line?" + query.Encode()
	}
	if id := memoir.EntryID(h.Session); id != 0 {
		query.Set("project", h.ProjectID)
		return fmt.Sprintf("/ui/notes?%s#note-%d", query.Encode(), id)
	}
	query.Set("key", h.Session)
	query.Set("at", strconv.Itoa(h.Item))
	return fmt.Sprintf("/ui/session?%s#i-%d", query.Encode(), h.Item)
}
