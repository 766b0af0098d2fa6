package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"memoir"
	"memoir/model/modeltest/scribe"
)

// A program is a shell script as a model: how it behaves is in a file beside it, so
// that it can be mended.
func TestAProgramThatFailsChangesNoMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs sh, which windows has not: the program is a script")
	}
	const enter = `printf '{"In":0,"Out":0}\n' >>"$book"` // a call that told no tokens
	for _, test := range []struct {
		name, body string
		phase      scribe.Phase
		fate       fate
		more       string // settings
		estimated  bool
	}{
		{name: "it fails", phase: scribe.Extract, body: `echo "not today: $secret" >&2; ` + enter + `; exit 1`, fate: failed("not today")},
		{name: "it hangs", phase: scribe.Extract, body: enter + `; sleep 600 & wait`, more: ", timeoutSeconds: 2", estimated: true,
			fate: postponed("no answer within 2s; a slow model needs a larger timeoutSeconds")},
		{name: "it prints nothing", phase: scribe.Consolidate, body: enter, fate: failed("empty"), estimated: true},
		{name: "it prints the question", phase: scribe.Extract, body: enter + `; cat`, fate: failed("printed the question"), estimated: true},
		{name: "it is killed", phase: scribe.Consolidate, body: enter + `; kill -9 $$`, fate: failed("killed"), estimated: true},
		{name: "it prints a banner first", phase: scribe.Extract, body: `echo "model.sh 1.0: thinking"; echo; scribe; echo "bye"`, fate: done(), estimated: true},
		{name: "it answers something else", phase: scribe.Consolidate, body: enter + `; echo "I would rather not, $secret"`, fate: refused("breaks a rule"), estimated: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tag := map[scribe.Phase]string{scribe.Extract: "<transcript>", scribe.Consolidate: "<raw-memories>"}[test.phase]
			setting, book := script(t, `
secret='`+secret()+`'
bad() { `+test.body+`; }
if test -e "$0.mended"; then scribe; exit; fi
question=$(mktemp)
cat >"$question"
if grep -q '^`+tag+`$' "$question"; then bad <"$question"; else scribe <"$question"; fi`)
			b := bad{name: test.name, phase: test.phase, fate: test.fate, estimated: test.estimated}
			b.happens(t, setting+test.more, func() memoir.Usage { return entries(t, book) }, func() {
				if err := os.WriteFile(strings.TrimSuffix(book, ".book")+".mended", nil, 0o600); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestAProgramThatIsMissingEndsTheRunBeforeAnythingIsClaimed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs sh, which windows has not: the program is a script")
	}
	p := withWork(t)
	setting, book := script(t, "scribe")
	program := strings.TrimSuffix(book, ".book")
	s := newScene(t, p.sessions, setting)
	copyTree(t, p.home(), s.home)
	if err := os.Rename(program, program+".away"); err != nil {
		t.Fatal(err)
	}
	before := s.status()
	if code, _, said := s.memoir("run", "--sessions", s.sessions, "--max-age", "0", "--min-idle", "0"); code != exitUsage || !strings.Contains(said, filepath.Base(program)+" cannot be run") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	now := s.status()
	s.addsUp(now, p.spent)
	if len(now.Failed)+len(now.Dead)+len(now.Running) > 0 || now.Jobs["done"] != before.Jobs["done"] {
		t.Errorf("status: %+v", now)
	}
	if err := os.Rename(program+".away", program); err != nil {
		t.Fatal(err)
	}
	s.run(exitDone)
	if files := s.memory(); files[fileOf(files, "MEMORY.md")] != p.after[fileOf(p.after, "MEMORY.md")] {
		t.Error("not the memory that a good answer makes")
	}
	s.addsUp(s.status(), p.spent.Add(entries(t, book)))
}
