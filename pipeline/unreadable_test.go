package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/pipeline"
	"memoir/rollout"
	"memoir/store"
)

// A registered session that can no longer be read when its turn comes costs nothing, and is
// read as soon as it can be, though nothing about its file has changed.
func TestASessionThatIsOutOfReachIsReadOnceItIsBack(t *testing.T) {
	t.Parallel()
	const id = "01a20000-0000-7000-8000-000000000001"
	const outOfReach = "rollout-2026-05-01T10-00-00-" + id + ".jsonl"
	for _, test := range []struct {
		name   string
		away   func(path string) error // takes the sessions' directory away
		back   func(path string) error
		reason string
	}{
		{"its directory is a link to itself",
			func(path string) error { return os.Symlink(path, path) }, os.Remove, "read session"},
		{"its directory is a file",
			func(path string) error { return os.WriteFile(path, nil, 0o600) }, os.Remove, "its files are gone"},
		{"it is a directory",
			func(path string) error { return os.MkdirAll(filepath.Join(path, outOfReach), 0o700) }, os.RemoveAll, "its files are gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			shut, aside := filepath.Join(dir, ".codex", "sessions"), filepath.Join(t.TempDir(), "aside")
			must(t, os.Rename(codexSession(t, shut, id, "/srv/app", "main", "Always run make check first."), filepath.Join(shut, outOfReach)))
			options := func(home string) pipeline.Options {
				o := options(home, "")
				o.Env = rollout.Env{Home: dir}
				return o
			}
			dry := options(home)
			dry.DryRun = true
			run(t, dry)
			must(t, os.Rename(shut, aside))
			if err := test.away(shut); err != nil {
				t.Skip(err)
			}
			for range 2 {
				report := run(t, options(home))
				if report.Partly() || report.Phase1.Claimed+report.Phase1.Failed > 0 {
					t.Errorf("out of reach: %+v, %+v", report.Phase1, report.Warnings)
				}
				if got := session(t, home, id); got.Reason != memoir.ReasonUnreadable || !strings.Contains(got.Error, test.reason) || got.ProjectID == "" {
					t.Errorf("out of reach: %+v", got)
				}
			}
			must(t, test.back(shut))
			must(t, os.Rename(aside, shut))
			report := run(t, options(home))
			if got := session(t, home, id); report.Phase1.Stored != 1 || got.Reason != memoir.ReasonUpToDate || got.Error != "" {
				t.Errorf("within reach again: %+v, %+v, %+v", report.Phase1, report.Scan, got)
			}
			undisturbed := t.TempDir()
			run(t, options(undisturbed))
			if diff := cmp.Diff(tree(t, undisturbed), tree(t, home)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A file that the system does not let be read any more is still that of its session,
// which waits for it, and costs the memory nothing meanwhile.
func TestASessionWhoseFileIsForbiddenIsNoSecondSession(t *testing.T) {
	t.Parallel()
	const id = "aaaaaaaa-1"
	for _, test := range []struct {
		name   string
		later  string // when another file of the session begins, which goes on meanwhile
		reason memoir.Reason
	}{
		{"its only file", "", memoir.ReasonUnreadable},
		{"one of two", "T11:", memoir.ReasonUnreadable},
		{"one of two copies", "T10:", memoir.ReasonUpToDate},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, home := t.TempDir(), t.TempDir()
			path, later := codexSession(t, dir, id, "/srv/app", "main", "Never use npm, always use pnpm."), ""
			if test.later != "" {
				later = codexSession(t, filepath.Join(dir, "later"), id, "/srv/app", "main", "Never use npm, always use pnpm.")
				replaceIn(t, later, "T10:", test.later)
			}
			run(t, options(home, dir))
			before, files := session(t, home, id), stated(t, home)
			aside := filepath.Join(t.TempDir(), "aside")
			must(t, os.Rename(path, aside))
			if err := os.Symlink(path, path); err != nil { // which cannot be opened, by root neither
				t.Skip(err)
			}
			for range 2 {
				if later != "" {
					appendLine(t, later, `{"timestamp":"2026-05-01T11:00:03Z","type":"event_msg","payload":{"type":"token_count"}}`)
				}
				if report := run(t, options(home, dir)); report.Partly() || report.Scan.Sessions != 1 || report.Phase1.Stored != 0 {
					t.Errorf("forbidden: %+v, %+v", report.Scan, report.Phase1)
				}
				if got := session(t, home, id); got.Reason != test.reason || got.Title != before.Title || got.ProjectID != before.ProjectID {
					t.Errorf("forbidden: %+v", got)
				}
				if diff := cmp.Diff(files, stated(t, home)); diff != "" {
					t.Errorf("forbidden: the memory differs:\n%s", diff)
				}
				enqueueAll(t, home)
			}
			must(t, os.Remove(path))
			must(t, os.Rename(aside, path))
			report := run(t, options(home, dir))
			if got := session(t, home, id); got.Reason != memoir.ReasonUpToDate || got.Error != "" || later == "" && (!cmp.Equal(before, got) || report.Phase1.Claimed != 0) {
				t.Errorf("readable again: %+v, %+v", report.Phase1, got)
			}
		})
	}
}

// session is the registered session of an id.
func session(t *testing.T, home, id string) memoir.Session {
	t.Helper()
	st := open(t, home)
	defer st.Close()
	sessions, err := st.Sessions(t.Context(), store.Filter{})
	must(t, err)
	for _, s := range sessions {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("no session %s in %+v", id, sessions)
	return memoir.Session{}
}
