package pipeline_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

func findText(t *testing.T, o pipeline.Options, text string) pipeline.Found {
	t.Helper()
	return ask(t, o.Home, func(st *store.Store) (pipeline.Found, error) { return pipeline.FindText(t.Context(), st, o, text) })
}

// forgetText does what `forget --match` does.
func forgetText(t *testing.T, o pipeline.Options, text string, purge bool) pipeline.ForgetReport {
	t.Helper()
	found := findText(t, o, text)
	f := store.Forgetting{Text: text, Projects: found.Projects, Purge: purge}
	for _, s := range found.Sessions {
		f.Keys = append(f.Keys, s.Key())
	}
	return forgotten(t, o, f)
}

func TestATextIsForgottenHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	o := options(home, dir)
	for id, prompt := range map[string]string{
		"aaaaaaaa-0001": "Always ask the café zoe team first.",
		"aaaaaaaa-0002": "Never call CAFE\u0301  ZOE before noon.",
		"aaaaaaaa-0003": "Always tell caf\u00e9\nzoe about it.",
		"aaaaaaaa-0004": "Always write to cafézoe.",
		"aaaaaaaa-0005": "Always test with a.*c[x] in the name.",
		"aaaaaaaa-0006": "Always test with abcx in the name.",
	} {
		codexSession(t, dir, id, "/srv/app", "main", prompt)
	}
	id := run(t, o).Phase2[0].Project
	a := app{t: t, dir: dir, home: home, id: id}
	a.edit("MEMORY.md", "- our people at Café\n  Zoe, of course\n- mine")
	a.edit("page.md", "whoever knows cafe\u0301\nzoe knows all\nmine")
	if found := findText(t, o, "a.*C[X]"); len(found.Sessions) != 1 {
		t.Errorf("%d sessions say what looks like an expression", len(found.Sessions))
	}
	if found := findText(t, o, "CAFÉ Zoe"); len(found.Sessions) != 3 {
		t.Fatalf("%d sessions say it", len(found.Sessions))
	}
	forgetText(t, o, "CAFÉ Zoe", false)
	text := liveText(t, home, id)
	for _, word := range []string{"our people", "of course", "whoever", "knows all", "before noon", "about it", "team first"} {
		if strings.Contains(text, word) {
			t.Errorf("%q is left:\n%s", word, text)
		}
	}
	for _, word := range []string{"- mine", "\nmine", "cafézoe", "abcx", "a.*c[x]"} {
		if !strings.Contains(text, word) {
			t.Errorf("%q is gone:\n%s", word, text)
		}
	}
	run(t, o)
	if found := findText(t, o, "café zoe"); len(found.Sessions)+len(found.Lines) != 0 {
		t.Errorf("found again: %+v", found)
	}
}

// A purge by text alone reaches archives whose lines are in no live file any more.
func TestATextThatOnlyArchivesHoldCanBePurged(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	o := options(a.home, a.dir)
	a.edit("MEMORY.md", "- zanzibar is Ada's\n- hers")
	a.session("aaaaaaaa-0002", "Always sign tags with git tag -s.")
	a.run()
	late := filepath.Join(a.root().Dir(), "unmerged", "1", "MEMORY.md")
	saveLate := func() {
		t.Helper()
		must(t, errors.Join(os.MkdirAll(filepath.Dir(late), 0o700), os.WriteFile(late, []byte("zanzibar\nmine\n"), 0o600)))
	}
	saveLate()
	forgetText(t, o, "Zanzibar", false)
	if content, err := os.ReadFile(late); err != nil || !strings.Contains(string(content), "zanzibar") {
		t.Errorf("a file that was saved too late was changed without a purge: %q, %v", content, err)
	}
	if text := liveText(t, a.home, a.id); strings.Contains(text, "zanzibar") || !strings.Contains(text, "- hers") {
		t.Fatalf("it is not forgotten:\n%s", text)
	}
	report := forgetText(t, o, "zanzibar", true)
	if len(report.Projects) != 1 || len(report.Projects[0].Archives) == 0 {
		t.Fatalf("%+v", report)
	}
	if left := holding(t, a.home, "zanzibar"); len(left) != 0 {
		t.Errorf("left in %q", left)
	}
	if left, err := os.ReadDir(filepath.Join(a.home, "projects")); err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.Name() == "forgotten" }) {
		t.Errorf("no session was forgotten, and there is a tombstone: %v, %v", left, err)
	}
	saveLate() // now nothing else holds it
	if last := forgetText(t, o, "zanzibar", true); len(last.Projects) != 1 || last.Projects[0].Archives == nil {
		t.Errorf("no archive was removed, which JSON has to say with an empty list: %+v", last)
	}
	if content, err := os.ReadFile(late); err != nil || string(content) != "mine\n" {
		t.Errorf("of what was saved too late %q is left, %v", content, err)
	}
	a.run()
}

// The headings of its pages name the project, whatever is forgotten in it.
func TestATextThatTheProjectIsNamedAfterIsForgotten(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	codexSession(t, a.dir, "aaaaaaaa-0002", "/srv/app", "main", "Always ask the app team.")
	a.run()
	report := forgetText(t, options(a.home, a.dir), "app", true)
	if len(report.Projects) != 1 || len(report.Projects[0].Archives) == 0 {
		t.Errorf("%+v", report)
	}
	if text := liveText(t, a.home, a.id); strings.Contains(text, "team") {
		t.Errorf("it is left:\n%s", text)
	}
}

func TestAGenerationWithATextThatIsBeingForgottenIsNotRestored(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.edit("MEMORY.md", "- zanzibar is Ada's")
	a.session("aaaaaaaa-0002", "Always sign tags with git tag -s.")
	a.run()
	in(t, a.home, func(st *store.Store) error {
		return st.BeginForgetting(t.Context(), store.Forgetting{Text: "zanzibar", Projects: []string{a.id}})
	})
	if _, err := a.tryRestore(2, 0); memoir.CodeOf(err) != memoir.CodeInvalid {
		t.Errorf("restored: %v", err)
	}
	if a.restore(1).Generation == 0 {
		t.Errorf("one without it was not restored")
	}
}

// Forgetting waits for a memory that another process holds. Whatever a run lacks for its own work, it ends that.
func TestForgettingIsFinishedByARunThatCannotBegin(t *testing.T) {
	t.Parallel()
	home, dir, project := twoSessions(t)
	o := options(home, dir)
	release := held(t, home, project)
	report, err := forget(t, o, store.Forgetting{Keys: []string{"codex:" + secretID}})
	if wantBusy(t, err); !strings.Contains(err.Error(), "busy: process ") || report.Projects[0].Outcome != pipeline.OutcomeBusy {
		t.Errorf("%+v, %v", report, err)
	}
	release()
	dry := o
	dry.DryRun = true
	before := liveText(t, home, project)
	if run(t, dry); liveText(t, home, project) != before {
		t.Errorf("a dry run forgot")
	}
	o.Settings = load(t, "modelRoles: {default: openai/gpt-5}") // without a key
	if _, err := tryRun(t.Context(), t, o); memoir.CodeOf(err) != memoir.CodeConfig {
		t.Fatalf("the run ended with %v", err)
	}
	if text := liveText(t, home, project); strings.Contains(text, "zanzibar") || !strings.Contains(text, "pnpm") {
		t.Errorf("the live memory says:\n%s", text)
	}
	if left := ask(t, home, func(st *store.Store) ([]store.Withdrawal, error) { return st.Withdrawals(t.Context()) }); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}
