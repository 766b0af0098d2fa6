package pipeline_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/entry"
	"memoir/memory"
	"memoir/pipeline"
)

// lateRule finds a token by its form; nobody had it when the sessions were read.
const lateRule = `title = "own"
[[rules]]
id = "late-token"
description = "a token of a form that was made up"
regex = '''zqx_[a-z0-9]{24}'''
keywords = ["zqx_"]
`

// contextRule finds a token only by what stands before it.
const contextRule = `title = "own"
[[rules]]
id = "late-token"
description = "a token of a form that was made up"
regex = '''pass phrase (zqx_[a-z0-9]{24})'''
secretGroup = 1
keywords = ["pass phrase"]
`

// lateToken ends in a digit: what ends in "null" is on gitleaks' list of what is no secret.
func lateToken() string { return "zqx_" + strings.ToLower(rand.Text()[:23]) + "7" }

// late is a home in which much of what is stored holds a token, and a rule that finds it.
type late struct {
	home, dir, config, project, token string
}

func (l late) options() pipeline.Options {
	o := options(l.home, l.dir)
	o.ConfigDir = l.config
	return o
}

// foundLate makes two sessions into three generations, edits the last by hand, and then
// adds the rule.
func foundLate(t *testing.T, rule string) late {
	t.Helper()
	l := late{home: t.TempDir(), dir: t.TempDir(), config: t.TempDir(), token: lateToken()}
	where := filepath.Join(t.TempDir(), l.token)
	checkout(t, where)
	writeIn(t, filepath.Join(where, ".git", "config"), "[remote \"origin\"]\n\turl = https://example.com/team/app.git\n")
	codexSession(t, l.dir, secretID, where, "wip/"+l.token, "Never print the pass phrase "+l.token+" anywhere, always use pnpm.")
	codexSession(t, l.dir, besideID, where, "main", "Always write the header of a fixture, and always use pnpm.")
	l.project = run(t, l.options()).Phase2[0].Project
	for _, more := range []string{"Never restart with " + l.token + " on Fridays.", "Always greet the operators."} {
		appendLine(t, filepath.Join(l.dir, secretID+".jsonl"), `{"timestamp":"2026-05-01T11:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"`+more+`"}}`)
		run(t, l.options())
	}
	live := memory.At(l.home, l.project).Link()
	appendLine(t, filepath.Join(live, "MEMORY.md"), "\n- ask Ada for "+l.token)
	writeIn(t, filepath.Join(live, "notes", l.token+".md"), "# Notes\n\nthe name has it\n")
	writeIn(t, filepath.Join(l.home, "log", "run.log"), "memoir: session: "+l.token+"\nmemoir: done\n")
	must(t, copyDatabase(t, filepath.Join(l.home, "memoir.db"), filepath.Join(l.home, "memoir.db.v5.bak")))
	writeIn(t, filepath.Join(l.config, ".gitleaks.toml"), rule)
	return l
}

func (l late) redact(t *testing.T) (pipeline.StoredRedaction, error) {
	t.Helper()
	st := open(t, l.home)
	defer st.Close()
	return pipeline.RedactStored(t.Context(), st, l.options())
}

func TestASecretThatARuleFindsLateIsFoundWhereverItIsStored(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]string{"by its form": lateRule, "by its context": contextRule} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := foundLate(t, rule)
			st := open(t, l.home)
			defer st.Close()
			report, err := pipeline.ScanStored(t.Context(), st, l.options())
			must(t, err)
			places := map[string]int{}
			for _, p := range report.Places {
				if p.Rule != "late-token" && p.Rule != "own-rule" || p.Hint == "" || (p.Line == 0) != (p.Column == 0) {
					t.Errorf("%+v", p)
				}
				if strings.Contains(p.Path+p.Hint+p.Key+p.File+p.Project, l.token) {
					t.Errorf("the secret is shown: %+v", p)
				}
				kind, _ := filepath.Rel(l.home, p.Path)
				switch {
				case p.Table != "":
					kind = p.Table + "." + p.Field
				case p.Generation > 0:
					kind = "archive"
				case p.Project != "" && p.Line == 0:
					kind = "name"
				case p.Project != "":
					kind = "live"
				}
				places[kind]++
			}
			for _, want := range []string{"extraction.statements", "extraction.branch", "session.title", "session.branch", "session.cwd", "project_directory.path", "project_alias.alias", "file.head",
				"archive", "live", "name", "log/run.log"} {
				if places[want] == 0 {
					t.Errorf("nothing was found in %s; it was in %v", want, places)
				}
			}
		})
	}
}

