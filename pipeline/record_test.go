package pipeline_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// lastRun is what a home knows of the run that began last.
func lastRun(t *testing.T, home string) store.RunRow {
	t.Helper()
	return ask(t, home, func(st *store.Store) (store.RunRow, error) { return st.LastRun(t.Context()) })
}

// How runs end otherwise is in the tests of what ends them.
func TestHowARunEndedIsKept(t *testing.T) {
	t.Parallel()
	home, dir, project := twoSessions(t)
	enqueueAll(t, home)
	defer held(t, home, project)()
	run(t, options(home, dir))
	if r := lastRun(t, home); r.Outcome != store.RunBusy || !strings.Contains(r.Reason, ": busy: process ") || r.Ended.IsZero() {
		t.Errorf("%+v", r)
	}
}

func TestAGlanceIsTheNextRunAndOpensNoSession(t *testing.T) {
	t.Parallel()
	home, dir := prompted(t, 5)
	o := options(home, dir)
	dry := o
	dry.DryRun = true
	want := run(t, dry)
	if err := os.RemoveAll(dir); err != nil { // nothing of it can be read
		t.Fatal(err)
	}
	before := tree(t, home)
	st := open(t, home)
	defer st.Close()
	glance := func(o pipeline.Options) pipeline.Report {
		t.Helper()
		out, err := pipeline.Glance(t.Context(), st, o)
		must(t, err)
		return out
	}
	if got := glance(o); len(got.Would) != len(want.Would) || len(got.Would) != 6 || got.Left != 0 {
		t.Errorf("%+v instead of %+v", got, want.Would)
	}
	o.Limit = 2
	if got := glance(o); len(got.Would) != 3 || got.Left != 3 {
		t.Errorf("with a cap: %+v", got)
	}
	o.Now, o.MaxAge = o.Now.AddDate(1, 0, 0), 24*time.Hour
	if got := glance(o); len(got.Would) != 0 || got.Scan.Reasons[memoir.ReasonTooOld] != 5 {
		t.Errorf("a year later: %+v", got)
	}
	if after := tree(t, home); len(after) != len(before) {
		t.Errorf("it wrote: %v", after)
	}
}
