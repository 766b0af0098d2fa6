package search

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/lease"
	"memoir/memoirtest"
	"memoir/memory"
	"memoir/store"
)

const project, other = "demo-0123456789ab", "other-0123456789ab"

var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// home is a home with sessions in its database.
type home struct {
	*testing.T
	dir string
	st  *store.Store
}

func newHome(t *testing.T) home {
	t.Helper()
	if !Available {
		t.Skip("built without SQLite's full-text index (-tags sqlite_fts5)")
	}
	h := home{T: t, dir: t.TempDir()}
	var err error
	h.st, err = store.Open(t.Context(), filepath.Join(h.dir, "memoir.db"), store.Options{Now: func() time.Time { return noon }})
	h.must(err)
	t.Cleanup(func() { h.st.Close() })
	for _, id := range []string{project, other} {
		_, err := h.st.Register(t.Context(), memoir.Project{ID: id, Name: id[:4], Identity: "host/" + id})
		h.must(err)
	}
	return h
}

func (h home) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// say stores a session of a project. Texts alternate between the person and the agent.
func (h home) say(projectID, id, raw string, texts ...string) {
	h.Helper()
	size := 100
	for _, text := range texts {
		size += len(text)
	}
	h.must(h.st.SaveScan(h.Context(), []store.SessionScan{{Session: memoir.Session{
		ID: id, Source: memoir.SourcePi, Kind: memoir.KindMain, ProjectID: projectID,
		CreatedAt: noon.Add(-48 * time.Hour), UpdatedAt: noon.Add(-24 * time.Hour),
		Files: []memoir.File{{Path: "/s/" + id, Size: int64(size), ModTime: noon.Add(-24 * time.Hour)}},
	}}}, nil))
	claims, err := h.st.ClaimSessions(h.Context(), store.ClaimOptions{Holder: lease.Self(), Lease: time.Minute, Limit: 1,
		Window: store.Window{Now: noon}})
	h.must(err)
	if len(claims) != 1 {
		h.Fatalf("%d claims", len(claims))
	}
	r := store.Result{Extraction: memoir.Extraction{Statements: memoirtest.Statements(raw), RolloutSummary: raw, ContentHash: strings.Join(texts, ""), FilterVersion: 1}}
	for i, text := range texts {
		r.Messages = append(r.Messages, store.Message{Item: 2*i + 1, Typed: i%2 == 0, At: noon.Add(time.Duration(i) * time.Minute), Text: text})
	}
	h.must(h.st.StoreExtraction(h.Context(), claims[0], r))
}

// publish makes files the live memory of the project.
func (h home) publish(n int, files memory.Files) {
	h.Helper()
	root := memory.At(h.dir, project)
	m := memory.Manifest{Inputs: []memory.Input{{Session: "pi:a", Hash: "1"}}}.Describing(n, files)
	h.must(root.Stage(h.Context(), n, files, m))
	h.must(root.Swap(n))
	h.must(h.st.RecordGeneration(h.Context(), project, store.GenerationRecord{N: int64(n), ManifestHash: m.Hash()}))
}

func (h home) update() {
	h.Helper()
	h.must(Update(h.Context(), h.st, h.dir, masked, false))
}

// masked stands for redaction: it masks a secret of two lines.
func masked(text string) string {
	return strings.ReplaceAll(text, "aardvark\n  xyzzy", "[REDACTED:x]\n")
}

func (h home) find(text, projectID string) Result {
	h.Helper()
	r, err := Find(h.Context(), h.dir, Query{Text: text, ProjectID: projectID, Redact: masked})
	h.must(err)
	return r
}

// places returns the hits' places in a short form.
func places(r Result) (out []string) {
	for _, hit := range r.Hits {
		out = append(out, fmt.Sprintf("%s %s %d", hit.Source, strings.TrimPrefix(hit.Path, "memory://root/"), max(hit.Item, hit.StartLine)))
	}
	return out
}

const summary = "session: a\nagent: pi\nended: 2026-08-31T12:00:00Z\ncwd: /ham\n\n# Upload\n\n- date: 2026-08-31\n- directory: /ham\n\nThe upload was rewritten as a stream.\n"

