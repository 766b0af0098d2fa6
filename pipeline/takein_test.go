package pipeline_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/pipeline"
	"memoir/search"
	"memoir/store"
)

// codexCalls adds calls of commands with their results to a session of codexSession: command, exit status, output.
func codexCalls(t *testing.T, path string, calls ...[3]string) {
	t.Helper()
	quoted := func(text string) string {
		b, err := json.Marshal(text)
		must(t, err)
		return string(b)
	}
	for i, call := range calls {
		appendLine(t, path, fmt.Sprintf(`{"timestamp":"2026-05-01T10:01:%02dZ","type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c%d","arguments":%s}}`,
			i, i, quoted(fmt.Sprintf(`{"command":["bash","-lc",%s]}`, quoted(call[0])))))
		appendLine(t, path, fmt.Sprintf(`{"timestamp":"2026-05-01T10:01:%02dZ","type":"response_item","payload":{"type":"function_call_output","call_id":"c%d","output":%s}}`,
			i, i, quoted(fmt.Sprintf(`{"output":%s,"metadata":{"exit_code":%s}}`, quoted(call[2]), call[1]))))
	}
}

// catchUp does what a search does first.
func catchUp(t *testing.T, o pipeline.Options) (opened bool) {
	t.Helper()
	o.SessionsDir = ""
	st := open(t, o.Home)
	unread, err := st.CountUntaken(t.Context(), "", 0)
	must(t, err)
	must(t, st.Close())
	must(t, pipeline.CatchUp(t.Context(), o, time.Minute, "", unread > 0, func(context.Context) (*store.Store, error) {
		opened = true
		return open(t, o.Home), nil
	}))
	return opened
}

// found returns the hits of a query as session, item and source.
func found(t *testing.T, home, query string) (hits []string) {
	t.Helper()
	if !search.Available {
		t.Skip("built without SQLite's full-text index")
	}
	out, err := search.Find(t.Context(), home, search.Query{Text: query, Redact: strings.Clone})
	must(t, err)
	for _, h := range out.Hits {
		hits = append(hits, fmt.Sprintf("%s %d %s", h.Session, h.Item, h.Source))
	}
	return hits
}

func TestEverySessionOnDiskIsFoundWithoutARun(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	o := options(home, dir)
	o.MinIdle, o.MaxAge, o.Limit = 12*time.Hour, 24*time.Hour, 1 // no session is eligible
	old := codexSession(t, dir, "old", "/srv/app", "main", "the quokka importer")
	if report := run(t, o); report.Phase1.Claimed != 0 {
		t.Fatalf("%+v", report.Phase1)
	}
	if got := found(t, home, "quokka"); !slices.Equal(got, []string{"codex:old 1 typed"}) {
		t.Errorf("after a run that extracts nothing: %q", got)
	}
	if catchUp(t, o) {
		t.Error("the database is opened though nothing changed")
	}
	below := filepath.Join(dir, "new")
	must(t, os.Mkdir(below, 0o700))
	path := codexSession(t, below, "fresh", "/srv/other", "main", "the numbat exporter")
	codexCalls(t, path, [3]string{"make wombat-docs", "2", "compiling\nerror: bilby.go is not formatted\nmake: *** [docs] Error 1"})
	appendLine(t, old, `{"timestamp":"2026-05-02T10:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"and the potoroo"}}`)
	if !catchUp(t, o) {
		t.Error("the changes are not noticed")
	}
	for query, want := range map[string]string{
		"numbat": "codex:fresh 1 typed", "wombat": "codex:fresh 3 command", "bilby": "codex:fresh 3 error", "potoroo": "codex:old 3 typed",
	} {
		if got := found(t, home, query); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}

	must(t, os.Remove(filepath.Join(home, "seen"))) // as in a home of an earlier version
	if first, again := pipeline.ClaimScan(home), pipeline.ClaimScan(home); !first || again {
		t.Errorf("claims of a scan: %t, %t", first, again)
	}

	// The text outlives the transcript, and a run extracts as if nothing had been read.
	must(t, os.Remove(path))
	o.MinIdle, o.MaxAge, o.Limit = 0, 0, 100
	if report := run(t, o); report.Phase1.Claimed != 1 {
		t.Errorf("%+v", report.Phase1)
	}
	if got := found(t, home, "bilby"); len(got) != 1 {
		t.Errorf("without its transcript: %q", got)
	}
	forgotten(t, o, store.Forgetting{Keys: []string{"codex:fresh"}, Purge: true})
	if got := found(t, home, "bilby"); len(got) != 0 {
		t.Errorf("forgotten: %q", got)
	}
}

