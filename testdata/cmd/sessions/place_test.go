//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func somewhere(t *testing.T) place {
	t.Helper()
	p, err := newPlace(t.TempDir(), "http://127.0.0.1:1", os.Getenv("PATH"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnAgentHasAnEmptyHomeAndARepository(t *testing.T) {
	t.Parallel()
	p := somewhere(t)
	p.env = []string{"ONLY=this"}
	out, err := p.run(t.Context(), "", "sh", "-c", `ls -A "$HOME"; pwd -P; git branch --show-current; git status --short; echo "$ONLY ${GOFLAGS-unset}"`)
	if want := p.work + "\nmain\nthis unset\n"; err != nil || out != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

func TestARunThatFailsSaysWhatWasPrinted(t *testing.T) {
	t.Parallel()
	_, err := somewhere(t).run(t.Context(), "", "sh", "-c", "echo no such model; exit 7")
	if err == nil || !strings.Contains(err.Error(), "no such model") || !strings.Contains(err.Error(), "exit status 7") {
		t.Error(err)
	}
}

func TestARunIsStoppedOnceAFileIsThere(t *testing.T) {
	t.Parallel()
	p := somewhere(t)
	flag := filepath.Join(p.work, started)
	if _, err := p.run(t.Context(), flag, "sh", "-c", "touch "+flag+"; sleep 600"); err != nil {
		t.Error(err)
	}
	if _, err := p.run(t.Context(), filepath.Join(p.work, "never"), "true"); err == nil {
		t.Error("a run that ended by itself passes for interrupted")
	}
}

func TestAgentsAreFoundBelowThePrefixFirst(t *testing.T) {
	t.Parallel()
	prefix := t.TempDir()
	a := agent{source: "lamp", command: "no-such-agent-anywhere"}
	if command, _ := find(a, prefix); command != "" {
		t.Errorf("found %s", command)
	}
	for _, dir := range []string{"bin", "lamp/node_modules/.bin"} { // the later hides the earlier
		want := filepath.Join(prefix, filepath.FromSlash(dir), a.command)
		if err := writeFile(want, "#!/bin/sh\n"); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(want, 0o700); err != nil {
			t.Fatal(err)
		}
		command, path := find(a, prefix)
		if command != want || !strings.HasPrefix(path, filepath.Join(prefix, "lamp")) {
			t.Errorf("found %s, want %s, with PATH %s", command, want, path)
		}
	}
}

func TestEveryAgentHasWhatItTakes(t *testing.T) {
	t.Parallel()
	for _, a := range agents {
		p := somewhere(t)
		if _, err := a.configure(p); err != nil {
			t.Errorf("%s: %v", a.source, err)
		}
		for _, arguments := range [][]string{a.prompt("say so"), a.resume("say so")} {
			if arguments[len(arguments)-1] != "say so" {
				t.Errorf("%s: %q does not end with the prompt", a.source, arguments)
			}
		}
		for _, pkg := range a.packages {
			if at := strings.LastIndexByte(pkg, '@'); at < 1 || versionOf(pkg[at:]) != pkg[at+1:] {
				t.Errorf("%s: package %s has no version", a.source, pkg)
			}
		}
	}
}
