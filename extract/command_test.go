package extract_test

import (
	"slices"
	"strings"
	"testing"

	"memoir"
)

func TestCommandsAreNormalisedAndCounted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, want string }{
		{"go test ./...", "`go test ./...` passes"},
		{"cd /src/app && go test ./... 2>&1 | tail -20", "`go test ./...` passes"},
		{"CI=1 NO_COLOR=1 go test -v ./...", "`go test ./...` passes"},
		{"APP_LOG=debug go test ./...", "`APP_LOG=debug go test ./...` passes"},
		{"sudo apt-get install -y libfoo", "`sudo apt-get install -y libfoo` works"},
		{"time timeout 60 cargo test --quiet", "`cargo test` passes"},
		{"cd web && npm run build", "`cd web && npm run build` works"},
		{"bash -lc 'make lint'", "`make lint` passes"},
		{"npx --yes eslint@9 src", "`npx --yes eslint@9 src` passes"},
		{"python -m pytest -x tests", "`python -m pytest -x tests` passes"},
		{"uv run pytest", "`uv run pytest` passes"},
		{"mise x cargo:cargo-deny -- cargo deny check", "`mise x cargo:cargo-deny -- cargo deny check` passes"},
		{"(cd api; ./gradlew check)", "`cd api && ./gradlew check` passes"},
		{"go vet /src/app/cmd", "`go vet cmd` passes"},
		{"docker compose build web", "`docker compose build web` works"},
		{"make test; git status", "`make test` passes"},

		{"ls -la", ""}, {"cat go.mod", ""}, {"sed -n 1,20p main.go", ""}, {"rg -n foo src", ""},
		{"git status && git diff", ""}, {"gh pr view 3", ""}, {"sleep 5", ""}, {"mkdir -p x && cp a b", ""},
		{"python - <<'EOF'\nprint('go test')\nEOF", ""}, {"node -e 'console.log(1)'", ""}, {"cargo --version", ""},
		{"for f in *; do go test $f; done", ""}, {"echo go test", ""}, {"command -v shellcheck", ""},
		{"cat <<EOF > Makefile\ntest:\n\tgo test\nEOF", ""}, {"cat log | grep 'npm test'", ""}, {"npm view react", ""},
		{"cd /tmp/x && go test ./...", ""}, {"mise x tool -- tool --version", ""}, {"go mod init example.com/x", ""},
	} {
		got := of(new(talk).says("check that everything is fine").edits("/src/app/a.go").edits("/src/app/a.go").edits("/src/app/b.go").
			runs(test.line, 0, "ok").answers("Done.").extract(t), memoir.StatementCommand)
		switch {
		case test.want == "" && len(got) > 0:
			t.Errorf("%q: %q is not worth keeping", test.line, got)
		case test.want != "" && (len(got) != 1 || got[0] != test.want):
			t.Errorf("%q: got %q, want %q", test.line, got, test.want)
		}
	}
	got := of(work().runs("go test ./...", 0, "ok").runs("go test ./...", 0, "ok").extract(t), memoir.StatementCommand)
	if !holds(got, "`go test ./...` passes (ran 3 times)") {
		t.Errorf("not counted: %q", got)
	}
}

func TestEveryRunOfACommandCounts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		talk *talk
		want []string
	}{
		{"failed once", work().runs("make lint", 1, "a.go:3:2: bad").edits("/src/app/a.go").runs("make lint", 0, ""), []string{"`make lint` passes (ran 2 times, 1 failed)"}},
		{"the task that its runner names", work().runs("mise run fmt && mise run lint", 1, "[fmt] $ gofmt -w .\n[lint] $ golangci-lint run\n[lint] ERROR task failed").runs("mise run fmt && mise run lint", 0, ""),
			[]string{"`mise run fmt` formats (ran 2 times)", "`mise run lint` passes (ran 2 times, 1 failed)"}},
		{"what stands behind it did not run", work().runs("mise run fmt && mise run lint", 1, "[fmt] ERROR task failed").runs("mise run fmt && mise run lint", 0, ""),
			[]string{"`mise run fmt` formats (ran 2 times, 1 failed)", "`mise run lint` passes"}},
		{"the program that opens the line", work().runs("make dist && npm run pack", 1, "npm: cannot find the archive to pack").runs("make dist && npm run pack", 0, ""),
			[]string{"`make dist` works (ran 2 times)", "`npm run pack` works (ran 2 times, 1 failed)"}},
		{"the target of make", work().runs("make dist && make pack", 2, "make: *** [Makefile:3: pack] Error 1").runs("make dist && make pack", 0, ""),
			[]string{"`make dist` works (ran 2 times)", "`make pack` works (ran 2 times, 1 failed)"}},
	} {
		got := of(test.talk.answers("Done.").extract(t), memoir.StatementCommand)
		for _, want := range test.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: got %q, want %q", test.name, got, want)
			}
		}
	}
}

