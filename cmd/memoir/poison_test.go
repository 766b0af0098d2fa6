//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"memoir/pipeline"
	"memoir/store"
)

// process runs `memoir run` for a scene in a separate process.
func (s scene) process(more ...string) (code int, report pipeline.Report, said string) {
	s.t.Helper()
	args := []string{"run", "--json", "-v", "--home", s.home, "--sessions", s.sessions, "--max-age", "0", "--min-idle", "0", "--limit", "1000"}
	cmd := exec.Command(released(s.t), append(args, more...)...)
	cmd.Env = environment("HOME="+s.user, "SCENE_KEY="+sceneKey, "TMPDIR="+s.t.TempDir(), "ASKED="+s.asked)
	out := capture(s.t, cmd)
	if out.stdout != "" {
		must(s.t, json.Unmarshal([]byte(out.stdout), &report))
	}
	if strings.Contains(out.stdout+out.stderr, sceneKey) {
		s.t.Errorf("a run says the key:\n%s%s", out.stdout, out.stderr)
	}
	return out.code, report, out.stderr
}

// poisonous is a model that answers well, but executes harm when asked about the second layer, until mend is called.
// It records the layers of questions in the file $ASKED of the asking process, since a model may outlive the process.
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

// layers writes n sessions of one project. The second triggers a poisonous model.
func layers(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for day := 1; day <= n; day++ {
		layer(t, dir, "/srv/open/app", day)
	}
	return dir
}

// layer writes the session of a day about the layer with the day's number.
func layer(t *testing.T, dir, cwd string, day int, more ...string) {
	t.Helper()
	writeSession(t, dir, cwd, day, append([]string{fmt.Sprintf("Always keep layer %d free of global state.", day)}, more...)...)
}

func TestASessionThatKillsItsProcessIsRetriedLastAndAloneAndGivenUp(t *testing.T) {
	t.Parallel()
	const sessions = 5 // one of them comes later
	setting, mend := poisonous(t, "transcript", "kill -9 $PPID; wait")
	s := newScene(t, layers(t, sessions-1), setting)
	key := "claude:0b1c7a52-0000-4000-8000-000000000002"
	die := func() {
		t.Helper()
		if code, report, said := s.process(); code != -1 {
			t.Fatalf("the process lives: %d %+v\n%s", code, report, said)
		}
	}

	die()
	s.asked = filepath.Join(t.TempDir(), "asked")
	layer(t, s.sessions, "/srv/open/app", 20)
	die()
	if asked, err := os.ReadFile(s.asked); err != nil || !strings.HasPrefix(string(asked), "Always keep layer 20\n") || strings.Count(string(asked), "layer 2\n") != 1 {
		t.Errorf("what nobody died over does not come first: %q %v", asked, err)
	}
	die()
	code, report, said := s.process()
	if code != exitDone || report.Phase1.Claimed != 0 {
		t.Errorf("with a dead session: exit code %d, %+v\n%s", code, report.Phase1, said)
	}
	now := s.status()
	if len(now.Failed) != 0 || len(now.Dead) != 1 || now.Dead[0].Key != key || now.Dead[0].Crashes != store.MaxCrashes || now.Dead[0].Error == "" {
		t.Errorf("status: %+v", now)
	}
	if now.Sessions["up_to_date"] != sessions-1 || len(lastOf(t, s.home)) == 0 {
		t.Errorf("the others: %+v", now.Sessions)
	}
	if _, out, _ := s.memoir("status"); !strings.Contains(out, "dead") || !strings.Contains(out, now.Dead[0].Error) {
		t.Errorf("status does not say so:\n%s", out)
	}

	if code, _, said := s.memoir("retry", key); code != exitDone || !strings.Contains(said, "the next run retries 1 job") {
		t.Errorf("retry: %d\n%s", code, said)
	}
	die()
	mend()
	layer(t, s.sessions, "/srv/open/app", 2, "And name each file for what is in it.")
	code, report, said = s.process()
	if code != exitDone || report.Phase1.Stored != 1 || !strings.Contains(said, "extracting: 0b1c7a52-0000-4000-8000-000000000002\n") {
		t.Errorf("with new content: exit code %d, %+v\n%s", code, report.Phase1, said)
	}
	if now := s.status(); len(now.Failed)+len(now.Dead)+len(now.Running) > 0 || now.Sessions["up_to_date"] != sessions {
		t.Errorf("status: %+v", now)
	}
}

func TestAProjectThatKillsItsProcessComesLastAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	setting, mend := poisonous(t, "raw-memories", "kill -9 $PPID; wait")
	dir := layers(t, 2) // of the project that triggers the model
	for day := 3; day <= 5; day++ {
		layer(t, dir, fmt.Sprintf("/srv/open/other%d", day), day)
	}
	s := newScene(t, dir, setting)
	for crash := 1; crash <= store.MaxCrashes; crash++ {
		if code, report, said := s.process(); code != -1 {
			t.Fatalf("crash %d: the process lives: %d %+v\n%s", crash, code, report, said)
		}
		if memories := lastOf(t, s.home); crash == store.MaxCrashes && len(memories) == 0 {
			t.Error("the others have no memory")
		}
	}
	code, report, said := s.process()
	if code != exitDone {
		t.Errorf("with a dead project: exit code %d, %+v\n%s", code, report.Phase2, said)
	}
	for _, p := range report.Phase2 {
		if (p.Outcome == pipeline.OutcomeBackoff) != (p.Name == "app") {
			t.Errorf("with a dead project: %+v", p)
		}
	}
	now := s.status()
	if len(now.Dead) != 1 || now.Dead[0].Kind != "consolidate" || now.Dead[0].Crashes != store.MaxCrashes || now.Sessions["up_to_date"] != 5 {
		t.Fatalf("status: %+v", now)
	}
	if _, out, _ := s.memoir("status"); !strings.Contains(out, "dead       consolidate app-") || !strings.Contains(out, "3 of 3 crashes)") {
		t.Errorf("status does not say so:\n%s", out)
	}
	mend()
	if code, _, said := s.memoir("retry", now.Dead[0].Key); code != exitDone {
		t.Errorf("retry: %s", said)
	}
	if code, report, said := s.process(); code != exitDone || len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished {
		t.Errorf("mended: exit code %d, %+v\n%s", code, report.Phase2, said)
	}
}
