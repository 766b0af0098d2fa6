package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

// unseen is a call whose exit status the format does not have.
func (t *talk) unseen(line, output string) *talk {
	return t.add(memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Bash", Input: line, Output: output})
}

func TestARunWithoutAStatusOfItsOwnIsJudgedByItsOutput(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, line, output string
		works              bool
	}{
		{"nothing told", "make test", "12 tests run", true},
		{"a status in the text", "make test", "x\nexit=127", false},
		{"a good status in the text", "make test", "x\nexit=0", true},
		{"the agent's words", "make test", "Process exited with code 1", false},
		{"an error that stops the program", "make dist", "tar: /out/a.tar: Cannot open: No such file or directory\ntar: exiting now", false},
		{"a task runner behind head", "make lint | head -50", "[lint:go] a/b.go:1:2: missing cases (exhaustive)\n[lint:go] ERROR task failed", false},
		{"a linter behind head", "make lint | head -50", "web/a.ts:3:7: 'x' is never used", false},
		{"only warnings", "make lint | head -50", "web/a.ts:3:7: warning: 'x' is never used", true},
		{"an npm script behind tail", "npm run check 2>&1 | tail -5", "npm error code 2", false},
		{"tsc behind grep", "npm run check | grep error", "src/a.ts(3,1): error TS2304: Cannot find name 'x'.", false},
		{"or true", "npm test || true", "Tests:       2 failed, 3 passed, 5 total", false},
		{"none failed", "npm test || true", "Tests:       0 failed, 5 passed, 5 total", true},
		{"issues", "golangci-lint run | tail -3", "3 issues:", false},
		{"no issues", "golangci-lint run | tail -3", "0 issues.", true},
		{"cut short", "make test | head -2", "ok a\nok b", false},
		{"not cut short", "make test | head -20", "ok a\nok b", true},
		{"Gradle", "./gradlew test | tail -9", "FAILURE: Build failed with an exception.", false},
		{"Maven", "mvn verify | tail -9", "[ERROR] There are test failures.", false},
		{"dotnet", "dotnet build | tail -9", "Program.cs(3,1): error CS1002: ; expected", false},
		{"Rails", "bundle exec rspec | tail -3", "14 examples, 2 failures", false},
		{"PHPUnit", "vendor/bin/phpunit | tail -3", "FAILURES!", false},
		{"ctest", "ctest --preset ci | tail -4", "The following tests FAILED:\n\tErrors while running CTest\nexit code: 8", false},
		{"Docker", "docker compose build web 2>&1 | tail -4", "failed to solve: process did not complete", false},
		{"Swift", "swift test | tail", "App.swift:3:1: error: expected declaration", false},
		{"nothing printed into a pipe", "./bin/app serve | head -5", "", false},
		{"no complaint behind a pipe", "golangci-lint run | head -5", "", true},
		{"nothing to do", "lefthook install", "lefthook WARN  no hooks configured in lefthook.yml", false},
		{"nothing to do in a chain", "lefthook install && git status", "lefthook: nothing to install\n## main", false},
		{"nothing for another", "make lint && git status", "## main\nnothing to commit, working tree clean", true},
		{"up to date", "make dist", "make: Nothing to be done for 'dist'.", true},
		{"pipefail", "set -o pipefail; make test | tee log", "--- FAIL: words in a log", false},
	} {
		got := of(work().unseen(test.line, test.output).answers("Done.").extract(t), memoir.StatementCommand)
		program := strings.Fields(strings.TrimPrefix(test.line, "set -o pipefail; "))[0]
		works := false
		for _, text := range got {
			works = works || strings.HasPrefix(text, "`"+program)
		}
		if works != test.works {
			t.Errorf("%s: %q is said to work: %v", test.name, test.line, got)
		}
	}
	e := work().runs("set -o pipefail; make test | tee log", 0, "--- FAIL: words in a log").answers("Done.").extract(t)
	if !holds(of(e, memoir.StatementCommand), "`make test` passes") {
		t.Error("a status that the pipe does not hide is not believed")
	}
}

func TestAScriptThatNotesEveryStatusIsSeveralRuns(t *testing.T) {
	t.Parallel()
	e := work().unseen("make lint\nmake test", "fine\nexit=0\nerror: no rule\nexit=2").answers("Done.").extract(t)
	if got := of(e, memoir.StatementCommand); !holds(got, "`make lint`") || holds(got, "`make test`") {
		t.Errorf("got %q", got)
	}
}

