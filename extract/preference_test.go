package extract_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestPreferencesAreToldFromRequestsByForm(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		typed string
		want  bool
	}{
		{"never open prs against release!!!!!!!!!!!", true},
		{"always run the linter before you push", true},
		{"from now on use conventional commits", true},
		{"please don't add comments to generated code", true},
		{"don't push to main", true},
		{"don't touch the vendor folder", true},
		{"we use pnpm here, not npm", true},
		{"In this repo tests live next to the code", true},
		{"use pnpm instead of npm", true},
		{"I prefer table tests", true},
		{"i only want e2e tests for the session type", true},
		{"no rgb indices!", true},
		{"config errors must NEVER crash the server", true},
		{"make sure the tests pass before you commit", true},
		{"ask me before adding a dependency", true},
		{"can you always squash before merging?", true},
		{"keep our working documentation in linear.", true},
		{"stop adding emojis to commit messages", true},
		{"I told you to use uv", true},
		{"Do not print tokens or keys again, read them from the environment.", true},
		{"Keep the function signatures in dates.py as they are.", true},
		{"leave the public API of the client unchanged", true},
		{"We stay with SQLite FTS5, no server.", true},
		{"Stay with TOML.", true},
		{"Scene names may only have lower-case letters; reject everything else.", true},

		{"make a pr", false},
		{"fix it", false},
		{"don't do it yet", false},
		{"don't worry about revoking, but continue", false},
		{"I don't understand", false},
		{"we don't need that here", false},
		{"don't modify the theme, look at the footer", false},
		{"don't touch this file", false},
		{"why does it never return?", false},
		{"the parser never returns on empty input", false},
		{"it always crashes when I press enter", false},
		{"should we have a new helper for this?", false},
		{"do not push yet", false},
		{"don't run the tests this time", false},
		{"can you check the logs?", false},
		{"let's always... hmm, what do you think?", false},
		{"thanks, that's exactly what I wanted", false},
		{"revert that, not what I meant", false},
		{"what is the difference between let and const?", false},
		{"rename the function instead of this one", false},
		{"keep it as it is", false},
		{"leave that as is for now", false},
		{"stick with it", false},
		{"don't do that again", false},
		{"why do you go 100 lines at a time", false},
	} {
		got := of(work().answers("Done.").says(test.typed).answers("Understood, noted.").extract(t), memoir.StatementPreference)
		if (len(got) > 0) != test.want {
			t.Errorf("%q: preferences %q, want any: %v", test.typed, got, test.want)
		}
	}
}

func TestRulesInOtherLanguagesAreKept(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		typed string
		want  bool
	}{
		{"Bitte immer zuerst die Tests laufen lassen", true},
		{"Niemals direkt auf main pushen", true},
		{"Verwende pnpm statt npm", true},
		{"Utilise toujours pnpm", true},
		{"N'utilise jamais npm", true},
		{"Usa siempre pnpm", true},
		{"Никогда не пушь в main", true},
		{"不要直接推送到 main", true},
		{"必ずテストを実行してください", true},
		{"항상 테스트를 먼저 실행해", true},
		{"Kannst du den Fehler beheben?", false},
		{"请修复这个错误", false},
		{"先不要提交", false},
		{"テストを修正して", false},
	} {
		e := work().answers("Done.").says(test.typed).answers("OK.").extract(t)
		if got := of(e, memoir.StatementPreference); (len(got) > 0) != test.want {
			t.Errorf("%q: preferences %q, want any: %v", test.typed, got, test.want)
		}
		if !test.want && !holds(of(e, memoir.StatementTask), strings.TrimSuffix(test.typed, "?")) {
			t.Errorf("%q was dropped for want of an English cue", test.typed)
		}
	}
}

func TestAPreferenceQuotesItsWordsAlone(t *testing.T) {
	t.Parallel()
	e := work().answers("Opened [PR #7](https://example.com/pull/7) into `release`.").says("never open prs against release").extract(t)
	got := of(e, memoir.StatementPreference)
	if len(got) != 1 || !strings.HasPrefix(got[0], "“never open prs against release”") || strings.Contains(got[0], "Opened PR") {
		t.Errorf("got %q", got)
	}
	if !strings.Contains(e.RawMemory, "[5]") {
		t.Errorf("the preference does not cite its item:\n%s", e.RawMemory)
	}
}

func TestPastedTextIsNoPreference(t *testing.T) {
	t.Parallel()
	for name, typed := range map[string]string{
		"a review":     "I got this feedback: You should always close the body and never ignore the error that Close returns, because otherwise connections leak over time and the pool is exhausted.",
		"a log":        "it fails\n```\nerror: never use this option\nalways set FOO\n```",
		"a quotation":  "what about this?\n> always use tabs",
		"a stack":      "crash\nTypeError: never call this\n    at always (a.js:1:2)",
		"a plan":       "Implement the following plan:\n\n# Plan\n\n- always validate input\n- never log secrets",
		"a diff":       "again\n+ 12 // never remove this\n- 13 // always keep",
		"tool results": "",
	} {
		s := work().answers("Done.")
		if typed == "" {
			s.runs("cat RULES", 0, "never push to main\nalways rebase")
		} else {
			s.says(typed)
		}
		if got := of(s.answers("OK.").extract(t), memoir.StatementPreference); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestARefusedCallTellsWhatIsWanted(t *testing.T) {
	t.Parallel()
	if got := of(work().refuses("use pnpm not npm").answers("OK.").extract(t), memoir.StatementPreference); !holds(got, "use pnpm not npm") {
		t.Errorf("got %q", got)
	}
	for _, said := range []string{"use git tag -s, the mirror refuses unsigned tags", "no random ids, use hostname and pid so that the log stays readable"} {
		if got := of(work().refuses(said).answers("OK.").extract(t), memoir.StatementPreference); !holds(got, said) {
			t.Errorf("%q: got %q", said, got)
		}
	}
	for _, said := range []string{"use that one", "keep this, I will do it"} {
		if got := of(work().refuses(said).answers("OK.").extract(t), memoir.StatementPreference); len(got) > 0 {
			t.Errorf("%q points at the screen: %q", said, got)
		}
	}
	e := work().refuses("the first part is wrong, because both strategies add the `Trailer` to the commits").answers("Right.").extract(t)
	if got := of(e, memoir.StatementDecision); !holds(got, "both strategies add") {
		t.Errorf("a correction of facts is lost: %q", got)
	}
}

func TestAMannerAskedForAgainAndAgainIsAPreference(t *testing.T) {
	t.Parallel()
	s := work()
	for _, f := range []string{"main.go", "upload.go", "retry.go"} {
		s.answers("Fine.").says("read " + f + " in full")
	}
	if got := of(s.answers("Done.").extract(t), memoir.StatementPreference); !holds(got, "read … in full") {
		t.Errorf("got %q", got)
	}
}
