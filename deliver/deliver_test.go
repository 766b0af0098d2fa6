package deliver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/deliver"
	"memoir/memory"
)

const project = "app-0123456789ab"

// failedThen is the statement of a failure and of what passed after it.
func failedThen(command, message, fix string) memoir.Statement {
	return memoir.Statement{Kind: memoir.StatementFailure, Signal: "fixed", By: memoir.ByTool, At: "2026-05-01",
		Text:    "`" + command + "` failed: " + message + "; fixed by `" + fix + "`",
		Command: command, Error: message, Signature: memoir.Signature(message), Fix: fix}
}

func decided(text string) memoir.Statement {
	return memoir.Statement{Kind: memoir.StatementDecision, Signal: "chosen", By: memoir.ByPerson, At: "2026-05-02", Text: text}
}

// published makes a memory in which each session taught some statements, and returns its reader.
func published(t *testing.T, sessions map[string][]memoir.Statement, change func(md string) string) deliver.Reader {
	t.Helper()
	root := memory.At(t.TempDir(), project)
	md, lines := "# Memory\n", map[string]memoir.LineOrigin{}
	anchors := map[string][]memoir.Anchor{}
	var all []memoir.Extraction
	for _, key := range []string{"team:alice-1f", "team:ben-1f", "team:ben-2f", "codex:new", "codex:old"} {
		e := memoir.Extraction{SessionKey: key, ProjectID: project, Statements: sessions[key], EndedAt: time.Unix(1e9, 0)}
		e.Identify()
		all = append(all, e)
		for _, s := range e.Statements {
			line := "- " + s.Text + " [" + key + " 2026-05-01]"
			lines[memoir.LineKey(line)] = memoir.LineOrigin{Statements: []string{s.ID}}
			anchors[memoir.LineKey(line)] = s.Anchors
			md += line + "\n"
		}
	}
	files := memory.Files{"MEMORY.md": []byte(md), memory.StatementsFile: memory.EncodeStatements(all, strings.Clone)}
	ctx := context.Background()
	must(t, root.Stage(ctx, 1, files, memory.Manifest{Lines: lines, Anchors: anchors}))
	must(t, root.Swap(1))
	if change != nil { // by hand
		must(t, os.WriteFile(filepath.Join(root.Link(), "MEMORY.md"), []byte(change(md)), 0o600))
	}
	return deliver.Reader{Root: root, Top: t.TempDir(), Session: "now",
		Removed: func() ([]string, error) { return nil, nil },
		Said:    func(map[string]bool) ([]memoir.Extraction, error) { return nil, nil },
		Accepted: func() (map[string]int64, error) {
			return map[string]int64{memoir.LineKey(accepted): 1}, nil
		}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// accepted is the text of a statement that a person accepted in a review.
var accepted = failedThen("cargo test seen --lib", noLibrary, "cargo test seen").Text

func always(deliver.Known) bool { return true }

const noLibrary = "error: no library targets found in package `app`"

func TestAfterAFailureWhatPassedIsTold(t *testing.T) {
	t.Parallel()
	library := failedThen("cargo test cache --lib", noLibrary, "cargo test cache")
	twice := failedThen("cargo test queue --lib", noLibrary, "cargo test --bin app queue")
	other := failedThen("cargo test cache --lib", noLibrary, "cargo test -p core cache --lib")
	gone := failedThen("cargo test cache --lib", noLibrary, "cargo test cache")
	gone.Anchors = []memoir.Anchor{{Path: "Cargo.toml", Text: "core"}}
	refuted, told := library, library
	seen := failedThen("cargo test seen --lib", noLibrary, "cargo test seen")
	newer := seen
	newer.At = "2026-05-09"
	repair := failedThen("cargo test cache", noLibrary, "rm -r out")
	vain := library
	vain.Kind, vain.Signal, vain.Text = memoir.StatementClaim, "vain", "not "+library.Text
	refuted.Kind, refuted.Outcome = memoir.StatementRefuted, "2026-05-03"
	told.Stands = "AGENTS.md"
	long := failedThen("cargo test "+strings.Repeat("x", 900)+" --lib", noLibrary, "cargo test cache")
	type sessions = map[string][]memoir.Statement
	for name, test := range map[string]struct {
		sessions sessions
		by       string // the session that is told
		edit     func(string) string
		want     string
	}{
		"a fix":                     {sessions{"codex:old": {library}}, "now", nil, "in session codex:old, the same failure: `cargo test cache --lib`; then `cargo test cache` passed."},
		"of the newest session":     {sessions{"codex:old": {library}, "codex:new": {twice}}, "now", nil, "then `cargo test --bin app queue` passed."},
		"fixes that do not agree":   {sessions{"codex:old": {library}, "codex:new": {other}}, "now", nil, ""},
		"of this session":           {sessions{"codex:old": {library}}, "old", nil, ""},
		"what was overturned":       {sessions{"codex:old": {refuted}}, "now", nil, ""},
		"what the project says":     {sessions{"codex:old": {told}}, "now", nil, ""},
		"what the tree contradicts": {sessions{"codex:old": {gone}}, "now", nil, ""},
		"a line that was removed":   {sessions{"codex:old": {library}}, "now", func(md string) string { return "# Memory\n" }, ""},
		"a line to be confirmed": {sessions{"codex:old": {library}}, "now", func(md string) string {
			return "- " + library.Text + memoir.Unconfirmed + "\n"
		}, ""},
		"a line that a member changed": {sessions{"codex:since": {library}}, "now", func(string) string {
			return "- " + strings.Replace(library.Text, "by `cargo test", "by `cargo test -p", 1) + memoir.HubsWords([]string{"anna"}, []string{"ben"}) + "\n"
		}, ""},
		"what one session repaired":  {sessions{"codex:old": {repair}}, "now", nil, ""},
		"what two sessions repaired": {sessions{"codex:old": {repair}, "codex:new": {repair}}, "now", nil, "then `rm -r out` passed."},
		"what a member repaired":     {sessions{"team:alice-1f": {library}}, "now", nil, ""},
		"and a person accepted": {sessions{"team:alice-1f": {seen}},
			"now", nil, "then `cargo test seen` passed."},
		"the newest of members":        {sessions{"team:alice-1f": {newer}, "team:ben-1f": {seen}}, "now", nil, "On 2026-05-09, in session team:alice-1f"},
		"what both did":                {sessions{"team:alice-1f": {library}, "codex:old": {library}}, "now", nil, "in session codex:old"},
		"said since":                   {sessions{"codex:since": {library}}, "now", nil, "in session codex:since, the same failure: `cargo test cache --lib`"},
		"said by this session":         {sessions{"codex:since": {library}}, "since", nil, ""},
		"said, but does not agree":     {sessions{"codex:old": {library}, "codex:since": {other}}, "now", nil, ""},
		"said by a second session":     {sessions{"codex:old": {repair}, "codex:since": {repair}}, "now", nil, "then `rm -r out` passed."},
		"said since to repair nothing": {sessions{"codex:old": {library}, "codex:since": {vain}}, "now", nil, ""},
		"said again of a removed line": {sessions{"codex:old": {library}, "codex:since": {library}}, "now", func(string) string { return "# Memory\n" }, ""},
		"a long command":               {sessions{"codex:old": {long}}, "now", nil, "xxx…`; then `cargo test cache` passed."},
	} {
		r := published(t, test.sessions, test.edit)
		r.Session = test.by
		since := memoir.Extraction{SessionKey: "codex:since", ProjectID: project, Statements: test.sessions["codex:since"], EndedAt: time.Now()}
		since.Identify()
		r.Said = func(map[string]bool) ([]memoir.Extraction, error) { return []memoir.Extraction{since}, nil }
		must(t, os.WriteFile(filepath.Join(r.Top, "Cargo.toml"), []byte("[package]\n"), 0o600))
		text, err := r.AfterFailure("cargo fmt && cargo test x --lib", "   Compiling app\n"+noLibrary+"\n", always)
		if err != nil || test.want == "" && text != "" || !strings.Contains(text, test.want) || len(text) > deliver.MaxBytes {
			t.Errorf("%s: %q %v, want %q", name, text, err, test.want)
		}
	}
}

// TestTheLessonIsWhatAnAgentWouldHaveNeeded: a failure whose error points to its fix, else one with a fix, else a rule
// of two sessions, else a choice.
func TestTheLessonIsWhatAnAgentWouldHaveNeeded(t *testing.T) {
	t.Parallel()
	library := failedThen("cargo test cache --lib", noLibrary, "cargo test cache")
	repair := failedThen("make gen", "Error 1", "make tools")
	repair.At = "2026-05-03"
	rule := memoir.Statement{Kind: memoir.StatementPreference, Signal: memoir.SignalRule, By: memoir.ByPerson, Text: "“no force pushes”"}
	instead := decided("not `npm test` but `pnpm test`")
	instead.Signal, instead.At = "refused", "2026-05-04"
	refuted := memoir.Statement{Kind: memoir.StatementRefuted, Signal: "found", By: memoir.ByAgent, At: "2026-05-04", Text: "it is no lock"}
	type sessions = map[string][]memoir.Statement
	for name, test := range map[string]struct {
		sessions sessions
		edit     func(string) string
		want     string
	}{
		"an error that points to it":    {sessions{"codex:old": {library}, "codex:new": {repair, rule}}, nil, library.Text},
		"what repaired it":              {sessions{"codex:old": {rule, repair}, "codex:new": {rule}}, nil, repair.Text},
		"what a member repaired":        {sessions{"team:alice-1f": {library}}, nil, ""},
		"what nobody fixed":             {sessions{"codex:old": {refuted}}, nil, ""},
		"a rule of two sessions":        {sessions{"codex:old": {rule}, "codex:new": {rule, decided("chose a")}}, nil, rule.Text},
		"the newest choice":             {sessions{"codex:old": {rule, instead}, "codex:new": {decided("chose a")}}, nil, instead.Text},
		"a choice that was taken away":  {sessions{"codex:old": {instead}}, func(string) string { return "# Memory\n" }, ""},
		"what a member chose":           {sessions{"team:alice-1f": {instead}}, nil, ""},
		"a rule of one session":         {sessions{"codex:old": {rule}}, nil, ""},
		"a rule that was taken away":    {sessions{"codex:old": {rule}, "codex:new": {rule}}, func(string) string { return "# Memory\n" }, ""},
		"a failure that was taken away": {sessions{"codex:old": {library}}, func(string) string { return "# Memory\n" }, ""},
		"nothing":                       {nil, nil, ""},
	} {
		got, err := published(t, test.sessions, test.edit).Lesson()
		if err != nil || got.Text != test.want {
			t.Errorf("%s: %q %v, want %q", name, got.Text, err, test.want)
		}
	}
}

func TestAnEditIsToldWhatNamesTheFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"keep `a/b.go` free of locks":      true,
		"a/b.go: no locks.":                true,
		"run `./a/b.go`":                   true,
		"read ../a/b.go":                   false,
		"why a/b.go.":                      true,
		"keep x/a/b.go free of locks":      false,
		"keep `a/b.go.tmpl` free of locks": false,
		"keep b.go free of locks":          false,
		"keep `@app/../a/b.go` as it is":   false,
	} {
		r := published(t, map[string][]memoir.Statement{"codex:old": {decided(text)}}, nil)
		got, err := r.OnEdit("a/b.go", always)
		if err != nil || (got != "") != want {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
	var many []memoir.Statement
	for i := range 9 {
		many = append(many, decided(fmt.Sprintf("a/b.go has rule %d, %s", i, strings.Repeat("word ", 20))))
	}
	r := published(t, map[string][]memoir.Statement{"codex:old": many}, nil)
	told := map[string]bool{}
	for range 12 { // each once, in texts within the bound
		text, err := r.OnEdit("a/b.go", func(k deliver.Known) bool {
			fresh := !told[k.ID]
			told[k.ID] = true
			return fresh
		})
		if must(t, err); len(text) > deliver.MaxBytes {
			t.Errorf("%d bytes", len(text))
		}
	}
	if len(told) != len(many) {
		t.Errorf("%d of %d were told", len(told), len(many))
	}
}

func TestAContextIsToldOnceUntilItIsCompacted(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	r := deliver.Receipt{At: time.Now(), Event: "edit", Project: project, Session: "claude:s", Statement: "0123456789"}
	other := r
	other.Session = "claude:t"
	compact := func() { must(t, deliver.Record(home, nil, r.At, "s", "compact")) }
	for i, step := range []struct {
		r        deliver.Receipt
		subagent string
		before   func()
		want     bool
	}{
		{r, "", nil, true}, {r, "", nil, false}, {r, "agent", nil, true}, {r, "agent", nil, false}, {other, "", nil, true},
		{r, "", compact, true}, {r, "", nil, false},
	} {
		if step.before != nil {
			step.before()
		}
		if got := deliver.First(home, step.r, step.subagent); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
	all, err := deliver.Receipts(home)
	if must(t, err); len(all) != 4 || all[0].Statement != r.Statement {
		t.Errorf("%v", all)
	}
	must(t, deliver.Forget(home, "", []string{other.Session}))
	if all, err = deliver.Receipts(home); err != nil || len(all) != 3 || all[0].Session != r.Session {
		t.Errorf("after one was forgotten: %v, %v", all, err)
	}
}

func TestAMembersCommandIsToldOnceAPersonAcceptedIt(t *testing.T) {
	t.Parallel()
	theirs := failedThen("cargo test cache --lib", noLibrary, "cargo test cache")
	theirs.Signal, theirs.By = memoir.SignalTeam, memoir.ByMember
	other := theirs
	other.Fix = "cargo test cache --features evil"
	key, id := memoir.LineKey(theirs.Text), memoir.StatementID(project, theirs.Kind, theirs.Text)
	cited := other
	cited.Text += " [x 2026-05-01, `" + cited.Fix + "`]" // it has the key of the line
	vague := failedThen("make all", "error: it is broken", "make clean")
	own := failedThen("cargo test cache --lib", noLibrary, "cargo test cache")
	for name, test := range map[string]struct {
		sessions map[string][]memoir.Statement
		accepted map[string]int64
		edit     func(string) string
		want     string
	}{
		"accepted":                            {map[string][]memoir.Statement{"team:alice-1f": {theirs}}, map[string]int64{key: 1}, nil, "its account: fixed by `cargo test cache`."},
		"accepted with a line in other words": {map[string][]memoir.Statement{"team:alice-1f": {theirs}}, map[string]int64{id: 1}, nil, ""},
		"a command that the text hides":       {map[string][]memoir.Statement{"team:alice-1f": {other}}, map[string]int64{key: 1}, nil, ""},
		"one behind the text":                 {map[string][]memoir.Statement{"team:alice-1f": {cited}}, map[string]int64{key: 1}, nil, ""},
		"dropped": {map[string][]memoir.Statement{"team:alice-1f": {theirs}}, map[string]int64{key: 1},
			func(string) string { return "# Memory\n" }, ""},
		"own in the same words": {map[string][]memoir.Statement{"team:alice-1f": {other}, "codex:old": {own}}, nil, nil,
			"in session codex:old, the same failure: `cargo test cache --lib`; then `cargo test cache` passed."},
	} {
		r := published(t, test.sessions, test.edit)
		r.Accepted = func() (map[string]int64, error) { return test.accepted, nil }
		text, err := r.AfterFailure("cargo test x --lib", noLibrary+"\n", always)
		if err != nil || test.want == "" && text != "" || !strings.Contains(text, test.want) {
			t.Errorf("%s: %q %v, want %q", name, text, err, test.want)
		}
	}
	for members, want := range map[string]bool{"team:ben-1f": false, "codex:old": true} { // the first has the same session
		r := published(t, map[string][]memoir.Statement{"team:alice-1f": {vague}, members: {vague}}, nil)
		r.Accepted = func() (map[string]int64, error) { return map[string]int64{memoir.LineKey(vague.Text): 1}, nil }
		if text, err := r.AfterFailure("make all", vague.Error+"\n", always); err != nil || (text != "") != want {
			t.Errorf("%s: %q %v", members, text, err)
		}
	}
	theirs.Paths = []string{"a/b.go"}
	r := published(t, map[string][]memoir.Statement{"team:alice-1f": {theirs}}, nil)
	for accepted, want := range map[int64]bool{0: false, 1: true} {
		r.Accepted = func() (map[string]int64, error) { return map[string]int64{key: accepted}, nil }
		if text, err := r.OnEdit("a/b.go", always); err != nil || (text != "") != want {
			t.Errorf("after an edit, %d: %q %v", accepted, text, err)
		}
	}
}

// An error may be chosen with its fix, so where nobody reviews one session is not enough.
func TestWhereNobodyReviewsAFixOfOneSessionIsNotTold(t *testing.T) {
	t.Parallel()
	theirs := failedThen("cargo test cache --lib", noLibrary, "cargo test cache")
	theirs.Paths = []string{"a/b.go"}
	for second, want := range map[string]bool{"team:ben-1f": false, "team:ben-2f": true} { // the first has the same session
		r := published(t, map[string][]memoir.Statement{"team:alice-1f": {theirs}, second: {theirs}}, nil)
		r.Accepted = nil
		failed, err := r.AfterFailure("cargo test x --lib", noLibrary+"\n", always)
		edited, errEdit := r.OnEdit("a/b.go", always)
		if err != nil || errEdit != nil || (failed != "") != want || (edited != "") != want {
			t.Errorf("%s: %q %v, %q %v", second, failed, err, edited, errEdit)
		}
	}
}
