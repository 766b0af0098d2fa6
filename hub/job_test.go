package hub_test

import (
	"testing"

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
