package consolidate_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"memoir/consolidate"
)

func TestWhatCountsAsTheSameStatement(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		older, newer string
		same         bool
	}{
		{"Preferences: “never open prs against release”", "Preferences: “Never open PRs against release!!!”", true},
		{"Preferences: “always run the linter before you push”", "Preferences: “run the linters before pushing, always”", true},
		{"Preferences: “use tabs in Makefiles”", "Preferences: “use two spaces in YAML files”", false},
		{"Decisions: `Open` must set the busy timeout first, because later pragmas wait for locks", "Decisions: `Open` must set the busy timeout first because pragmas that come later wait for locks", true},
		{"Decisions: `Open` must set the timeout first", "Decisions: `Close` must flush the journal last", false},
		{"Preferences: “不要直接推送到 main”", "Preferences: “不要直接推送到 main。”", true},
		{"Failures: `make test` failed: error: no fixture — passed after `make gen`", "Failures: `make test` failed: error: no fixture — passed after `make gen` and editing `a.go`", true},
	} {
		c := build(t, input(session(0, id(1), test.older), session(1, id(2), test.newer)))
		_, want, _ := strings.Cut(test.newer, ": ")
		want = strings.Replace(want, " — passed", " → passed", 1)
		joined := false
		for line := range strings.Lines(c.MemoryMD) {
			if strings.HasPrefix(line, "- "+want) && strings.Contains(line, "[00001002 2026-07-02, 00001001 2026-07-01]") {
				joined = true
			}
		}
		if joined != test.same {
			t.Errorf("%q and %q: joined %v:\n%s", test.older, test.newer, joined, c.MemoryMD)
		}
	}
}

func TestOneSessionMaySayBothSides(t *testing.T) {
	t.Parallel()
	lines := under(build(t, input(session(0, id(1), "Preferences: “always squash feature branches”", "Preferences: “never squash feature branches of others”"))).MemoryMD, "## User preferences")
	if len(lines) != 2 {
		t.Errorf("got %q", lines)
	}
}

func TestOfOneSessionTheStrongestFindingsCount(t *testing.T) {
	t.Parallel()
	var bullets []string
	for i, w := range words[:28] {
		bullets = append(bullets, "Decisions: `"+w+"` must wait for "+w+words[27-i]+" because "+words[i+1]+w+" reads "+w)
	}
	bullets = append(bullets, "Decisions: `zinc` is a package (in passing)")
	lines := under(build(t, input(session(0, id(1), bullets...))).MemoryMD, "## What is known")
	if len(lines) != 10 || !contains(lines, "`"+words[0]+"`") || contains(lines, "`"+words[10]+"`") || contains(lines, "zinc") {
		t.Errorf("got %q", lines)
	}
}

func TestEveryOrderOfSessionsGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	sessions := append(history(20), recur([]string{"make a pr", "make a pr"}, "cargo fmt > cargo test > git commit > gh pr create")...)
	for i := range sessions[20:] {
		sessions[20+i].SessionKey = "pi:" + id(100+i)
	}
	want := build(t, input(sessions...))
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		shuffled := slices.Clone(sessions)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got := build(t, input(shuffled...)); !reflect.DeepEqual(got, want) {
			t.Fatal("another order gives another memory")
		}
	}
}

func TestAnEarlierMemoryChangesNothing(t *testing.T) {
	t.Parallel()
	in := input(history(12)...)
	want := build(t, in)
	before := build(t, input(history(11)...))
	in.Current = &before
	in.Changed = map[string]bool{in.Extractions[11].SessionKey: true}
	if got := build(t, in); !reflect.DeepEqual(got, want) {
		t.Error("building on what there was differs from a rebuild")
	}
}

func TestWithdrawingEqualsNeverHavingBeen(t *testing.T) {
	t.Parallel()
	all := history(12)
	in := input(all...)
	in.Withdrawn = []string{all[4].SessionKey}
	if got, want := build(t, in), build(t, input(slices.Delete(slices.Clone(all), 4, 5)...)); !reflect.DeepEqual(got, want) {
		t.Error("a trace of the withdrawn session is left")
	}
}

func TestTheOrderOfLinesIsStableUnderOneMoreSession(t *testing.T) {
	t.Parallel()
	lines := func(n int) []string { return under(build(t, input(history(n)...)).MemoryMD, "## User preferences") }
	var kept []string
	before := lines(20)
	for _, l := range lines(21) {
		if slices.Contains(before, l) {
			kept = append(kept, l)
		}
	}
	if !slices.Equal(kept, before) {
		t.Errorf("the lines that stayed are in another order")
	}
}

func FuzzConsolidate(f *testing.F) {
	f.Add("## Commands\n- `go test` passes (ran 3 times) [1]\n## Decisions\n- x `a/b.go` because y (in another repository: z) [2]", "## Procedure\n- “a”: `b` → `c` → `d` [1]")
	f.Add("- `cd x && ` \"", "## Preferences\n- use a, not b\n- use b, not a\n## Outcome\n- done —")
	f.Add("## Files\n- `` — changed\n## Failures\n- `` failed: — unresolved", "\xff\u2028## Task\n- \n")
	f.Add("## Commands\n- `x -run '` passes\n- `x -run ` passes\n- `FOO=1` works\n- `\"` works", "## Procedure\n- `uv run` → `npx` → `cd a &&`")
	f.Fuzz(func(t *testing.T, a, b string) {
		one, two := session(0, id(1)), session(1, id(2))
		one.RawMemory, two.RawMemory = a, b
		in := input(one, two)
		in.SummaryTokens, in.MaxMemoryBytes = 300, 4000
		c, _, err := consolidate.NewBuiltin().Consolidate(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		if err := consolidate.Verify(c, in); err != nil {
			t.Error(err)
		}
	})
}