func TestWhatWasSaidIsToldUntilAConsolidationTakesIt(t *testing.T) {
	t.Parallel()
	dir, home, app := t.TempDir(), t.TempDir(), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(app, ".git", "objects"), 0o700))
	must(t, os.MkdirAll(filepath.Join(app, ".git", "refs"), 0o700))
	writeIn(t, filepath.Join(app, ".git", "HEAD"), "ref: refs/heads/main\n")
	now := func(path string) { replaceIn(t, path, "2026-05-01T10:00", time.Now().UTC().Format("2006-01-02T15:04")) }
	now(codexSession(t, dir, "first", app, "main", "Always run make check before a commit."))
	o := options(home, dir)
	o.Now = time.Time{}
	run(t, o)
	told := func(except string) string {
		t.Helper()
		st := open(t, home)
		projects, err := st.Projects(t.Context())
		must(t, err)
		text, _, err := pipeline.Said(t.Context(), st, home, projects[0].ID, except)
		must(t, errors.Join(err, st.Close()))
		return text
	}
	path := codexSession(t, dir, "second", app, "main", "From now on never use npm.")
	now(path)
	now(codexSession(t, dir, "third", "/srv/elsewhere", "main", "Never use yarn from now on."))
	dry, only := o, o // runs that do not read it, so that it is still new to the look
	dry.DryRun, only.Only = true, []string{"codex:first"}
	run(t, dry)
	run(t, only)
	other := open(t, home)
	must(t, errors.Join(pipeline.Turn(t.Context(), other, o, "codex:first"), other.Close()))
	for _, start := range []string{"/srv/elsewhere", app} { // the first leaves what it does not read to the second
		must(t, pipeline.CatchUp(t.Context(), o, time.Minute, start, start == app, func(context.Context) (*store.Store, error) { return open(t, home), nil }))
	}
	if text := told(""); !strings.HasPrefix(text, "- “From now on never use npm.” [second ") || strings.Contains(text, "make check") {
		t.Errorf("told: %q", text)
	}
	if text := told("second"); text != "" {
		t.Errorf("told to itself: %q", text)
	}
	st := open(t, home)
	projects, err := st.Projects(t.Context())
	must(t, err)
	must(t, st.Answer(t.Context(), projects[0].ID, []string{memoir.LineKey("- “From now on never use npm.”")}, nil))
	must(t, st.Close())
	if text := told(""); text != "" {
		t.Errorf("told after an answer: %q", text)
	}
	if report := run(t, o); report.Phase1.Stored != 2 {
		t.Errorf("a run does not extract it: %+v", report.Phase1)
	}
	st = open(t, home)
	defer st.Close()
	if left, err := st.Said(t.Context(), projects[0].ID); err != nil || len(left) > 0 {
		t.Errorf("after a consolidation: %v, %v", left, err)
	}
}

func TestOfWhatWasSaidTheLaterWordWins(t *testing.T) {
	t.Parallel()
	dir, home, app := t.TempDir(), t.TempDir(), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(app, ".git", "objects"), 0o700))
	must(t, os.MkdirAll(filepath.Join(app, ".git", "refs"), 0o700))
	writeIn(t, filepath.Join(app, ".git", "HEAD"), "ref: refs/heads/main\n")
	o := options(home, dir)
	o.Now = time.Time{}
	for i, text := range []string{"Always run make check before a commit.\n\nAlways use tabs for indentation.",
		"From now on never use npm.", "From now on always use npm.", "Never run make check before a commit."} {
		at := time.Now().UTC().Add(time.Duration(i-3) * time.Hour)
		replaceIn(t, codexSession(t, dir, fmt.Sprint("session", i), app, "main", text), "2026-05-01T10:00", at.Format("2006-01-02T15:04"))
		if i == 0 {
			run(t, o)
		}
	}
	must(t, pipeline.CatchUp(t.Context(), o, time.Minute, app, false, func(context.Context) (*store.Store, error) { return open(t, home), nil }))
	st := open(t, home)
	defer st.Close()
	projects, err := st.Projects(t.Context())
	must(t, err)
	text, overturned, err := pipeline.Said(t.Context(), st, home, projects[0].ID, "")
	if err != nil || !strings.Contains(text, "always use npm") || strings.Contains(text, "never use npm") {
		t.Errorf("told: %q, %v", text, err)
	}
	if !overturned[memoir.LineKey("- “Always run make check before a commit.” (said once, 2026-05-01)")] ||
		overturned[memoir.LineKey("“Always use tabs for indentation.”")] {
		t.Errorf("overturned in the memory: %v", overturned)
	}
}

