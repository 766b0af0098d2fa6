package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestWhatATaskRunsIsToldAsItsRunnerPrintedIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, line, output, want string }{
		{"npm", "npm run check", "\n> app@1.0.0 check\n> biome check --write . && tsc --noEmit\n\nok", "`npm run check` passes — runs `biome check --write . && tsc --noEmit`"},
		{"npm, of another script", "npm run check", "\n> app@1.0.0 prebuild\n> rm -rf dist x\n", "`npm run check` passes"},
		{"a label", "mise run lint", "[lint] $ hk check --all\nok", "`mise run lint` passes — runs `hk check --all`"},
		{"a label of what it depends on", "mise run test:e2e", "[build] $ cargo build\nok", "`mise run test:e2e` passes"},
		{"yarn", "yarn test", "$ vitest run\nok", "`yarn test` passes — runs `vitest run`"},
		{"the arguments of this run", "npm run test -- a.ts", "> app@1.0.0 test\n> vitest run a.ts\n", "`npm run test -- a.ts` passes — runs `vitest run`"},
		{"a path", "mise run lint", "[lint] $ ~/src/app/tasks/lint x\n", "`mise run lint` passes"},
	} {
		got := of(work().runs(test.line, 0, test.output).answers("Done.").extract(t), memoir.StatementCommand)
		found := false
		for _, text := range got {
			found = found || text == test.want
		}
		if !found {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestWhatACommitRuns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, output, want string }{
		{"a script", "> app@1.0.0 check\n> biome check .\n\n[main 1a2b3c4] fix: x\n 1 file changed", "the script `check`, that is `biome check .`"},
		{"pre-commit", "trim trailing whitespace.................................................Passed\nruff.....................................................................Passed\n[main 1a2b3c4] fix: x", "trim trailing whitespace, ruff"},
		{"nothing", "[main 1a2b3c4] fix: x\n 1 file changed", ""},
		{"after the commit", "[main 1a2b3c4] fix: x\n> app@1.0.0 post\n> echo x\n", ""},
	} {
		got := strings.Join(of(work().runs("git add -A && git commit -m 'fix: x'", 0, test.output).answers("Done.").extract(t), memoir.StatementEnvironment), "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestCommandsOfNoKnownKind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, line string
		times      int
		want       string
	}{
		{"of the host, recurring", "gh api repos/o/r/pulls/12/comments --paginate", 2, "`gh api repos/o/r/pulls/N/comments --paginate` works (ran 2 times)"},
		{"of the host, once", "gh api repos/o/r/pulls/12/comments", 1, ""},
		{"that changes the host", "gh api --method POST repos/o/r/actions/runs/77/approve", 1, "`gh api --method POST repos/o/r/actions/runs/N/approve` works"},
		{"with what it sets", "gh api -X PUT repos/o/r/settings -f level=write -F open=true -f body=hello -f key=K7", 1, "`gh api -X PUT repos/o/r/settings -f level=write -F open=true -f body=… -f key=…` works"},
		{"of an extension", "gh discussion comment 12 --body 'a long answer'", 1, "`gh discussion comment N --body …` works"},
		{"a step of any work", "gh pr comment 12 --body x", 2, ""},
		{"of the project, recurring", "lantern scene load evening", 2, "`lantern scene load evening` works (ran 2 times)"},
		{"of the project, once", "lantern scene load evening", 1, ""},
		{"that only looks", "lantern status --all", 2, ""},
	} {
		s := work()
		for range test.times {
			s.runs(test.line, 0, "{}")
		}
		got := of(s.answers("Done.").extract(t), memoir.StatementCommand)
		program := "`" + strings.Fields(test.line)[0]
		if test.want == "" && holds(got, program) || test.want != "" && !holds(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestACallThatGaveNothingIsNotCounted(t *testing.T) {
	t.Parallel()
	s := work().runs("gh api repos/o/r/pulls/12/comments --jq '.[] | select(.user == \"bot\")'", 0, "").runs("gh api repos/o/r/pulls/12/comments --jq '.[]'", 0, "[]")
	if got := of(s.answers("Done.").extract(t), memoir.StatementCommand); !holds(got, "`gh api repos/o/r/pulls/N/comments` works") || holds(got, "ran 2 times") {
		t.Errorf("the form that gave something is told, once: %q", got)
	}
	s = work().runs("gh api repos/o/r/pulls/12/comments --jq '.[]'", 0, "")
	if got := of(s.answers("Done.").extract(t), memoir.StatementCommand); holds(got, "gh api") {
		t.Errorf("got %q", got)
	}
}

func TestAFlagThatNoOtherRunHasIsKept(t *testing.T) {
	t.Parallel()
	s := work()
	for _, dir := range []string{"./a", "./b", "./c", "./d"} {
		s.runs("go test "+dir, 0, "ok").runs("go test "+dir, 0, "ok")
	}
	s.runs("go test -tags integration ./it", 0, "ok").runs("APP_DB=postgres go test ./e", 0, "ok")
	got := of(s.answers("Done.").extract(t), memoir.StatementCommand)
	if !holds(got, "`go test -tags integration ./it` passes") || !holds(got, "`APP_DB=postgres go test ./e` passes") {
		t.Errorf("got %q", got)
	}
}

func TestTheRemedyForAMissingProgram(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, failed, output, next, want string }{
		{"another name", "python tools/gen.py --all", "zsh:1: command not found: python", "python3 tools/gen.py --all", "`python` is not installed here; use `python3` instead"},
		{"through a runner", "hk install", "bash: hk: command not found", "mise x hk -- hk install", "`hk` is not on PATH here; `mise x hk -- hk` works instead"},
		{"through npx", "tsgo --noEmit", "sh: 1: tsgo: not found", "npx tsgo --noEmit", "`tsgo` is not on PATH here; `npx tsgo` works instead"},
		{"none", "hk install", "bash: hk: command not found", "git status", "`hk` is not installed here"},
		{"in German", "hk install", "bash: hk: Befehl nicht gefunden", "git status", "`hk` is not installed here"},
		{"in French", "hk install", "bash: hk : commande introuvable", "git status", "`hk` is not installed here"},
		{"in Japanese", "hk install", "bash: hk: コマンドが見つかりません", "git status", "`hk` is not installed here"},
		{"on Windows", "hk install", "'hk' is not recognized as an internal or external command,", "git status", "`hk` is not installed here"},
	} {
		got := of(work().runs(test.failed, 127, test.output).runs(test.next, 0, "ok").answers("Done.").extract(t), memoir.StatementEnvironment)
		if !holds(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestHowAWorktreeGotItsBranch(t *testing.T) {
	t.Parallel()
	s := new(talk).says("fix the uploader").runs("git status -sb", 0, "## HEAD (no branch)").runs("git switch -c fix/uploader origin/main", 0, "").edits("/src/app/upload.go").answers("Done.")
	if got := of(s.extract(t), memoir.StatementEnvironment); !holds(got, "detached HEAD, not on a branch; get one with `git switch -c fix/… origin/main`") {
		t.Errorf("got %q", got)
	}
	on := new(talk).says("fix the uploader").runs("git status -sb", 0, "## main").runs("git switch -c fix/uploader", 0, "").edits("/src/app/upload.go").answers("Done.")
	if got := of(on.extract(t), memoir.StatementEnvironment); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

func TestWhatThePersonRunsBehindAPrompt(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"➜  app git:(main) npx tsx src/cli.ts -c", "me@host:~/app$ npx tsx src/cli.ts -c", "$ npx tsx src/cli.ts -c", "❯ npx tsx src/cli.ts -c"} {
		got := of(work().answers("Done.").says("look what it does:\n"+line+"\nit hangs").answers("It waits for a key.").extract(t), memoir.StatementCommand)
		if !holds(got, "`npx tsx src/cli.ts -c` is what the user runs") {
			t.Errorf("%q: got %q", line, got)
		}
	}
}

func TestWhatBecameOfFiles(t *testing.T) {
	t.Parallel()
	write := func(p, content string) memoir.Item {
		return memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Write", Input: `{"file_path":"/src/app/` + p + `","content":"` + content + `"}`, Output: "ok"}
	}
	e := new(talk).says("split the loader").
		add(write("load.go", `package app\n\nfunc LoadScene() {}\n\ntype Scene struct {\n`)).
		add(write("old.go", "package app")).add(write("util/paths.ts", `export const rootOf = (p) => p`)).add(write("plan.md", "x")).
		runs("git rm old.go", 0, "").runs("git mv util/paths.ts paths.ts", 0, "").
		runs("git commit -am x", 0, "[main 1a2b3c4] x\n delete mode 100644 plan.md").answers("Split the loader in two.").extract(t)
	got := of(e, memoir.StatementFile)
	if !holds(got, "`load.go` — changed (adds `LoadScene`, `Scene`)") || !holds(got, "`paths.ts` — changed (adds `rootOf`)") || holds(got, "old.go") || holds(got, "plan.md") || holds(got, "util/") {
		t.Errorf("got %q", got)
	}
}

func TestTheSameStepsAreToldOnce(t *testing.T) {
	t.Parallel()
	s := new(talk)
	for range 3 {
		s.says("address the review of the pull request").edits("/src/app/a.go").runs("make test", 0, "ok").runs("make lint", 0, "ok").runs("git commit -am x", 0, "").answers("Addressed the review.")
	}
	got := of(s.extract(t), memoir.StatementProcedure)
	if len(got) != 1 || !strings.HasSuffix(got[0], "`git commit` (3 times)") {
		t.Errorf("got %q", got)
	}
}

func TestAFunctionThatAScriptMissesIsNoProgram(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{"bats test/a.bats": false, "temp_del dir": true} {
		got := of(work().runs(line, 127, "/src/app/test/helper.bash: line 12: temp_del: command not found").answers("It failed.").extract(t), memoir.StatementEnvironment)
		if holds(got, "`temp_del` is not installed here") != want {
			t.Errorf("%s: %q, want any: %v", line, got, want)
		}
	}
}
