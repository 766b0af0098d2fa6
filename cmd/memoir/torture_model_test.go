//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir/model/modeltest"
)

// asking is a model that homes ask, and what counts how often.
type asking interface {
	configure(t testing.TB, try trial)
	environ(try trial) []string
	calls(t testing.TB, try trial) int
}

// byHTTP is a server on loopback. It tells homes apart by their keys.
type byHTTP struct {
	wire   wire
	server *modeltest.Server
}

func (a byHTTP) configure(t testing.TB, try trial) {
	configureModel(t, try.user, a.wire.provider(a.server.URL, ""))
}

func (a byHTTP) environ(try trial) []string { return []string{"SCENE_KEY=" + filepath.Base(try.dir)} }

func (a byHTTP) calls(_ testing.TB, try trial) (n int) {
	for _, c := range a.server.Calls() {
		if strings.HasSuffix(c.Header.Get("Authorization"), " "+filepath.Base(try.dir)) {
			n++
		}
	}
	return n
}

// byExec is this test's own binary, which answers and keeps a book for each home.
type byExec struct{}

func (byExec) configure(t testing.TB, try trial) {
	configureModel(t, try.user, fmt.Sprintf("api: exec, command: ['%s']", os.Args[0]))
}

func (byExec) environ(try trial) []string { return []string{scribeVariable + "=" + byExec{}.book(try)} }

func (byExec) book(try trial) string { return filepath.Join(try.dir, "book") }

func (a byExec) calls(t testing.TB, try trial) int { return entries(t, a.book(try)).Calls }

// configureModel has both phases ask a provider, in the settings of a person's home directory.
func configureModel(t testing.TB, user, provider string) {
	t.Helper()
	put(t, filepath.Join(user, ".config", "memoir", "config.yml"),
		fmt.Sprintf("modelRoles: {default: %s}\nproviders: {mine: {%s, inputPrice: 2, cachedPrice: 0.5, outputPrice: 8}}\n", sceneModel, provider))
}

// addsUp holds the ledger against what a model was asked. A call is entered before it is
// made, so that a process that died in between leaves one that nobody saw.
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
	// One answer may have died with the process, or found no room.
	if seen < try.torture.calls || seen > try.torture.calls+1 {
		t.Errorf("%s: the model was asked %d times, undisturbed %d", what, seen, try.torture.calls)
	}
}

// A run that asks a model pays for each answer once, and loses none that was stored.
func TestARunWithAModelThatIsDisturbedAtAnyWriteLosesNoAnswer(t *testing.T) {
	t.Parallel()
	for name, asks := range map[string]func(t *testing.T) asking{
		"HTTP": func(t *testing.T) asking { return byHTTP{wires[0], wires[0].start(t, well)} },
		"exec": func(*testing.T) asking { return byExec{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by(t, 0, 0, 0) // skip before anything is prepared
			x := newTorture(t, few(t, 4), "")
			x.asks, x.dense = asks(t), 20
			x.undisturbed(t)
			x.killed(t)
			x.starved(t)
		})
	}
}
