package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
	"memoir/store"
)

// planted is a secret that is in no file of this repository.
var planted = "AKIA" + "Q3EGRL5XK7MNV2WT"

func TestWordsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	u, words := captured(t)
	u.redact = new(program).redact
	u.warn("see "+planted, "cannot read %s", planted)
	u.say("session %s", planted)
	if said := words.String(); strings.Contains(said, planted) || strings.Count(said, "[REDACTED:") != 3 {
		t.Errorf("said: %s", said)
	}
}

func TestAPersonsOwnRulesHoldForWordsToo(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "rules.toml")
	own := "[[rules]]\nid = \"badge\"\nregex = \"badge-[0-9]{6}\"\nkeywords = [\"badge\"]\n"
	must(t, os.WriteFile(rules, []byte(own), 0o600))
	var c cleaner
	if got := c.clean(""); got != "" || c.scanner != nil {
		t.Errorf("an empty text needs no rules: %q", got)
	}
	if got := c.clean("badge-271828"); got != "badge-271828" {
		t.Errorf("before the rules are known: %q", got)
	}
	c.setRules(rules)
	if got := c.clean("badge-271828"); got != "[REDACTED:badge]" {
		t.Errorf("got %q", got)
	}
	must(t, os.WriteFile(rules+".broken", []byte("[[rules"), 0o600))
	c.setRules(rules + ".broken")
	if got := c.clean("key " + planted); strings.Contains(got, planted) {
		t.Errorf("broken rules took the default ones away: %q", got)
	}
}

func TestWhatSessionsAndProjectsSayOfThemselvesIsRedacted(t *testing.T) {
	t.Parallel()
	p := new(program)
	s := memoir.Session{ID: planted, ParentID: planted, Title: planted, CWD: "/" + planted, Branch: planted,
		Remote: "https://u:" + planted + "@host/x", Error: planted}
	p.cleanSession(&s)
	given := memoir.Project{ID: "x-0123456789ab", Name: planted, Directories: []string{"/src/" + planted}, Remote: planted, Aliases: []string{planted}}
	project := p.cleanProject(given)
	if said := fmt.Sprint(s, project); strings.Contains(said, planted) {
		t.Errorf("said: %s", said)
	}
	if project.ID != given.ID || given.Directories[0] != "/src/"+planted {
		t.Errorf("got %v of %v", project, given)
	}
}

func TestAProcessThatMemoirStartsKnowsIt(t *testing.T) {
	t.Parallel()
	environ := []string{"HOME=/h", "MEMOIR_CHILD=", "MEMOIR_HOME=/m"}
	want := []string{"HOME=/h", "MEMOIR_HOME=/m", "MEMOIR_CHILD=1"}
	if got := childEnviron(environ); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if environ[1] != "MEMOIR_CHILD=" {
		t.Error("the caller's environment was changed")
	}
}

// What follows "api", "auth" and the like and a comma looks like a key.
func TestTheProjectsThatANameMayMeanAreNotTakenForSecrets(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "memoir.db"), store.Options{})
	must(t, err)
	defer st.Close()
	ids := []string{"api-" + "1beb8fd2de05", "api-" + "d7919c0c7afc", "api-" + "f73b2a1e1428"}
	for _, id := range ids {
		if _, err := st.Register(t.Context(), memoir.Project{ID: id, Name: "api", Identity: "/src/" + id}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = st.FindProject(t.Context(), "api")
	hint := new(program).redact(memoir.HintOf(err))
	for _, id := range ids {
		if !strings.Contains(hint, id) {
			t.Errorf("%s is not in %q", id, hint)
		}
	}
}
