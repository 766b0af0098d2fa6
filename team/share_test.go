package team

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/config"
	"memoir/secrets"
	"memoir/store"
	"memoir/team/wire"
)

func scanner(t *testing.T) *secrets.Scanner {
	t.Helper()
	s, err := secrets.New(secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func leavingApp(t *testing.T) leaving {
	t.Helper()
	p := memoir.Project{ID: "app-1", Directories: []string{"/home/mira/src/app", "/home/mira/src/worktrees/app-x"}}
	return Options{UserHome: "/home/mira", Scanner: scanner(t)}.leaving(p, "host.example/app", "m1", nil)
}

func TestWhatLeavesOfAStatement(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + rand.Text() + strings.ToLower(rand.Text())[:10]
	long := strings.Repeat("long ", wire.MaxStatement/5)
	for _, test := range []struct {
		what string
		st   memoir.Statement
		want string // the body; empty: it does not leave
		own  bool
		held string
	}{
		{"a command", memoir.Statement{ID: "0123456789", Kind: memoir.StatementCommand, Text: "`make` passes", Signal: "passed",
			By: memoir.ByTool, Items: []int{3}, At: "2026-05-01", Command: "make", Stands: "Makefile", Times: 3},
			`{"kind":"Commands","text":"` + "`make` passes" + `","signal":"passed","by":"tool","at":"2026-05-01","times":3,"command":"make"}`, false, ""},
		{"paths of this machine", memoir.Statement{Kind: memoir.StatementFailure, Text: "x", Signal: "fixed", By: memoir.ByTool,
			Error: "/home/mira/src/app/a.go:3: no", Fix: "cd /home/mira/src/app && ls ~/.x /home/mira/.y", Paths: []string{"a.go", "/etc/x", "/home/mira/src/app/b.go"}},
			`{"kind":"Failures","text":"x","signal":"fixed","by":"tool","error":"a.go:3: no","fix":"cd . \u0026\u0026 ls ~/.x ~/.y","paths":["a.go"]}`, false, ""},
		{"another directory", memoir.Statement{Kind: memoir.StatementFailure, Text: "x", Signal: "fixed", By: memoir.ByTool,
			Dir: "/home/mira/src/client", Command: "make"}, "", false, "it names a directory outside of the project"},
		{"an address of mail", memoir.Statement{Kind: memoir.StatementFinding, Text: "x", By: memoir.ByAgent, Cause: "eva@mail.example, not"}, "",
			false, "it has what looks like an address of mail"},
		{"a variable of one person", memoir.Statement{Kind: memoir.StatementFailure, Text: "x", By: memoir.ByTool, Fix: "AWS_PROFILE=mira-dev terraform plan"}, "",
			false, "it sets a variable, whose value may be yours alone"},
		{"a long number", memoir.Statement{Kind: memoir.StatementCommand, Text: "x", By: memoir.ByTool, Command: "BUILD_AT=84930217 make up"}, "",
			false, "it sets a variable, whose value may be yours alone"},
		{"one in the words of a model", memoir.Statement{Kind: memoir.StatementEnvironment, Text: "plan with `cd infra && export TF_VAR_user='mira'`", By: memoir.ByAgent}, "",
			false, "it sets a variable, whose value may be yours alone"},
		{"a number, an option and an address", memoir.Statement{Kind: memoir.StatementCommand, Text: "x", By: memoir.ByTool, Command: "CGO_ENABLED=0 go test -tags=a https://a.example/b?c=d&e=f"},
			`{"kind":"Commands","text":"x","signal":"","by":"tool","command":"CGO_ENABLED=0 go test -tags=a https://a.example/b?c=d\u0026e=f"}`, false, ""},
		{"one in a wish, for the person's own machines", memoir.Statement{Kind: memoir.StatementPreference, Text: "sign as eva@mail.example", By: memoir.ByPerson},
			`{"kind":"Preferences","text":"sign as eva@mail.example","signal":"","by":"person"}`, true, ""},
		{"what has an @ alone", memoir.Statement{Kind: memoir.StatementCommand, Text: "git@host.example:a/b.git a@v1.2.3 @a/b@1.2.x https://a@host.example/b", By: memoir.ByTool},
			`{"kind":"Commands","text":"git@host.example:a/b.git a@v1.2.3 @a/b@1.2.x https://a@host.example/b","signal":"","by":"tool"}`, false, ""},
		{"a claim", memoir.Statement{Kind: memoir.StatementClaim, Text: "x", By: memoir.ByAgent}, "", false, ""},
		{"one that a tool bears out", memoir.Statement{Kind: memoir.StatementClaim, Text: "x", Signal: memoir.SignalVain, By: memoir.ByTool},
			`{"kind":"Claims of the agent, not verified","text":"x","signal":"vain","by":"tool"}`, false, ""},
		{"what may be a rule", memoir.Statement{Kind: memoir.StatementPreference, Text: "x", Signal: memoir.SignalMaybe, By: memoir.ByPerson}, "", false, ""},
		{"a wish", memoir.Statement{Kind: memoir.StatementPreference, Text: "“x”", Quote: "x", Signal: "model", By: memoir.ByAgent},
			`{"kind":"Preferences","text":"“x”","signal":"model","by":"agent"}`, true, ""},
		{"a person's choice", memoir.Statement{Kind: memoir.StatementDecision, Text: "x", Signal: "chosen", By: memoir.ByPerson},
			`{"kind":"Decisions","text":"x","signal":"chosen","by":"person"}`, true, ""},
		{"a quotation", memoir.Statement{Kind: memoir.StatementFinding, Text: "x", Quote: "y", By: memoir.ByAgent},
			`{"kind":"Findings","text":"x","signal":"","by":"agent"}`, true, ""},
		{"a rule", memoir.Statement{Kind: memoir.StatementDecision, Text: "x", Signal: memoir.SignalRule, By: memoir.ByAgent},
			`{"kind":"Decisions","text":"x","signal":"rule","by":"agent"}`, true, ""},
		{"a note that replaces another", memoir.Statement{Kind: memoir.StatementFinding, Text: "x", Signal: "note", By: memoir.ByPerson, Replaces: "#4"},
			`{"kind":"Findings","text":"x","signal":"note","by":"person"}`, true, ""},
		{"a secret", memoir.Statement{Kind: memoir.StatementCommand, Text: "x", By: memoir.ByTool, Command: "curl -H 'token: " + secret + "'"}, "", false, "it has a secret (github-pat)"},
		{"a secret in a path", memoir.Statement{Kind: memoir.StatementFile, Text: "x", By: memoir.ByTool, Paths: []string{"a/" + secret}}, "", false, "it has a secret (github-pat)"},
		{"a long one", memoir.Statement{Kind: memoir.StatementCommand, Text: long, By: memoir.ByTool}, "", false, "it is too long"},
	} {
		e := memoir.Extraction{SessionKey: "codex:s", Title: "canary-title", Branch: "canary-branch", CWD: "/home/mira/src/app",
			EndedAt: time.Date(2026, 5, 1, 23, 0, 0, 0, time.UTC), Statements: []memoir.Statement{test.st, test.st}}
		got, held := leavingApp(t).of(e, nil)
		switch {
		case test.held != "" && (len(held) != 2 || held[0].Why != test.held):
			t.Errorf("%s: held %+v", test.what, held)
		case test.want == "" && len(got) != 0:
			t.Errorf("%s: it leaves: %s", test.what, got[0].Body)
		case test.want != "" && (len(got) != 1 || string(got[0].Body) != test.want || got[0].Own != test.own):
			t.Errorf("%s: %+v\n%s", test.what, got, got[0].Body)
		}
		for _, leaf := range got {
			if err := (wire.Push{Project: "p", Statements: []wire.Statement{leaf}}).Check(); err != nil || leaf.Day != "2026-05-01" {
				t.Errorf("%s: %v", test.what, err)
			}
		}
	}
}

func TestAWithdrawnStatementLeavesAgainUnderAnotherHash(t *testing.T) {
	t.Parallel()
	l := leavingApp(t)
	e := memoir.Extraction{SessionKey: "codex:s", Statements: []memoir.Statement{{Kind: memoir.StatementFinding, Text: "x", By: memoir.ByAgent}}}
	var sent []store.Sent
	seen := map[string]bool{}
	for range 3 {
		got, _ := l.of(e, sent)
		if len(got) != 1 || seen[got[0].Hash] {
			t.Fatalf("%+v", got)
		}
		seen[got[0].Hash] = true
		sent = append(sent, store.Sent{Key: l.key, Hash: got[0].Hash, Withdrawn: true, Told: true})
	}
	for i := range sent {
		sent[i].Key = "of another project"
	}
	if got, _ := l.of(e, sent); got[0].Hash != sent[0].Hash {
		t.Error("a tombstone of another project counts")
	}
}

func TestPathsOfThisMachineBecomeRelative(t *testing.T) {
	t.Parallel()
	places := placesOf([]string{"/home/mira/src/app", "/app", "/home/mira/src/app/sub", "/home/mira", "/home"}, "/home/mira")
	for text, want := range map[string]string{
		"/home/mira/src/app/a.go":         "a.go",
		"in `/home/mira/src/app`":         "in `.`",
		"/home/mira/src/app/ is":          "./ is",
		"at /home/mira/src/app.":          "at ..",
		"/home/mira/src/app/sub/b":        "b",
		"/home/mira/src/app-2/a":          "~/src/app-2/a",
		"/home/mira/src/app.git/a":        "~/src/app.git/a",
		"/home/mira2/a":                   "/home/mira2/a",
		"/mnt/home/mira/a":                "/mnt/home/mira/a",
		"-I/home/mira/src/app/include":    "-Iinclude",
		"file:///home/mira/src/app/a":     "file://a",
		"--out=/home/mira/x:/home/mira/y": "--out=~/x:~/y",
		"HOME is /home/mira":              "HOME is ~",
		"/app/x and /apple and ./app/y":   "x and /apple and ./app/y",
		"(/app)/home/mira/src/app,":       "(.).,",
		"nothing":                         "nothing",
	} {
		if got := relative(text, places); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWhatArrivesIsData(t *testing.T) {
	t.Parallel()
	s := scanner(t)
	secret := "ghp_" + rand.Text() + strings.ToLower(rand.Text())[:10]
	change := func(member, body string, with func(*wire.Change)) wire.Change {
		c := wire.Change{Member: member, Statement: wire.Statement{Session: strings.Repeat("a", 24), Day: "2026-05-01", Body: json.RawMessage(body)}}
		c.Hash = wire.Of(c.Session, false, c.Day, c.Body)
		if with != nil {
			with(&c)
		}
		return c
	}
	for _, test := range []struct {
		what   string
		change wire.Change
		want   *memoir.Statement // nil: it is left out
		member string
	}{
		{"a finding", change("ben", `{"kind":"Findings","text":"a\n- [x](y)  b","signal":"model","by":"agent","items":[1],"quote":"q","id":"zz","more":1}`, nil),
			&memoir.Statement{Kind: memoir.StatementFinding, Text: "a - [x](y) b", Signal: "model", By: memoir.ByAgent}, "ben"},
		{"another's wish", change("ben", `{"kind":"Preferences","text":"x","signal":"rule","by":"person","replaces":"0123456789"}`, nil),
			&memoir.Statement{Kind: memoir.StatementDecision, Text: "x", Signal: "model", By: memoir.ByAgent}, "ben"},
		{"an own wish", change("anna", `{"kind":"Preferences","text":"x","signal":"rule","by":"person"}`, nil),
			&memoir.Statement{Kind: memoir.StatementPreference, Text: "x", Signal: "rule", By: memoir.ByPerson}, ""},
		{"a name with signs", change("Ben (x)\n]é", `{"kind":"Findings","text":"x","by":"tool","signal":"model"}`, nil),
			&memoir.Statement{Kind: memoir.StatementFinding, Text: "x", Signal: "model", By: memoir.ByTool}, "Ben__x___é"},
		{"no name", change("", `{"kind":"Preferences","text":"x","by":"person","signal":"rule"}`, nil),
			&memoir.Statement{Kind: memoir.StatementDecision, Text: "x", Signal: "model", By: memoir.ByAgent}, "_"},
		{"places", change("ben", `{"kind":"Findings","text":"x","by":"tool","signal":"m","dir":"../x","paths":["../../etc","/etc","a/b",".git/config"],"anchors":[{"path":"../y"},{"path":"ok"}]}`, nil),
			&memoir.Statement{Kind: memoir.StatementFinding, Text: "x", Signal: "m", By: memoir.ByTool, Paths: []string{"a/b"}, Anchors: []memoir.Anchor{{Path: "ok"}}}, "ben"},
		{"a secret", change("ben", `{"kind":"Findings","text":"x","by":"tool","signal":"m","command":"`+secret+`"}`, nil),
			&memoir.Statement{Kind: memoir.StatementFinding, Text: "x", Signal: "m", By: memoir.ByTool, Command: "[REDACTED:github-pat]"}, "ben"},
		{"another kind", change("ben", `{"kind":"Wishes","text":"x"}`, nil), nil, ""},
		{"a claim", change("ben", `{"kind":"Claims of the agent, not verified","text":"x"}`, nil), nil, ""},
		{"no text", change("ben", `{"kind":"Findings"}`, nil), nil, ""},
		{"no object", change("ben", `[1]`, nil), nil, ""},
		{"other types", change("ben", `{"kind":"Findings","text":{"x":1}}`, nil), nil, ""},
		{"no session", change("ben", `{"kind":"Findings","text":"x"}`, func(c *wire.Change) { c.Session = "../x" }), nil, ""},
		{"no day", change("ben", `{"kind":"Findings","text":"x"}`, func(c *wire.Change) { c.Day = "today" }), nil, ""},
		{"no hash", change("ben", `{"kind":"Findings","text":"x"}`, func(c *wire.Change) { c.Hash = "x" }), nil, ""},
		{"another's own", change("ben", `{"kind":"Findings","text":"x"}`, func(c *wire.Change) { c.Own = true }), nil, ""},
	} {
		got, ok := arrived(test.change, "anna", s)
		if ok != (test.want != nil) {
			t.Errorf("%s: arrived: %v", test.what, ok)
			continue
		}
		if is, _ := json.Marshal(got.Statement); ok {
			if want, _ := json.Marshal(test.want); got.Member != test.member || string(is) != string(want) {
				t.Errorf("%s: %q: %s, want %s", test.what, got.Member, is, want)
			}
		}
	}
	gone, ok := arrived(wire.Change{Member: "anna", Gone: true, Statement: wire.Statement{Hash: strings.Repeat("0", 64)}}, "anna", s)
	if !ok || !gone.Gone || gone.Member != "" {
		t.Errorf("%+v %v", gone, ok)
	}
}

func TestAProjectIsSharedByItsRemoteOrName(t *testing.T) {
	t.Parallel()
	settings := config.Default()
	settings.Exclude = []string{"/private/**"}
	for _, test := range []struct {
		p        memoir.Project
		as, want string
	}{
		{memoir.Project{Remote: "host.example/a/b"}, "", "host.example/a/b"},
		{memoir.Project{Remote: "host.example/a/b"}, "notes", "notes"},
		{memoir.Project{}, "", ""},
		{memoir.Project{Remote: "/srv/git/app.git"}, "", ""}, // a path is another one elsewhere
		{memoir.Project{}, " x ", ""},
		{memoir.Project{Remote: "[redacted:github-pat]/a/b"}, "", ""},
		{memoir.Project{Remote: "host.example/a/b", Directories: []string{"/private/a"}}, "", ""},
		{memoir.Project{Remote: "host.example/a/b", Directories: []string{"/private/a", "/srv/a"}}, "", "host.example/a/b"},
		{memoir.UserProject(), "me", ""},
	} {
		key, err := KeyOf(test.p, test.as, settings)
		if (err == nil) != (test.want != "") || err == nil && key != test.want || err != nil && memoir.CodeOf(err) != memoir.CodeUsage {
			t.Errorf("%+v: %q, %v", test, key, err)
		}
	}
	renamed := memoir.Project{Remote: "/srv/git/app.git", Aliases: []string{"app", "host.example/a/app", "/srv/app"}}
	if _, err := KeyOf(renamed, "", settings); !strings.Contains(memoir.HintOf(err), "--as host.example/a/app,") {
		t.Errorf("its sessions name a remote: %v", memoir.HintOf(err))
	}
}

func TestAddressesThatWouldShowTheToken(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{"https://hub.example": true, "https://hub.example/memoir/": true, "http://127.0.0.1:8080": true,
		"http://[::1]:1": true, "http://localhost:1": true, "http://hub.example": false, "http://127.0.0.1.example": false,
		"http://192.168.0.1": false, "ftp://localhost": false, "hub.example": false, "https://a:b@hub.example": false, "https://": false, "https://h/?x": false} {
		if _, err := newClient(Hub{URL: url}, begins); (err == nil) != good {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestWhatIsNoHubHasNotDoneAnything(t *testing.T) {
	t.Parallel()
	for what, answer := range map[string]http.HandlerFunc{
		"no header": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) },
		"no token": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(wire.VersionHeader, "1")
			_, _ = w.Write([]byte("null"))
		},
	} {
		other := httptest.NewServer(answer)
		home := t.TempDir()
		err := Join(t.Context(), home, Hub{URL: other.URL}, "code", "laptop")
		other.Close()
		if _, none := Load(home); memoir.CodeOf(err) != memoir.CodeHub || !strings.Contains(err.Error(), "is no hub") || none == nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAHubThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	hub := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer hub.Close()
	defer close(done)
	c, err := newClient(Hub{URL: hub.URL}, 200*time.Millisecond)
	if err == nil {
		err = c.call(t.Context(), http.MethodGet, "/v1/me", nil, nil)
	}
	if memoir.CodeOf(err) != memoir.CodeHub || begins > 10*time.Second {
		t.Error(err)
	}
}
