package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/bench/memory/marks"
	"memoir/bench/memory/scenario"
	"memoir/bench/memory/transcript"
)

// smallCorpus writes the sessions that testdata/corpus marks one of.
func smallCorpus(t *testing.T) string {
	t.Helper()
	projects, err := scenario.ReadAll(filepath.Join("testdata", "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := transcript.SaveAll(dir, projects); err != nil {
		t.Fatal(err)
	}
	return dir
}

func measuredReal(t *testing.T, args ...string) (report realReport) {
	t.Helper()
	out, err := measure(t, append(args, "-real", "-json")...)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	return report
}

func TestRealSessionsAreMeasured(t *testing.T) {
	t.Parallel()
	report := measuredReal(t, "-data", "testdata", "-corpus", smallCorpus(t), "-misses")
	want := Tally{Of: 2, Found: 1, Weight: 4, WeightFound: 3}
	if report.Total.Recall != want || report.Total.Traps.Of != 1 || len(report.Sessions) != 1 || report.Largest == 0 {
		t.Errorf("measured is %+v", report)
	}
	if report.Total.InMemory.Of != 2 || report.Raw["rule"] == nil || report.Raw["rule"].Only.WeightFound != 3 {
		t.Errorf("in MEMORY.md %+v, by the rule %+v", report.Total.InMemory, report.Raw["rule"])
	}
	if len(report.Misses) == 0 || report.Misses[0].ID != "colour" {
		t.Errorf("missed are %+v", report.Misses)
	}
	for _, s := range report.Fitted {
		if whole := (Tally{Of: 2, Found: 2, Weight: 4, WeightFound: 4}); s.Fit != whole || s.Over != 0 {
			t.Errorf("a session that fits, at %d tokens: %+v", s.Budget, s)
		}
	}
}

func TestRawMemoriesOfAHomeAreScored(t *testing.T) {
	t.Parallel()
	corpus, home := smallCorpus(t), t.TempDir()
	if _, err := measure(t, "-data", "testdata", "-corpus", corpus, "-real", "-home", home); memoir.CodeOf(err) != memoir.CodeInvalid {
		t.Errorf("a home without any: %v", err)
	}
	m := memoirProgram{path: program, dir: t.TempDir(), home: home}
	if err := m.command(t.Context(), new(any), "run", "--sessions", corpus, "--min-idle", "0", "--max-age", "0"); err != nil {
		t.Fatal(err)
	}
	own, kept := measuredReal(t, "-data", "testdata", "-corpus", corpus), measuredReal(t, "-data", "testdata", "-corpus", corpus, "-home", home)
	if own.Total.Recall != kept.Total.Recall || own.Total.InMemory != kept.Total.InMemory || len(kept.Sessions) != 1 ||
		kept.Largest == 0 {
		t.Errorf("measured is %+v, of the home %+v", own.Total, kept.Total)
	}
}

func TestWhatAPersonTypedInTheMiddleSurvivesFitting(t *testing.T) {
	t.Parallel()
	var r realSession
	log := func(n int) memoir.Item {
		return memoir.Item{N: n, Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Bash",
			Input:  "cat log",
			Output: strings.Repeat("line of a log\n", 3000)}
	}
	r.items = []memoir.Item{log(1), {N: 2, Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped,
		Text: "We stay with SQLite."}, log(3)}
	r.Facts = []marks.Mark{{ID: "a", Weight: 2, Proof: marks.Needs{{"stay with SQLite"}}}}
	fitted := fitScore{Budget: 4000}
	fitted.add(r, 20000)
	if fitted.Over != 1 || fitted.Fit.Found != 1 {
		t.Errorf("at 4,000 tokens: %+v", fitted)
	}
}

func TestMarksThatDoNotFitTheirSessionAreRefused(t *testing.T) {
	t.Parallel()
	corpus, data := smallCorpus(t), t.TempDir()
	good, err := os.ReadFile(filepath.Join("testdata", "corpus", "grind.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(data, "corpus"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"no such item":    {"evidence: [12]", "evidence: [21]"},
		"no such session": {"session: codex", "session: claude"},
		"no proof":        {`proof: [["Always run make check"]]`, "proof: []"},
	} {
		bad := strings.Replace(string(good), change[0], change[1], 1)
		if err := os.WriteFile(filepath.Join(data, "corpus", "bad.yml"), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := measure(t, "-data", data, "-corpus", corpus, "-real"); memoir.CodeOf(err) != memoir.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
