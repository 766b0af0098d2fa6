//go:build unix

package main

import (
	"bytes"
	"crypto/rand"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lateHome keeps a token in many places, and a rule tells it by what stands before it
// in one of them.
type lateHome struct {
	*torture
	token string
}

func newLateHome(t *testing.T) *lateHome {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config")
	l := &lateHome{newTorture(t, few(t, 3), "", "redact", "--stored", "--yes", "--config", config), "zqx_" + strings.ToLower(rand.Text()[:23]) + "7"}
	record := func(kind, payload string) string {
		return `{"timestamp":"2026-05-01T10:00:01Z","type":"` + kind + `","payload":` + payload + "}\n"
	}
	put(t, filepath.Join(l.sessions, "late.jsonl"),
		record("session_meta", `{"id":"aaaaaaaa-1111-4222-8333-444444444444","timestamp":"2026-05-01T10:00:00Z","cwd":"/srv/app","originator":"codex-tui","cli_version":"0.150.0","source":"cli","git":{"branch":"wip/`+l.token+`"}}`)+
			record("event_msg", `{"type":"user_message","message":"Never print the pass phrase `+l.token+` anywhere, always use pnpm."}`))
	home := made(t, l.sessions)
	edit(t, home, "\n- ask Ada for "+l.token+"\n")
	put(t, filepath.Join(home, "log", "run.log"), l.token+"\n")
	put(t, filepath.Join(config, ".gitleaks.toml"), `title = "own"
[[rules]]
id = "late-token"
regex = '''pass phrase (zqx_[a-z0-9]{24})'''
secretGroup = 1
keywords = ["pass phrase"]
`)
	l.before = home
	return l
}

// finishRedaction calls it again, undisturbed: then no byte is left, and the memory is what it is
// when nothing disturbs.
func (l *lateHome) finishRedaction(try trial, t *testing.T, what string) int {
	t.Helper()
	home := try.home
	if out, err := try.run("", l.args...); err != nil {
		t.Errorf("%s: called again: %v: %s", what, err, out.stderr)
		return 0
	}
	for _, name := range []string{"memoir.db", "memoir.db-wal", "log/run.log"} {
		if b, err := os.ReadFile(filepath.Join(home, name)); err == nil && bytes.Contains(b, []byte(l.token)) {
			t.Errorf("%s: it is left in %s", what, name)
		}
	}
	for path, text := range files(t, filepath.Join(home, "projects")) {
		if strings.Contains(text, l.token) || strings.Contains(path, ".stage") || strings.Contains(path, ".gone") {
			t.Errorf("%s: it, or debris, is left in %s", what, path)
		}
	}
	if !maps.Equal(lastOf(t, home), l.last) {
		t.Errorf("%s: the memory ended otherwise", what)
	}
	return 0
}

func TestRedactingThatIsKilledOrFindsNoRoomAtAnyWriteIsFinishedWhenCalledAgain(t *testing.T) {
	t.Parallel()
	by(t, 0, 0, 0) // skip before anything is prepared
	l := newLateHome(t)
	try := l.trial(t)
	try.logged(t)
	l.last = lastOf(t, try.home)
	l.finishRedaction(try, t, "undisturbed")
	if len(l.points) < 40 {
		t.Fatalf("only %d moments", len(l.points))
	}
	l.dense, l.check = 24, l.finishRedaction
	l.killed(t)
	l.starved(t)
	again, err := try.run("")
	if err != nil || !strings.Contains(again.stdout, `"claimed": 0`) {
		t.Errorf("the next run found work: %v %s", err, again.stdout)
	}
}
