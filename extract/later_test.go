package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
)

// spoken are the sessions, a day and agent each, in which a person said a sentence.
func spoken(texts ...string) (out []memoir.Extraction) {
	for n, text := range texts {
		st := state(memoir.SignalRule, memoir.StatementPreference, quote(text), 1).Statement
		st.Quote = text
		if back := takenBack(arrange(talk("> " + text))); len(back) > 0 {
			st = back[0].Statement
		}
		e := memoir.Extraction{SessionKey: fmt.Sprintf("%s:s-%d", []string{"codex", "claude"}[n%2], n), ProjectID: "app-1",
			EndedAt: time.Date(2026, 7, n+1, 9, 0, 0, 0, time.UTC), Statements: []memoir.Statement{st}}
		e.Identify()
		out = append(out, e)
	}
	return out
}

func TestAPromotedWishIsOverturnedWithItsSentence(t *testing.T) {
	t.Parallel()
	all := spoken("Always squash when merging.", "From now on do not squash when merging.")
	twin := all[0]
	twin.SessionKey = memoir.ReceivedKey("anna", "0a0a0a0a0a0a0a0a0a0a0a0a")
	twin.Statements = []memoir.Statement{{ID: "1", Kind: memoir.StatementDecision, Text: memoir.Wish + all[0].Statements[0].Text,
		Signal: memoir.SignalModel, By: memoir.ByAgent, At: "2026-07-01"}}
	for n, want := range []memoir.StatementKind{memoir.StatementRefuted, memoir.StatementDecision} {
		got := Later([]memoir.Extraction{all[0], all[1-n], twin})
		if st := got[2].Statements[0]; st.Kind != want {
			t.Errorf("%d: %+v", n, st)
		}
	}
}

func TestALaterSentenceOverturnsWhatCannotHoldBesideIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ earlier, later string }{
		// a thing rejected that was wanted
		{"Always install packages with yarn.", "From now on use bun instead of yarn."},
		{"We use poetry for dependencies.", "Use uv, not poetry."},
		{"Always use moment for dates.", "Never use moment, take date-fns."},
		{"Prefer jest for unit tests.", "We no longer use jest."},
		{"Always squash when merging.", "From now on do not squash when merging."},
		{"Always rebase, never merge.", "From now on merge, never rebase."},
		{"Always run make lint before committing.", "You don't need to run make lint before you commit any more."},
		{"Always ask before running migrations.", "Don't ask before running migrations."},
		{"Always sign your commits.", "Stop signing commits."},
		{"Always use black for formatting.", "We switched from black to ruff."},
		{"Prefer unittest over pytest.", "Use pytest rather than unittest."},
		{"Build with make.", "From now on use just, not make."},
		{"Run e2e tests before every push.", "Never run e2e tests before a push."},
		// a thing allowed that was forbidden
		{"Never force-push to main.", "From now on you may force-push to main."},
		{"Never use emojis in commit messages.", "From now on emojis in commit messages are fine."},
		{"Don't touch the schema.", "It's ok to touch the schema again."},
		{"Do not mock the database in tests.", "Mock the database in tests."},
		// another value in one slot
		{"Always write commit messages in English.", "From now on write commit messages in German."},
		{"Answer me in French.", "Answer me in English."},
		{"Comments must be in Spanish.", "Comments must be in English."},
		{"Keep lines under 100 characters.", "Keep lines under 120 characters."},
		{"Always use Node 18.", "Always use Node 20."},
		{"Always listen on port 8080.", "Always listen on port 9090."},
		{"Indent YAML with 4 spaces.", "From now on indent YAML with 2 spaces."},
		{"Always use double quotes in TypeScript.", "From now on use single quotes in TypeScript."},
		{"Branch names start with feature/.", "From now on branch names start with feat/."},
		{"Always run make test before committing.", "From now on run task test before committing."},
		{"Always use npm for installing packages.", "Always use pnpm for installing packages."},
		// of any of these kinds
		{"Always deploy with terraform.", "We migrated from terraform to pulumi."},
		{"Always target the develop branch with pull requests.", "From now on target the main branch with pull requests."},
		{"Always squash and merge.", "Use merge commits instead of squashing."},
		{"Never commit lockfiles.", "Always commit lockfiles."},
		{"Always use yarn to add dependencies.", "Use pnpm from now on, not yarn."},
		{"Never amend commits.", "Amending commits is fine from now on."},
		{"Always branch from develop.", "From now on branch from main instead of develop."},
		{"Never edit the lockfile by hand.", "You may edit the lockfile by hand."},
		{"Always deploy on Fridays.", "Never deploy on Fridays."},
		{"Always open a draft pull request first.", "Stop opening draft pull requests."},
		{"Use semicolons in JavaScript.", "No semicolons in JavaScript any more."},
		{"Always ask me before you install packages.", "You don't have to ask me before you install packages any more."},
		{"Never delete migrations.", "From now on it's okay to delete migrations."},
		{"Always reply in German.", "From now on reply in English."},
		{"Always use single quotes.", "From now on, use double quotes."},
		{"Always log with logrus.", "From now on log with slog, never with logrus."},
		{"Always name branches feature/x.", "Never name branches feature/x."},
		{"Always use tabs for indentation.", "Forget what I said about tabs."},
		{"Never squash commits.", "Ignore my rule about squashing."},
		{"Always add a changelog entry.", "Don't add changelog entries any more."},
		{"Always run prettier before committing.", "Never run prettier before committing."},
		{"Use two spaces in YAML.", "Use four spaces in YAML from now on."},
		{"Always use tabs in Makefiles.", "Always use spaces in Makefiles."},
		{"Always merge with --no-ff.", "Never merge with --no-ff."},
		{"Never use the word simply in docs.", "You can use the word simply in docs again."},
		{"Always tag releases with v.", "From now on tag releases without v."},
		{"Always use Docker for the database.", "From now on use podman for the database."},
		{"Always use port 3000 for the dev server.", "From now on use port 8080 for the dev server."},
		{"Always push to origin.", "From now on push to upstream, not origin."},
		{"From now on use bun, never yarn.", "Actually, go back to yarn. Never use bun."},
		{"Always use npm for installing packages.", "From now on use pnpm, never npm."},
		// taken back by its words
		{"Always use tabs in Makefiles.", "Never mind the tabs rule."},
		{"Never push to release branches.", "Forget what I said about pushing to release branches."},
		{"Always update the changelog.", "You can drop the changelog requirement."},
		{"Always write docstrings.", "The docstring rule no longer applies."},
		{"Always use conventional commits.", "Scratch the rule about conventional commits."},
	} {
		got := Later(spoken(test.earlier, test.later))
		if e, l := got[0].Statements[0], got[1].Statements[0]; e.Kind != memoir.StatementRefuted ||
			e.Line() != quote(test.earlier)+" (refuted 2026-07-02)" || l.Replaces != e.ID || l.Outcome != "" {
			t.Errorf("%q does not overturn %q: %+v", test.later, test.earlier, got)
		}
	}
}

