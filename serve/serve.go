// Package serve serves memory over HTTP on a loopback address, as an API and as pages for a browser, and exports the
// pages as one file. All output is redacted and read anew for each request. What it reads and changes belongs to
// operation, flags and the terminal to cmd/memoir.
//
// Read serve.go first (the server), then api.go (the routes), read.go (their answers), page.go (the pages and the
// export). The frame of pages, and who may ask, is in package pages.
package serve

import (
	"context"
	"net/http"

	"memoir/operation"
	"memoir/pages"
)

// Options are the dependencies of a server. All are required.
type Options struct {
	operation.Access
	Token string // of pages.TokenOf
	// Injected returns the text that the next session of a project gets, neutralised; it may be empty.
	Injected func(ctx context.Context, projectID string) (string, error)
}

// server answers requests. It has no state.
type server struct{ Options }

// Handler returns the handler of all requests to a server on a loopback address.
func Handler(o Options) http.Handler {
	s := &server{o}
	mux := http.NewServeMux()
	for _, op := range routes {
		mux.Handle(op.method+" "+op.path, s.answering(op))
	}
	mux.Handle("GET /{$}", http.RedirectHandler("/projects", http.StatusSeeOther))
	pages.Complete(mux, "GET /openapi.json lists the requests", s.refuse)
	return pages.Guard{Token: o.Token, Command: "memoir serve", Refuse: s.refuse}.Handler(mux)
}
