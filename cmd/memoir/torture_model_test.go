//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asking is a model for several homes.
type asking struct {
	provider string // its setting
	environ  func(try trial) []string
	calls    func(t testing.TB, try trial) int // number of calls from a home
}

// byHTTP returns a server on loopback. The API key identifies the home.
func byHTTP(t *testing.T) *asking {
	server := wires[0].start(t, well)
	key := func(try trial) string { return filepath.Base(try.dir) }
	return &asking{wires[0].provider(server.URL, ""), func(try trial) []string { return []string{"SCENE_KEY=" + key(try)} },
		func(_ testing.TB, try trial) (n int) {
			for _, c := range server.Calls() {
				if strings.HasSuffix(c.Header.Get("Authorization"), " "+key(try)) {
					n++
				}
			}
			return n
		}}
}

// byExec returns this test binary as a model, with a book for each home.
func byExec(*testing.T) *asking {
	book := func(try trial) string { return filepath.Join(try.dir, "book") }
	return &asking{fmt.Sprintf("api: exec, command: ['%s']", os.Args[0]),
		func(try trial) []string { return []string{scribeVariable + "=" + book(try)} },
		func(t testing.TB, try trial) int { return entries(t, book(try)).Calls }}
}

// configureModel writes the user's settings with one provider for both phases.
func configureModel(t testing.TB, user, provider string) {
	t.Helper()
	put(t, filepath.Join(user, ".config", "memoir", "config.yml"),
		fmt.Sprintf("modelRoles: {default: %s}\nproviders: {mine: {%s, inputPrice: 2, cachedPrice: 0.5, outputPrice: 8}}\n", sceneModel, provider))
}

// addsUp compares the ledger with the calls of the model. The ledger may have one call more, since a call is entered
// before it is made.
func (try trial) addsUp(t *testing.T, what string) {
	t.Helper()
	st := openStore(t, try.home)
	defer st.Close()
	rows, err := st.UsageRows(t.Context(), time.Time{})
	must(t, err)
	entered := 0
	for _, row := range rows {
		entered += int(row.Usage.Calls)
	}
	seen := try.asks.calls(t, try)
	if entered < seen || entered > seen+1 {
		t.Errorf("%s: the model was asked %d times, and the ledger has %d calls", what, seen, entered)
	}
	// The next run repeats one call if its answer was not stored. It does not repeat other commands than a run.
	if len(try.args) == 0 && seen < try.torture.calls || seen > try.torture.calls+1 {
		t.Errorf("%s: the model was asked %d times, undisturbed %d", what, seen, try.torture.calls)
	}
}

// A run with a model pays once for each answer and loses no stored answer.
func TestARunWithAModelThatIsDisturbedAtAnyWriteLosesNoAnswer(t *testing.T) {
	t.Parallel()
	for name, asks := range map[string]func(t *testing.T) *asking{"HTTP": byHTTP, "exec": byExec} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by(t, 0, 0, 0) // skip before the preparation
			x := newTorture(t, few(t, 4), "")
			x.asks, x.dense = asks(t), 20
			x.undisturbed(t)
			x.killed(t)
			x.starved(t)
		})
	}
}