func TestSentencesThatBothHoldStay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ one, other string }{
		{"Always run npm test before pushing.", "Never run npm publish yourself."},
		{"Always use npm ci in CI.", "From now on use npm audit in CI."},
		{"Always run make lint before committing.", "From now on run make test before committing."},
		{"Always run make lint before committing.", "From now on also run make fmt before committing."},
		{"Always use tabs in Go files.", "From now on use spaces in Python files."},
		{"Never push to main.", "Never push to release."},
		{"Never push to main.", "Push to main only after the tests pass."},
		{"Never push to main.", "You may push to main for hotfixes now."},
		{"Always use pip for the scripts.", "Use uv, not pip, for the backend."},
		{"Always run the tests before committing.", "Write docs, not tests, for the prototype."},
		{"Never commit without running the tests.", "Always run the tests before committing."},
		{"Always run the linter before committing.", "Don't forget to run the linter before committing."},
		{"Always run the linter before committing.", "Never skip the linter."},
		{"Run the unit tests before pushing.", "Don't just run the unit tests, run the e2e tests too."},
		{"Always ask before running migrations.", "Never run migrations on production."},
		{"Use make test for unit tests.", "Use make e2e for browser tests."},
		{"Write tests in Go.", "Use mocks in Go."},
		{"Use Postgres 16 on staging.", "Use Redis 7 on staging."},
		{"Always write docs in English.", "Always write tests in English."},
		{"Always run the linter before committing.", "never mind the linter, look at the crash"},
		{"Always run the tests before committing.", "No need to run the tests this time."},
		{"Always use tabs in Go files.", "Forget the npm rule."},
		{"Never use git stash.", "Never use git rebase."},
		{"Name branches after tickets.", "Name tests after functions."},
		{"Always use -race for go test.", "Always use -count=1 for go test."},
		{"Don't use any in TypeScript.", "Use unknown in TypeScript."},
		{"Never force push.", "From now on push after each commit."},
		{"Name variables in camelCase.", "Name files in kebab-case."},
		{"Keep functions under 60 lines.", "Keep files under 400 lines."},
		{"Always use mocks in unit tests.", "Always use table tests in unit tests."},
		{"Run tests with make test.", "Run the linter with make lint from now on."},
		{"Always use git rebase to update branches.", "From now on use git switch to change branches."},
		{"Never use docker compose down -v.", "Use docker compose up -d for the database from now on."},
		{"Never use npm install in CI.", "From now on use npm ci in CI."},
		{"Always run pytest with -q.", "From now on run pytest with -n 4."},
		{"Use English for commit messages.", "Use German for the user manual."},
		{"Don't commit generated files.", "From now on commit after each step."},
		{"Always write tests first.", "Never write tests for generated code."},
		{"Always ask before deleting files.", "Don't ask before formatting files."},
		{"Never push without asking.", "Push to your own branch whenever you like."},
		{"Keep the README short.", "Keep the changelog short."},
		{"Always keep functions short.", "From now on keep names short."},
		{"Use yarn for the frontend.", "From now on use npm for the backend."},
		{"Use uv, never pip.", "Never use conda."},
		{"Always use pnpm.", "From now on use pnpm dlx instead of npx."},
		{"Start branches with feat/.", "Start commit messages with feat:."},
		{"Always use prettier for formatting.", "From now on use eslint for linting."},
		{"Name tests after the bug.", "From now on name branches after the issue."},
		{"Write commit messages in English.", "Write comments in German."},
		{"Tests run on Node 18.", "Tests run on Node 20."},
		{"Never listen on port 8080.", "Never listen on port 9090."},
		{"Always listen on port 8080 for health.", "Always listen on port 9090 for metrics."},
	} {
		pairs := [][]string{{test.one, test.other}, {test.other, test.one}}
		if strings.HasPrefix(test.one, "Never push") && !strings.HasPrefix(test.other, "Never") {
			pairs = pairs[:1] // the later one is an exception; the other way round, it would be overturned
		}
		for _, pair := range pairs {
			if got := Later(spoken(pair...)); got[0].Statements[0].Outcome != "" {
				t.Errorf("%q overturns %q", pair[1], pair[0])
			}
		}
	}
}

