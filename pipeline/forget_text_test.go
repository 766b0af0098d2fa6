package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir/pipeline"
)

func findText(t *testing.T, o pipeline.Options, text string) pipeline.Found {
	t.Helper()
	st := open(t, o.Home)
	defer st.Close()
	found, err := pipeline.FindText(t.Context(), st, o, text)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// forgetText does what `forget --match` does.
func forgetText(t *testing.T, o pipeline.Options, text string, purge bool) pipeline.ForgetReport {
	t.Helper()
	found := findText(t, o, text)
	f := pipeline.Forgetting{Text: text, Projects: found.Projects(), Purge: purge}
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
	if found := findText(t, o, "café zoe"); len(found.Sessions)+len(found.Lines)+len(found.Noted) != 0 {
		t.Errorf("found again: %+v", found)
	}
}

// The text stands in a line that a person wrote, and that no live file has any more.
func TestRestoringBringsBackNoTextThatWasForgotten(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	o := options(a.home, a.dir)
	a.edit("MEMORY.md", "- zanzibar is Ada's\n- hers")
	a.edit("skills/ours/SKILL.md", "---\nname: ours\ndescription: ours\n---\n\n- to zanzibar\n- elsewhere")
	a.edit("skills/ours/scripts/go.sh", "cd zanzibar\ncd elsewhere")
	a.session("aaaaaaaa-0002", "Always sign tags with git tag -s.")
	a.run()
	forgetText(t, o, "Zanzibar", false)
	if text := liveText(t, a.home, a.id); strings.Contains(text, "zanzibar") || !strings.Contains(text, "- hers") {
		t.Fatalf("it is not forgotten:\n%s", text)
	}
	kept, err := a.root().Generations()
	if err != nil {
		t.Fatal(err)
	}
	st := open(t, a.home)
	telling, err := pipeline.TellOfForgotten(t.Context(), st, a.root(), a.id, kept)
	st.Close()
	if err != nil || len(telling) != 2 || !telling[2] || !telling[3] {
		t.Errorf("generations that tell of it: %v, %v", telling, err)
	}
	for _, n := range []int{3, 2} {
		out := a.restore(n)
		text := liveText(t, a.home, a.id)
		if strings.Contains(text, "zanzibar") || !strings.Contains(text, "- hers") || !strings.Contains(text, "- elsewhere") || strings.Contains(text, "go.sh") {
			t.Errorf("generation %d is restored as\n%s", n, text)
		}
		if out.Lines == 0 {
			t.Errorf("of generation %d nothing was left out, it says", n)
		}
	}
	a.session("aaaaaaaa-0003", "Never print the ledger.")
	a.run()
	if text := liveText(t, a.home, a.id) + databaseText(t, a.home); strings.Contains(text, "zanzibar") {
		t.Error("the next run brings it back")
	}
	// It can still be purged, by the text alone.
	report := forgetText(t, o, "zanzibar", true)
	if len(report.Projects) != 1 || len(report.Projects[0].Archives) == 0 {
		t.Fatalf("%+v", report)
	}
	if left := holding(t, a.home, "zanzibar"); len(left) != 0 {
		t.Errorf("left in %q", left)
	}
	a.run()
}

func TestRestoringFirstEndsWhatForgettingBegan(t *testing.T) {
	t.Parallel()
	home, dir, project := begunForgetting(t)
	a := app{t: t, dir: dir, home: home, id: project}
	a.restore(1)
	if text := liveText(t, home, project); strings.Contains(text, "zanzibar") || !strings.Contains(text, "pnpm") {
		t.Errorf("restored as\n%s", text)
	}
}

// What a language model wrote, also without a citation, or citing one who never said it.
func TestRestoringLeavesOutWhatOnlyAForgottenSessionSaid(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	both, fix := agreeing(t, dir)
	m := &scripted{answers: []string{answerOf(t,
		"## User preferences\n\n- always use pnpm instead of npm here "+both+"\n- always write the header of a fixture first [bbbbbbbb 2026-05-01]\n\n## What is known\n\n- zanzibar sleeps on Sundays "+both+"\n",
		"## What the user wants\n\n- never deploy to the zanzibar cluster on Fridays\n- always use pnpm instead of npm here\n",
		fix,
	)}}
	o := m.consolidates(options(home, dir))
	a := app{t: t, dir: dir, home: home, id: run(t, o).Phase2[0].Project}
	if before := liveText(t, home, a.id); strings.Count(before, "zanzibar") < 3 {
		t.Fatalf("it is not there to begin with:\n%s", before)
	}
	forgotten(t, o, pipeline.Forgetting{Keys: []string{"codex:" + secretID}})
	a.restore(1)
	text := liveText(t, home, a.id)
	for _, gone := range []string{"zanzibar", "aaaaaaaa", "fix.sh"} {
		if strings.Contains(text, gone) {
			t.Errorf("%q is restored:\n%s", gone, text)
		}
	}
	for _, kept := range []string{"- always use pnpm instead of npm here [bbbbbbbb 2026-05-01]", "header of a fixture", "skills/fix/SKILL.md"} {
		if !strings.Contains(text, kept) {
			t.Errorf("%q is not restored:\n%s", kept, text)
		}
	}
}

// copied writes a copy of a Claude Code session under another id, which goes on.
func copied(t *testing.T, dir, from, to, prompt string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, from+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, to+".jsonl")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), `"sessionId":"`+from, `"sessionId":"`+to)), 0o600); err != nil {
		t.Fatal(err)
	}
	appendLine(t, path, `{"type":"user","uuid":"`+to+`-1","parentUuid":"`+from+`-2","sessionId":"`+to+`","cwd":"/srv/app","timestamp":"2026-05-02T10:00:00Z","message":{"role":"user","content":"`+prompt+`"}}`)
}