func TestWhatLayBetweenAFailureAndItsSuccess(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		talk      *talk
		want, not []string
	}{
		{"a checkout", work().runs("make e2e", 1, "sh: vendor/tool/run: No such file or directory").runs("git submodule update --init vendor/tool", 0, "").runs("make e2e", 0, ""),
			[]string{"passed after `git submodule update --init vendor/tool`"}, []string{"run again"}},
		{"several of one shape, hashes whole", work().runs("make e2e", 1, "could not find helpers/load: No such file or directory").
			runs("git -C helpers fetch origin 0123456789abcdef0123456789abcdef01234567", 0, "").runs("git -C helpers fetch origin 1123456789abcdef0123456789abcdef01234567", 0, "").runs("make e2e", 0, ""),
			[]string{"`git -C helpers fetch origin 1123456789abcdef0123456789abcdef01234567` (and 1 more like it)"}, nil},
		{"a migration", work().runs("bundle exec rspec", 1, "PG::UndefinedTable: ERROR: relation \"users\" is not installed").runs("bin/rails db:migrate", 0, "").runs("bundle exec rspec", 0, ""),
			[]string{"passed after `bin/rails db:migrate`"}, nil},
		{"a branch changes nothing", work().runs("make e2e", 1, "curl: connection refused").runs("git switch -c fix/x", 0, "").runs("make e2e", 0, ""),
			[]string{"passed when run again"}, []string{"git switch"}},
		{"one mended, another found", work().runs("make e2e", 1, "bats: command not found").runs("brew install bats-core", 0, "").runs("make e2e", 1, "parallel: command not found"),
			[]string{"bats: command not found — got past it after `brew install bats-core`"}, nil},
		{"a narrower run is no remedy", work().runs("pytest tests", 1, "FAILED tests/test_a.py::test_b - ValueError: x").narrates("`test_b` fails because the clock of the runner is not in UTC.").runs("pytest tests -k test_c", 0, ""),
			[]string{"because the clock", "the narrower `pytest tests -k test_c` passed later"}, []string{"worked with"}},
		{"nor is another target", work().runs("go test ./a", 1, "--- FAIL: TestA (0.00s)\n    a_test.go:3: bad").runs("go test ./b", 0, ""),
			nil, []string{"worked", "passed later"}},
		{"the cause", work().runs("make test", 1, "dial tcp: connection refused").narrates("The tests need the `redis` container, which is not running here. I'm starting it.").runs("docker compose up -d redis", 0, "").runs("make test", 0, ""),
			[]string{"connection refused — The tests need the `redis` container, which is not running here — passed after `docker compose up -d redis`"}, nil},
		{"no guess", work().runs("make test", 1, "dial tcp: connection refused").narrates("Probably `redis` is not running.").runs("make test", 0, ""),
			[]string{"passed when run again"}, []string{"Probably"}},
		{"no plan", work().runs("make e2e", 1, "dial tcp: connection refused").narrates("Since the `redis` container is not needed for anything else, I'll drop it from the file.").runs("make e2e", 0, ""),
			[]string{"passed when run again"}, []string{"I'll"}},
		{"but what stands before one", work().runs("make e2e", 1, "dial tcp: connection refused").narrates("The `redis` container is not running on this host, so I'll start it.").runs("docker compose up -d redis", 0, "").runs("make e2e", 0, ""),
			[]string{"The `redis` container is not running on this host — passed after"}, []string{"I'll"}},
		{"a cause that did not help", work().runs("make e2e", 1, "dial tcp: connection refused").narrates("The `listen_port` of the broker is not the one of the tests.").edits("/src/app/port.go").
			runs("make e2e", 1, "dial tcp: connection refused").narrates("The `redis` container is not running.").runs("docker compose up -d redis", 0, "").runs("make e2e", 0, ""),
			[]string{"refused — The `redis` container is not running — passed after"}, []string{"listen_port"}},
		{"a cause that the person refuted", work().runs("make e2e", 1, "dial tcp: connection refused").narrates("The tests need `broker_host`, which is not set here.").runs("docker compose up -d redis", 0, "").runs("make e2e", 0, "").
			says("no, broker_host is set in the profile, why would it not be?").narrates("You're right - the profile sets it."),
			[]string{"passed after `docker compose up -d redis`"}, []string{"need `broker_host`"}},
		{"a way round that failed on its own first", work().runs("make e2e -- t/a.bats", 1, "run.sh: line 3: parallel: command not found").runs("bats t/a.bats", 1, "not ok 1 loads\n# load: Could not find 'helpers/load'").
			runs("git submodule update --init helpers", 0, "").runs("bats t/a.bats", 0, "ok 1 loads"),
			[]string{"parallel: command not found — worked instead: `bats t/a.bats`", "'helpers/load' — passed after `git submodule update --init helpers`"}, []string{"worked after"}},
		{"an edit that was taken back", work().runs("make vet", 1, "Error: the schema of the settings cannot be read").rewrites("/src/app/a.go", "level := 1", "level := 2").rewrites("/src/app/b.go", "mode := 1", "mode := 2").
			rewrites("/src/app/a.go", "level := 2", "level := 1").runs("make vet", 0, ""),
			[]string{"passed after editing `b.go`"}, []string{"a.go"}},
		{"one error of two commands", work().runs("npm run publish", 1, "src/a.ts(5,15): error TS2305: Module 'ui' has no exported member 'Theme'.").runs("npm run build", 1, "src/a.ts(5,15): error TS2305: Module 'ui' has no exported member 'Theme'."),
			[]string{"`npm run publish` and `npm run build` failed: src/a.ts"}, []string{"\n"}},
		{"a credential handed over", work().runs("cargo publish", 101, "error: no token found, please run `cargo login`").says("take [REDACTED:token]").runs("cargo publish --token x", 0, ""),
			nil, []string{"no token found"}},
		{"the part that the line names", work().runs("mkdir -p themes && cp /opt/a/dark.json themes/a.json", 1, "cp: /opt/a/dark.json: No such file or directory").runs("mkdir -p themes && cp /opt/b/dark.json themes/a.json", 0, ""),
			nil, []string{"`mkdir -p themes` failed"}},
		{"the first error of a test, not its teardown", work().runs("bats t.bats", 1, "not ok 1 loads\n# load: Could not find 'helpers/load'\n# rm: : No such file or directory").runs("git submodule update --init helpers", 0, "").runs("bats t.bats", 0, ""),
			[]string{"load: Could not find 'helpers/load'"}, []string{"rm:"}},
	} {
		got := strings.Join(of(test.talk.answers("Done.").extract(t), memoir.StatementFailure), "\n")
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q", test.name, got, want)
			}
		}
		for _, not := range test.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: got %q with %q", test.name, got, not)
			}
		}
	}
}

