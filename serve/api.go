package serve

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"memoir"
	"memoir/pages"
	"memoir/pipeline"
	"memoir/store"
)

// A route answers one kind of request: with its page, if it has one and a browser asks, otherwise with JSON.
type route struct {
	method, path string
	page, title  string
	do           answer
}

type answer func(*server, *http.Request) (any, error)

var routes = []route{
	{"GET", "/openapi.json", "", "", (*server).describe},
	{"GET", "/memory", "notes", "Notes", reading((*server).latestNotes)},
	{"GET", "/projects", "projects", "Projects", reading((*server).listProjects)},
	{"GET", "/projects/{project}/notes", "notes", "Notes", reading((*server).listNotes)},
	{"POST", "/projects/{project}/notes", "", "", changing((*server).takeNote)},
	{"GET", "/projects/{project}/recall", "notes", "Notes", changing((*server).recallNotes)},
	{"PUT", "/notes/{id}", "", "", changing((*server).takeNote)},
	{"DELETE", "/notes/{id}", "", "", changing((*server).forgetNote)},
	{"GET", "/projects/{project}/memory", "memory", "Memory", reading((*server).projectMemory)},
	{"GET", "/projects/{project}/why", "why", "Where a line comes from", reading((*server).why)},
	{"GET", "/projects/{project}/review", "review", "Review", reading((*server).review)},
	{"POST", "/projects/{project}/review", "", "", changing((*server).answerReview)},
	{"PATCH", "/projects/{project}/memory", "", "", changing((*server).patchMemory)},
	{"GET", "/projects/{project}/messages", "", "", reading((*server).lastMessages)},
	{"POST", "/projects/{project}/messages", "", "", changing((*server).addMessages)},
	{"GET", "/projects/{project}/generations", "generations", "Generations", reading((*server).listGenerations)},
	{"GET", "/projects/{project}/diff", "diff", "Changes", reading((*server).compareGenerations)},
	{"GET", "/sessions", "sessions", "Sessions", reading((*server).listSessions)},
	{"GET", "/sessions/{key}", "session", "Session", reading((*server).showSession)},
	{"GET", "/search", "search", "Search", reading((*server).search)},
	{"GET", "/queue", "queue", "Queue", reading((*server).showQueue)},
	{"GET", "/usage", "usage", "Spending", reading((*server).showUsage)},
	{"GET", "/delivered", "delivered", "Delivered", reading((*server).showDelivered)},
}

//go:embed openapi.json
var openAPI []byte

func (*server) describe(*http.Request) (any, error) { return json.RawMessage(openAPI), nil }

// A call is a request with the open registry and the project of its operation.
type call struct {
	*http.Request
	st      *store.Store
	project store.ProjectRow // named by the path or the query
	opts    pipeline.Options // only set by changing
}

// reading returns the answer of an operation that only reads the registry.
func reading(do func(*server, call) (any, error)) answer {
	return func(s *server, r *http.Request) (any, error) {
		st, err := s.Read(r.Context())
		if err != nil {
			return nil, err
		}
		defer st.Close()
		return s.inProject(call{Request: r, st: st}, do)
	}
}

// changing returns the answer of an operation that changes memory or the registry.
func changing(do func(*server, call) (any, error)) answer {
	return func(s *server, r *http.Request) (any, error) {
		opts, st, err := s.Change(r.Context())
		if err != nil {
			return nil, err
		}
		defer st.Close()
		if r.PathValue("project") == memoir.UserProject().Name { // not registered before its first note
			if _, err := st.Register(r.Context(), memoir.UserProject()); err != nil {
				return nil, err
			}
		}
		return s.inProject(call{Request: r, st: st, opts: opts}, do)
	}
}

func projectOf(r *http.Request) string {
	return cmp.Or(r.PathValue("project"), r.URL.Query().Get("project"))
}

func (s *server) inProject(c call, do func(*server, call) (any, error)) (out any, err error) {
	if ref := projectOf(c.Request); ref != "" {
		c.project, err = c.st.FindProject(c.Context(), ref)
		if user := memoir.UserProject(); memoir.CodeOf(err) == memoir.CodeNotFound && ref == user.Name {
			c.project, err = store.ProjectRow{Project: user}, nil // not registered before its first note
		}
		if err != nil {
			return nil, err
		}
	}
	return do(s, c)
}

func (s *server) answering(op route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := op.do(s, r)
		switch {
		case err != nil:
			status, f := pages.FailureOf(err)
			s.refuse(w, r, status, f)
		case byForm(r):
			http.Redirect(w, r, r.URL.EscapedPath()+"#main", http.StatusSeeOther) // the keyboard begins there
		case op.page != "" && wantsPage(r):
			pages.Write(w, templates(), pages.Page{Name: op.page, Title: op.title, Project: s.Clean(projectOf(r)),
				Query: r.URL.Query(), Data: out}, http.StatusOK)
		case op.method == http.MethodPost:
			give(w, http.StatusCreated, out)
		default:
			give(w, http.StatusOK, out)
		}
	})
}

// wantsPage reports whether a request comes from a browser, by its Accept header.
func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

func byForm(r *http.Request) bool {
	return r.Method == http.MethodPost && wantsPage(r) &&
		r.Header.Get("Content-Type") == "application/x-www-form-urlencoded"
}

func give(w http.ResponseWriter, status int, v any) {
	text, _ := json.Marshal(v) // cannot fail for the forms of operations
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // fails if the client has disconnected
}

// refuse writes an error as a page for a browser, otherwise as JSON.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, status int, f pages.Failure) {
	if f.Error = s.Clean(f.Error); wantsPage(r) {
		f.Show(w, templates(), status)
		return
	}
	give(w, status, f)
}

func usage(hint, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeUsage, hint, format, args...)
}

// decode reads the JSON object in a request's body. Unknown fields and text after the object are errors.
func decode(r *http.Request, form any, example string) error {
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	err := in.Decode(form)
	if err == nil {
		if _, err = in.Token(); err == io.EOF {
			return nil
		}
		err = cmp.Or(err, errors.New("text follows the JSON object"))
	}
	return usage(example, "the request is not valid: %w", err)
}

// number parses a non-negative number of a request, which errors name; "" is 0.
func number(name, text string) (int, error) {
	n, err := strconv.Atoi(cmp.Or(text, "0"))
	if err != nil || n < 0 {
		return 0, usage("", "%s must be a number from 0, not %q", name, memoir.Cut(text, 50))
	}
	return n, nil
}
