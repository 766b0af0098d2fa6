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