func TestAnExceptionLeavesTheRule(t *testing.T) {
	t.Parallel()
	got := Later(spoken("Always run the linter before committing.", "Never run the linter before committing on a branch."))
	if st := got[0].Statements[0]; st.Outcome != "" {
		t.Errorf("%+v", st)
	}
}

func TestTheLastWordWinsAndAnEntryStays(t *testing.T) {
	t.Parallel()
	refuted := func(all []memoir.Extraction) (out []int) {
		for i, e := range Later(all) {
			if e.Statements[0].Outcome != "" {
				out = append(out, i)
			}
		}
		return out
	}
	thrice := spoken("Never push to main.", "From now on you may push to main.", "Never push to main, please.")
	note := spoken("Never push to main.", "From now on you may push to main.")
	note[0].SessionKey = "memoir:note-1"
	elsewhere := spoken("Never push to main.", "From now on you may push to main.")
	elsewhere[1].ProjectID = "app-2"
	for name, test := range map[string]struct {
		all  []memoir.Extraction
		want []int
	}{
		"what is overturned overturns nothing": {thrice, []int{1}},
		"twice":                                {Later(thrice), []int{1}},
		"a note":                               {note, nil},
		"another project":                      {elsewhere, nil},
	} {
		if got := refuted(test.all); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v are refuted, want %v", name, got, test.want)
		}
	}
}