func newFullHome(t *testing.T) home {
	h := newHome(t)
	h.say(project, "a", "## Failures\n- the upload stopped at 2 GiB; a chunked reader fixed it [5]\n\n"+
		"## Claims of the agent, not verified\n- the proxy caches quietly [7]\n",
		"Why does the upload stop?", "I am parsing internal/net/chunkReader.go and max_open_conns", "Use --dry-run first </memoir-context>",
		"Das Café-Projekt ist fertig")
	h.say(project, "b", "", "メモリを検索する機能", "done", "the kettle is whistling", "then we talked of nothing")
	h.say(other, "c", "", "the upload of the other project", "an answer")
	h.publish(1, memory.Files{
		"MEMORY.md":              []byte("# Memory\n\nFrom 1 session.\n\n## Commands\n- `make zebra` passes [a 2026-08-31]\n- run the linter before a push\n"),
		"memory_summary.md":      []byte("x\n"),
		"rollout_summaries/a.md": []byte(summary),
	})
	h.update()
	return h
}

func TestWhatIsSaidIsFound(t *testing.T) {
	t.Parallel()
	h := newFullHome(t)
	for _, test := range []struct {
		query, project string
		want           []string // the first hits
	}{
		{"whistled kettles", "", []string{"typed session:pi:b 5"}},
		{"parse chunk_reader", "", []string{"agent session:pi:a 3"}},
		{"MaxOpenConns", "", []string{"agent session:pi:a 3"}},
		{"internal/net/chunkReader.go", "", []string{"agent session:pi:a 3"}},
		{"dry-run", "", []string{"typed session:pi:a 5"}},
		{"cafe projekt", "", []string{"agent session:pi:a 7"}},
		{"検索", "", []string{"typed session:pi:b 1"}},
		{"検", "", []string{"typed session:pi:b 1"}},
		{"2 GiB stopped chunked", "", []string{"statement session:pi:a 5"}},
		{"proxy caching", "", []string{"claim session:pi:a 7"}},
		{"zebra", "", []string{"memory MEMORY.md 6"}},
		{"what about the linter", project, []string{"memory MEMORY.md 7"}},
		{"rewritten stream", "", []string{"summary rollout_summaries/a.md 11"}},
		{"upload", other, []string{"typed session:pi:c 1"}},
		{"1 September 2026 kettle", "", []string{"typed session:pi:b 5"}},
		{`kettle AND NOT (whistl* OR "NEAR(`, "", []string{"typed session:pi:b 5"}},
		{"words:kettle ^ - + {} ; DROP TABLE document", "", []string{"typed session:pi:b 5"}},
		{"a\u19b0b kettle", "", []string{"typed session:pi:b 5"}},
		{"xylophone", "", nil},
		{"directory ham", "", nil}, // in the head of a summary alone
	} {
		r := h.find(test.query, test.project)
		if got := places(r); len(got) < len(test.want) || !slices.Equal(got[:len(test.want)], test.want) || len(test.want) == 0 && len(got) > 0 {
			t.Errorf("%q gives %q, want first %q", test.query, got, test.want)
		}
		if r.Behind {
			t.Errorf("%q: the index is behind", test.query)
		}
		seen := map[string]bool{}
		for _, hit := range r.Hits {
			if hit.Source != SourceMemory && seen[hit.Session] {
				t.Errorf("%q: session %s is there twice", test.query, hit.Session)
			}
			seen[hit.Session] = seen[hit.Session] || hit.Source != SourceMemory
			if strings.Contains(hit.Snippet, "</memoir-context>") || strings.Contains(hit.Snippet, "\n") || len(hit.Snippet) > maxSnippet+20 {
				t.Errorf("%q: snippet %q", test.query, hit.Snippet)
			}
		}
	}
	if hit := h.find("zebra", "").Hits[0]; hit.Session != "pi:a" || hit.ProjectID != project {
		t.Errorf("a line of memory: %+v", hit)
	}
	for _, query := range []string{"", "what did you do then", "?! *"} {
		if _, err := Find(t.Context(), h.dir, Query{Text: query}); memoir.CodeOf(err) != memoir.CodeUsage {
			t.Errorf("%q: %v", query, err)
		}
	}
}

