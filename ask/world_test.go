package ask_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memoir"
	"memoir/ask"
	"memoir/config"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/secrets"
	"memoir/store"
	"memoir/testdata"
)

// The projects of the fixture sessions, and a session of each.
const (
	lanternd, papertrail = "lanternd-97c055e77a45", "papertrail-626cc744f22e"
	ofLanternd           = "claude:2b9ad815-6574-4c4b-abfe-3b8dd71bbe39"
	ofPapertrail         = "3fba1cd1"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a home with the memory of the fixture sessions.
type world struct {
	t       *testing.T
	options pipeline.Options
	asked   ask.Options
}

func newWorld(t *testing.T) *world {
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
	w.asked = ask.Options{Version: "test", Context: func() string { return "" },
		Project: func(context.Context) (ask.Project, error) { return ask.Project{ID: lanternd, Tree: dir}, nil },
		Access: operation.Access{Home: w.options.Home, Redact: s.Message, Scanner: scanner, Read: w.open,
			Change: func(ctx context.Context) (pipeline.Options, *store.Store, error) {
				st, err := w.open(ctx)
				return w.options, st, err
			},
			CatchUp: func(context.Context) error { return nil },
			Extract: func([]string) error { return nil },
		},
		Write: func(ctx context.Context) (pipeline.Options, *store.Store, memoir.Project, error) {
			st, err := w.open(ctx)
			must(t, err)
			row, err := st.FindProject(ctx, lanternd)
			return w.options, st, row.Project, err
		},
	}
	w.run()
	return w
}

func (w *world) open(ctx context.Context) (*store.Store, error) {
	return store.Open(ctx, filepath.Join(w.options.Home, "memoir.db"), store.Options{})
}

func (w *world) run() {
	w.t.Helper()
	st, err := w.open(w.t.Context())
	must(w.t, err)
	defer st.Close()
	_, err = pipeline.Run(w.t.Context(), st, w.options)
	must(w.t, err)
}

// live returns the path of a file in a project's live memory.
func (w *world) live(project, name string) string {
	return filepath.Join(w.options.Home, "projects", project, "memory", name)
}

func (w *world) text(project, name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.live(project, name))
	must(w.t, err)
	return string(b)
}

// connect connects the SDK's client to a server over pipes.
func (w *world) connect() *mcp.ClientSession { return w.connectAs("test") }

func (w *world) connectAs(name string) *mcp.ClientSession {
	w.t.Helper()
	inner, theirs := io.Pipe()
	ours, outer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- ask.Serve(w.t.Context(), ask.New(w.asked), inner, outer)
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	session, err := client.Connect(w.t.Context(), &mcp.IOTransport{Reader: ours, Writer: theirs}, nil)
	must(w.t, err)
	w.t.Cleanup(func() {
		_ = theirs.Close() // ends the server's input
		if err := <-served; err != nil && w.t.Context().Err() == nil {
			w.t.Errorf("the server ended with %v", err)
		}
		_ = session.Close()
	})
	return session
}

// call calls a tool, checks the size of its answer in tokens as a model gets it, and returns the answer or the text of
// the error.
func (w *world) call(session *mcp.ClientSession, tokens int, tool string, arguments any) (out map[string]any,
	failed string) {
	w.t.Helper()
	result, err := session.CallTool(w.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		w.t.Fatalf("%s %.200v: %v", tool, arguments, err)
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if n := memoir.Tokens(text); n > tokens {
		w.t.Errorf("%s %.200v: %d tokens, more than %d", tool, arguments, n, tokens)
	}
	if result.IsError {
		return nil, text
	}
	must(w.t, json.Unmarshal([]byte(text), &out))
	return out, ""
}
