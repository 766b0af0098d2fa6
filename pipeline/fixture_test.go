package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/config"
	"memoir/pipeline"
	"memoir/rollout"
	"memoir/store"
	"memoir/testdata"
)

// runVariable makes the test binary one run of the pipeline: a process of its
// own that can be killed. Its value is the options as JSON.
const runVariable = "PIPELINE_TEST_RUN"

type processOptions struct {
	Home, Sessions string
	URL            string // of a server that Phase 1 asks; empty: none
}

func TestMain(m *testing.M) {
	if text := os.Getenv(runVariable); text != "" {
		os.Exit(runAsProcess(text))
	}
	os.Exit(m.Run())
}

func runAsProcess(text string) int {
	var o processOptions
	ctx := context.Background()
	err := json.Unmarshal([]byte(text), &o)
	st, failed := store.Open(ctx, filepath.Join(o.Home, "memoir.db"), store.Options{})
	if err = errors.Join(err, failed); err == nil {
		defer st.Close()
		opts := options(o.Home, o.Sessions)
		if o.URL != "" {
			opts = ofURL(opts, o.URL)
		}
		var report pipeline.Report
		if report, err = pipeline.Run(ctx, st, opts); err == nil && report.Busy() {
			return 4
		} else if report.Partly() {
			return 3
		}
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}

// processOf prepares a run in a process of its own.
func processOf(t *testing.T, o processOptions) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(o)
	must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), runVariable+"="+string(text))
	return cmd
}

// options are those of a run over all sessions below a directory.
func options(home, sessions string) pipeline.Options {
	return pipeline.Options{
		Home: home, SessionsDir: sessions, Settings: config.Default(),
		Env: rollout.Env{Home: filepath.Join(home, "nobody")},
		Now: testdata.Now, Limit: 100000,
	}
}

// fixtures writes the fixture sessions and returns where they are.
func fixtures(t *testing.T) (dir string, planted []string) {
	t.Helper()
	dir = t.TempDir()
	planted, err := testdata.Write(dir)
	must(t, err)
	return dir, planted
}

// run makes one run in this process.
func run(t *testing.T, o pipeline.Options) pipeline.Report {
	t.Helper()
	report, err := tryRun(t.Context(), t, o)
	must(t, err)
	return report
}

func tryRun(ctx context.Context, t *testing.T, o pipeline.Options) (pipeline.Report, error) {
	t.Helper()
	st := open(t, o.Home)
	defer st.Close()
	return pipeline.Run(ctx, st, o)
}

func open(t testing.TB, home string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(home, "memoir.db"), store.Options{})
	must(t, err)
	return st
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// in does something with the database of a home.
func in(t testing.TB, home string, do func(*store.Store) error) {
	t.Helper()
	st := open(t, home)
	must(t, errors.Join(do(st), st.Close()))
}

// ask reads something of the database of a home.
func ask[T any](t testing.TB, home string, read func(*store.Store) (T, error)) (out T) {
	t.Helper()
	in(t, home, func(st *store.Store) (err error) {
		out, err = read(st)
		return err
	})
	return out
}

// projectsIn lists the registered projects.
func projectsIn(t testing.TB, home string) []store.ProjectRow {
	t.Helper()
	return ask(t, home, func(st *store.Store) ([]store.ProjectRow, error) { return st.Projects(t.Context()) })
}

// sessionsOf lists what is registered, by key.
func sessionsOf(t testing.TB, home string) map[string]memoir.Session {
	t.Helper()
	out := map[string]memoir.Session{}
	for _, s := range ask(t, home, func(st *store.Store) ([]memoir.Session, error) { return st.Sessions(t.Context(), store.Filter{}) }) {
		out[s.Key()] = s
	}
	return out
}

// statusOf tells how the queue stands.
func statusOf(t testing.TB, home string) store.Status {
	t.Helper()
	return ask(t, home, func(st *store.Store) (store.Status, error) { return st.Status(t.Context()) })
}

// enqueueAll asks for a consolidation of every project.
func enqueueAll(t *testing.T, home string) {
	t.Helper()
	for _, p := range projectsIn(t, home) {
		in(t, home, func(st *store.Store) error { return st.Enqueue(t.Context(), p.ID) })
	}
}

// retryAll has tried again what failed.
func retryAll(t *testing.T, home string) {
	t.Helper()
	in(t, home, func(st *store.Store) error { _, err := st.Retry(t.Context()); return err })
}

func disable(t *testing.T, home, key string) {
	t.Helper()
	in(t, home, func(st *store.Store) error { return st.SetDisabled(t.Context(), key, true) })
}

// writeIn writes a file, and the directories that lead to it.
func writeIn(t testing.TB, path, text string) {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
}

// replaceIn replaces a text in a file.
func replaceIn(t *testing.T, path, old, text string) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	writeIn(t, path, strings.ReplaceAll(string(content), old, text))
}

// tree reads every file of a home except the database, by its path.
func tree(t *testing.T, home string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "memoir.db") || d.Name() == "search.db" ||
			d.Name() == "seen" { // depends on times

			return err
		}
		rel, _ := filepath.Rel(home, path)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			files[rel] = "-> " + target
			return err
		}
		content, err := os.ReadFile(path)
		files[rel] = string(content)
		if strings.HasPrefix(d.Name(), "HISTORY") { // is in the order of runs
			paragraphs := strings.SplitAfter(string(content), ")\n\n")
			slices.Sort(paragraphs)
			files[rel] = strings.Join(paragraphs, "")
		}
		return err
	})
	must(t, err)
	return files
}

// memoryOf reads a file of the live memory of the project with that name.
func memoryOf(t *testing.T, report pipeline.Report, project, file string) string {
	t.Helper()
	for _, p := range report.Phase2 {
		if p.Name == project {
			content, err := os.ReadFile(filepath.Join(p.Root, file))
			must(t, err)
			return string(content)
		}
	}
	t.Fatalf("no project %s in %+v", project, report.Phase2)
	return ""
}