func TestASlipOfThePenIsNoFailure(t *testing.T) {
	t.Parallel()
	slip := work().edits("/src/app/new.go").runs("make vet", 1, "new.go:3:2: undefined: retry").edits("/src/app/new.go").runs("make vet", 0, "")
	if got := of(slip.answers("Done.").extract(t), memoir.StatementFailure); len(got) > 0 {
		t.Errorf("got %q", got)
	}
	stopped := work().runs("make test", 1, "Command aborted").runs("make test", 0, "")
	if got := of(stopped.answers("Done.").extract(t), memoir.StatementCommand); holds(got, "failed") {
		t.Errorf("what the person stopped counts as failed: %q", got)
	}
}

func TestWhatAPersonReportsIsAFailure(t *testing.T) {
	t.Parallel()
	s := work().answers("Done.").says("now it crashes\nError: ENOENT: no such file or directory, open '/src/app/lib/app.json'\n    at readFileSync (node:fs:443:20)").
		narrates("The issue is that `root()` still goes up one directory only.").edits("/src/app/lib/paths.ts").answers("It starts again.")
	want := "the user saw: Error: ENOENT: no such file or directory, open 'lib/app.json' — The issue is that `root()` still goes up one directory only — mended by editing `paths.ts`"
	if got := of(s.extract(t), memoir.StatementFailure); !holds(got, want) {
		t.Errorf("got %q", got)
	}
	wrong := work().answers("Done.").says("starting fails\nRangeError: Invalid time").answers("The issue is that the `id` has no date in front.").
		says("no, none of the files has one").answers("You're right. I see the issue now. The lines lack `timestamp` fields.")
	if got := of(wrong.edits("/src/app/gen.sh").answers("Done.").extract(t), memoir.StatementFailure); !holds(got, "`timestamp`") || holds(got, "date in front") {
		t.Errorf("a first guess is kept: %q", got)
	}
}

func TestAnAttemptAndTheNext(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, failed, output, worked, want string }{
		{"a name of the shell's own", "d=$(mktemp -d); app clear & wait $!; status=$?; rm -rf $d; exit $status", "zsh:1: read-only variable: status", "d=$(mktemp -d); app clear & wait $!; code=$?; rm -rf $d; exit $code", "worked with `code` instead of `status`"},
		{"an option of the host's program", "gh pr edit 7 --add-labels bug --milestone next", "unknown flag: --add-labels", "gh pr edit 7 --add-label bug --milestone next", "worked with `--add-label` instead of `--add-labels`"},
		{"another way to the same end", "git submodule update --init vendor/x", "fatal: Unable to find current revision in submodule path 'vendor/x'", "git -C .git/modules/vendor/x fetch origin main && git -C vendor/x checkout main", "worked instead: `git -C .git/modules/vendor/x fetch"},
	} {
		got := of(work().runs(test.failed, 1, test.output).runs(test.worked, 0, "").answers("Done.").extract(t), memoir.StatementFailure)
		if !holds(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
