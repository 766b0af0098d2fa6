// Package serve serves memory over HTTP on a loopback address, as an API and as pages for a browser, and exports the
// pages as one file. All output is redacted and read anew for each request. What it reads and changes belongs to
// operation, flags and the terminal to cmd/memoir.
//
// Read serve.go first (the server), then guard.go (access), api.go (the routes), read.go (their answers),
// page.go (the pages and the export).
package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"memoir"
	"memoir/operation"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 1 << 20

// Options are the dependencies of a server. All are required.
type Options struct {
	operation.Access
	Token string // of TokenOf
	// Injected returns the text that the next session of a project gets, neutralised; it may be empty.
	Injected func(ctx context.Context, projectID string) (string, error)
}

// server answers requests. Its only state is the key of its cookies.
type server struct {
	Options
	key string // of the cookies, which browsers send instead of the token
}

// Handler returns the handler of all requests to a server on a loopback address.
func Handler(o Options) http.Handler {
	s := &server{Options: o, key: rand.Text()}
	mux := http.NewServeMux()
	for _, op := range routes {
		mux.Handle(op.method+" "+op.path, s.answering(op))
	}
	mux.Handle("GET /{$}", http.RedirectHandler("/projects", http.StatusSeeOther))
	mux.HandleFunc("GET /style.css", asset("style.css", "text/css"))
	mux.HandleFunc("GET /script.js", asset("script.js", "text/javascript"))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		status, code, known := http.StatusNotFound, string(memoir.CodeNotFound), allowed(mux, r)
		if len(known) > 0 {
			w.Header().Set("Allow", strings.Join(known, ", "))
			status, code = http.StatusMethodNotAllowed, "method_not_allowed"
		}
		s.refuse(w, r, status, failure{s.Clean("no such request: " + r.Method + " " + memoir.Cut(r.URL.Path, 200)),
			"GET /openapi.json lists the requests", code})
	})
	return s.guard(mux)
}

func allowed(mux *http.ServeMux, r *http.Request) (known []string) {
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		if _, pattern := mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL}); pattern != "/" {
			known = append(known, method)
		}
	}
	return known
}

// Listen opens a port of 127.0.0.1; 0 is any free port.
func Listen(port int) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeUsage, "without --port, serve uses a free port", "open port %d: %w", port, err)
	}
	return l, nil
}

// grace is the time that open requests have to end after ctx is done.
const grace = 3 * time.Second

// Run answers requests until ctx is done. Open requests then have a grace period to end.
func Run(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 5 * time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}
