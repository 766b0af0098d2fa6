package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/config"
	"memoir/entry"
	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/prompts"
	"memoir/secrets"
	"memoir/store"
	"memoir/testdata"
)

// A project of the fixture sessions, one of its sessions, and the server's token and address.
const (
	lanternd   = "lanternd-97c055e77a45"
	ofLanternd = "claude:2b9ad815-6574-4c4b-abfe-3b8dd71bbe39"
	token      = "AAAABBBBCCCCDDDDEEEEFFFFGG"
	host       = "127.0.0.1:4000"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a home with the memory of the fixture sessions, and its server.
type world struct {
	t       testing.TB
	options pipeline.Options
	served  Options
	handler http.Handler
	full    []string // sessions passed to Options.Extract
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir := t.TempDir()
	_, err := testdata.Write(filepath.Join(dir, "sessions"))
	must(t, err)
	w := &world{t: t, options: pipeline.Options{Home: filepath.Join(dir, "home"), Settings: config.Default(),
		SessionsDir: filepath.Join(dir, "sessions"), Now: testdata.Now, Limit: 100}}
	must(t, os.Mkdir(w.options.Home, 0o700))
	scanner := func() (*secrets.Scanner, error) { return secrets.New(secrets.Options{}) }
	s, err := scanner()
	must(t, err)
	w.served = Options{Token: token, Access: operation.Access{
		Home: w.options.Home, Redact: s.Message, Scanner: scanner, Read: w.read,
		Change: func(ctx context.Context) (pipeline.Options, *store.Store, error) {
			st, err := w.open(ctx, store.Options{})
			return w.options, st, err
		},
		CatchUp: func(context.Context) error { return nil },
		Extract: func(keys []string) error { w.full = append(w.full, keys...); return nil },
	},
		Injected: func(ctx context.Context, projectID string) (string, error) {
			st, err := w.read(ctx)
			must(t, err)
			defer st.Close()
			notes, err := entry.Injected(ctx, st, projectID)
			must(t, err)
			summary, err := memory.At(w.options.Home, projectID).Summary()
			return prompts.ReadPath(prompts.ReadPathVars{MemorySummary: notes.Text(10_000) + summary}), err
		},
	}
	w.handler = Handler(w.served)
	w.run()
	return w
}

func (w *world) open(ctx context.Context, o store.Options) (*store.Store, error) {
	return store.Open(ctx, filepath.Join(w.options.Home, "memoir.db"), o)
}

func (w *world) read(ctx context.Context) (*store.Store, error) {
	return w.open(ctx, store.Options{ReadOnly: true})
}

func (w *world) run() {
	w.t.Helper()
	st, err := w.open(w.t.Context(), store.Options{})
	must(w.t, err)
	defer st.Close()
	_, err = pipeline.Run(w.t.Context(), st, w.options)
	must(w.t, err)
}

// request returns a request with the token.
func request(method, target, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = host
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

func (w *world) send(r *http.Request) *httptest.ResponseRecorder {
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, r)
	return out
}

// call sends a request to an operation, checks its answer against openapi.json and returns it.
func (w *world) call(method, target, body string, status int) (out map[string]any) {
	w.t.Helper()
	answer := w.send(request(method, target, body))
	if answer.Code != status {
		w.t.Fatalf("%s %s: %d %s, want %d", method, target, answer.Code, answer.Body, status)
	}
	must(w.t, json.Unmarshal(answer.Body.Bytes(), &out))
	path, _, _ := strings.Cut(target, "?")
	for _, op := range routes {
		if op.method == method && matches(op.path, path) {
			w.conforms(out, described(w.t, op, status), method+" "+op.path)
			return out
		}
	}
	w.t.Fatalf("there is no %s %s", method, path)
	return nil
}

func matches(pattern, path string) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(path, "/")
	return len(a) == len(b) && !slices.ContainsFunc(a, func(part string) bool {
		i := slices.Index(a, part)
		return part != b[i] && !strings.HasPrefix(part, "{")
	})
}

var document = func() (doc map[string]any) {
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		panic(err)
	}
	return doc
}()

// at returns the part of a JSON value at a path. It follows a $ref.
func at(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	if m, ok := v.(map[string]any); ok {
		if ref, ok := m["$ref"].(string); ok {
			return at(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
	}
	return v
}

// described returns the schema of an operation's answer.
func described(t testing.TB, op route, status int) any {
	t.Helper()
	responses := at(document, "paths", op.path, strings.ToLower(op.method), "responses")
	response := at(responses, fmt.Sprint(status))
	if response == nil {
		t.Fatalf("%s %s: %d is not described", op.method, op.path, status)
	}
	return at(response, "content", "application/json", "schema")
}

// conforms checks a value against a schema. It supports the keywords that openapi.json uses.
func (w *world) conforms(v, schema any, where string) {
	w.t.Helper()
	if one, ok := at(schema, "oneOf").([]any); ok {
		if schema = one[0]; v != nil {
			schema = one[1]
		}
	}
	kinds, ok := at(schema, "type").([]any)
	if !ok {
		kinds = []any{at(schema, "type")}
	}
	kind := "null"
	switch v := v.(type) {
	case string:
		kind = "string"
	case bool:
		kind = "boolean"
	case float64:
		if kind = "number"; v == float64(int64(v)) && !slices.Contains(kinds, any("number")) {
			kind = "integer"
		}
	case []any:
		kind = "array"
		for i, one := range v {
			w.conforms(one, at(schema, "items"), fmt.Sprintf("%s[%d]", where, i))
		}
	case map[string]any:
		kind = "object"
		properties, _ := at(schema, "properties").(map[string]any)
		required, _ := at(schema, "required").([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				w.t.Errorf("%s has no %s", where, name)
			}
		}
		for name, one := range v {
			property := at(properties, name)
			if more := at(schema, "additionalProperties"); property == nil && more != nil {
				if property = more; more == false {
					w.t.Errorf("%s: %s is not described", where, name)
				}
			}
			if property != nil && property != false {
				w.conforms(one, property, where+"."+name)
			}
		}
	}
	if !slices.Contains(kinds, any(kind)) {
		w.t.Errorf("%s is a %s, not %v", where, kind, kinds)
	}
}

// note writes a note without the server.
func (w *world) note(text string) memoir.Entry {
	w.t.Helper()
	st, err := w.open(w.t.Context(), store.Options{})
	must(w.t, err)
	defer st.Close()
	e, _, err := entry.Book{Store: st, Home: w.options.Home, Redact: w.served.Redact}.Write(w.t.Context(), memoir.Entry{
		ProjectID: lanternd, Kind: memoir.EntryNote, Category: "fact", Author: memoir.AuthorUser, Text: text})
	must(w.t, err)
	return e
}