func TestRedactingWhatIsStoredLeavesNoByteOfTheSecretAndNothingToExtract(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]string{"by its form": lateRule, "by its context": contextRule} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := foundLate(t, rule)
			root := memory.At(l.home, l.project)
			before, err := root.Current()
			must(t, err)
			late := filepath.Join(root.Dir(), "unmerged", "1", "MEMORY.md")
			must(t, errors.Join(os.MkdirAll(filepath.Dir(late), 0o700), os.WriteFile(late, before.Files["MEMORY.md"], 0o600)))
			out, err := l.redact(t)
			if err != nil || out.Archives < 3 || out.Rows < 3 || len(out.Removed) < 2 {
				t.Errorf("%+v, %v", out, err)
			}
			if found := holding(t, l.home, l.token); len(found) > 0 {
				t.Errorf("the secret is left in %v", found)
			}
			live, err := root.Current()
			must(t, err)
			if len(live.Edited) > 0 || live.Manifest.RedactedFrom != before.Generation || !cmp.Equal(live.Manifest.Inputs, before.Manifest.Inputs) {
				t.Errorf("%+v, %+v", live.Edited, live.Manifest)
			}
			want := strings.NewReplacer(l.token, "[REDACTED:own-rule]", strings.ReplaceAll(l.token, "_", "-"), "redacted-own-rule").
				Replace(string(before.Files["MEMORY.md"]))
			if got := string(live.Files["MEMORY.md"]); got != want {
				t.Errorf("more than the secret changed: %s", cmp.Diff(want, got))
			}
			if again, err := l.redact(t); err != nil || len(again.Places) != 0 {
				t.Errorf("the second time: %+v, %v", again, err)
			}
			report := run(t, l.options())
			if report.Phase1.Claimed != 0 || len(report.Phase2) != 0 {
				t.Errorf("the next run found work: %+v", report)
			}
			if found := holding(t, l.home, l.token); len(found) > 0 {
				t.Errorf("the next run brought the secret back into %v", found)
			}
		})
	}
}

// A slug is in lower case, without punctuation, and cut: no rule finds a secret in it.
func TestRedactingWhatIsStoredLeavesNoWordOfASecretInNamesOfSummaries(t *testing.T) {
	t.Parallel()
	const rule = "title = \"own\"\n[[rules]]\nid = \"parts\"\nregex = '''Zq(?:[.][A-Z2-7]{9})+'''\n"
	for name, test := range map[string]struct {
		words  int
		prompt string
	}{
		"in another case": {1, "Never deploy with %s on Fridays."},
		"cut in the slug": {4, "Never deploy the service with %s anywhere."},
		"alone":           {2, "Always %s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := late{home: t.TempDir(), dir: t.TempDir(), config: t.TempDir()}
			var words []string
			for range test.words {
				words = append(words, rand.Text()[:9])
			}
			codexSession(t, l.dir, secretID, "/srv/app", "main", fmt.Sprintf(test.prompt, "Zq."+strings.Join(words, ".")))
			root := memory.At(l.home, run(t, l.options()).Phase2[0].Project)
			if len(holding(t, root.Dir(), strings.ToLower("zq-"+words[0]))) == 0 {
				t.Fatal("no slug has a word of it")
			}
			writeIn(t, filepath.Join(l.config, ".gitleaks.toml"), rule)
			_, err := l.redact(t)
			must(t, err)
			for _, word := range words {
				if left := holding(t, l.home, strings.ToLower(word)); len(left) > 0 {
					t.Errorf("%q is left in %q", word, left)
				}
			}
			// The summary is found by its name when the database is lost.
			live, err := root.Current()
			must(t, errors.Join(err, os.Remove(filepath.Join(l.home, "memoir.db")), os.Remove(filepath.Join(l.home, "memoir.db.backup"))))
			report := run(t, l.options())
			again, err := root.Current()
			must(t, err)
			if diff := cmp.Diff(live.Files.Paths(), again.Files.Paths()); diff != "" || report.Phase1.Claimed != 0 {
				t.Errorf("%+v\n%s", report.Phase1, diff)
			}
		})
	}
}

