package pipeline_test

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"memoir/memory"
)

// copied is the same in a copy of the home.
func (l late) copied(t *testing.T) late {
	t.Helper()
	to := filepath.Join(t.TempDir(), "home")
	if out, err := exec.Command("cp", "-a", l.home, to).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l.home = to
	return l
}

// A process that redacts is killed at any moment; called again it finishes. What is a
// secret is told by one text alone here, which may be rewritten before the others are.
func TestRedactingThatIsKilledIsFinishedWhenCalledAgain(t *testing.T) {
	t.Parallel()
	l := foundLate(t, contextRule)
	calm := l.copied(t)
	began := time.Now()
	if out, err := processOf(t, processOptions{Home: calm.home, Sessions: l.dir, Redact: l.config}).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	takes := time.Since(began)
	calm.wantGone(t)
	want, err := calm.root().Current()
	if err != nil {
		t.Fatal(err)
	}

	rounds := 8
	if testing.Short() {
		rounds = 3
	}
	random := rand.New(rand.NewPCG(7, 8))
	begun := 0
	for range rounds {
		one := l.copied(t)
		cmd := processOf(t, processOptions{Home: one.home, Sessions: l.dir, Redact: l.config})
		killedAfter(t, cmd, time.Duration(random.Int64N(int64(takes))))
		if one.redact(t).Resumed {
			begun++
		}
		one.wantGone(t)
		live, err := one.root().Current()
		if err != nil {
			t.Fatal(err)
		}
		if !live.Files.Equal(want.Files) {
			t.Errorf("killed, the memory ended otherwise: %s", memory.Diff(want.Files, live.Files))
		}
		if _, left := tree(t, one.home)["redacting.jsonl"]; left {
			t.Error("the journal is left")
		}
		if report := run(t, one.options()); report.Phase1.Claimed != 0 || len(report.Phase2) != 0 {
			t.Errorf("the next run found work: %+v", report)
		}
	}
	t.Logf("of %d kills %d came in the middle", rounds, begun)
}
