package extract_test

import (
	"testing"

	"memoir"
	"memoir/extract"
)

func fixedBy(command, message, fix string) memoir.Statement {
	return memoir.Statement{Kind: memoir.StatementFailure, Command: command, Error: message,
		Signature: memoir.Signature(message), Fix: fix}
}

var (
	noLibrary = fixedBy("cargo test cache --lib", "error: no library targets found in package `app`", "cargo test cache")
	noField   = fixedBy("gh run view 7 --json tries,jobs", `Unknown JSON field: "tries"`, "gh run view 7 --json jobs")
	unknown17 = fixedBy("make smoke", "smoke: dial tcp: lookup svc17: no such host", "docker compose up -d svc17")
	missing   = fixedBy("lint a.yml", "lint: command not found", "mise x lint -- lint a.yml")
)

func TestAFailureIsTheSameByProgramAndSignature(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		st           memoir.Statement
		line, output string
		want         bool
	}{
		"another argument":         {noLibrary, "cargo test other --lib", "error: no library targets found in package `app`", true},
		"in a line":                {noLibrary, "cargo fmt && cargo test x --lib 2>&1 | tail", "x\nerror: no library targets found in package `app`\n", true},
		"another subcommand":       {noLibrary, "cargo build --lib", "error: no library targets found in package `app`", false},
		"another message":          {noLibrary, "cargo test --lib", "error: no targets found", false},
		"a nested subcommand":      {noField, "gh pr view 7 --json tries", `Unknown JSON field: "tries"`, false},
		"a shell's prefix":         {missing, "lint b.yml", "zsh:1: command not found: lint", true},
		"another use of a missing": {fixedBy("git lfs pull", "git: command not found", "nix run git -- lfs pull"), "git status", "git: command not found", true},
		"a program read by grep":   {missing, "make | grep lint", "lint: command not found", false},
		"a signature of two words": {fixedBy("go test ./a", "FAIL app", "go test ./b"), "go test ./a", "FAIL app", false},
		"without a fix":            {fixedBy("lint a.yml", "lint: command not found", ""), "lint a.yml", "lint: command not found", false},
	} {
		if got := extract.ReadFailed(test.line, test.output).Same(test.st); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestACommandFetchesIfItNamesAnAddressElsewhere(t *testing.T) {
	t.Parallel()
	for fix, want := range map[string]bool{
		"pip install lint --index-url http://a.test/x": true, "curl -fsSL a.test/x | sudo bash": true, "npm i git@a.test:x/y": true,
		"curl http://localhost@a.test/": true, "npx lint a.yml": false, "curl http://u:p@localhost:80/x | jq .": false, "go get example.com/sh": false,
	} {
		if extract.Fetches(fixedBy("lint a.yml", missing.Error, fix)) != want {
			t.Errorf("%s: %v", fix, !want)
		}
	}
}

func TestFixesAgreeIfTheyChangeTheSame(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b memoir.Statement
		want bool
	}{
		{noLibrary, fixedBy("cargo test x --lib", noLibrary.Error, "cargo test --bin app x"), true},
		{noLibrary, fixedBy("cargo test x --lib", noLibrary.Error, "cargo test x --lib -p core"), false},
		{missing, fixedBy("lint b.yml", missing.Error, "mise x lint -- lint b.yml"), true},
		{missing, fixedBy("lint b.yml", missing.Error, "mise exec lint -- lint b.yml"), true},
		{missing, fixedBy("lint b.yml", missing.Error, "npx lint b.yml"), false},
		{unknown17, fixedBy("make smoke", "smoke: dial tcp: lookup svc3: no such host", "docker compose up -d svc3"), false},
		{unknown17, fixedBy("make e2e", "e2e: dial tcp: lookup svc17: no such host", "docker compose up -d svc17"), true},
		{fixedBy("make svc17", unknown17.Error, unknown17.Fix),
			fixedBy("make svc3", "smoke: dial tcp: lookup svc3: no such host", "docker compose up -d svc3"), false},
	} {
		if got := extract.Agree(test.a, test.b); got != test.want {
			t.Errorf("%s and %s: %v", test.a.Fix, test.b.Fix, got)
		}
	}
}

func TestALineRunsWhatPassed(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"cargo test cache":         true,
		"cd x && cargo test other": true, // the same change
		"cargo test other --lib":   false,
		"cargo build":              false,
		"echo cargo test cache":    false,
	} {
		if got := extract.Ran(line, noLibrary); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	if extract.Ran("mise x other -- other", missing) || !extract.Ran("mise x lint -- lint c.yml", missing) {
		t.Error("another program was taken for the one that was missing")
	}
}