// The id of a project begins with its name, and is in paths, rows and manifests.
func TestASecretInTheIDOfAProjectGoesAndItsMemoryStays(t *testing.T) {
	t.Parallel()
	const remote = "[remote \"origin\"]\n\turl = https://example.com/team/%s.git\n"
	for name, test := range map[string]struct{ dir, remote, renamed string }{
		"a directory":               {dir: "zqx"},
		"a remote":                  {dir: "app", remote: "zqx"},
		"a remote that was renamed": {dir: "app", remote: "zqx", renamed: "app"},
		"a name that is cut":        {dir: strings.Repeat("a", 30) + "-zqx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := late{home: t.TempDir(), dir: t.TempDir(), config: t.TempDir(), token: lateToken()}
			is := func(text string) string { return strings.ReplaceAll(text, "zqx", l.token) }
			where := filepath.Join(t.TempDir(), is(test.dir))
			checkout(t, where)
			if test.remote != "" {
				writeIn(t, filepath.Join(where, ".git", "description"), "made once")
				writeIn(t, filepath.Join(where, ".git", "config"), fmt.Sprintf(remote, is(test.remote)))
			}
			codexSession(t, l.dir, secretID, where, "main", "Always use pnpm.")
			l.project = run(t, l.options()).Phase2[0].Project
			if test.renamed != "" {
				writeIn(t, filepath.Join(where, ".git", "config"), fmt.Sprintf(remote, test.renamed))
				codexSession(t, l.dir, besideID, where, "main", "Always write the header of a fixture.")
				if report := run(t, l.options()); report.Phase2[0].Project != l.project {
					t.Fatal(report.Phase2)
				}
			}
			root := memory.At(l.home, l.project)
			appendLine(t, filepath.Join(root.Link(), "MEMORY.md"), "\n- by hand")
			writeIn(t, filepath.Join(root.Link(), "notes", "mine.md"), "mine\n")
			must(t, entry.Append(root, root.History(""), "what was\n"))
			writeIn(t, filepath.Join(l.config, ".gitleaks.toml"), lateRule)

			st := open(t, l.home)
			defer st.Close()
			o := l.options()
			o.ProjectIDs = []string{l.project}
			found, err := pipeline.ScanStored(t.Context(), st, o)
			must(t, err)
			at := slices.IndexFunc(found.Places, func(p pipeline.StoredPlace) bool { return p.Table+"."+p.Field == "project.id" })
			if at < 0 || strings.Contains(fmt.Sprint(found.Places), l.token[:12]) {
				t.Fatalf("%d of %+v", at, found.Places)
			}
			_, err = pipeline.RedactStored(t.Context(), st, o)
			must(t, err)
			for range 2 { // the next run does not bring it back
				if left := holding(t, l.home, l.token[:12]); len(left) > 0 {
					t.Errorf("left in %q", left)
				}
				projects, err := st.Projects(t.Context())
				must(t, err)
				root := memory.At(l.home, projects[0].ID)
				live, err := root.Current()
				must(t, err)
				history, err := os.ReadFile(filepath.Join(root.Dir(), "HISTORY.md"))
				if text := string(live.Files["MEMORY.md"]); len(projects) != 1 || !strings.Contains(text, "pnpm") ||
					strings.Count(text, "- by hand\n") != 1 || string(live.Files["notes/mine.md"]) != "mine\n" ||
					!strings.Contains(string(history), "what was\n") || err != nil {
					t.Errorf("%d projects, %q, %v, %q, %v", len(projects), text, live.Files.Paths(), history, err)
				}
				run(t, l.options())
			}
		})
	}
}

func TestRedactingOneProjectLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	l := foundLate(t, lateRule)
	codexSession(t, l.dir, "cccccccc-1111-4222-8333-444444444444", "/srv/shop", "main", "Always deploy with "+l.token+" and never without.")
	os.Remove(filepath.Join(l.config, ".gitleaks.toml"))
	shop := run(t, l.options()).Phase2
	writeIn(t, filepath.Join(l.config, ".gitleaks.toml"), lateRule)
	if len(shop) == 0 {
		t.Fatal("the other project was not consolidated")
	}
	st := open(t, l.home)
	defer st.Close()
	o := l.options()
	o.ProjectIDs = []string{l.project}
	_, err := pipeline.RedactStored(t.Context(), st, o)
	must(t, err)
	for _, p := range shop {
		held := holding(t, memory.At(l.home, p.Project).Dir(), l.token)
		if own := p.Project == l.project; own == (len(held) > 0) {
			t.Errorf("%s holds it in %v", p.Project, held)
		}
	}
}

func TestRedactingThatHasToWaitChangesNothing(t *testing.T) {
	t.Parallel()
	l := foundLate(t, lateRule)
	before := tree(t, l.home)
	release := held(t, l.home, l.project)
	_, err := l.redact(t)
	wantBusy(t, err)
	if want := "another process is at work on 1 consolidate job"; err.Error() != want {
		t.Errorf("%q, not %q", err, want)
	}
	if diff := cmp.Diff(before, tree(t, l.home)); diff != "" {
		t.Errorf("something changed:\n%s", diff)
	}
	release()
	if out, err := l.redact(t); err != nil || len(out.Places) == 0 {
		t.Errorf("%+v, %v", out, err)
	}
}