func TestFactsThatALaterSessionOverturns(t *testing.T) {
	t.Parallel()
	choice := func(answer, other string) []string {
		return []string{`q {"questions":[{"question":"Where do drafts lie?","options":[{"label":"Redis"},{"label":"SQLite"}]}]}`,
			`=> answered: "Where do drafts lie?"="` + answer + `"`, "a " + answer}
	}
	agents := []string{"$ cat AGENTS.md", "=> Run `make lint` first.", "! make lint", "=> make: *** No rule to make target 'lint'.  Stop."}
	vite := func(then ...string) []string {
		return append([]string{"> `billing` has been renamed to `ledger`.", "! make web", "=> vite: command not found"}, then...)
	}
	for name, test := range map[string]struct {
		kind           memoir.StatementKind
		earlier, later []string
		want           bool
	}{
		"another answer":                {memoir.StatementDecision, choice("Redis", ""), choice("SQLite", ""), true},
		"the same answer":               {memoir.StatementDecision, choice("Redis", ""), choice("Redis", ""), false},
		"the other one is refused":      {memoir.StatementDecision, []string{"> go on", "$ npm test", "x that takes an hour", "$ npm run test:unit"}, []string{"> go on", "$ npm run test:unit", "x it misses the client", "$ npm test"}, false},
		"another refusal":               {memoir.StatementDecision, []string{"> go on", "$ npm test", "x that takes an hour", "$ npm run test:unit"}, []string{"> go on", "$ npm test", "x that takes an hour", "$ npm run test:quick"}, false},
		"a fix that failed":             {memoir.StatementFailure, []string{"! npm run e2e", "=> Error: no browser was found", "$ npx playwright install", "$ npm run e2e"}, []string{"! npx playwright install", "=> Error: no such host", "$ npm ci", "$ npx playwright install"}, true},
		"a repair that repairs nothing": {memoir.StatementFailure, vite("$ npm install vite", "$ make web"), vite("$ npm install vite", "=> up to date", "! make web", "=> vite: command not found"), true},
		"one that leads to another":     {memoir.StatementFailure, vite("$ npm install vite", "$ make web"), vite("$ npm install vite", "! make web", "=> Error: no config was loaded", "$ npm run setup", "$ make web"), true},
		"one that leads to a bug":       {memoir.StatementFailure, vite("$ npm install vite", "$ make web"), vite("$ npm install vite", "! make web", "=> Error: no config was loaded"), false},
		"one before an edit":            {memoir.StatementFailure, vite("$ npm install vite", "$ make web"), vite("$ npm install vite", "~ a.js", "! make web", "=> vite: command not found"), false},
		"another repair for nothing":    {memoir.StatementFailure, vite("$ npm install vite", "$ make web"), vite("$ npm install vue", "! make web", "=> vite: command not found"), false},
		"a repair that fails":           {memoir.StatementFailure, vite("$ npm install vite", "$ make web"), vite("! npm install vite", "=> npm error no such package was published"), true},
		"one that fails at first":       {memoir.StatementFailure, vite("$ npm install vite", "$ make web"), vite("! npm install vite", "=> npm error no such package was published", "$ npm install vite"), false},
		"one that fails here alone":     {memoir.StatementFailure, vite("$ npm install vite", "$ make web"), vite("! npm install vite", "=> sh: npm: command not found"), false},
		"another failure":               {memoir.StatementFailure, []string{"! npm run e2e", "=> Error: no browser was found", "$ npx playwright install", "$ npm run e2e"}, []string{"! npm run unit", "=> Error: no such host", "$ npm ci", "$ npm run unit"}, false},
		"a target that is gone":         {memoir.StatementCommand, []string{"$ make lint", "=> ok"}, agents, true},
		"a command that is refused":     {memoir.StatementCommand, []string{"~ a.go", "$ mise run test:ci", "=> ok", "$ git commit -m 'fix: retry'"}, []string{"> go on", "$ mise run test:ci", "x too slow", "$ mise run test"}, true},
		"a refused one that passes":     {memoir.StatementDecision, []string{"> go on", "$ mise run test:ci", "x too slow", "$ mise run test"}, []string{"$ mise run test:ci", "=> ok"}, false},
		"one refused for a while":       {memoir.StatementDecision, []string{"> go on", "$ mise run test:ci", "x not yet, the quick ones", "$ mise run test"}, []string{"$ mise run test:ci", "=> ok"}, true},
		"another one that passes":       {memoir.StatementDecision, []string{"> go on", "$ mise run test:ci", "x too slow", "$ mise run test"}, []string{"$ mise run lint", "=> ok"}, false},
		"a target that came":            {memoir.StatementFailure, agents, []string{"$ make lint", "=> ok"}, true},
		"a name that changed":           {memoir.StatementFinding, []string{"> `billing` has been renamed to `ledger`."}, []string{"> `ledger` has been renamed to `books`."}, true},
		"another name":                  {memoir.StatementFinding, []string{"> `billing` has been renamed to `ledger`."}, []string{"> `queue` has been renamed to `books`."}, false},
	} {
		var all []memoir.Extraction
		for day, lines := range [][]string{test.earlier, test.later} {
			in := talk(lines...)
			in.Session.ID, in.Session.ProjectID = fmt.Sprint("t-", day), "app-1"
			in.Session.UpdatedAt = time.Date(2026, 7, day+1, 9, 0, 0, 0, time.UTC)
			e, err := NewBuiltin().Extract(t.Context(), in)
			if err != nil || len(e.Statements) == 0 {
				t.Fatal(name, e, err)
			}
			e.Identify()
			all = append(all, e)
		}
		i := slices.IndexFunc(all[0].Statements, func(st memoir.Statement) bool { return st.Kind == test.kind })
		if st := Later(all)[0].Statements[i]; (st.Outcome == "2026-07-02") != test.want {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

func TestOfARefusalAndAPassTheLaterCounts(t *testing.T) {
	t.Parallel()
	habit := []string{"~ a.go", "$ mise run fmt && mise run lint && mise run test:ci", "=> ok", "$ git commit -m 'fix: retry'"}
	refusal := []string{"> go on", "$ mise run test:ci", "x too slow", "$ mise run test"}
	for day, lines := range [][]string{slices.Concat(habit, refusal), slices.Concat(refusal, []string{"> next"}, habit)} {
		in := talk(lines...)
		in.Session.UpdatedAt = time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
		e, err := NewBuiltin().Extract(t.Context(), in)
		passes, holds := 0, 0
		for _, st := range e.Statements {
			if st.Outcome == "" && strings.Contains(st.Command, "test:ci") {
				passes++
			}
			if st.Outcome == "" && st.Text == "refused `mise run test:ci`: “too slow”" {
				holds++
			}
		}
		if err != nil || passes != 2*day || holds != 1-day {
			t.Errorf("%d: %v, %s", day, err, e.RawMemory())
		}
	}
}

func TestWhatPassesForAMemberLeavesARefusal(t *testing.T) {
	t.Parallel()
	refusal, pass := spoken("")[0], spoken("", "")[1]
	refusal.Statements = []memoir.Statement{refused(arrange(talk("> go on", "$ mise run test:ci", "x not yet, the quick ones", "$ mise run test")))[0].Statement}
	pass.Statements = []memoir.Statement{passedCommands(arrange(talk("$ mise run test:ci", "=> ok")))[0].Statement}
	for key, want := range map[string]string{pass.SessionKey: "2026-07-02", memoir.ReceivedKey("alice", "0123"): ""} {
		pass.SessionKey = key
		if st := Later([]memoir.Extraction{refusal, pass})[0].Statements[0]; st.Outcome != want {
			t.Errorf("%s: %+v", key, st)
		}
	}
}

func TestWithinASessionTheLaterWordWins(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		lines []string
		want  []string // preferences that hold
	}{
		{[]string{"> Always use tabs in Go files.", "$ ls", "> Actually no, forget that. Always use spaces in Go files."}, []string{"“Always use spaces in Go files.”"}},
		{[]string{"> Always sign off commits. Wait, scratch that."}, nil},
		{[]string{"> Never commit to main.", "$ ls", "> I changed my mind."}, nil},
		{[]string{"> Never commit to main. Now rename the parser.", "$ ls", "> never mind"}, []string{"“Never commit to main.”"}},
		{[]string{"> Always run the e2e tests.", "$ ls", "> ok", "$ ls", "> forget the e2e rule"}, nil},
		{[]string{"> From now on use jest for tests.", "$ ls", "> From now on use vitest, not jest."}, []string{"“From now on use vitest, not jest.”"}},
	} {
		if got := statementsOf(t, talk(test.lines...), memoir.StatementPreference); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.lines, got, test.want)
		}
	}
}

