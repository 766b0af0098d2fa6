//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"memoir/pipeline"
	"memoir/store"
)

// process makes a run of a scene in a process of its own, as a person does.
func (s scene) process(more ...string) (code int, report pipeline.Report, said string) {
	s.t.Helper()
	args := []string{"run", "--json", "-v", "--home", s.home, "--sessions", s.sessions, "--max-age", "0", "--min-idle", "0"}
	cmd := exec.Command(released(s.t), append(args, more...)...)
	cmd.Env = environment("HOME="+s.user, "SCENE_KEY="+sceneKey, "TMPDIR="+s.t.TempDir(), "ASKED="+s.asked)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	code = codeOf(s.t, cmd.Run())
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			s.t.Fatalf("%v: %s", err, out.String())
		}
	}
	return code, report, errs.String()
}

// poisonous is a model that answers well, but that does harm to the process that asks
// about one session, until it is mended. It writes down of which days it was asked, in
// a file of the process that asks: models outlive a process that was killed.
func poisonous(t *testing.T, phase, harm string) (setting string, mend func()) {
	t.Helper()
	setting, book := script(t, `
harm() { `+harm+`
}
question=$(mktemp)
cat >"$question"
if grep -q '^<`+phase+`>$' "$question"; then
	grep -o 'Always keep layer [0-9]*' "$question" | head -1 >>"${ASKED:-/dev/null}"
	if ! test -e "$0.mended" && grep -q 'layer 2 free' "$question"; then harm; fi
fi
scribe <"$question"`)
	program := strings.TrimSuffix(book, ".book")
	return setting, func() { must(t, os.WriteFile(program+".mended", nil, 0o600)) }
}

// layers writes sessions, of one project, of which the second is poison.
func layers(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for day := 1; day <= n; day++ {
		writeSession(t, dir, day, []string{fmt.Sprintf("Always keep layer %d free of global state.", day)}, []string{"make check"})
	}
	return dir
}

const outOfMemory = `
	size=$(awk '/^VmData/ {print $2}' /proc/$PPID/status)
	prlimit --pid $PPID --data=$(((size + 1024) * 1024)): || exit 9
	head -c 16000000 /dev/zero | tr '\0' 'x'; exit`

func TestASessionThatKillsItsProcessIsRetriedLastAndAloneAndGivenUp(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, harm, death string }{
		{"killed", "kill -9 $PPID; wait", "its process died: killed by SIGKILL$"},
		{"segmentation fault", "kill -SEGV $PPID; wait", "its process died: exit status 2: SIGSEGV: segmentation violation"},
		{"out of memory", outOfMemory, "its process died: out of memory, exit status 2: (fatal error|runtime/cgo): "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(test.harm, "prlimit") {
				if _, err := exec.LookPath("prlimit"); err != nil {
					t.Skip("no prlimit here to take a process's memory away")
				}
			}
			const sessions = 5 // of which one comes later
			setting, mend := poisonous(t, "transcript", test.harm)
			s := newScene(t, layers(t, sessions-1), setting)
			death := regexp.MustCompile("^" + test.death)
			key := "claude:0b1c7a52-0000-4000-8000-000000000002"

			if code, report, said := s.process(); code == exitDone || report.Phase1.Claimed > 0 {
				t.Fatalf("the process lives: %+v\n%s", report, said)
			}
			s.asked = filepath.Join(t.TempDir(), "asked")
			writeSession(t, s.sessions, 20, []string{"Always keep layer 20 free of global state."}, []string{"make check"})
			code, report, said := s.process()
			if p := report.Phase1; code != exitPartly || p.Failed != 1 || p.Crashed != 1 || !strings.Contains(said, "(crash 2 of 3)") {
				t.Fatalf("the second run: exit code %d, %+v\n%s", code, p, said)
			}
			if asked, err := os.ReadFile(s.asked); err != nil || !strings.HasPrefix(string(asked), "Always keep layer 20\n") || strings.Count(string(asked), "layer 2\n") != 1 {
				t.Errorf("what nobody died over does not come first: %q %v", asked, err)
			}
			if !strings.Contains(said, "extracting 0b1c7a52-0000-4000-8000-000000000002 in a process of its own, since one died over it") {
				t.Errorf("nobody is told:\n%s", said)
			}
			now := s.status()
			if len(now.Failed) != 1 || now.Failed[0].Session != key || now.Failed[0].Crashes != 2 || !death.MatchString(now.Failed[0].Error) {
				t.Errorf("status: %+v", now.Failed)
			}
			if now.Sessions["up_to_date"] != sessions-1 || len(s.memory()) == 0 {
				t.Errorf("the others: %+v", now.Sessions)
			}

			if code, report, said := s.process(); code != exitPartly || report.Phase1.Crashed != 1 || !strings.Contains(said, "(crash 3 of 3)") {
				t.Fatalf("the third run: exit code %d, %+v\n%s", code, report.Phase1, said)
			}
			now = s.status()
			if len(now.Failed) != 0 || len(now.Dead) != 1 || now.Dead[0].Session != key || now.Dead[0].Crashes != store.MaxCrashes || !death.MatchString(now.Dead[0].Error) {
				t.Errorf("status: %+v", now)
			}
			if _, out, _ := s.memoir("status"); !strings.Contains(out, "dead") || !strings.Contains(out, now.Dead[0].Error) {
				t.Errorf("status does not say so:\n%s", out)
			}
			if code, report, said := s.process(); code != exitDone || report.Phase1.Claimed != 0 {
				t.Errorf("with a dead session: exit code %d, %+v\n%s", code, report.Phase1, said)
			}

			if code, _, said := s.memoir("retry", key); code != exitDone || !strings.Contains(said, "1 job is tried again") {
				t.Errorf("retry: %d\n%s", code, said)
			}
			if code, report, _ := s.process(); code != exitPartly || report.Phase1.Crashed != 1 || s.status().Failed[0].Crashes != 2 {
				t.Errorf("after retry: exit code %d, %+v", code, report.Phase1)
			}
			if code, _, _ := s.process(); code != exitPartly || len(s.status().Dead) != 1 {
				t.Errorf("not given up again: %+v", s.status())
			}

			mend()
			writeSession(t, s.sessions, 2, []string{"Always keep layer 2 free of global state.", "And name each file for what is in it."}, []string{"make check"})
			if code, report, said := s.process(); code != exitDone || report.Phase1.Stored != 1 {
				t.Errorf("with new content: exit code %d, %+v\n%s", code, report.Phase1, said)
			}
			if now := s.status(); len(now.Failed)+len(now.Dead)+len(now.Running) > 0 || now.Sessions["up_to_date"] != sessions {
				t.Errorf("status: %+v", now)
			}
		})
	}
}

