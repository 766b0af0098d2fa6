package serve

import (
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// An operation of the API: GET unless it changes something. Its answer is given as JSON with the status.
type operation struct {
	method, path string
	status       int
	do           answer
}

type answer func(*server, *http.Request) (any, error)

// operations are those that openapi.json describes.
var operations = []operation{
	{"GET", "/openapi.json", http.StatusOK, (*server).describe},
	{"GET", "/memory", http.StatusOK, reading((*server).latestNotes)},
	{"GET", "/projects", http.StatusOK, reading((*server).listProjects)},
	{"GET", "/projects/{project}/notes", http.StatusOK, reading((*server).listNotes)},
	{"POST", "/projects/{project}/notes", http.StatusCreated, changing((*server).addNote)},
	{"GET", "/projects/{project}/recall", http.StatusOK, changing((*server).recallNotes)},
	{"PUT", "/notes/{id}", http.StatusOK, changing((*server).changeNote)},
	{"DELETE", "/notes/{id}", http.StatusOK, changing((*server).forgetNote)},
	{"GET", "/projects/{project}/memory", http.StatusOK, reading((*server).projectMemory)},
	{"PATCH", "/projects/{project}/memory", http.StatusOK, changing((*server).patchMemory)},
	{"GET", "/projects/{project}/messages", http.StatusOK, reading((*server).lastMessages)},
	{"POST", "/projects/{project}/messages", http.StatusCreated, changing((*server).addMessages)},
	{"GET", "/projects/{project}/generations", http.StatusOK, reading((*server).listGenerations)},
	{"GET", "/projects/{project}/diff", http.StatusOK, reading((*server).compareGenerations)},
	{"GET", "/sessions", http.StatusOK, reading((*server).listSessions)},
	{"GET", "/sessions/{key}", http.StatusOK, reading((*server).showSession)},
	{"GET", "/search", http.StatusOK, (*server).searchAll},
	{"GET", "/queue", http.StatusOK, reading((*server).showQueue)},
	{"GET", "/usage", http.StatusOK, reading((*server).showUsage)},
}

//go:embed openapi.json
var openAPI []byte

func (*server) describe(*http.Request) (any, error) { return json.RawMessage(openAPI), nil }

// reading is the answer of an operation that reads the registry.
func reading(do func(*server, *store.Store, *http.Request) (any, error)) answer {
	return func(s *server, r *http.Request) (any, error) {
		st, giveBack, err := s.registry.borrow(r.Context())
		if err != nil {
			return nil, err
		}
		defer giveBack()
		return do(s, st, r)
	}
}

// A change is what an operation needs that changes memory.
type change struct {
	*http.Request
	st   *store.Store
	opts pipeline.Options
}

// changing is the answer of an operation that changes memory.
func changing(do func(*server, change) (any, error)) answer {
	return func(s *server, r *http.Request) (any, error) {
		opts, st, err := s.Change(r.Context())
		if err != nil {
			return nil, err
		}
		defer st.Close()
		return do(s, change{r, st, opts})
	}
}

func (s *server) answering(op operation) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := op.do(s, r)
		if err != nil {
			s.refuse(w, r, statusOf(err), s.failureOf(err))
			return
		}
		give(w, op.status, out)
	})
}

// give answers with JSON.
func give(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer is no JSON","hint":"","code":"internal"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // of a client that is gone
}

// A failure is the answer that tells of an error.
type failure struct {
	Error string `json:"error"`
	Hint  string `json:"hint"`
	Code  string `json:"code"`
}

// refuse answers with an error: as a page to a browser that wants one.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, status int, f failure) {
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.write(w, "failure", page{Title: http.StatusText(status), Failure: &f}, status)
		return
	}
	give(w, status, f)
}

// statuses are those of errors, by code; others are the server's own.
var statuses = map[memoir.Code]int{
	memoir.CodeUsage: http.StatusUnprocessableEntity, memoir.CodeInvalid: http.StatusUnprocessableEntity,
	memoir.CodeNotFound: http.StatusNotFound, memoir.CodeBusy: http.StatusConflict,
	memoir.CodeLeaseLost: http.StatusConflict, memoir.CodeChanged: http.StatusConflict,
	memoir.CodeStorage: http.StatusInsufficientStorage, memoir.CodeInterrupted: http.StatusServiceUnavailable,
}

// statusOf is the status that stands for an error.
func statusOf(err error) int {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return http.StatusRequestEntityTooLarge
	}
	if status, ok := statuses[memoir.CodeOf(err)]; ok {
		return status
	}
	return http.StatusInternalServerError
}

func (s *server) failureOf(err error) failure {
	return failure{s.clean(memoir.Cut(err.Error(), 1000)), memoir.HintOf(err), string(memoir.CodeOf(err))}
}

func usage(hint, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeUsage, hint, format, args...)
}

// body reads what a request sends.
func body(r *http.Request) ([]byte, error) {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeUsage, "at most 1 MB", "read the request: %w", err)
	}
	return content, nil
}

// number reads a number from 0 of a query; one that is not given is 0.
func number(r *http.Request, name string) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, usage("", "%s is a number from 0, not %q", name, memoir.Cut(text, 50))
	}
	return n, nil
}

func (s *server) listProjects(st *store.Store, r *http.Request) (any, error) {
	projects, err := s.projects(r.Context(), st)
	return struct {
		Projects []Project `json:"projects"`
	}{projects}, err
}