func TestSecretsOfCommandsAndResultsAreNotStored(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	secret := "ghp_" + strings.Repeat("aB3dE6gH9k", 4)[:36]
	path := codexSession(t, dir, "one", "/srv/app", "main", "upload it")
	calls := [][3]string{{"echo " + secret, "0", "ok"}, {"make push", "1", "error: denied for " + secret},
		{"make list", "0", "token is " + secret}}
	split := []string{"\x07", "\x1b]8;;x\x07", "\x1bP1;2q\x1b\\", "\u009b31m", "\u200b"}
	var secrets []string
	for i, inside := range split {
		secrets = append(secrets, "ghp_"+(rand.Text() + rand.Text())[:36])
		text := secrets[i][:20] + inside + secrets[i][20:]
		calls = append(calls, [3]string{fmt.Sprint("put ", i, " ", text), "1", fmt.Sprint("error: bad ", i, " ", text)})
	}
	codexCalls(t, path, calls...)
	run(t, options(home, dir))
	st := open(t, home)
	defer st.Close()
	var tools string
	must(t, st.Texts(t.Context(), "", func(text store.Text) error {
		for _, secret := range append(secrets, secret) {
			if strings.Contains(memoir.Visible(text.Plain()), secret) {
				t.Errorf("%s.%s has a secret", text.Table, text.Column)
			}
		}
		if text.Table == "searchable" {
			tools += text.Plain()
		}
		return nil
	}))
	for i := range split {
		if !strings.Contains(tools, fmt.Sprint("bad ", i, " [REDACTED:")) || !strings.Contains(tools, fmt.Sprint("put ", i, " [REDACTED:")) {
			t.Errorf("split %d is not in %q", i, tools)
		}
	}
	for _, word := range []string{"echo [REDACTED:", "denied for [REDACTED:", "token is [REDACTED:"} {
		if !strings.Contains(tools, word) {
			t.Errorf("%q is not in %q", word, tools)
		}
	}
}

func TestARunStoresNoTextByRulesOfBeforeARedaction(t *testing.T) {
	t.Parallel()
	l := late{home: t.TempDir(), dir: t.TempDir(), config: t.TempDir(), token: lateToken()}
	codexSession(t, l.dir, "one", "/srv/app", "main", "Look at it.")
	codexCalls(t, filepath.Join(l.dir, "one.jsonl"), [3]string{"make quokka " + l.token, "1", "error: denied"})
	o := l.options()
	o.MinIdle, o.MaxAge, o.Limit = 12*time.Hour, 24*time.Hour, 1 // no session is eligible
	o.Phases = func(pipeline.Meter) (extract.Extractor, consolidate.Consolidator, error) {
		writeIn(t, filepath.Join(l.config, ".gitleaks.toml"), lateRule)
		_, err := l.redact(t)
		return extract.NewBuiltin(), consolidate.NewBuiltin(), err
	}
	run(t, o)
	if got := found(t, l.home, "quokka"); len(got) != 0 {
		t.Errorf("stored by the rules of before: %q", got)
	}
	o.Phases = nil
	run(t, o)
	if got, leaked := found(t, l.home, "quokka"), found(t, l.home, l.token); len(got) != 1 || len(leaked) != 0 {
		t.Errorf("after the next run: %q, and %q with the secret", got, leaked)
	}
}
