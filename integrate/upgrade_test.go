package integrate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHooksThatAnEarlierVersionDidNotInstallAreNamedAndAddedBehindOthers(t *testing.T) {
	t.Parallel()
	e := Env{UserHome: t.TempDir(), Getenv: func(string) string { return "" }}
	agent, _ := Named("codex")
	earlier := agent
	earlier.files = func(s site) []file {
		files := agent.files(s)
		files[0].entries = slices.DeleteFunc(files[0].entries, func(e Entry) bool { return e.What == "PostToolUse hook" })
		return files
	}
	r, err := Load(t.TempDir())
	install := func(a Agent) {
		t.Helper()
		changes, fault := r.Install(e, Options{Program: "/bin/memoir"}, a)
		for _, c := range changes {
			if fault == nil {
				fault = r.Apply(c)
			}
		}
		if err != nil || fault != nil {
			t.Fatal(err, fault)
		}
	}
	install(earlier)
	path := filepath.Join(e.UserHome, ".codex", "hooks.json")
	const theirs = `"PostToolUse": [{"matcher": "Bash",  "hooks": [{"type": "command", "command": "mine"}]}]`
	text, _ := os.ReadFile(path)
	before := strings.Replace(string(text), "{", "{\n  \"other\": 1,", 1)
	before = strings.Replace(before, `"hooks": {`, `"hooks": {`+"\n    "+theirs+",", 1)
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	says := func() bool {
		return slices.ContainsFunc(r.Check(e, agent), func(f Finding) bool { return strings.Contains(f.Text, "lacks") })
	}
	if !says() {
		t.Errorf("the missing hook is not named: %v", r.Check(e, agent))
	}
	install(agent)
	if says() {
		t.Errorf("it is named though it is there")
	}
	after, _ := os.ReadFile(path)
	mine := strings.TrimSuffix(theirs, "]")
	if !strings.Contains(string(after), mine) || strings.Index(string(after), actionFlag) < strings.Index(string(after), mine) {
		t.Errorf("the entry of another program changed or moved:\n%s", after)
	}
	start := func(text string) string {
		_, rest, _ := strings.Cut(text, `"SessionStart"`)
		return rest[:strings.Index(rest, `"SessionEnd"`)]
	}
	if !strings.Contains(string(after), `"SessionStart"`) || strings.Contains(before, `"SessionEnd"`) &&
		start(before) != start(string(after)) {
		t.Errorf("the start hook changed:\n%s\n%s", before, after)
	}
}

func TestAnExtensionOfAnEarlierVersionIsNamedWhateverItsSettings(t *testing.T) {
	t.Parallel()
	e := Env{UserHome: t.TempDir(), Getenv: func(string) string { return "" }}
	agent, _ := Named("pi")
	earlier := agent
	earlier.files = func(s site) []file {
		files := agent.files(s)
		files[0].content = strings.Replace(files[0].content, "parentToolCallId", "nothing", 1)
		return files
	}
	r, err := Load(t.TempDir())
	for _, c := range []struct {
		name  string
		agent Agent
		named bool
	}{{"an earlier one", earlier, true}, {"the present one", agent, false}} {
		changes, fault := r.Install(e, Options{Program: "/bin/memoir", Flags: []string{"--home", "/m"}, Turns: true}, c.agent)
		for _, change := range changes {
			if fault == nil {
				fault = r.Apply(change)
			}
		}
		if err != nil || fault != nil {
			t.Fatal(err, fault)
		}
		named := slices.ContainsFunc(r.Check(e, agent), func(f Finding) bool { return strings.Contains(f.Text, "changes of the extension") })
		if named != c.named {
			t.Errorf("%s is named: %t", c.name, named)
		}
	}
}
