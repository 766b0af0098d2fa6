package pipeline_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/pipeline"
	"memoir/rollout"
	"memoir/testdata"
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
	s, ok := sessionsOf(t, home)["codex:"+id]
	if !ok {
		t.Fatalf("no session %s", id)
	}
	return s
}

// .ci/forbidden runs this test as nobody and fails where it is missing: it skips for root.
func TestLeaveToReadIsNoticedThoughTheFileDidNotChange(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("needs another user than root, who may read everything")
	}
	home, dir := t.TempDir(), t.TempDir()
	shut := filepath.Join(dir, "shut")
	_, err := testdata.Write(shut)
	must(t, err)
	var file string
	for _, s := range testdata.Expected() {
		if s.Project != "" && s.OpenReason() == memoir.ReasonEligible && len(s.Files) == 1 {
			file = filepath.Join(shut, filepath.FromSlash(s.Files[0]))
			break
		}
	}
	chmod := func(path string, mode os.FileMode) {
		must(t, os.Chmod(path, mode))
	}
	chmod(shut, 0)
	if report := run(t, options(home, dir)); report.Scan.Reasons[memoir.ReasonUnreadable] != 1 {
		t.Errorf("a closed directory: %+v", report.Scan)
	}
	chmod(shut, 0o700)
	chmod(file, 0)
	closed := run(t, options(home, dir))
	if again := run(t, options(home, dir)); again.Scan.Changed != 0 || len(again.Warnings) != 0 {
		t.Errorf("the closed file is told again: %+v", again)
	}
	if slices.Contains(unreadable(t, home), "shut") {
		t.Error("the directory still counts as closed")
	}
	chmod(file, 0o600)
	opened := run(t, options(home, dir))
	if opened.Scan.Reasons[memoir.ReasonUnreadable] != closed.Scan.Reasons[memoir.ReasonUnreadable]-1 || opened.Phase1.Claimed != 1 {
		t.Errorf("closed: %+v, opened: %+v", closed.Scan, opened.Scan)
	}
}

// unreadable lists the sessions that cannot be read, by the names of their files.
func unreadable(t *testing.T, home string) []string {
	t.Helper()
	var names []string
	for _, s := range sessionsOf(t, home) {
		if s.Reason == memoir.ReasonUnreadable {
			names = append(names, filepath.Base(s.ID))
		}
	}
	slices.Sort(names)
	return names
}

func TestAFileThatCannotBeReadIsNamedOnceAndTriedAgain(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	_, err := testdata.Write(dir)
	must(t, err)
	run(t, options(home, dir))
	before := unreadable(t, home)

	loop := filepath.Join(dir, "loop.jsonl")
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip("no symbolic links here")
	}
	invalid := filepath.Join(dir, "inv\xff.jsonl")
	if err := os.Symlink(invalid, invalid); err != nil {
		t.Skip("needs a file system that takes names of any bytes: ", err)
	}
	report := run(t, options(home, dir))
	if len(report.Warnings) != 2 || !strings.Contains(report.Warnings[0].Message, "inv") || !strings.Contains(report.Warnings[1].Message, "loop.jsonl") {
		t.Errorf("warnings: %+v", report.Warnings)
	}
	want := slices.Sorted(slices.Values(append([]string{`inv\xff.jsonl`, "loop.jsonl"}, before...)))
	if diff := cmp.Diff(want, unreadable(t, home)); diff != "" {
		t.Error(diff)
	}
	if got := report.Scan.Reasons[memoir.ReasonUnreadable]; got != len(want) {
		t.Errorf("the report counts %d unreadable sessions, not %d", got, len(want))
	}
	if again := run(t, options(home, dir)); again.Scan.Changed != 0 || len(again.Warnings) != 0 {
		t.Errorf("said again: %+v", again)
	}

	// Once they can be read, or are gone, nothing is left of what could not.
	must(t, os.Remove(loop))
	must(t, os.Remove(invalid))
	run(t, options(home, dir))
	if diff := cmp.Diff(before, unreadable(t, home)); diff != "" {
		t.Error(diff)
	}
}

func TestAFileWrittenOverByAnotherSessionLeavesTheFirstWithout(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	path := codexSession(t, dir, "first", "/srv/app", "main", "look around")
	dry := options(home, dir)
	dry.DryRun = true
	run(t, dry)
	must(t, os.Rename(codexSession(t, dir, "second", "/srv/app", "main", "always run make check first"), path))
	if report := run(t, options(home, dir)); report.Phase1.Failed != 0 || report.Phase1.Claimed != 1 {
		t.Errorf("phase 1: %+v, %+v", report.Phase1, report.Warnings)
	}
	if diff := cmp.Diff([]string{"first"}, unreadable(t, home)); diff != "" {
		t.Error(diff)
	}
	writeIn(t, path, "")
	if report := run(t, options(home, dir)); report.Phase1.Failed != 0 || report.Scan.Reasons[memoir.ReasonUpToDate] != 1 {
		t.Errorf("what was extracted from the second is kept: %+v, %+v", report.Scan, report.Phase1)
	}
}
