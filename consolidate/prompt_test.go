package consolidate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memoir/prompts"
)

// What the prompt says of lines and bounds is what the built-in model holds itself to.
func TestThePromptNamesTheBoundsOfTheBuiltInModel(t *testing.T) {
	t.Parallel()
	system, _, err := prompts.Consolidate(prompts.ConsolidateVars{})
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(system), " ")
	for _, want := range []string{
		fmt.Sprintf("Commands are %d at most, files %d. Recent work tells of the %d newest sessions", maxCommands, maxFilesOf, maxRecent),
		fmt.Sprintf("At most %d, %d, %d, %d, %d and %d lines.", briefManner, briefRules, briefCommands, briefFailures, briefDecisions, briefOpen),
		fmt.Sprintf("Lines have at most %d bytes, what the user wants %d, a failure %d;", briefLine, briefRule, lessonLength),
		fmt.Sprintf("Open ends that are older than %d days", staleDays),
		fmt.Sprintf("at most %d characters", maxSkillName),
		"marked `" + strings.TrimLeft(foreignMark, " ") + "infra)`",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("the prompt does not say %q", want)
		}
	}
	memory, summary, ok := strings.Cut(system, "\n# memory_summary\n")
	if !ok {
		t.Fatal("the prompt has not its parts")
	}
	_, memory, _ = strings.Cut(memory, "\n# memory_md\n")
	summary, _, _ = strings.Cut(summary, "\n# skills\n")
	heads := func(part string) []string {
		var out []string
		for _, l := range exampleOf(part) {
			if level(l) == 2 {
				out = append(out, l)
			}
		}
		return out
	}
	program := []string{headNotes, headByHand} // which it gives to what people wrote
	without := func(all []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(h string) bool { return slices.Contains(program, h) })
	}
	if got, want := heads(memory), without(memoryHeads); !slices.Equal(got, want) {
		t.Errorf("memory_md: asked for %q, laid out as %q", got, want)
	}
	if got, want := heads(summary), without(summaryHeads); !slices.Equal(got, want) {
		t.Errorf("memory_summary: asked for %q, laid out as %q", got, want)
	}
}

// exampleOf are the indented lines of a part of a prompt.
func exampleOf(part string) []string {
	var out []string
	for l := range strings.Lines(part) {
		if l, ok := strings.CutPrefix(strings.TrimRight(l, "\n"), "    "); ok {
			out = append(out, l)
		}
	}
	return out
}

func TestFailuresAreReadInAnyWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"`make gen` failed: no protoc — passed after `make tools`":                        "`make gen` failed: no protoc → passed after `make tools`",
		"`protoc: not found`: the plugin is missing; fixed by `make tools`":               "`protoc: not found` → fixed by `make tools` — the plugin is missing",
		"protoc: command not found; the plugin is missing; fixed by running `make tools`": "protoc: command not found → fixed by running `make tools` — the plugin is missing",
		"`make gen` failed: `no protoc`: the plugin is missing. Solved by `make tools`.":  "`make gen` failed: `no protoc` → solved by `make tools` — the plugin is missing",
		"“database is locked”, because two writers raced (fixed by a busy timeout)":       "“database is locked” → fixed by a busy timeout — because two writers raced",
		"`npm ci` failed: EACCES; this was resolved with `sudo chown`":                    "`npm ci` failed: EACCES → resolved with `sudo chown`",
		"`npm ci` failed: EACCES - fix: `rm -rf node_modules`":                            "`npm ci` failed: EACCES → fix: `rm -rf node_modules`",
		"the build needs protoc":                      "the build needs protoc",
		"`x` says `a; fixed by b` and nothing helped": "`x` says `a; fixed by b` and nothing helped",
	} {
		got := failureForm(text)
		if again := failureForm(got); again != got {
			t.Errorf("%q becomes %q, then %q", text, got, again)
		}
		if f, ok := troubleOf(got); ok {
			got = f.String()
		}
		if got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
	for _, text := range []string{"`make x` failed: no key — unresolved", "`make x` failed: no key; still unresolved.", "`make x` failed: no key (not fixed)"} {
		if name, ok := unresolved(failureForm(text)); !ok || name != "make x" {
			t.Errorf("%q: %q, %v", text, name, ok)
		}
	}
}

func TestOtherStatementsAreReadInAnyWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		form       func(string) string
		text, want string
	}{
		{commandForm, "`make test` passes", "`make test` passes"},
		{commandForm, "Run `make test` before a commit.", "`make test` before a commit"},
		{commandForm, "To test the store: `go test ./store/`", "`go test ./store/` to test the store"},
		{commandForm, "no code at all", "no code at all"},
		{fileForm, "`a/b.go` — changed", "`a/b.go` — changed"},
		{fileForm, "a/b.go: claims jobs", "`a/b.go`: claims jobs"},
		{fileForm, "the queue is in `a/b.go`", "`a/b.go` — the queue is in"},
		{procedureForm, "in order: `a b` → `c d` → `e f`", "in order: `a b` → `c d` → `e f`"},
		{procedureForm, "“release”: `a b`, then `c d` and `e f`", "“release”: `a b` → `c d` → `e f`"},
		{procedureForm, "`a b` -> `c d` -> `e f`", "`a b` → `c d` → `e f`"},
	} {
		if got := tt.form(tt.text); got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
}
