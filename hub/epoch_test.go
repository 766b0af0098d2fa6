package hub_test

import (
	"strings"
	"testing"

	"memoir"
	"memoir/hub"
	"memoir/hub/hubtest"
	"memoir/team/wire"
)

func TestARestoredDumpStartsANewEpoch(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	said, later := statement("said"), statement("later")
	anna.push(shop, said)
	dump := d.Dump(t)
	anna.push(shop, said.Hash, later)
	before := anna.pull(shop, "")
	d.Must(t, "VACUUM FULL memoir.statement") // which gives the table another file
	if again := anna.pull(shop, before.Cursor); again.Epoch != before.Epoch || len(again.Items) > 0 {
		t.Errorf("without a restore: %+v", again)
	}

	anna.url = d.Restored(t, dump).Hub(t)
	page := anna.pull(shop, before.Cursor)
	if page.Epoch == before.Epoch {
		t.Error("the epoch is the old one")
	}
	wantTexts(t, page, "anna: "+string(said.Body)) // from the start
	// The client sends again what it has.
	if pushed := anna.push(shop, said.Hash, later, said); pushed.Epoch != page.Epoch || pushed.New != 2 {
		t.Errorf("%+v", pushed)
	}
	wantTexts(t, anna.pull(shop, ""), "anna withdrew "+said.Hash, "anna: "+string(later.Body))
}

func TestAPushIntoARestoredDatabaseHasTheNewEpoch(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	before := anna.push(shop, statement("said"))
	d.Load(t, d.Dump(t, "--clean", "--if-exists")) // the hub goes on
	after := anna.push(shop, statement("said"))
	if after.Epoch == before.Epoch || after.New != 0 {
		t.Errorf("%+v after %+v", after, before)
	}
	if again := anna.push(shop, statement("said")); again.Epoch != after.Epoch {
		t.Errorf("another new epoch: %+v", again)
	}
}

func TestAnOperatorStartsANewEpoch(t *testing.T) {
	d := hubtest.NewDatabase(t)
	anna := join(t, d.Hub(t), d.Member(t, "anna", wire.Writer))
	before := anna.push(shop, statement("said"))
	if err := d.Owner.NewEpoch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if page := anna.pull(shop, wire.Cursor(before.Epoch+".1")); page.Epoch == before.Epoch || len(page.Items) != 1 {
		t.Errorf("%+v", page)
	}
}

func TestServingIsRefused(t *testing.T) {
	d := hubtest.NewDatabase(t)
	d.Must(t, `CREATE ROLE bypass LOGIN BYPASSRLS; CREATE ROLE heir LOGIN NOINHERIT; GRANT postgres TO heir;
		CREATE ROLE child LOGIN; GRANT `+hubtest.Owner+` TO child`)
	t.Cleanup(func() { d.Must(t, "DROP ROLE bypass, heir, child") })
	check := func(role string) error {
		h, err := hub.Open(t.Context(), hub.Options{Database: d.URL(role, d.Name, false)})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		return h.CheckServing(t.Context())
	}
	for _, role := range []string{"postgres", hubtest.Owner, "bypass", "heir", "child"} {
		if check(role) == nil {
			t.Errorf("%s may serve", role)
		}
	}
	if err := check(hubtest.Serve); err != nil {
		t.Error(err)
	}
	d.Must(t, "INSERT INTO memoir.migration (version) VALUES (99)") // a newer one is served
	if err := check(hubtest.Serve); err != nil {
		t.Error(err)
	}
	d.Must(t, "DELETE FROM memoir.migration")
	if check(hubtest.Serve) == nil {
		t.Error("an older schema is served")
	}
	d.Must(t, "INSERT INTO memoir.migration (version) VALUES (2)")
	if _, err := d.Owner.Migrate(t.Context(), hubtest.Serve); !strings.Contains(memoir.HintOf(err), "002.sql") {
		t.Errorf("a schema that no step begins at: %v", err)
	}
	if _, err := d.Owner.Migrate(t.Context(), hubtest.Owner); err == nil {
		t.Error("one role migrates and serves")
	}
}

func TestMigrationsThatRunAtOnceAreAppliedOnce(t *testing.T) {
	d := hubtest.NewDatabase(t)
	d.Must(t, "DROP SCHEMA memoir CASCADE")
	applied := make(chan int, 4)
	for range cap(applied) {
		go func() {
			n, err := d.Owner.Migrate(t.Context(), hubtest.Serve)
			if err != nil {
				t.Error(err)
			}
			applied <- n
		}()
	}
	total := 0
	for range cap(applied) {
		total += <-applied
	}
	if total != hub.SchemaVersion()-hub.First+1 {
		t.Errorf("%d were applied", total)
	}
}