func TestTheIndexFollowsWhatIsStored(t *testing.T) {
	t.Parallel()
	h := newFullHome(t)
	path := filepath.Join(h.dir, fileName)
	want := func(what, query string, behind bool, hits ...string) {
		t.Helper()
		if r := h.find(query, ""); r.Behind != behind || !slices.Equal(places(r), hits) {
			t.Errorf("%s: behind %v, %q", what, r.Behind, places(r))
		}
	}
	before, err := os.Stat(path)
	h.must(err)
	h.update()
	if after, err := os.Stat(path); err != nil || after.ModTime() != before.ModTime() {
		t.Errorf("nothing is new, and the file was written: %v", err)
	}
	h.say(project, "d", "", "a giraffe", "yes")
	want("stored since", "giraffe", false, "typed session:pi:d 1")
	h.say(project, "d", "", "a giraffe that grew", "an ostrich")
	want("read again since", "ostrich", false, "agent session:pi:d 3")
	h.must(os.WriteFile(filepath.Join(memory.At(h.dir, project).Link(), memoir.MemoryFile), []byte("# Memory\n\n- by hand: a walrus\n"), 0o600))
	want("edited by hand", "zebra", true)
	h.update()
	want("indexed by hand", "walrus", false, "memory MEMORY.md 3")
	for _, path := range []string{filepath.Join(memory.At(h.dir, project).Link(), memoir.MemoryFile), memory.At(h.dir, project).History("")} {
		h.must(os.WriteFile(path, []byte("- aardvark\n  xyzzy\n\n- a marmot\n"), 0o600))
	}
	want("a secret by hand, not indexed", "xyzzy", true)
	h.update()
	want("a secret by hand", "xyzzy", false)
	want("the lines after it", "marmot", false, "history HISTORY.md 4", "memory MEMORY.md 4")
	h.must(h.st.SetDisabled(t.Context(), "pi:d", true))
	want("disabled", "ostrich", true)

	for what, spoil := range map[string]func() error{
		"gone":              func() error { return os.Remove(path) },
		"no database":       func() error { return os.WriteFile(path, bytes.Repeat([]byte("x"), 9000), 0o600) },
		"empty":             func() error { return os.WriteFile(path, nil, 0o600) },
		"torn":              func() error { return os.Truncate(path, 8192) },
		"of another":        func() error { return h.sql(`PRAGMA user_version = 99`) },
		"of other contents": func() error { return h.sql(`UPDATE indexed SET state = 'x'; DELETE FROM document WHERE n = 2`) },
	} {
		h.must(spoil())
		h.update()
		want(what, "kettle", false, "typed session:pi:b 5")
		h.must(spoil())
		h.find("kettle", "") // repairs what it cannot read
		h.update()
		want(what+", read first", "kettle", false, "typed session:pi:b 5")
	}
}

// sql changes the index by a statement that no program executes.
func (h home) sql(statement string) error {
	db, err := sql.Open("sqlite3", filepath.Join(h.dir, fileName))
	h.must(err)
	defer db.Close()
	_, err = db.Exec(statement)
	return err
}

// After forgetting, the file has no forgotten word, whatever the state of the index was.
func TestForgottenWordsLeaveNoByte(t *testing.T) {
	t.Parallel()
	h := newFullHome(t)
	for i := range 40 { // more segments than one
		h.say(project, fmt.Sprintf("s%02d", i), "", fmt.Sprintf("zanzibarish number%d", i), "agreed")
		h.update()
	}
	holds := func() bool {
		content, err := os.ReadFile(filepath.Join(h.dir, fileName))
		h.must(err)
		return bytes.Contains(content, []byte("anzibar")) || bytes.Contains(content, []byte("number17"))
	}
	if !holds() {
		t.Fatal("the index does not hold the word, so the test sees nothing")
	}
	var keys []string
	for i := range 40 {
		keys = append(keys, fmt.Sprintf("pi:s%02d", i))
	}
	h.must(h.st.BeginForgetting(t.Context(), store.Forgetting{Keys: keys}))
	h.update() // like a run in between
	if r := h.find("zanzibarish", ""); len(r.Hits) > 0 {
		t.Errorf("found: %+v", r.Hits)
	}
	h.must(Update(t.Context(), h.st, h.dir, masked, true))
	if holds() {
		t.Error("the index still holds a word of what was forgotten")
	}
	if got := places(h.find("kettle", "")); !slices.Equal(got, []string{"typed session:pi:b 5"}) {
		t.Errorf("what stays: %q", got)
	}
	h.must(Discard(h.dir))
	if r := h.find("kettle", ""); len(r.Hits) != 1 || r.Behind {
		t.Errorf("made anew: %+v", r)
	}
}

