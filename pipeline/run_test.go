package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/pipeline"
	"memoir/search"
	"memoir/store"
	"memoir/testdata"
)

func TestARunPublishesWhatTheSessionsHold(t *testing.T) {
	t.Parallel()
	dir, planted := fixtures(t)
	home := t.TempDir()
	report := run(t, options(home, dir))

	if report.Phase1.Failed != 0 || report.Phase1.Stored == 0 || report.Left != 0 {
		t.Errorf("phase 1: %+v, %d left", report.Phase1, report.Left)
	}
	for _, p := range report.Phase2 {
		if p.Outcome != pipeline.OutcomePublished || p.Generation != 1 {
			t.Errorf("project %s: %+v", p.Name, p)
		}
	}
	for _, s := range testdata.Expected() {
		if s.Project == "" || s.OpenReason() != memoir.ReasonEligible {
			continue
		}
		text := memoryOf(t, report, s.Project, "MEMORY.md")
		for _, fact := range s.Facts {
			if !testdata.Holds(text, fact) {
				t.Errorf("%s: %q is missing from the memory of %s", s.Name, fact, s.Project)
			}
		}
	}
	if len(report.Redactions) == 0 {
		t.Error("no redaction was counted")
	}
	everything := tree(t, home)
	for _, name := range []string{"memoir.db", "search.db"} {
		database, err := os.ReadFile(filepath.Join(home, name))
		if name == "memoir.db" || search.Available {
			must(t, err)
		}
		everything[name] = string(database)
	}
	for path, content := range everything {
		for _, secret := range planted {
			if strings.Contains(content, secret) || strings.Contains(path, secret) {
				t.Errorf("%s holds a secret", path)
			}
		}
	}
}

func TestASecondRunDoesNothingAndChangesNoByte(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	home := t.TempDir()
	run(t, options(home, dir))
	before := tree(t, home)

	report := run(t, options(home, dir))
	if report.Phase1 != (pipeline.Phase1Report{}) || len(report.Phase2) != 0 || report.Scan.Changed != 0 {
		t.Errorf("the second run did something: %+v", report)
	}
	if diff := cmp.Diff(before, tree(t, home)); diff != "" {
		t.Errorf("the second run changed files (-before +after):\n%s", diff)
	}
}

func TestEverySessionHasItsReason(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	home := t.TempDir()
	o := options(home, dir)
	o.MinIdle, o.MaxAge, o.DryRun = 12*time.Hour, 30*24*time.Hour, true
	report := run(t, o)

	got := sessionsOf(t, home)
	for _, want := range testdata.Expected() {
		if want.ID != "" && got[want.Key()].Reason != want.Reason {
			t.Errorf("%s: %s, want %s", want.Name, got[want.Key()].Reason, want.Reason)
		}
	}
	if report.Scan.NotSessions == 0 || report.Scan.Reasons[memoir.ReasonUnreadable] != 0 {
		t.Errorf("the binary file is not counted, or is registered: %+v", report.Scan)
	}
	if len(report.Would) == 0 || report.Phase1.Claimed != 0 {
		t.Errorf("the dry run planned %d and claimed %d", len(report.Would), report.Phase1.Claimed)
	}
	if _, err := os.Stat(filepath.Join(home, "projects")); !os.IsNotExist(err) {
		t.Error("the dry run wrote memory")
	}
}

func TestTheCapIsHeldAndTheRestComesNext(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	home := t.TempDir()
	o := options(home, dir)
	o.Limit = 2
	first := run(t, o)
	if first.Phase1.Claimed != 2 || first.Left == 0 {
		t.Errorf("claimed %d with a cap of 2, %d left", first.Phase1.Claimed, first.Left)
	}
	if r := lastRun(t, home); r.Outcome != store.RunDone || r.Reason != "" || r.Ended.IsZero() {
		t.Errorf("kept as %+v", r)
	}
	o.Limit = 100
	second := run(t, o)
	if second.Phase1.Claimed != first.Left || second.Left != 0 {
		t.Errorf("%d were left, %d claimed next", first.Left, second.Phase1.Claimed)
	}
}

func TestWhatAPersonWroteStaysAndWhatTheyDeletedStaysAway(t *testing.T) {
	t.Parallel()
	dir, _ := fixtures(t)
	home := t.TempDir()
	o := options(home, dir)
	o.Limit = 6
	report := run(t, o)
	project := report.Phase2[0]
	path := filepath.Join(project.Root, "MEMORY.md")
	text, err := os.ReadFile(path)
	must(t, err)
	var deleted string
	var kept []string
	for _, line := range strings.Split(string(text), "\n") {
		if deleted == "" && strings.HasPrefix(line, "- ") {
			deleted = line
			kept = append(kept, "- ask Ada before touching the billing tables")
			continue
		}
		kept = append(kept, line)
	}
	if deleted == "" {
		t.Fatal("the memory has no line")
	}
	writeIn(t, path, strings.Join(kept, "\n"))

	o.Limit = 100
	next := run(t, o)
	after := memoryOf(t, next, project.Name, "MEMORY.md")
	if strings.Count(after, "- ask Ada before touching the billing tables") != 1 {
		t.Errorf("what a person wrote is not there once:\n%s", after)
	}
	statement, _, _ := strings.Cut(deleted, " [")
	if strings.Contains(after, statement+" [") {
		t.Errorf("%q came back", statement)
	}
}

func TestAnInterruptedRunGivesItsSessionsBackUncounted(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 60)
	o := options(home, dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(p pipeline.Progress) {
		if p.Stage == pipeline.StageExtract && p.Done == 3 {
			cancel()
		}
	}
	report, err := tryRun(ctx, t, o)
	if memoir.CodeOf(err) != memoir.CodeInterrupted {
		t.Fatalf("error %v", err)
	}
	status := statusOf(t, home)
	if len(status.Running) != 0 || len(status.Failed) != 0 || len(status.Dead) != 0 {
		t.Errorf("after the interrupt: running %v, failed %v, dead %v", status.Running, status.Failed, status.Dead)
	}
	if r := lastRun(t, home); r.Outcome != store.RunInterrupted || r.Reason == "" || r.Ended.IsZero() {
		t.Errorf("kept as %+v", r)
	}
	if report.Phase1.Stored+report.Phase1.Empty < 3 {
		t.Errorf("what was finished is lost: %+v", report.Phase1)
	}
}
