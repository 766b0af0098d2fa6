package pipeline_test

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir/pipeline"
)

// A process that forgets is killed at any moment. Once its tombstones stand, the next
// run ends what it began; before, nothing is forgotten. Either way the end is that of
// an undisturbed one, and no byte is left.
func TestForgettingThatIsKilledIsDoneByTheNextRunOrNotBegun(t *testing.T) {
	t.Parallel()
	home, dir, _ := twoSessions(t)
	f := pipeline.Forgetting{Keys: []string{"codex:" + secretID}, Purge: true}
	copyOf := func() string {
		to := filepath.Join(t.TempDir(), "home")
		if out, err := exec.Command("cp", "-a", home, to).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return to
	}
	calm := copyOf()
	began := time.Now()
	if out, err := processOf(t, processOptions{Home: calm, Sessions: dir, Forget: f}).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	takes := time.Since(began)
	run(t, options(calm, dir))
	want := tree(t, calm)

	rounds := 24
	if testing.Short() {
		rounds = 4
	}
	random := rand.New(rand.NewPCG(5, 6))
	finished, begun := 0, 0
	for range rounds {
		home := copyOf()
		cmd := processOf(t, processOptions{Home: home, Sessions: dir, Forget: f})
		killedAfter(t, cmd, time.Duration(random.Int64N(int64(takes))))
		st := open(t, home)
		stones, err := st.Tombstones(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		left, err := st.Withdrawals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		st.Close()
		switch {
		case len(stones) == 0:
			forgotten(t, options(home, dir), f)
		case len(left) > 0:
			begun++
		default:
			finished++
		}
		run(t, options(home, dir))
		if diff := cmp.Diff(want, tree(t, home)); diff != "" {
			t.Errorf("killed (%d tombstones, %d to finish), it ended otherwise:\n%s", len(stones), len(left), diff)
		}
		if found := holding(t, home, "zanzibar"); len(found) > 0 {
			t.Errorf("killed (%d tombstones, %d to finish), it is left in %v", len(stones), len(left), strings.Join(found, " "))
		}
	}
	t.Logf("of %d kills %d came in the middle, %d after the end", rounds, begun, finished)
}
