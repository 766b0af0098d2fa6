// Package mockmodel plays a language model on loopback, so that real coding
// agents can hold a scripted conversation and leave real session files. It
// speaks Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and
// Gemini generateContent. It knows no agent: what comes next follows from the
// conversation that a request carries, and a tool is called by the names and
// parameters that the request itself offers.
//
// Read script.go first (what is said and done), then request.go (what all wire
// formats have in common) and one format, for instance chat.go.
package mockmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxBody bounds a request: agents send some 60 KB.
const maxBody = 16 << 20

// Server is a mock model.
type Server struct {
	URL string // without a path: http://127.0.0.1:port

	script Script
	http   *http.Server

	count atomic.Int64 // of the requests for a reply

	mu  sync.Mutex
	log []Call
}

// Call is one request.
type Call struct {
	Path   string
	Status int
	Side   bool // it belongs to no step of the script: a title, a summary, a count
	Body   []byte
}

// Start serves a script on a free port of loopback until Close.
func Start(script Script) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("mock model: %w", err)
	}
	s := &Server{URL: "http://" + listener.Addr().String(), script: script}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

// Close stops the server.
func (s *Server) Close() error { return s.http.Close() }

// Calls returns what was asked so far, oldest first.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.log...)
}

// wire is one format of a model's interface.
type wire interface {
	decode(path string, body []byte) (Request, error)
	// write answers in one piece, or as a stream if the request asks for one.
	write(w http.ResponseWriter, req Request, reply Reply)
}

// wireOf tells by the end of a path which format is spoken; bases differ in
// whether they carry a version.
func wireOf(path string) wire {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return anthropic{}
	case strings.HasSuffix(path, "/responses"):
		return responses{}
	case strings.HasSuffix(path, "/chat/completions"):
		return chat{}
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return gemini{}
	}
	return nil
}

// ServeHTTP answers a request by the script, in the format that its path belongs to.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	call := Call{Path: r.URL.Path, Status: http.StatusOK, Side: true, Body: body}
	defer func() {
		s.mu.Lock()
		s.log = append(s.log, call)
		s.mu.Unlock()
	}()
	refuse := func(status int, message string) {
		call.Status = status
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		writeJSON(w, object{"error": object{"type": "invalid_request_error", "message": message}})
	}
	if err != nil {
		refuse(http.StatusBadRequest, err.Error())
		return
	}
	format := wireOf(r.URL.Path)
	if format == nil || r.Method != http.MethodPost {
		if answer := side(r.URL.Path); answer != nil {
			w.Header().Set("Content-Type", "application/json")
			writeJSON(w, answer)
			return
		}
		refuse(http.StatusNotFound, "the mock model has no "+r.URL.Path)
		return
	}
	req, err := format.decode(r.URL.Path, body)
	if err != nil {
		refuse(http.StatusBadRequest, err.Error())
		return
	}
	req.ID = int(s.count.Add(1))
	reply, scripted := s.script.next(req)
	call.Side = !scripted
	format.write(w, req, reply)
}

// side answers what agents ask beside the conversation; nil: nothing known.
func side(path string) object {
	switch {
	case strings.HasSuffix(path, "/messages/count_tokens"):
		return object{"input_tokens": 100}
	case strings.HasSuffix(path, ":countTokens"):
		return object{"totalTokens": 100}
	case strings.HasSuffix(path, "/models"):
		return object{"object": "list", "data": []object{{"id": Model, "object": "model", "type": "model",
			"display_name": Model, "created": 1, "created_at": "2026-01-01T00:00:00Z", "owned_by": "mock"}},
			"models": []object{}, "has_more": false}
	}
	return nil
}

// Model is the name that the mock answers to when an agent lists models.
const Model = "mock-1"

// object is a JSON object; its members are written in order of name.
type object = map[string]any

func writeJSON(w io.Writer, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the values are made here
	}
	_, _ = w.Write(b)
}

// events writes server-sent events.
type events struct{ w http.ResponseWriter }

func stream(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	return events{w}
}

// send writes one event; name may be empty.
func (e events) send(name string, data any) {
	if name != "" {
		fmt.Fprintf(e.w, "event: %s\n", name)
	}
	io.WriteString(e.w, "data: ")
	writeJSON(e.w, data)
	io.WriteString(e.w, "\n\n")
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}
