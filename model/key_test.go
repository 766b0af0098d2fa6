package model

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir"
)

// keyScript writes a shell script and returns its path.
func keyScript(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhereAKeyComesFrom(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh here to run scripts")
	}
	environment := func(name string) string {
		return map[string]string{"SET": " from-variable\n", "BLANK": " ", "TWO": "a b"}[name]
	}
	prints := keyScript(t, "echo from-command; echo a-warning >&2")
	secret := "k" + "-0123456789"
	for name, test := range map[string]struct {
		key    Key
		want   string
		source string
		err    string
	}{
		"nowhere":                      {Key{}, "", "none needed", ""},
		"a variable":                   {Key{Variable: "SET"}, "from-variable", "$SET", ""},
		"a variable before a command":  {Key{Variable: "SET", Command: []string{prints}}, "from-variable", "$SET", ""},
		"a command for an unset one":   {Key{Variable: "BLANK", Command: []string{prints}}, "from-command", "the command in f:1", ""},
		"a command":                    {Key{Command: []string{prints}}, "from-command", "the command in f:1", ""},
		"a command with arguments":     {Key{Command: []string{keyScript(t, `test "$1" = '$x y' && echo got`), "$x y"}}, "got", "the command in f:1", ""},
		"no hooks for what it starts":  {Key{Command: []string{keyScript(t, `echo "$MEMOIR_CHILD"`)}}, "1", "the command in f:1", ""},
		"an unset variable":            {Key{Variable: "BLANK"}, "", "$BLANK, which is not set", "provider p has no key: the variable BLANK is not set"},
		"one that need not be set":     {Key{Variable: "BLANK", Optional: true}, "", "none needed", ""},
		"one that is set all the same": {Key{Variable: "SET", Optional: true}, "from-variable", "$SET", ""},
		"no other than those named":    {Key{Variable: "BLANK"}, "", "$BLANK, which is not set", "set BLANK, or providers.p.keyEnv"},
		"a variable that is no key":    {Key{Variable: "TWO"}, "", "$TWO", "provider p: the variable TWO contains spaces"},
		"no such program":              {Key{Command: []string{secret}}, "", "the command in f:1", "f:1: providers.p.keyCommand: its program cannot be run: executable file not found"},
		"it fails":                     {Key{Command: []string{keyScript(t, "echo "+secret+" >&2; exit 3")}}, "", "the command in f:1", "f:1: providers.p.keyCommand: failed: exit status 3"},
		"it fails after it has spoken": {Key{Command: []string{keyScript(t, "echo "+secret+"; exit 1")}}, "", "the command in f:1", "failed: exit status 1"},
		"it prints nothing":            {Key{Command: []string{keyScript(t, "true")}}, "", "the command in f:1", "printed nothing"},
		"it prints two lines":          {Key{Command: []string{keyScript(t, "echo "+secret+"; echo b")}}, "", "the command in f:1", "provider p: what the command in f:1 prints contains spaces or more than one line"},
		"it prints without end":        {Key{Command: []string{keyScript(t, "while echo "+secret+"; do :; done | head -c 100000")}}, "", "the command in f:1", "printed more than a key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.key.Provider, test.key.Origin = "p", "f:1"
			if got := test.key.Source(environment); got != test.source {
				t.Errorf("source %q", got)
			}
			err := test.key.Check(environment)
			var got string
			if err == nil {
				got, err = test.key.Read(t.Context(), environment)
			}
			switch {
			case test.err == "" && (err != nil || got != test.want):
				t.Errorf("got %q, %v", got, err)
			case test.err != "" && (memoir.CodeOf(err) != memoir.CodeConfig || !strings.Contains(err.Error()+"; "+memoir.HintOf(err), test.err) || memoir.HintOf(err) == ""):
				t.Errorf("got %v; %s", err, memoir.HintOf(err))
			case err != nil && strings.Contains(err.Error()+memoir.HintOf(err), secret):
				t.Errorf("the error holds the key: %v", err)
			}
		})
	}
}

// alive reports whether a process runs that is not a corpse waiting to be collected.
func alive(pid string) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	state := strings.TrimSpace(string(out))
	return err == nil && state != "" && !strings.HasPrefix(state, "Z")
}

func TestACommandThatPrintsNoKeyInTimeIsEnded(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh here to run scripts")
	}
	k := Key{Provider: "p", Origin: "f:1", Command: []string{keyScript(t, "exec tail -f /dev/null")}}
	_, err := k.run(t.Context(), 50*time.Millisecond)
	if memoir.CodeOf(err) != memoir.CodeConfig || !strings.Contains(err.Error(), "printed no key within 50ms") {
		t.Errorf("got %v", err)
	}
	mark := filepath.Join(t.TempDir(), "pid")
	k.Command = []string{keyScript(t, "tail -f /dev/null & echo $! >"+mark+"; wait")}
	if _, err := k.run(t.Context(), 2*time.Second); memoir.CodeOf(err) != memoir.CodeConfig {
		t.Errorf("got %v", err)
	}
	// What it started is gone, or about to be: it was killed before the error came.
	pid, err := os.ReadFile(mark)
	for n := 0; err != nil || alive(strings.TrimSpace(string(pid))); n++ {
		if err != nil || n == 100 {
			t.Fatalf("process %s, which it started, still runs: %v", pid, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(memoir.Errorf(memoir.CodeInterrupted, "", "stopped"))
	if _, err := k.Read(ctx, nil); memoir.CodeOf(err) != memoir.CodeInterrupted {
		t.Errorf("got %v", err)
	}
}
