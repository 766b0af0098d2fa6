package consolidate_test

import (
	"slices"
	"strings"
	"testing"

	"memoir"
)

// recur makes sessions that each took the same ask and steps.
func recur(asks []string, steps ...string) []memoir.Extraction {
	var out []memoir.Extraction
	for n, ask := range asks {
		s := steps[n%len(steps)]
		out = append(out, session(n, id(n+1), "Task: "+ask, "Procedure: “"+ask+"”: `"+strings.ReplaceAll(s, " > ", "` → `")+"`"))
	}
	return out
}

// names are the names of the skills of sessions.
func names(t *testing.T, sessions []memoir.Extraction) []string {
	t.Helper()
	var out []string
	for _, s := range build(t, input(sessions...)).Skills {
		out = append(out, s.Name)
	}
	return out
}

func TestASkillNeedsAStepOfTheProjectsOwn(t *testing.T) {
	t.Parallel()
	asks := []string{"land it", "land the fix", "land the change"}
	for _, test := range []struct {
		steps string
		want  bool
	}{
		{"git switch > git commit > git push > gh pr create", false},
		{"cargo fmt > git commit > git push > gh pr create", false},
		{"npm install > npm run format > git commit > git push", false},
		{"cargo fmt > cargo test > git commit > git push", true},
		{"uv run app export > uv run app reindex > uv run app verify", true},
		{"poetry run app export > poetry run app reindex > poetry run app verify", true},
		{"bundle exec rake a > bundle exec rake b > bundle exec rake c", true},
		{"mise x tool -- tool a > mise x tool -- tool b > mise x tool -- tool c", true},
		{"npx tool a > npx tool b > npx tool c", true},
		{"LOG=1 ./app a > sudo ./app a > cd web && ./app a", false}, // one step, run three ways
	} {
		if got := names(t, recur(asks, test.steps)); (len(got) > 0) != test.want {
			t.Errorf("%s: skills %q, want any: %v", test.steps, got, test.want)
		}
	}
}

func TestAStepOfOneSessionAloneMakesNoSkill(t *testing.T) {
	t.Parallel()
	sessions := recur([]string{"land it", "land it again"}, "make test > git commit > git push > gh pr create", "git switch > git commit > git push > gh pr create")
	if got := names(t, sessions); len(got) > 0 {
		t.Errorf("only one session tested: %q", got)
	}
}

func TestASkillIsNamedForWhatItDoes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		asks  []string
		steps string
		want  string
	}{
		{[]string{"Release 0.4.0. The steps are lint, test, dist, then the tag.", "Release 0.4.1 with the fix for fading groups.", "Release 0.5.0, the same way as 0.4.0."}, "make lint > make test > make dist > git tag", "release"},
		{[]string{"make a pr", "ok make a pr please"}, "cargo fmt > cargo test > git commit > gh pr create", "make-pr"},
		{[]string{"The index is broken.", "Search finds no part of a word."}, "uv run app export > uv run app reindex > uv run app verify", "export-reindex-verify"},
		{[]string{"修正して", "直して"}, "mise run fmt > mise run lint > mise run test", "check-before-commit"},
	} {
		if got := names(t, recur(test.asks, test.steps)); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%q: got %q, want %q", test.asks, got, test.want)
		}
	}
}

func TestAStepThatVariesShowsItsShape(t *testing.T) {
	t.Parallel()
	c := build(t, input(recur([]string{"release 1", "release 2"}, "make lint > make test > make dist VERSION=1", "make lint > make test > make dist VERSION=2")...))
	if len(c.Skills) != 1 || !strings.Contains(c.Skills[0].Content, "3. `make dist VERSION=<number>`, e.g. `make dist VERSION=2`\n") {
		t.Errorf("got %+v", c.Skills)
	}
}

func TestASkillGoesWithItsSupport(t *testing.T) {
	t.Parallel()
	sessions := recur([]string{"make a pr", "make a pr"}, "cargo fmt > cargo test > git commit > gh pr create")
	in := input(sessions...)
	if n := len(build(t, in).Skills); n != 1 {
		t.Fatalf("%d skills", n)
	}
	in.Withdrawn = []string{sessions[0].SessionKey}
	if got := build(t, in).Skills; len(got) != 0 {
		t.Errorf("one session is left, yet: %+v", got)
	}
}
