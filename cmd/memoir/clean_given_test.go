package main

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir/config"
)

// What a program is called with is quoted in forms in which no rule sees it: escaped, as a
// part of a path, cut into words.
func TestSecretsThatAProgramIsCalledWithAreSaidInNoForm(t *testing.T) {
	t.Parallel()
	const password = "Zq7!x" + "kW2#mv9"
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, config.FileName), []byte("x: 1\n# PGPASSWORD='"+password+"3'\n"), 0o600))
	for name, called := range map[string]func(c *cleaner) (said string){
		"an argument": func(c *cleaner) string {
			c.hear([]string{"trust", "x PGPASSWORD='" + password + "'"}, nil)
			return password
		},
		"a variable": func(c *cleaner) string {
			c.hear(nil, []string{"HOME=/", "MEMOIR_HOME=/srv/PGPASSWORD='" + password + "'"})
			return password
		},
		"a setting": func(c *cleaner) string {
			c.hear([]string{"config"}, nil)
			c.obey(config.RulesFile(dir))
			return password + "3"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c cleaner
			said := called(&c)
			for _, text := range []string{"open " + said + "/.memoir.yml: no such file", `not the text "` + said + `"`, "x/" + said} {
				if got := c.clean(text); strings.Contains(got, said) || !strings.Contains(got, "[REDACTED:") {
					t.Errorf("%q is said as %q", text, got)
				}
			}
			if got := c.clean("open /srv/app: no such file"); got != "open /srv/app: no such file" {
				t.Errorf("said: %q", got)
			}
		})
	}
}

// A password of letters alone is not looked for where it may be a word, but a path of which
// it is the end is said with what follows.
func TestAWordWithASecretIsSaidWithoutItWhateverFollows(t *testing.T) {
	t.Parallel()
	const password = "ggjjvjv" + "qxopidz"
	for _, word := range []string{"x USER=OoUvkwF8s1Li;PASSWD=" + password, "./x//\"y PASSWD=" + password} {
		var c cleaner
		c.hear([]string{"trust", word}, nil)
		for _, text := range []string{
			"trust /srv/" + word + "/.memoir.yml: there is none", fmt.Sprintf("open %q: no such file", word+"/.memoir.yml"),
			"open " + filepath.Join("/srv", word, config.FileName),
		} {
			if got := c.clean(text); strings.Contains(got, password) {
				t.Errorf("%q is said as %q", text, got)
			}
		}
	}
}

func TestARepositoryWhoseRemoteHoldsASecretIsKnownWithoutIt(t *testing.T) {
	t.Parallel()
	token := secret()
	dir, sessions := filepath.Join(t.TempDir(), "app"), t.TempDir()
	for _, d := range []string{"objects", "refs"} {
		must(t, os.MkdirAll(filepath.Join(dir, ".git", d), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, ".git", "config"), []byte("[remote \"origin\"]\n\turl = https://git.example/"+token+"/app.git\n"), 0o600))
	writeSessionIn(t, sessions, dir, 1, 1, []string{"Always keep the parser free of global state."}, []string{"make check"})
	s := newScene(t, sessions, "")
	must(t, os.WriteFile(filepath.Join(s.user, ".config", "memoir", "config.yml"), []byte("memories: {enabled: true}\n"), 0o600))
	s.run(exitDone)
	code, out, said := s.memoir("view", "--project", dir)
	if code != exitDone || !strings.Contains(out, "free of global state") {
		t.Errorf("view: %d, %s%s", code, out, said)
	}
	_, out, _ = s.memoir("projects", "--json")
	if !strings.Contains(out, "[REDACTED:github-pat]/app") {
		t.Errorf("projects: %s", out)
	}
	n := newNet(map[string]string{token: "the token"})
	n.search("projects", []byte(out))
	if n.home(t, s.home, "") == 0 || len(n.caught) > 0 {
		t.Errorf("caught: %v", n.caught)
	}
}

// Of a key that a person puts into a memory, no line is kept as a note: it tells nothing by
// itself.
func TestAKeyThatIsWrittenIntoAMemoryIsKeptInNoLine(t *testing.T) {
	t.Parallel()
	sessions := t.TempDir()
	writeSession(t, sessions, 1, []string{"Always keep the parser free of global state."}, []string{"make check"})
	s := newScene(t, sessions, "")
	must(t, os.WriteFile(filepath.Join(s.user, ".config", "memoir", "config.yml"), []byte("memories: {enabled: true}\n"), 0o600))
	s.run(exitDone)
	live, err := filepath.Glob(filepath.Join(s.home, "projects", "*", "memory", "MEMORY.md"))
	must(t, err)
	old, err := os.ReadFile(live[0])
	must(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	lines, canaries := "", map[string]string{}
	for range 6 {
		line := make([]byte, 48)
		for i := range line {
			line[i] = byte(random.Uint32())
		}
		text := base64.StdEncoding.EncodeToString(line)
		lines += text + "\n"
		canaries[text] = "a line of a key"
	}
	const kind = "RSA PRIVATE KEY-----"
	must(t, os.WriteFile(live[0], []byte(string(old)+"\n-----BEGIN "+kind+"\n"+lines+"-----END "+kind+"\n"), 0o600))
	if code, _, said := s.memoir("enqueue", "--all"); code != exitDone {
		t.Fatal(said)
	}
	s.run(exitDone)
	now, err := os.ReadFile(live[0])
	must(t, err)
	n := newNet(canaries)
	if n.home(t, s.home, ""); len(n.caught) > 0 || !strings.Contains(string(now), "[REDACTED:private-key]") {
		t.Errorf("caught: %v\n%s", n.caught, now)
	}
}
