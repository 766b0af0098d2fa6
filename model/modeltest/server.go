// Package modeltest serves language models on loopback for tests: real HTTP in the
// providers' wire formats, which answers and misbehaves by a script, and counts
// what it was asked. Read server.go first, then one file of formats.
package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"memoir"
)

// Step is what the server does with one call. The zero Step answers with an empty text.
type Step struct {
	Text       string        // the answer
	Stop       string        // "" the end; "length", "refusal", "filter"
	Usage      memoir.Usage  // tokens told of the call; zero: counted from the texts, 4 bytes a token
	Status     int           // of HTTP; 0 is 200
	RetryAfter string        // the header
	Code       string        // of the error, as the format has one: context_length_exceeded, …
	Message    string        // of the error
	Hang       bool          // never answers, until the caller gives up or the test ends
	Reset      bool          // breaks the connection in the middle of the body
	Latency    time.Duration // before the answer
	Raw        string        // the body as it is, instead of one in the format
	Calls      []ToolCall    // of the tools that the call offers
	NoSchema   bool          // refuses a call that demands a JSON schema, as servers do that have none
}

// ToolCall is a call of a tool in an answer. ID is unique in its conversation.
type ToolCall struct {
	ID        string
	Name      string
	Namespace string // of a tool that was offered inside one
	Custom    bool   // the tool takes text instead of JSON
	Input     any    // the arguments, of a custom tool a string
}

// Call is what the server was asked.
type Call struct {
	N      int // from 0
	Path   string
	Header http.Header
	Body   json.RawMessage
	Step   Step
}

// Server is a scripted provider. Its methods are safe for concurrent use.
type Server struct {
	URL string // of the server's root; a format adds its path

	mu     sync.Mutex
	reply  func(n int, c Call) Step
	calls  []Call
	used   memoir.Usage
	stop   chan struct{}
	server *httptest.Server
}

// format writes the answer of a step to a call, and says which tokens it told.
type format func(w http.ResponseWriter, c Call, s Step) memoir.Usage

// formats are known by the end of a path: bases differ in whether they carry a version.
var formats = map[string]format{"/messages": anthropic, "/chat/completions": chat, "/responses": responses,
	":generateContent": gemini, ":streamGenerateContent": gemini}

// Start starts a server until Close. Call n, from 0 on, is answered by reply, in the format
// that belongs to its path.
func Start(reply func(n int, c Call) Step) *Server {
	s := &Server{reply: reply, stop: make(chan struct{})}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c := Call{Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
		s.mu.Lock()
		c.N = len(s.calls)
		s.calls = append(s.calls, c)
		s.mu.Unlock()
		c.Step = s.reply(c.N, c)
		s.mu.Lock()
		s.calls[c.N].Step = c.Step
		s.mu.Unlock()
		s.answer(w, r, c)
	}))
	s.URL = s.server.URL
	return s
}

// Serve is Start for the time of a test.
func Serve(t testing.TB, reply func(n int, c Call) Step) *Server {
	t.Helper()
	s := Start(reply)
	t.Cleanup(s.Close)
	return s
}

// Close stops the server.
func (s *Server) Close() {
	close(s.stop)
	s.server.Close()
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, c Call) {
	step := c.Step
	if step.Latency > 0 {
		select {
		case <-time.After(step.Latency):
		case <-r.Context().Done():
			return
		}
	}
	if step.Hang {
		select {
		case <-r.Context().Done():
		case <-s.stop:
		}
		return
	}
	if step.RetryAfter != "" {
		w.Header().Set("Retry-After", step.RetryAfter)
	}
	if step.Reset {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "100000")
		_, _ = io.WriteString(w, `{"id":"half`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	answer := httptest.NewRecorder()
	used := write(answer, c)
	used.Calls = 1
	s.mu.Lock()
	s.used = s.used.Add(used) // before the caller can ask
	s.mu.Unlock()
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// write answers a call in its format, and says which tokens it told.
func write(w http.ResponseWriter, c Call) memoir.Usage {
	s := c.Step
	if s.Raw != "" {
		writeRaw(w, s)
		return memoir.Usage{}
	}
	for end, f := range formats {
		switch {
		case !strings.HasSuffix(c.Path, end):
			continue
		case s.Status < http.StatusBadRequest:
			return f(w, c, s)
		case end == "/messages":
			return anthropicError(w, s.Status, s.Code, s.Message)
		}
		writeJSON(w, s.Status, openAIError(s.Code, s.Message))
		return memoir.Usage{}
	}
	writeJSON(w, http.StatusNotFound, openAIError("", "Unknown request URL: POST "+c.Path))
	return memoir.Usage{}
}

// Calls returns what was asked, in order.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Used is the sum of the tokens that the server told of, and the calls that it answered.
func (s *Server) Used() memoir.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Script answers calls by steps, in order; the last is repeated.
func Script(steps ...Step) func(n int, c Call) Step {
	return func(n int, c Call) Step { return steps[min(n, len(steps)-1)] }
}

// tokens counts the tokens of a step: those that it names, else 4 bytes a token.
func tokens(c Call, s Step) memoir.Usage {
	if s.Usage.InputTokens+s.Usage.OutputTokens > 0 {
		return s.Usage
	}
	return memoir.Usage{InputTokens: int64(memoir.Tokens(string(c.Body))), OutputTokens: int64(memoir.Tokens(s.Text))}
}

// writeRaw answers with a step's own body, as what it looks like.
func writeRaw(w http.ResponseWriter, s Step) {
	kind := "application/json"
	if s.Raw[0] == '<' {
		kind = "text/html; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(max(s.Status, http.StatusOK))
	_, _ = io.WriteString(w, s.Raw)
}

// id is that of the answer to a call.
func (c Call) id() string { return fmt.Sprintf("mock_%06d", c.N) }

type object = map[string]any

// compact is a value as JSON; text stays as it is.
func compact(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // the values are made in tests
	}
	return string(data)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// writeEvent sends one event of a stream; without a name where the API gives it none.
func writeEvent(w http.ResponseWriter, name string, body any) {
	w.Header().Set("Content-Type", "text/event-stream")
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", compact(body))
}
