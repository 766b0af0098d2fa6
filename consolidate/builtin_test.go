package consolidate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
)

func TestTheBuiltInModelMergesCountsAndCites(t *testing.T) {
	t.Parallel()
	many := func(n int, bullets ...string) (out []memoir.Extraction) {
		for i := range n {
			out = append(out, session(i, id(i+1), bullets...))
		}
		return out
	}
	note := session(0, id(1), "Preferences: “never commit to main”")
	note.SessionKey = "memoir:note-1"
	theirs := func(s memoir.Extraction, member string) memoir.Extraction {
		s.SessionKey = memoir.ReceivedKey(member, "0123456789abcdef01234567")
		return s
	}
	last := func(n int) string { return fmt.Sprintf("[%s 2026-07-%02d", id(n)[:8], n) }
	refused := func(n int) memoir.Extraction {
		s := session(n, id(n+1), "Decisions: refused `make ci`: “too slow”")
		s.Statements[0].Signal, s.Statements[0].By = "refused", memoir.ByPerson
		return s
	}
	for _, test := range []struct {
		name, heading string
		sessions      []memoir.Extraction
		want          []string // all lines below the heading
	}{
		{"one rule in other words", "## User preferences", []memoir.Extraction{
			session(0, id(1), "Preferences: “never open prs against release”"), session(1, id(2), "Preferences: “Never open PRs against release!!!”"),
		}, []string{"- “Never open PRs against release!!!” " + last(2) + ", +1]"}},
		{"a member's line is marked, and comes after one's own", "## What is known", []memoir.Extraction{
			theirs(session(1, id(2), "Findings: the cache is per worktree"), "alice"), session(0, id(1), "Findings: the port is fixed"),
		}, []string{"- the port is fixed " + last(1) + "]",
			"- the cache is per worktree (from the team: alice) [alice-01234567 2026-07-02]"}},
		{"what one saw as well is one's own", "## What is known", []memoir.Extraction{
			theirs(session(1, id(2), "Findings: the port is fixed"), "alice"), session(0, id(1), "Findings: the port is fixed"),
		}, []string{"- the port is fixed [alice-01234567 2026-07-02, +1]"}},
		{"another machine of one's own", "## What is known", []memoir.Extraction{
			theirs(session(1, id(2), "Findings: the port is fixed"), ""),
		}, []string{"- the port is fixed [01234567 2026-07-02]"}},
		{"opposite rules are two until the later is about little else", "## User preferences", []memoir.Extraction{
			session(0, id(1), "Preferences: “always use yarn”"), session(1, id(2), "Preferences: “use pnpm instead of yarn”"),
		}, []string{"- “use pnpm instead of yarn” " + last(2) + "]"}},
		{"an allowed thing was forbidden", "## User preferences", []memoir.Extraction{
			session(0, id(1), "Preferences: “never commit to main”"), session(1, id(2), "Preferences: “you can commit to main”"),
		}, []string{"- “you can commit to main” " + last(2) + "]"}},
		{"a note that a session takes back stands beside it, and first", "## User preferences", []memoir.Extraction{
			note, session(1, id(2), "Preferences: “you can commit to main”"),
		}, []string{"- “never commit to main” [note-1 2026-07-01]", "- “you can commit to main” " + last(2) + "]"}},
		{"rules about different things stay", "## User preferences", []memoir.Extraction{
			session(0, id(1), "Preferences: “always write tests for parsers”"), session(1, id(2), "Preferences: “do not write tests for generated code in vendor”"),
		}, []string{"- “do not write tests for generated code in vendor” " + last(2) + "]", "- “always write tests for parsers” " + last(1) + "]"}},
		{"what may hold waits for a second session", "## User preferences", many(1, "Preferences: maybe: “no, the other file”"), nil},
		{"what two sessions had to say lasts", "## User preferences", []memoir.Extraction{
			session(0, id(1), "Preferences: maybe: “no, use tabs here”"), session(1, id(2), "Preferences: rule: “No, use tabs here!”"),
		}, []string{"- “No, use tabs here!” " + last(2) + ", +1]"}},
		{"a rule of one session is shown as that", "## Said once", many(1, "Preferences: rule: “always use tabs”"),
			[]string{"- “always use tabs” (said once, 2026-07-01) " + last(1) + "]"}},
		{"another number is another rule", "## Said once", []memoir.Extraction{
			session(0, id(1), "Preferences: rule: “in development the server listens on port 8080, never on another”"),
			session(1, id(2), "Preferences: rule: “in development the server listens on port 9090, never on another”"),
		}, []string{"- “in development the server listens on port 9090, never on another” (said once, 2026-07-01) " + last(2) + "]",
			"- “in development the server listens on port 8080, never on another” (said once, 2026-07-01) " + last(1) + "]"}},
		{"of two rules on what always holds, the newer number holds", "## Said once", []memoir.Extraction{
			session(0, id(1), "Preferences: rule: “always listen on port 8080 in development”"),
			session(1, id(2), "Preferences: rule: “always listen on port 9090 in development”"),
		}, []string{"- “always listen on port 9090 in development” (said once, 2026-07-01) " + last(2) + "]"}},
		{"and is no wish", "## User preferences", many(1, "Preferences: rule: “always use tabs”"), nil},
		{"a command cites the sessions that ran it", "## Build, test and other commands", []memoir.Extraction{
			session(0, id(1), "Commands: test: `go test ./...` (3 times)"),
			session(1, id(2), "Commands: lint: `make lint` in `web`", "Commands: test: `go test ./...`"),
		}, []string{"- test: `go test ./...` " + last(2) + ", +1]", "- lint: `make lint` in `web` " + last(2) + "]"}},
		{"one look tells what only passed", "## Build, test and other commands", append(many(2, "Commands: passed: test: `make test`", "Commands: passed: lint: `make lint`"), session(2, id(3), "Commands: test: `make test`")),
			[]string{"- test: `make test` " + last(3) + ", +2]"}},
		{"one failure is one line", "## Failures and fixes", []memoir.Extraction{
			session(0, id(1), "Failures: `cargo test cache --lib` failed: no library targets found; fixed by `cargo test cache`"),
			session(1, id(2), "Failures: `cargo test cli::upgrade --lib` failed: no library targets found; fixed by `cargo test --bin app cli::upgrade`"),
		}, []string{"- `cargo test cli::upgrade --lib` failed: no library targets found; fixed by `cargo test --bin app cli::upgrade` " + last(2) + "]"}},
		{"the later fix of the same failure counts", "## Failures and fixes", []memoir.Extraction{
			session(0, id(1), "Failures: `make e2e` failed: no host ledger; fixed by `docker compose up -d ledger`"),
			session(1, id(2), "Failures: `make e2e` failed: no host ledger; fixed by `docker compose up -d books`"),
		}, []string{"- `make e2e` failed: no host ledger; fixed by `docker compose up -d books` " + last(2) + "]"}},
		{"but one session outdoes no two", "## Failures and fixes", append(many(2, "Failures: `make e2e` failed: no host ledger; fixed by `docker compose up -d ledger`"),
			session(2, id(3), "Failures: `make e2e` failed: no host ledger; fixed by `docker run --privileged ledger`")),
			[]string{"- `make e2e` failed: no host ledger; fixed by `docker compose up -d ledger` " + last(2) + ", +1]"}},
		{"a person judges what passed once for others", "## Failures and fixes", []memoir.Extraction{
			theirs(session(0, id(1), "Failures: `make e2e` failed: connection refused; fixed by `docker compose up -d db`"), "alice"),
		}, []string{"- `make e2e` failed: connection refused; fixed by `docker compose up -d db` (from the team: alice) [alice-01234567 2026-07-01]"}},
		{"at most four commands a purpose, those of most sessions first", "## Build, test and other commands", append(many(2, "Commands: run: `app e`"),
			session(2, id(3), "Commands: run: `app a`", "Commands: run: `app b`", "Commands: run: `app c`", "Commands: run: `app d`")),
			[]string{"- run: `app e` " + last(2) + ", +1]", "- run: `app a` " + last(3) + "]", "- run: `app b` " + last(3) + "]", "- run: `app c` " + last(3) + "]"}},
		{"one refusal undoes no wish of several sessions", "## What is known",
			append(many(2, "Preferences: rule: “Always run `make ci` before you push”"), refused(2)), nil},
		{"a refusal beside a wish for the same", "## What is known",
			append(many(2, "Preferences: rule: “Never run `make ci` from an agent”"), refused(2)), []string{"- refused `make ci`: “too slow” (said once, 2026-07-01) " + last(3) + "]"}},
		{"others make no habit of what this person refused", "## Build, test and other commands", []memoir.Extraction{refused(0),
			session(1, id(2), "Commands: before a commit: `make ci`"), theirs(session(2, id(3), "Commands: before a commit: `make ci`"), "alice")}, nil},
		{"a custom of this person stays beside that of more others", "## Build, test and other commands", append(many(2, "Commands: before a commit: `make own`"),
			session(2, id(3), "Commands: before a commit: `make ci`"), theirs(session(3, id(4), "Commands: before a commit: `make ci`"), "alice"), theirs(session(4, id(5), "Commands: before a commit: `make ci`"), "bob")),
			[]string{"- before a commit: `make own` " + last(2) + ", +1]"}},
		{"what others make a custom is theirs, though this person did it once", "## Build, test and other commands", []memoir.Extraction{
			session(0, id(1), "Commands: before a commit: `make ci`"), theirs(session(1, id(2), "Commands: before a commit: `make ci`"), "alice")},
			[]string{"- before a commit: `make ci` (from the team: alice) [alice-01234567 2026-07-02]"}},
		{"nor does this person's agent", "## Build, test and other commands", []memoir.Extraction{refused(0),
			session(1, id(2), "Commands: before a commit: `make ci`"), session(2, id(3), "Commands: before a commit: `make ci`")}, nil},
		{"nor of what they say not to run", "## Build, test and other commands", []memoir.Extraction{session(0, id(1), "Preferences: rule: “Never run `make ci` locally, it bills us.”"),
			session(1, id(2), "Commands: before a commit: `make fmt && make ci`"), session(2, id(3), "Commands: before a commit: `make fmt && make ci`")}, nil},
		{"but of what they want", "## Build, test and other commands", []memoir.Extraction{session(0, id(1), "Preferences: rule: “Never skip a test, run `make ci` each time.”"),
			session(1, id(2), "Commands: before a commit: `make ci`"), session(2, id(3), "Commands: before a commit: `make ci`")}, []string{"- before a commit: `make ci` " + last(3) + ", +1]"}},
		{"other facts count at once", "## Environment", many(1, "Environment: Postgres 16 runs on port 5433"), []string{"- Postgres 16 runs on port 5433 " + last(1) + "]"}},
		{"work is its title with its reason, not the request", "## Recent work", many(1, "Task: fix the lock → committed: fix: lock", "Outcome: commit: fix: lock — writers race", "Task: go on → committed: a title alone"),
			[]string{"- commit: \"fix: lock\" — it said: writers race " + last(1) + "]"}},
		{"work that is known is told once", "## Recent work", many(1, "Findings: \"fix: lock\" (pull request #7): writers race", "Outcome: pull request #7: \"fix: lock\" — takes a lock"), nil},
		{"an outcome without a title", "## Recent work", many(1, "Outcome: done: fixed"), []string{"- done: fixed " + last(1) + "]"}},
		{"five lines, newest first", "## Recent work", append(many(1, "Outcome: commit: z — why"), session(1, id(2), "Outcome: commit: a — why", "Outcome: commit: b — why", "Outcome: commit: c — why", "Outcome: commit: d — why"), session(2, id(3), "Outcome: commit: e — why")),
			[]string{"- commit: \"e\" — it said: why " + last(3) + "]", "- commit: \"d\" — it said: why " + last(2) + "]", "- commit: \"c\" — it said: why " + last(2) + "]", "- commit: \"b\" — it said: why " + last(2) + "]", "- commit: \"z\" — it said: why " + last(1) + "]"}},
		{"what the newest session left open", "## Open ends", []memoir.Extraction{session(0, id(1), "Open: test it on Windows"), session(1, id(2), "Open: write the docs")},
			[]string{"- write the docs " + last(2) + "]"}},
		{"a request of which nothing came is left out", "## Recent work", many(1, "Task: fix the lock", "Preferences: “always sign”"), nil},
		{"failures", "## Failures and fixes", many(1, "Failures: `go tool x` failed: no such tool; fixed by `go run x`"),
			[]string{"- `go tool x` failed: no such tool; fixed by `go run x` " + last(1) + "]"}},
		{"findings of a language model", "## What is known", many(1, "Findings: the pool leaks", "Refuted: the cache is at fault"),
			[]string{"- refuted: the cache is at fault " + last(1) + "]", "- the pool leaks " + last(1) + "]"}},
	} {
		if got := under(build(t, input(extract.Later(test.sessions)...)).MemoryMD, test.heading); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}

func TestAnOrderThatIsGivenAgainIsNoWish(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, first, second, want string
	}{
		{"a task", "Don't touch the schema of the database.", "Don't touch the schema of the database.", ""},
		{"a task in nearly the same words", "Don't touch the schema of the database.", "please don't touch the database schema", ""},
		{"a part of the same order", "Fix the parser. Don't touch the schema.", "Fix the parser. Don't touch the schema.", ""},
		{"another order", "Fix the parser. Don't touch the schema.", "Add a cache. Don't touch the schema.", "- “Don't touch the schema.” [t-2 2026-07-02, +1]"},
		{"said later, too", "Don't touch the schema.", "Add a cache.\nDon't touch the schema.", "- “Don't touch the schema.” [t-2 2026-07-02, +1]"},
		{"marked as lasting", "Never touch the schema.", "Never touch the schema.", "- “Never touch the schema.” [t-2 2026-07-02, +1]"},
	} {
		var all []memoir.Extraction
		for i, typed := range []string{test.first, test.second} {
			in := extract.Input{Session: memoir.Session{ID: fmt.Sprint("t-", i+1), Source: memoir.SourceCodex, UpdatedAt: time.Date(2026, 7, i+1, 12, 0, 0, 0, time.UTC)}}
			for n, text := range strings.Split(typed, "\n") {
				in.Items = append(in.Items, memoir.Item{N: n + 1, Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: text})
			}
			e, err := extract.NewBuiltin().Extract(t.Context(), in)
			if e.Identify(); err != nil || len(e.Statements) == 0 {
				t.Fatalf("%s: %+v, %v", test.name, e, err)
			}
			all = append(all, e)
		}
		if got := strings.Join(under(build(t, input(all...)).MemoryMD, "## User preferences"), "\n"); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestClaimsThatNothingVerifiedReachNoMemory(t *testing.T) {
	t.Parallel()
	e := session(0, id(1), "Claims of the agent, not verified: the cache is `wrong` by design", "Outcome: commit: x — y")
	c := build(t, input(e, second))
	if text := c.MemoryMD + c.MemorySummary; strings.Contains(text, "by design") {
		t.Errorf("a claim is in the memory:\n%s", text)
	}
	e.Statements = e.Statements[:1]
	c = build(t, input(e))
	const says = "No line from them is sure enough yet"
	if !strings.Contains(c.MemoryMD, says) || strings.Contains(c.MemorySummary, says) || len(consolidate.Told(c.MemorySummary)) > 0 {
		t.Errorf("a memory without a line:\n%s%s", c.MemoryMD, c.MemorySummary)
	}
}

func TestTheListOfSessionsBehindALineIsKept(t *testing.T) {
	t.Parallel()
	c := build(t, input(first, second))
	if len(c.Citations) == 0 {
		t.Fatal("no lists")
	}
	for key, list := range c.Citations {
		if want := []string{second.SessionKey + " 2026-07-02", first.SessionKey + " 2026-07-01"}; !slices.Equal(list, want) {
			t.Errorf("%s: %v, want %v", key, list, want)
		}
	}
}

// project makes n sessions as an active project has them.
func project(n int) []memoir.Extraction {
	r := rand.New(rand.NewPCG(1, 2))
	noun := strings.Fields("parser lock queue cache index route page token schema worker session ledger budget retry fence scan root note skill hook")
	pick := func() string { return noun[r.IntN(len(noun))] }
	var out []memoir.Extraction
	for i := range n {
		a, b, c := pick(), pick(), pick()
		bullets := []string{
			fmt.Sprintf("Task: make the %s of the %s survive a restart while the %s is busy → committed: %s: keep the %s over a restart", a, b, c, a, b),
			fmt.Sprintf("Outcome: commit: %s: keep the %s over a restart — The %s was dropped when its %s went away. It is written before the rename now, and read back at the next start.", a, b, c, a),
			"Commands: test: `go test ./...` (4 times)", "Commands: lint: `golangci-lint run`", fmt.Sprintf("Commands: test: `go test ./%s`", a),
			fmt.Sprintf("Commands: run: `go run ./cmd/%s --%s`", a, b), fmt.Sprintf("Files: `pkg/%s/%s.go` (2 edits)", a, b), fmt.Sprintf("Files: `pkg/%s.go` (1 edit)", a),
			"Environment: commit subjects follow `area: subject`",
		}
		if i%3 == 0 {
			bullets = append(bullets, fmt.Sprintf("Preferences: “never let the %s wait for the %s without a deadline”", a, b),
				fmt.Sprintf("Failures: `go test ./%s -%s` failed: flag provided but not defined: -%s; fixed by `go test ./%s -run %s`", a, b, b, a, c))
		}
		e := session(0, id(i+1), bullets...)
		e.StartedAt, e.EndedAt = e.StartedAt.Add(time.Duration(i)*7*time.Hour), e.EndedAt.Add(time.Duration(i)*7*time.Hour)
		out = append(out, e)
	}
	return out
}

func TestTheFilesOfAnActiveProjectHaveTheirSizes(t *testing.T) {
	t.Parallel()
	c := build(t, input(project(62)...))
	t.Logf("MEMORY.md %d bytes, memory_summary.md %d bytes", len(c.MemoryMD), len(c.MemorySummary))
	if n := len(c.MemoryMD); n < 4<<10 || n > 16<<10 {
		t.Errorf("MEMORY.md has %d bytes, want 4 to 16 KB:\n%s", n, c.MemoryMD)
	}
	if n := len(c.MemorySummary); n < 2<<10 || n > 6000 {
		t.Errorf("memory_summary.md has %d bytes, want 2 to 6 KB:\n%s", n, c.MemorySummary)
	}
	for _, unwanted := range []string{"## Sessions", "left out", id(1)} {
		if strings.Contains(c.MemoryMD, unwanted) {
			t.Errorf("MEMORY.md has %q", unwanted)
		}
	}
}

func TestTheSameInputGivesTheSameBytesInAnyOrder(t *testing.T) {
	t.Parallel()
	all := project(40)
	want := build(t, input(all...))
	for range 3 {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if got := build(t, input(all...)); !reflect.DeepEqual(got, want) {
			t.Fatalf("another order gives\n%s\ninstead of\n%s", got.MemoryMD, want.MemoryMD)
		}
	}
}

func TestLimitsBelowTheBudgetHold(t *testing.T) {
	t.Parallel()
	in := input(project(62)...)
	in.MaxMemoryBytes, in.SummaryTokens = 3000, 200
	c := build(t, in) // Verify checks the limits
	if n := len(under(c.MemoryMD, "## User preferences")); n < 8 || n <= len(under(c.MemoryMD, "## Recent work")) {
		t.Errorf("what is worth most goes first:\n%s", c.MemoryMD)
	}
}

func TestWithoutInputItFails(t *testing.T) {
	t.Parallel()
	for _, in := range []consolidate.Input{input(), input(memoir.Extraction{SessionKey: "codex:x"}), {Extractions: []memoir.Extraction{first}, Withdrawn: []string{first.SessionKey}}} {
		if _, err := consolidate.NewBuiltin().Consolidate(context.Background(), in); memoir.CodeOf(err) != memoir.CodeInvalid {
			t.Errorf("error %v, want %s", err, memoir.CodeInvalid)
		}
	}
}

func TestShortIDsAreUniqueAndShort(t *testing.T) {
	t.Parallel()
	got := consolidate.ShortIDs([]memoir.Extraction{
		{SessionKey: "codex:019f6782-aaaa"}, {SessionKey: "codex:019f6782-abbb"}, {SessionKey: "codex:ffffffff-1"}, {SessionKey: "claude:ffffffff-1"},
		{SessionKey: "conversation:2026-11-27-20261127T084359.123456"}, {SessionKey: "conversation:2026-11-27-20261127T084400.000000"},
	})
	want := map[string]string{
		"codex:019f6782-aaaa": "019f6782-aa", "codex:019f6782-abbb": "019f6782-ab",
		"codex:ffffffff-1": "codex-ffffffff-1", "claude:ffffffff-1": "claude-ffffffff-1",
		"conversation:2026-11-27-20261127T084359.123456": "2026-11-27-20261127T084359",
		"conversation:2026-11-27-20261127T084400.000000": "2026-11-27-20261127T084400",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("short ids %v, want %v", got, want)
	}
}

func TestASummaryOfALongIDHasALegalName(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for n := range 3 {
		id := fmt.Sprintf("rollout-2026-10-01T10-00-00-01a10000-0000-7000-8000-%012d", n)
		e := memoir.Extraction{SessionKey: "codex:" + id, RolloutSlug: strings.Repeat("a-long-slug-", 10)}
		name := consolidate.SummaryFileName(e, id)
		if err := memoir.CheckPath(name); err != nil || seen[name] {
			t.Errorf("%s: %v", name, err)
		}
		seen[name] = true
	}
}

func TestAsManyNotesAsFitAreInMemory(t *testing.T) {
	t.Parallel()
	for n, most := range map[int]int{60: 60, 900: 330} {
		var all []memoir.Extraction
		for i := range n {
			kind := []string{"Preferences: “keep server %d in rack %d”", "Findings: server %d stands in rack %d"}[i%2]
			one := session(i%28, id(i+1), fmt.Sprintf(kind, i, i%7))
			if one.SessionKey, one.RecalledAt = fmt.Sprintf("memoir:note-%d", i+1), one.EndedAt; i%31 == 0 {
				one.RecalledAt = one.EndedAt.AddDate(0, 0, 50)
			}
			all = append(all, one)
		}
		made, err := consolidate.NewBuiltin().Consolidate(t.Context(), consolidate.Input{Extractions: all})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < n; i += 31 {
			if !strings.Contains(made.MemoryMD, fmt.Sprintf("[note-%d ", i+1)) {
				t.Errorf("%d notes: the recalled note %d is left out", n, i+1)
			}
		}
		shown := strings.Count(made.MemoryMD, "[note-")
		if shown < most || len(made.MemoryMD) > consolidate.DefaultMemoryBytes {
			t.Errorf("%d notes: %d are shown, in %d bytes", n, shown, len(made.MemoryMD))
		}
		if rest := fmt.Sprintf("%d notes left out; `memoir search` finds them.\n", n-shown); strings.Contains(made.MemoryMD, rest) != (shown < n) {
			t.Errorf("%d notes, %d shown, and it says\n%.300s", n, shown, made.MemoryMD)
		}
	}
}

func TestASmallMemoryIsToldWhole(t *testing.T) {
	t.Parallel()
	var some []string
	for i := range 20 {
		some = append(some, fmt.Sprintf("Findings: the port of service %d is %d", i, 4000+i))
	}
	for i := range 7 {
		some = append(some, fmt.Sprintf("Preferences: rule: “always start service %d before its tests”", i))
	}
	c := build(t, input(session(0, id(1), some...)))
	if n := strings.Count(c.MemorySummary, "the port of"); n != 20 || strings.Contains(c.MemorySummary, id(1)[:8]) {
		t.Errorf("%d of 20 lines:\n%s", n, c.MemorySummary)
	}
	if n := strings.Count(c.MemorySummary, "(said once, 2026-07-01)"); n != 5 {
		t.Errorf("%d of 5 lines that were said once:\n%s", n, c.MemorySummary)
	}
}
