package consolidate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memoir"
)

const headCommands = "## Build, test and other commands"

// commands are the commands that a memory of sessions lists, without citations;
// every argument is the commands of one session.
func commands(t *testing.T, sessions ...[]string) []string {
	t.Helper()
	var list []memoir.Extraction
	for n, texts := range sessions {
		var bullets []string
		for _, text := range texts {
			bullets = append(bullets, "Commands: "+text)
		}
		list = append(list, session(n, id(n+1), bullets...))
	}
	var out []string
	for _, line := range under(build(t, input(list...)).MemoryMD, headCommands) {
		text, _, _ := strings.Cut(strings.TrimPrefix(line, "- "), " [0000")
		out = append(out, text)
	}
	return out
}

func TestCommandsOfMostSessionsComeFirstThenByKind(t *testing.T) {
	t.Parallel()
	got := commands(t,
		[]string{"`npm start` works (ran 40 times)", "`npm run fmt` formats", "`npm run build` works", "`npm run lint` passes", "`npm test` passes"},
		[]string{"`npm run build` works"},
	)
	want := []string{"`npm run build` works (ran 2 times)", "`npm test` passes", "`npm run lint` passes", "`npm run fmt` formats", "`npm start` works (ran 40 times)"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVariantsOfACommandAreOneLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		runs []string
		want []string
	}{
		{"parts of a test suite", []string{"`cargo test retry::tests -- --nocapture` passes", "`cargo test -p core` passes (ran 3 times)"},
			[]string{"`cargo test …` passes (ran 4 times), e.g. `cargo test -p core`"}},
		{"the general form wins", []string{"`uv run pytest -q` passes", "`uv run pytest -q tests/test_a.py` passes", "`uv run pytest -q -k umlauts` passes"},
			[]string{"`uv run pytest -q` passes (ran 3 times)"}},
		{"a quoted selection", []string{"`mise run test` passes", "`mise run test -- -run \"Test A\" ./cmd/...` passes"},
			[]string{"`mise run test` passes (ran 2 times)"}},
		{"values of settings", []string{"`make dist VERSION=0.4.0` works", "`make dist VERSION=0.5.0` works"},
			[]string{"`make dist …` works (ran 2 times), e.g. `make dist VERSION=0.4.0`"}},
		{"one form only", []string{"`mise run test:e2e e2e/test_a` passes (ran 3 times, 1 failed)"},
			[]string{"`mise run test:e2e e2e/test_a` passes (ran 2 times)"}},
		{"another directory is another command", []string{"`cd web && npm test` passes", "`cd api && npm test` passes"},
			[]string{"`cd api && npm test` passes", "`cd web && npm test` passes"}},
		{"a directory and a variable", []string{"`cd web && LOG=1 npm test` passes", "`cd web && LOG=1 npm test src/a.test.ts` passes"},
			[]string{"`cd web && LOG=1 npm test` passes (ran 2 times)"}},
		{"variables are kept", []string{"`LOG=debug ./app --once` works"}, []string{"`LOG=debug ./app --once` works"}},
	} {
		if got := commands(t, test.runs); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestOfOneProgramTwoFormsStay(t *testing.T) {
	t.Parallel()
	got := commands(t, []string{"`cargo clippy` passes (ran 3 times)", "`cargo clippy --all-targets` passes (ran 2 times)", "`cargo clippy --all-targets --all-features` passes"})
	if len(got) != 2 || !strings.Contains(got[0], "ran 3") || !strings.Contains(got[1], "ran 2") {
		t.Errorf("got %q", got)
	}
}

func TestTheListOfCommandsIsShort(t *testing.T) {
	t.Parallel()
	var many []string
	for n := range 40 {
		many = append(many, fmt.Sprintf("`make target%c%c` works", 'a'+n/26, 'a'+n%26))
	}
	if got := commands(t, many); len(got) != 15 {
		t.Errorf("%d lines", len(got))
	}
	got := commands(t, []string{"`make test` passes", "`make lint` passes", "`make build` works", "`make run` works", "`make fmt` formats", "`npm install left-pad` works"})
	if contains(got, "left-pad") {
		t.Errorf("what was needed once is listed: %q", got)
	}
}

func TestCommandsAndFilesOfAnotherRepositoryAreLeftOut(t *testing.T) {
	t.Parallel()
	c := build(t, input(session(0, id(1), "Commands: `make test` passes", "Commands: `cargo publish` works (in another repository: lib)",
		"Failures: `cargo test` failed: error: no such thing — unresolved (in another repository: lib)",
		"Preferences: “never publish by hand” (in another repository: lib)", "Preferences: “use tabs in Makefiles”",
		"Decisions: `sparse` must be read first (in another repository: lib)", "Decisions: `core` must be built first")))
	for _, lost := range []string{"cargo publish", "no such thing"} {
		if strings.Contains(c.MemoryMD, lost) {
			t.Errorf("%q is of another repository:\n%s", lost, c.MemoryMD)
		}
	}
	if there := under(c.MemoryMD, "## In other repositories"); len(there) != 3 || there[0] != "### lib" || !strings.HasPrefix(there[1], "- “never publish by hand” [") || !strings.HasPrefix(there[2], "- `sparse` must be read first [") {
		t.Errorf("what was learned there stands apart: %q", there)
	}
	if rules := under(c.MemoryMD, "## User preferences"); len(rules) != 1 {
		t.Errorf("only its own rules come first: %q", rules)
	}
	if strings.Contains(c.MemorySummary, "must be read first") || strings.Contains(c.MemorySummary, "by hand") {
		t.Errorf("the briefing is of this repository:\n%s", c.MemorySummary)
	}
}
