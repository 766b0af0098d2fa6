package hub_test

import (
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
	if n := d.Number(t, "SELECT count(*) FROM river.river_job"); n != 2 {
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

// TestAFailedJobIsTriedAgain is of a session and a project whose jobs have failed, and to which nobody sends anything.
func TestAFailedJobIsTriedAgain(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	d.Workers(t, hub.WorkOptions{Workers: 1, Again: time.Second})
	d.Idle(t)
	d.Must(t, `CREATE FUNCTION failed() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN NEW.state := 'cancelled'; NEW.finalized_at := now(); RETURN NEW; END $$;
		CREATE TRIGGER failed BEFORE INSERT ON river.river_job FOR EACH ROW WHEN (NEW.kind <> 'due') EXECUTE FUNCTION failed()`)
	anna.push(shop, finding("The parser drops tabs."))
	anna.send(session(t, "one", day, "make a"))
	d.Must(t, "DROP TRIGGER failed ON river.river_job")
	for d.Number(t, "SELECT count(*) FROM memoir.generation WHERE seq > 1") == 0 && t.Context().Err() == nil {
		d.Idle(t)
	}
	if f := anna.fetch(shop, ""); !strings.Contains(f.text, "drops tabs") || !strings.Contains(f.sessions, "make a") {
		t.Errorf("%s\n%s", f.text, f.sessions)
	}
}