func TestAProjectThatKillsItsProcessComesLastAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	setting, mend := poisonous(t, "raw-memories", "kill -9 $PPID; wait")
	dir := layers(t, 2) // of the project that is poison
	for day := 3; day <= 5; day++ {
		writeSession(t, dir, day, []string{fmt.Sprintf("Always keep layer %d free of global state.", day)}, []string{"make check"})
		path := fmt.Sprintf("%s/0b1c7a52-0000-4000-8000-0000000%05d.jsonl", dir, day)
		b, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, bytes.ReplaceAll(b, []byte("/srv/open/app"), fmt.Appendf(nil, "/srv/open/other%d", day)), 0o600))
	}
	s := newScene(t, dir, setting)
	if code, report, said := s.process(); code == exitDone || len(report.Phase2) > 0 {
		t.Fatalf("the process lives: %+v\n%s", report, said)
	}
	for crash := 2; crash <= store.MaxCrashes; crash++ {
		code, report, said := s.process()
		if code != exitPartly || !strings.Contains(said, fmt.Sprintf("its process died: killed by SIGKILL (crash %d of 3)", crash)) {
			t.Fatalf("crash %d: exit code %d\n%s", crash, code, said)
		}
		for _, p := range report.Phase2 {
			if (p.Outcome == pipeline.OutcomeFailed) != (p.Name == "app") {
				t.Errorf("crash %d: %+v", crash, p)
			}
		}
		if memories := s.memory(); crash == 2 && len(memories) == 0 {
			t.Error("the others have no memory")
		}
		_, out, _ := s.memoir("status")
		says := []string{"suspect    consolidate app-", "its process died: killed by SIGKILL (2 of 3 crashes, next last and alone)", ", 2 of 3 crashes\n"}
		if crash == store.MaxCrashes {
			says = []string{"dead       consolidate app-", "its process died: killed by SIGKILL (3 of 3 crashes)", ", 3 of 3 crashes\n"}
		}
		for _, want := range says {
			if !strings.Contains(out, want) {
				t.Errorf("crash %d: status does not say %q:\n%s", crash, want, out)
			}
		}
		if crash == 2 { // the cause is not mended, and everything begins anew
			if code, _, said := s.memoir("retry", "--all"); code != exitDone || !strings.Contains(said, "1 job is tried again") {
				t.Errorf("retry: %d\n%s", code, said)
			}
			if code, _, said := s.process(); code != exitPartly || !strings.Contains(said, "its process died: killed by SIGKILL (crash 2 of 3)") {
				t.Errorf("after retry: exit code %d\n%s", code, said)
			}
		}
	}
	now := s.status()
	if len(now.Dead) != 1 || now.Dead[0].Kind != "consolidate" || now.Dead[0].Crashes != store.MaxCrashes || now.Dead[0].Error != "its process died: killed by SIGKILL" || now.Sessions["up_to_date"] != 5 {
		t.Fatalf("status: %+v", now)
	}
	if code, report, said := s.process(); code != exitDone || len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomeBackoff {
		t.Errorf("with a dead project: exit code %d, %+v\n%s", code, report.Phase2, said)
	}
	mend()
	if code, _, said := s.memoir("retry", now.Dead[0].Session); code != exitDone {
		t.Errorf("retry: %s", said)
	}
	if code, report, said := s.process(); code != exitDone || len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished || !strings.Contains(said, "consolidating app in a process of its own") {
		t.Errorf("mended: exit code %d, %+v\n%s", code, report.Phase2, said)
	}
}
