package pipeline_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir/memory"
	"memoir/pipeline"
)

// lateRule is a rule that nobody had when the sessions were read; its tokens are made by
// lateToken.
const lateRule = `title = "own"
[[rules]]
id = "late-token"
description = "a token of a form that was made up"
regex = '''zqx_[a-z0-9]{24}'''
keywords = ["zqx_"]
`

// contextRule knows a token by what stands before it alone.
const contextRule = `title = "own"
[[rules]]
id = "late-token"
description = "a token of a form that was made up"
regex = '''pass phrase (zqx_[a-z0-9]{24})'''
secretGroup = 1
keywords = ["pass phrase"]
`

// lateToken ends in a digit: what ends in "null" is no secret to gitleaks' own list.
func lateToken() string { return "zqx_" + strings.ToLower(rand.Text()[:23]) + "7" }

// late is a home in which much of what is kept holds a token, and a rule that finds it.
type late struct {
	home, dir, config, project, token string
}

func (l late) options() pipeline.Options {
	o := options(l.home, l.dir)
	o.ConfigDir = l.config
	return o
}

func (l late) root() memory.Root { return memory.At(l.home, l.project) }

func writeIn(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// foundLate makes sessions that hold a token, lets them become generations, edits those
// by hand, and then adds the rule.
func foundLate(t *testing.T, rule string) late {
	t.Helper()
	l := late{home: t.TempDir(), dir: t.TempDir(), config: t.TempDir(), token: lateToken()}
	codexSession(t, l.dir, secretID, "/srv/app", "wip/"+l.token, "Never print the pass phrase "+l.token+" anywhere, always use pnpm.")
	codexSession(t, l.dir, besideID, "/srv/app", "main", "Always write the header of a fixture, and always use pnpm.")
	l.project = run(t, l.options()).Phase2[0].Project
	for _, more := range []string{"Never restart with " + l.token + " on Fridays.", "Always greet the operators."} {
		appendLine(t, filepath.Join(l.dir, secretID+".jsonl"), `{"timestamp":"2026-05-01T11:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"`+more+`"}}`)
		run(t, l.options())
	}
	live := l.root().Link()
	appendLine(t, filepath.Join(live, "MEMORY.md"), "\n- ask Ada for "+l.token)
	writeIn(t, filepath.Join(live, "notes", l.token+".md"), "# Notes\n\nthe name has it\n")
	writeIn(t, filepath.Join(live, "skills", "sign-in", "SKILL.md"), "---\nname: sign-in\ndescription: signs in\n---\n\n1. say the pass phrase "+l.token+"\n")
	writeIn(t, filepath.Join(l.home, "log", "run.log"), "memoir: session: "+l.token+"\nmemoir: done\n")
	writeIn(t, filepath.Join(l.home, "log", "answers", "x-extract-"+answerName(l.project)+"-abcdef.txt"), `{"raw": "say \"`+l.token+`\""}`+"\n")
	writeIn(t, filepath.Join(l.home, "mine.txt"), "put here by a person: "+l.token+"\n")
	if err := copyDatabase(t, filepath.Join(l.home, "memoir.db"), filepath.Join(l.home, "memoir.db.v5.bak")); err != nil {
		t.Fatal(err)
	}
	writeIn(t, filepath.Join(l.config, ".gitleaks.toml"), rule)
	return l
}

func (l late) scan(t *testing.T) pipeline.StoredReport {
	t.Helper()
	st := open(t, l.home)
	defer st.Close()
	report, err := pipeline.ScanStored(t.Context(), st, l.options())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func (l late) redact(t *testing.T) pipeline.StoredRedaction {
	t.Helper()
	st := open(t, l.home)
	defer st.Close()
	out, err := pipeline.RedactStored(t.Context(), st, l.options(), false)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// without is a text as it is to be when the token was taken out. Names that are made of
// titles have it in another form, and stay names.
func (l late) without(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, l.token, "[REDACTED:late-token]"), strings.ReplaceAll(l.token, "_", "-"), "redacted-late-token")
}

// nameWithout is the same of the name of a file.
func (l late) nameWithout(name string) string {
	return l.without(strings.ReplaceAll(name, l.token, "redacted-late-token"))
}

// wantGone checks that nothing of the home holds the token, and all of it is in order.
func (l late) wantGone(t *testing.T) {
	t.Helper()
	for _, form := range []string{l.token, strings.ReplaceAll(l.token, "_", "-")} { // as names have it
		if found := holding(t, l.home, form); len(found) > 0 {
			t.Errorf("%s is left in %v", form, found)
		}
	}
	st := open(t, l.home)
	defer st.Close()
	records, err := st.Generations(t.Context(), l.project)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if _, m, err := l.root().ReadGeneration(int(r.N)); err == nil && m.Hash() != r.ManifestHash {
			t.Errorf("the database says otherwise of generation %d than its archive", r.N)
		} else if err != nil {
			t.Errorf("generation %d: %v", r.N, err)
		}
	}
	live, err := l.root().Current()
	if err != nil {
		t.Fatal(err)
	}
	if len(live.Edited) > 0 {
		t.Errorf("what was rewritten looks as if a person had edited it: %+v", live.Edited)
	}
}