// While one process writes, another skips its update, and readers are not blocked.
func TestAProcessThatFindsAWriterLeavesItToThat(t *testing.T) {
	t.Parallel()
	h := newFullHome(t)
	db, err := sql.Open("sqlite3", filepath.Join(h.dir, fileName)+"?_txlock=immediate")
	h.must(err)
	defer db.Close()
	tx, err := db.Begin()
	h.must(err)
	h.say(project, "d", "", "a giraffe")
	h.update()
	if r := h.find("giraffe kettle", ""); !r.Behind || len(r.Hits) != 1 {
		t.Errorf("%+v", r)
	}
	h.must(tx.Rollback())
	h.update()
	if r := h.find("giraffe", ""); r.Behind || len(r.Hits) != 1 {
		t.Errorf("%+v", r)
	}
}

// A search finds what it looks for although a purge discards the index that it just makes.
func TestASearchDuringAPurgeWaits(t *testing.T) {
	t.Parallel()
	h := newFullHome(t)
	h.must(Discard(h.dir))
	discarded := false
	r, err := Find(t.Context(), h.dir, Query{Text: "kettle", Redact: func(text string) string {
		if !discarded {
			discarded = true
			h.must(Discard(h.dir))
		}
		return text
	}})
	if err != nil || len(r.Hits) != 1 || !discarded {
		t.Errorf("%+v, %v", r, err)
	}
}

// A run that is interrupted says so, also after SQLite has taken back what was written.
func TestAnInterruptedUpdateIsNoFault(t *testing.T) {
	t.Parallel()
	h := newFullHome(t)
	db, err := sql.Open("sqlite3", filepath.Join(h.dir, fileName)+"?_busy_timeout=60000")
	h.must(err)
	defer db.Close()
	h.must(Discard(h.dir))
	ctx, interrupt := context.WithCancel(h.Context())
	err = Update(ctx, h.st, h.dir, func(text string) string {
		interrupt()
		_, err := db.Exec("BEGIN IMMEDIATE; ROLLBACK") // waits for the end of the update's transaction
		h.must(err)
		return text
	}, false)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAStatementComesBeforeMessagesWithTheSameWords(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.say(project, "knows", "## Commands\n- test: `gob run test` [3]\n", "mend it", "Now let me run the tests:")
	if got := places(h.find("how do I run the tests", "")); !slices.Equal(got, []string{"statement session:pi:knows 3"}) {
		t.Errorf("%q", got)
	}
}

func TestNeighboursCountMoreThanTheWholeSession(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.say(project, "near", "", "first", "the harbour was closed", "because of the regatta", "second", "third", "fourth")
	h.say(project, "far", "", "the harbour was closed", "one", "two", "three", "four", "because of the regatta")
	h.say(project, "none", "", "nothing of the kind", "at all")
	if got := places(h.find("harbour regatta", "")); !slices.Equal(got, []string{"agent session:pi:near 3", "typed session:pi:far 1"}) {
		t.Errorf("%q", got)
	}
}

func TestWhatRejectsTheSameStandsFirst(t *testing.T) {
	t.Parallel()
	hits := []Hit{{Snippet: "Now let me run the integration tests.", Score: 11.7}, {Snippet: "don't run CI or integration tests, too slow", Score: 11.5}}
	for text, first := range map[string]string{"don't run integration tests": "don't", "run integration tests": "Now"} {
		r := Result{Hits: slices.Clone(hits), text: text}
		if r.rejectedFirst(); !strings.HasPrefix(r.Hits[0].Snippet, first) {
			t.Errorf("%s: %q", text, r.Hits[0].Snippet)
		}
	}
}
