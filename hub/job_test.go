package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/team/wire"
)

func TestManyPushesAreOneJob(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	for _, text := range []string{"one", "two", "three"} {
		anna.push(shop, statement(text))
	}
	anna.push("github.com/acme/site", statement("one"))
	if n := d.Number(t, "SELECT count(*) FROM river.river_job WHERE scheduled_at <= now()"); n != 2 { // no debounce
		t.Errorf("%d jobs of two projects", n)
	}
	d.Workers(t, hub.WorkOptions{Workers: 2})
	d.Idle(t)
	anna.push(shop, statement("three")) // nothing new
	if n := d.Number(t, "SELECT count(*) FROM river.river_job WHERE state <> 'completed'"); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
	anna.push(shop, statement("four"))
	if n := d.Number(t, "SELECT count(*) FROM river.river_job WHERE state <> 'completed'"); n != 1 {
		t.Errorf("%d jobs after another push", n)
	}
}

// TestAWorkerFindsWhatNobodyQueued is of an upgrade: a hub of the version before stores, and queues nothing.
func TestAWorkerFindsWhatNobodyQueued(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	anna.push(shop, finding("The parser drops tabs."))
	d.Must(t, "DELETE FROM river.river_job")
	d.Workers(t, hub.WorkOptions{Workers: 1})
	for d.Number(t, "SELECT count(*) FROM memoir.generation") == 0 && t.Context().Err() == nil {
		d.Idle(t)
	}
	anna.fetch(shop, "").wants(t, "1", "drops tabs")
}

// TestASessionThatFailsIsTriedOnceADay is of one whose result PostgreSQL does not take.
func TestASessionThatFailsIsTriedOnceADay(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	d.Must(t, `CREATE FUNCTION failed() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE 'no' USING ERRCODE = 'data_exception'; END $$;
		CREATE TRIGGER failed BEFORE UPDATE ON memoir.transcript FOR EACH ROW EXECUTE FUNCTION failed()`)
	anna.send(session(t, "one", day, "make a"))
	d.Workers(t, hub.WorkOptions{Workers: 1, Retry: time.Microsecond})
	const tomorrow = `SELECT count(*) FROM river.river_job WHERE state = 'scheduled' AND scheduled_at > now() + interval '23 hours'
		AND cardinality(errors) = 2`
	for range 2 { // the next day, once
		d.Idle(t)
		status, err := d.Owner.Status(t.Context())
		failed := status.Rows[0][slices.Index(status.Columns, "failed")]
		jobs, errJobs := d.Admin.Jobs(t.Context())
		if err != nil || errJobs != nil || failed != int64(1) || d.Number(t, tomorrow) != 1 || !strings.Contains(fmt.Sprint(jobs.Rows), "no (22000)") {
			t.Errorf("%v failed, %v %v %v", failed, jobs.Rows, err, errJobs)
		}
		d.Must(t, "UPDATE river.river_job SET scheduled_at = now() WHERE state = 'scheduled'")
	}
	d.Idle(t)
	d.Must(t, "DROP TRIGGER failed ON memoir.transcript")
	d.Workers(t, hub.WorkOptions{Workers: 1}) // it tries at once
	for d.Number(t, "SELECT count(*) FROM memoir.transcript WHERE state = 'done'") == 0 && t.Context().Err() == nil {
		d.Idle(t)
	}
}