func TestACopyOfAForgottenSessionBringsNothingBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, deleted bool }{
		"made before, and its original is deleted":         {true, true},
		"made afterwards":                                  {false, false},
		"made afterwards, and its original is deleted":     {false, true},
		"made before, and its original stays where it was": {true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, dir := t.TempDir(), t.TempDir()
			o := options(home, dir)
			claudeSession(t, dir, "original", "/srv/app", "Never deploy to the zanzibar cluster on Fridays.")
			claudeSession(t, dir, "another", "/srv/app", "Always write the header of a fixture.")
			if test.before {
				copied(t, dir, "original", "thecopy", "Always use pnpm here.")
			}
			id := run(t, o).Phase2[0].Project
			forgotten(t, o, pipeline.Forgetting{Keys: []string{"claude:original"}})
			if !test.before {
				copied(t, dir, "original", "thecopy", "Always use pnpm here.")
			}
			if test.deleted {
				if err := os.Remove(filepath.Join(dir, "original.jsonl")); err != nil {
					t.Fatal(err)
				}
			}
			appendLine(t, filepath.Join(dir, "thecopy.jsonl"), `{"type":"user","uuid":"thecopy-2","parentUuid":"thecopy-1","sessionId":"thecopy","cwd":"/srv/app","timestamp":"2026-05-02T11:00:00Z","message":{"role":"user","content":"Never print the ledger."}}`)
			run(t, o)
			text := liveText(t, home, id)
			if strings.Contains(text, "zanzibar") || !strings.Contains(text, "pnpm") || !strings.Contains(text, "print the ledger") {
				t.Errorf("the memory says:\n%s", text)
			}
			// Who takes it back has all of it again.
			st := open(t, home)
			if err := st.SetForgotten(t.Context(), "claude:original", false); err != nil {
				t.Fatal(err)
			}
			if h, err := st.ForgottenBeginnings(t.Context()); err != nil || h.Len() != 0 {
				t.Errorf("%d beginnings are kept, %v", h.Len(), err)
			}
			st.Close()
		})
	}
}