func TestACommandBehindAPipeIsJudgedByItsOutput(t *testing.T) {
	t.Parallel()
	got := of(work().runs("cargo test | tail -5", 0, "test result: FAILED. 1 passed; 1 failed").extract(t), memoir.StatementCommand)
	if holds(got, "cargo test") {
		t.Errorf("a failed run is listed as working: %q", got)
	}
}

func TestFailuresNameTheErrorAndWhatMadeTheDifference(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		talk *talk
		want []string
	}{
		{"another command", work().runs("cargo test --lib", 101, "error: no library targets found in package `app`").runs("cargo test", 0, "ok"),
			[]string{"`cargo test --lib` failed: error: no library targets", "worked without `--lib`"}},
		{"the same command by another way", work().runs("cargo deny check", 101, "error: no such command: `deny`").runs("mise x cargo:cargo-deny -- cargo deny check", 0, ""),
			[]string{"no such command", "worked: `mise x cargo:cargo-deny -- cargo deny check`"}},
		{"an edit", work().runs("go vet ./...", 1, "# app\n./main.go:3:2: undefined: retry").edits("/src/app/main.go").runs("go vet ./...", 0, ""),
			[]string{"undefined: retry", "passed after editing `main.go`"}},
		{"an assignment", work().runs("npm run build", 1, "Error: DATABASE_URL is not installed").runs("CI=1 npm run build", 0, ""),
			[]string{"passed with `CI=1`"}},
		{"something installed", work().runs("npm test", 127, "sh: vitest: command not found").runs("npm ci", 0, "").runs("npm test", 0, ""),
			[]string{"passed after `npm ci`"}},
		{"something generated", work().runs("make gen", 2, "protoc-gen-go: program not found\nmake: *** [gen] Error 1").runs("git status", 0, "").runs("make tools", 0, "").runs("make lint", 0, "").runs("make gen", 0, ""),
			[]string{"`make gen` failed: protoc-gen-go: program not found", "passed after `make tools`"}},
		{"a service started", work().runs("make test-mqtt", 1, "dial tcp 127.0.0.1:1883: connect: connection refused").runs("docker compose up -d mosquitto", 0, "").edits("/src/app/x.go").runs("make test-mqtt", 0, ""),
			[]string{"connection refused", "passed after `docker compose up -d mosquitto` and editing `x.go`"}},
		{"installed and edited", work().runs("uv run app index", 1, "OperationalError: no such tokenizer: trigram").runs("uv add pysqlite3", 0, "").edits("/src/app/index.py").runs("uv run app index", 0, ""),
			[]string{"no such tokenizer", "passed after `uv add pysqlite3` and editing `index.py`"}},
		{"a test and its reason", work().runs("go test ./scene", 1, "--- FAIL: TestLoad (0.00s)\n    file_test.go:17: incompatible types\nFAIL\nFAIL\tapp/scene\t0.1s").edits("/src/app/scene/load.go").runs("go test ./scene", 0, "ok"),
			[]string{"--- FAIL: TestLoad (0.00s) — file_test.go:17: incompatible types"}},
		{"a test of pytest", work().runs("pytest -q", 1, "E       AssertionError: assert 4 == 3\nFAILED tests/test_a.py::test_b\n1 failed, 2 passed in 0.41s").edits("/src/app/a.py").runs("pytest -q", 0, "ok"),
			[]string{"FAILED tests/test_a.py::test_b — AssertionError: assert 4 == 3"}},
		{"a test of cargo behind another command", work().runs("rustup update nightly && cargo fmt --check && cargo test -p app", 101, "thread 'a::b' (1) panicked at src/a.rs:3:13:\nassertion failed\n\ntest result: FAILED. 1 passed; 1 failed\n\nerror: test failed, to rerun pass `-p app --lib`").edits("/src/app/src/a.rs").runs("cargo test -p app", 0, "ok"),
			[]string{"`cargo test -p app` failed: thread 'a::b' (1) panicked at src/a.rs:3:13", "passed after editing"}},
		{"make's own line is the last resort", work().runs("make lint", 2, "make: *** [lint] Error 1\nmain.go:3:2: undefined: retry").edits("/src/app/main.go").runs("make lint", 0, ""),
			[]string{"`make lint` failed: main.go:3:2: undefined: retry"}},
		{"nothing yet", work().runs("mise run lint", 1, "\x1b[31merror: deny.toml is not trusted\x1b[0m"),
			[]string{"`mise run lint` failed: error: deny.toml is not trusted — unresolved"}},
	} {
		got := strings.Join(of(test.talk.answers("Done.").extract(t), memoir.StatementFailure), "\n")
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q", test.name, got, want)
			}
		}
		if strings.Contains(got, "\x1b") {
			t.Errorf("%s: a terminal sequence is left", test.name)
		}
	}
}

func TestWhatIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*talk{
		"a search without hits": work().runs("rg foo src", 1, ""),
		"a difference":          work().runs("diff a b", 1, "1c1"),
		"a refused call":        work().runs("npm publish", 1, "The user doesn't want to proceed with this tool use."),
		"an interruption":       work().runs("npm test", 130, "[Request interrupted by user for tool use]"),
		"polling":               work().runs("gh pr checks 3", 8, "error: some checks are pending"),
		"formatting":            work().runs("cargo fmt --check", 1, "-    a\n+    b").runs("cargo fmt", 0, ""),
		"linted otherwise":      work().runs("golangci-lint run a.go", 1, "a.go:3:1: undefined: x").runs("make lint", 0, ""),
		"only make's line":      work().runs("make lint", 2, "make: *** [lint] Error 1"),
		"no message":            work().runs("npm test", 1, "exit status 1"),
	} {
		if got := of(s.answers("Done.").extract(t), memoir.StatementFailure); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestProceduresAreTheOrderedStepsOfAnAsk(t *testing.T) {
	t.Parallel()
	e := new(talk).says("make a pr").runs("git switch -c fix", 0, "").runs("cargo fmt --all", 0, "").runs("cargo test", 101, "error: x").
		runs("cargo test", 0, "ok").runs("git commit -m 'fix: it' && git push -u origin fix", 0, "").
		runs("gh pr create --fill", 0, "https://github.com/a/b/pull/9").answers("Opened the PR.").extract(t)
	want := "“make a pr”: `git switch` → `cargo fmt --all` → `cargo test` → `git commit` → `git push` → `gh pr create`"
	if got := of(e, memoir.StatementProcedure); len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
	if got := of(e, memoir.StatementOutcome); !holds(got, "https://github.com/a/b/pull/9") {
		t.Errorf("the pull request is not named: %q", got)
	}
}

func TestAProcedureTellsWhatItsStepsDo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		talk *talk
		want string
	}{
		{"a feedback answered", new(talk).says("address pr feedback").edits("/src/app/a.go").runs("make lint", 0, "").runs("git commit --amend --no-edit", 0, "").runs("git push --force-with-lease", 0, "").
			runs("gh pr edit 7 --body 'x'", 0, "").runs("gh api graphql -f query='mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { id } } }'", 0, ""),
			"“address pr feedback”: `make lint` → `git commit --amend` → `git push --force-with-lease` → `gh pr edit` → `gh api graphql -f query='mutation … resolveReviewThread …'`"},
		{"a request that only points", new(talk).says("add retries to the upload").answers("`lint` fails. May I mend it?").says("fix it").edits("/src/app/a.go").runs("make lint", 0, "").runs("git commit -am x", 0, "").runs("git push", 0, ""),
			"after a change: `make lint` → `git commit` → `git push`"},
		{"a test of its own", new(talk).says("make a pr").rewrites("/src/app/a.rs", "", "fn test_retries_are_bounded() {}").runs("cargo fmt", 0, "").runs("cargo test test_retries_are", 0, "").runs("git commit -am x", 0, ""),
			"“make a pr”: `cargo fmt` → `cargo test …` → `git commit`"},
	} {
		if got := of(test.talk.answers("Done.").extract(t), memoir.StatementProcedure); len(got) != 1 || got[0] != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestAWordThrownInDoesNotCutAProcedure(t *testing.T) {
	t.Parallel()
	for name, middle := range map[string]func(*talk){
		"a queued prompt": func(s *talk) {
			s.add(memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginQueued, Text: "Put the date into the heading, in ISO form."})
		},
		"a refusal":   func(s *talk) { s.refuses("use git tag -s, the mirror refuses unsigned tags") },
		"an assent":   func(s *talk) { s.says("ok, go on") },
		"a rule":      func(s *talk) { s.says("Always sign tags.") },
		"the agent's": func(s *talk) { s.says("/compact keep the steps") },
	} {
		s := new(talk).says("release 0.5.0").runs("make lint", 0, "").runs("make test", 0, "")
		middle(s)
		e := s.runs("make dist", 0, "").runs("git tag -s v0.5.0", 0, "").answers("Released 0.5.0.").extract(t)
		want := "“release 0.5.0”: `make lint` → `make test` → `make dist` → `git tag`"
		if got := of(e, memoir.StatementProcedure); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
