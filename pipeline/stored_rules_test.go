package pipeline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"memoir/config"
	"memoir/pipeline"
)

// ownRule is a project's rule; its tokens are made by ownToken.
const ownRule = `[[rules]]
id = "own-token"
regex = '''qwx_[a-z0-9]{24}'''
keywords = ["qwx_"]
`

func ownToken() string { return strings.Replace(lateToken(), "zqx_", "qwx_", 1) }

// ruled is a home with two projects, the first of which gets rules of its own when all is
// stored. Both hold the same token, and the first one another.
func ruled(t *testing.T) (l late, other string, app string) {
	t.Helper()
	l = late{home: t.TempDir(), dir: t.TempDir(), config: t.TempDir(), token: ownToken()}
	app = filepath.Join(t.TempDir(), "app")
	for name, content := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tbare = false\n", "objects/x": "", "refs/x": ""} {
		writeIn(t, filepath.Join(app, ".git", filepath.FromSlash(name)), content)
	}
	codexSession(t, l.dir, secretID, app, "main", "Never print the badge "+l.token+" anywhere, always use pnpm.")
	codexSession(t, l.dir, besideID, "/srv/lib", "main", "Always write the header of a fixture, and always use pnpm.")
	run(t, l.options())
	l.project = find(t, l.home, "app").ID
	writeIn(t, filepath.Join(app, ".gitleaks.toml"), ownRule)
	return l, find(t, l.home, "lib").ID, app
}

func TestAProjectsOwnRulesCountForWhatIsStoredOfIt(t *testing.T) {
	t.Parallel()
	l, other, _ := ruled(t)
	strange := ownToken() // in what is no project's, or another's, a rule of this one tells nothing
	writeIn(t, filepath.Join(l.home, "log", "run.log"), "memoir: "+l.token+" and "+strange+"\n")
	tables := map[string]bool{}
	for _, p := range l.scan(t).Places {
		if p.Rule != "own-token" {
			t.Errorf("%+v", p)
		}
		if p.Table != "" {
			tables[p.Table] = true
		}
		if p.Project == other {
			t.Errorf("it is said to be in the other project: %+v", p)
		}
	}
	if !tables["extraction"] {
		t.Errorf("found in %v", tables)
	}
	l.redact(t)
	l.wantGone(t)
	if found := holding(t, l.home, strange); len(found) != 1 {
		t.Errorf("what the rules of a project say nothing of is in %v", found)
	}
	if left := l.scan(t).Places; len(left) > 0 {
		t.Errorf("%+v", left)
	}
}

// What a trusted project lets through is no secret in what is stored of it.
func TestWhatATrustedProjectLetsThroughStays(t *testing.T) {
	t.Parallel()
	l, _, app := ruled(t)
	rules := filepath.Join(app, ".gitleaks.toml")
	writeIn(t, rules, ownRule+"[[rules.allowlists]]\nregexes = ['''"+l.token+"''']\n")
	if len(l.scan(t).Places) == 0 {
		t.Error("a list counts that nobody trusted")
	}
	if err := config.TrustRules(l.home, rules); err != nil {
		t.Fatal(err)
	}
	if found := l.scan(t).Places; len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

func TestInvalidRulesOfAProjectAreNamedByWhoLooksThroughWhatIsStored(t *testing.T) {
	t.Parallel()
	l, other, app := ruled(t)
	writeIn(t, filepath.Join(app, ".gitleaks.toml"), "[[rules]]\nid = \"pin\"\nregex = '''pin-(['''\n")
	report := l.scan(t)
	if len(report.Unread) != 1 || !strings.Contains(report.Unread[0], l.project) || !strings.Contains(report.Unread[0], `rule "pin"`) {
		t.Errorf("%q", report.Unread)
	}
	st := open(t, l.home)
	defer st.Close()
	opts := l.options()
	opts.ProjectIDs = []string{other}
	if report, err := pipeline.ScanStored(t.Context(), st, opts); err != nil || len(report.Unread) > 0 {
		t.Errorf("%q, %v", report.Unread, err)
	}
}
