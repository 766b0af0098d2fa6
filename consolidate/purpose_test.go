package consolidate_test

import (
	"slices"
	"strings"
	"testing"
)

func TestCommandsAreNamedByTheirPurpose(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		commands []string
		want     []string
	}{
		{[]string{"`npm run build` works (ran 3 times) — runs `tsc -p .`", "`npm test` passes (ran 14 times)", "`npm run lint` passes", "`npm run format` formats", "`npm start` works", "`npm publish` works"},
			[]string{"build: `npm run build` (runs `tsc -p .`)", "test: `npm test`", "lint: `npm run lint`", "format: `npm run format`", "run: `npm start`", "release: `npm publish`"}},
		{[]string{"`cargo fmt --check` passes (ran 9 times)", "`cargo fmt` formats"}, []string{"format: `cargo fmt`"}},
		{[]string{"`cmake --build --preset dev` works", "`ctest --preset dev` passes"}, []string{"build: `cmake --build --preset dev`", "test: `ctest --preset dev`"}},
		{[]string{"`swift-format lint -r Sources` passes", "`cargo xtask release 0.5.0` works", "`docker compose up -d --build web` works"}, []string{"lint: `swift-format lint -r Sources`", "run: `docker compose up -d --build web`", "release: `cargo xtask release 0.5.0`"}},
		{[]string{"`make test` passes", "`sh /tmp/try.sh` works", "`git push` works"}, []string{"test: `make test`"}},
	} {
		var lines []string
		for _, c := range test.commands {
			lines = append(lines, "Commands: "+c)
		}
		var got []string
		for _, l := range under(build(t, input(session(0, id(1), lines...))).MemorySummary, "## Build, test, run") {
			l, _, _ = strings.Cut(strings.TrimPrefix(l, "- "), " [")
			got = append(got, l)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
