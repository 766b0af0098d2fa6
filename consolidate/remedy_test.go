package consolidate_test

import (
	"strings"
	"testing"
)

func TestAFailureIsToldWithItsRemedyFirst(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // "" where it is no lesson
		"`tool x` failed: error: no such command: 'x' — worked: `run tool x`":                                                       "`tool x` failed: error: no such command: 'x' → worked: `run tool x`",
		"`make t` failed: no file — The module is not checked out — passed after `git submodule update`":                            "`make t` failed: no file → passed after `git submodule update` — The module is not checked out",
		"`make t` failed: FAIL: TestA — a_test.go:7: want 1, got 2 — passed with `TZ=UTC`":                                          "`make t` failed: FAIL: TestA — a_test.go:7: want 1, got 2 → passed with `TZ=UTC`",
		"`make t` failed: " + strings.Repeat("long ", 60) + "— passed with `TZ=UTC`":                                                "long… → passed with `TZ=UTC`",
		"`lint` failed: a.go:1: missing cases (exhaustive) — The linter wants every case — passed after editing `a.go`":             "(exhaustive) — The linter wants every case — passed after editing `a.go`",
		"`lint` failed: a.go:1: missing cases — passed after editing `a.go`":                                                        "",
		"`lint` failed: KEY is not set — passed after editing `ci/turbo.json`":                                                      "KEY is not set → passed after editing `ci/turbo.json`",
		"the user saw: panicked at a.rs:1 — mended by editing `a.rs`":                                                               "",
		"`tsc` failed: a.ts(1,2): error TS2307: Cannot find module './b.js' — passed after editing `a.ts`":                          "",
		"`tsc` failed: error TS2339: Property 'x' does not exist on type 'Y' — Y has no x — passed after editing `a.ts`":            "",
		"`go build` failed: a.go:9: undefined: C — The package needs cgo: the driver is written in C — passed after editing `a.go`": "The package needs cgo",
		"`make t` failed: no tag": "`make t` failed: no tag",
	} {
		lines := under(build(t, input(session(0, id(1), "Failures: "+text, "Commands: `make x` works"))).MemoryMD, "## Failures and fixes")
		if want == "" && len(lines) > 0 || want != "" && !contains(lines, want) {
			t.Errorf("%q: got %q, want %q", text, lines, want)
		}
	}
}

func TestAnErrorInCodeCountsOnceItRecurs(t *testing.T) {
	t.Parallel()
	text := "Failures: `tsc` failed: error TS2307: Cannot find module './b.js' — passed after editing `a.ts`"
	lines := under(build(t, input(session(0, id(1), text), session(1, id(2), text))).MemoryMD, "## Failures and fixes")
	if len(lines) != 1 || !strings.HasSuffix(lines[0], "[00001002 2026-07-02, 00001001 2026-07-01]") {
		t.Errorf("got %q", lines)
	}
}

func TestOneErrorOfOneCommandIsOneLine(t *testing.T) {
	t.Parallel()
	lines := under(build(t, input(
		session(0, id(1), "Failures: `make t` failed: error: no fixture of the parser — passed with `GEN=1`"),
		session(1, id(2), "Failures: `make t` failed: error: no fixture of the parser — What generates them was never run in this checkout, as the hook is missing — passed after `make gen` and `make hooks`"),
	)).MemoryMD, "## Failures and fixes")
	if len(lines) != 1 || !strings.Contains(lines[0], "→ passed after `make gen`") || !strings.Contains(lines[0], "00001001") {
		t.Errorf("got %q", lines)
	}
}
