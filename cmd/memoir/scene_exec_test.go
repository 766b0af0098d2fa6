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
		fate       fate
		more       string // settings
		estimated  bool
		slow       bool // it waits for a real time limit, in one phase only
	}{
		{name: "it fails", body: `echo "not today: $secret" >&2; ` + enter + `; exit 1`, fate: failed("not today")},
		{name: "it fails without a word", body: enter + `; exit 3`, fate: failed("status 3")},
		{name: "it hangs", body: enter + `; sleep 600 & wait`, fate: postponed("no answer within 4s; a slow model needs a larger timeoutSeconds"), more: ", timeoutSeconds: 4", estimated: true, slow: true},
		{name: "it prints nothing", body: enter, fate: failed("empty"), estimated: true},
		{name: "it prints the question", body: enter + `; cat`, fate: failed("printed the question"), estimated: true},
		{name: "it is killed", body: enter + `; kill -9 $$`, fate: failed("killed"), estimated: true},
		{name: "it prints a banner first", body: `echo "model.sh 1.0: thinking"; echo; scribe; echo "bye"`, fate: done(), estimated: true},
		{name: "it answers something else", body: enter + `; echo "I would rather not, $secret"`, fate: refused("can't be used"), estimated: true},
	} {
		for _, phase := range []scribe.Phase{scribe.Extract, scribe.Consolidate} {
			if test.slow && phase == scribe.Consolidate {
				continue
			}
			t.Run(test.name+" in "+string(phase), func(t *testing.T) {
				t.Parallel()
				fate := test.fate
				tag := map[scribe.Phase]string{scribe.Extract: "<transcript>", scribe.Consolidate: "<raw-memories>"}[phase]
				if phase == scribe.Consolidate {
					fate.error = strings.ReplaceAll(fate.error, "can't be used", "breaks a rule")
				}
				setting, book := script(t, `
secret='`+secret()+`'
bad() { `+test.body+`; }
if test -e "$0.mended"; then scribe; exit; fi
question=$(mktemp)
cat >"$question"
if grep -q '^`+tag+`$' "$question"; then bad <"$question"; else scribe <"$question"; fi`)
				b := bad{name: test.name, phase: phase, fate: fate, estimated: test.estimated}
				b.happens(t, setting+test.more, func() memoir.Usage { return entries(t, book) }, func() {
					if err := os.WriteFile(strings.TrimSuffix(book, ".book")+".mended", nil, 0o600); err != nil {
						t.Error(err)
					}
				})
			})
		}
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