func TestOfTwoWishesOfATeamTheLaterHoldsUnlessAPersonNotedOne(t *testing.T) {
	t.Parallel()
	const before, after = "Always use npm for installing packages.", "From now on use pnpm instead of npm."
	for name, test := range map[string]struct {
		theirs int // which of the two a member said
		note   bool
		want   []memoir.StatementKind
	}{
		"a member said the later one":    {1, false, []memoir.StatementKind{memoir.StatementRefuted, memoir.StatementDecision}},
		"a member said the earlier one":  {0, false, []memoir.StatementKind{memoir.StatementRefuted, memoir.StatementPreference}},
		"the person noted the other one": {1, true, []memoir.StatementKind{memoir.StatementPreference, memoir.StatementDecision}},
	} {
		both := spoken(before, after)
		both[test.theirs].SessionKey = memoir.ReceivedKey("alice", "0123")
		st := &both[test.theirs].Statements[0]
		st.Kind, st.By, st.Quote = memoir.StatementDecision, memoir.ByMember, ""
		if test.note {
			both[0].SessionKey = "memoir:note-1"
		}
		got := Later(both)
		if kinds := []memoir.StatementKind{got[0].Statements[0].Kind, got[1].Statements[0].Kind}; !slices.Equal(kinds, test.want) {
			t.Errorf("%s: %q", name, kinds)
		}
	}
}
