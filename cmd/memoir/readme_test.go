package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"memoir/config"
	"memoir/internal/commandline"
	"memoir/testdata"
)

const repository = "../.."

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	must(t, err)
	return string(text)
}

// TestTheReadmeShowsWhatTheProgramSays records the scene of the README again.
func TestTheReadmeShowsWhatTheProgramSays(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "git", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no", tool)
		}
	}
	cmd := exec.Command("sh", filepath.Join(repository, "testdata/scene/record.sh"), released(t))
	cmd.Env = environment()
	scene, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(readDoc(t, "README.md"), "\n```\n"+string(scene)+"```\n") {
		t.Errorf("the README does not show what the script records (%v):\n%s", err, scene)
	}
}

// measured are the figures of the README by the command that measures them: what it prints, and what the README says.
// What it says of real sessions, which are not here, is not measured; bench/memory has its own.
var measured = []struct{ command, prints, says string }{
	{"go run ./bench/deliver", `52 failures; 0 with an earlier fix, 0 of them got a text; 0 others got one`,
		"after 52 failures, none of which had a known fix, it told none"},
	{"go run -tags sqlite_fts5 ./bench/search", `the others +60 +0\.650 +0\.917 `, "65 % of 60 questions give the right session first, 92 % among five"},
}

func TestTheReadmeGivesTheFiguresThatAreMeasured(t *testing.T) {
	t.Parallel()
	if built(t) == "" || testing.Short() {
		t.Skip("no go here to run the benchmarks, or no time")
	}
	readme := strings.Join(strings.Fields(readDoc(t, "README.md")), " ")
	usual := config.Default().Memories
	if limits := fmt.Sprintf("idle for %v hours and are at most %v days old, at most %d;", usual.MinRolloutIdleHours,
		usual.MaxRolloutAgeDays, usual.MaxRolloutsPerStartup); !strings.Contains(readme, limits) {
		t.Errorf("the README does not say %q", limits)
	}
	for _, figure := range measured {
		cmd := exec.Command("sh", "-c", strings.Replace(figure.command, "-tags sqlite_fts5", "-tags "+buildTags(), 1))
		cmd.Dir = repository
		out, err := cmd.CombinedOutput()
		if err != nil || !regexp.MustCompile(figure.prints).Match(out) {
			t.Errorf("%s: %v, no match of %s:\n%s", figure.command, err, figure.prints, out)
		}
		if !strings.Contains(readme, "`"+figure.command+"`") || !strings.Contains(readme, figure.says) {
			t.Errorf("the README does not say %q", figure.says)
		}
	}
}

var (
	fence     = regexp.MustCompile("(?s)\n```sh\n(.*?)```\n")
	span      = regexp.MustCompile("`((?:memoir|make) [^`]+)`")
	comment   = regexp.MustCompile(`(?:^|\s+)#(?:\s.*|$)`)
	command   = regexp.MustCompile(`(?:^|&& (?:sudo )?|; |\| )((?:memoir|make) [^;&|<>]*)`)
	quotation = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	variable  = regexp.MustCompile(`^[A-Z]+=`)
)

// commandsIn returns the command lines in the blocks and, if spans is true, in the code spans of a document.
func commandsIn(text string, spans bool) (lines []string) {
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Split(strings.TrimSpace(block[1]), "\n")...)
	}
	for _, m := range span.FindAllStringSubmatch(fence.ReplaceAllString(text, "\n"), -1) {
		if spans {
			lines = append(lines, strings.Join(strings.Fields(m[1]), " "))
		}
	}
	return lines
}

// TestDocumentsNameCommandsThatExist checks the words of each command in the documents: the command, its subcommand, its
// flags and the values of flags that are choices; of make, the target.
func TestDocumentsNameCommandsThatExist(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(repository, "docs/*.md"))
	must(t, err)
	targets := regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(readDoc(t, "Makefile"), -1)
	found := 0
	for _, name := range append(names, filepath.Join(repository, "README.md"), filepath.Join(repository, "CHANGELOG.md"),
		filepath.Join(repository, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(name)
		must(t, err)
		for _, line := range commandsIn(string(text), true) {
			for _, m := range command.FindAllStringSubmatch(comment.ReplaceAllString(line, ""), -1) {
				found++
				words := strings.Fields(quotation.ReplaceAllString(m[1], "x"))
				if words[0] == "make" {
					known := slices.ContainsFunc(targets, func(target []string) bool { return target[1] == words[1] })
					if !known && !variable.MatchString(words[1]) {
						t.Errorf("%s: %s: no such target", name, line)
					}
				} else if wrong := unknownWord(words[1:]); wrong != "" {
					t.Errorf("%s: `%s`: no %s", name, line, wrong)
				}
			}
		}
	}
	if lines := strings.Split(readDoc(t, "README.md"), "\n"); len(lines) > 131 || slices.ContainsFunc(lines, func(line string) bool {
		return utf8.RuneCountInString(line) > 120
	}) {
		t.Errorf("the README has %d lines, at most 130 of 120 columns", len(lines)-1)
	}
	if found < 100 {
		t.Errorf("only %d commands were found", found)
	}
}

// unknownWord returns a word of a command line that is no command or flag.
func unknownWord(words []string) string {
	app := newApp(newProgram(nil))
	if slices.Equal(words, []string{"help", "--all"}) {
		return ""
	}
	line, path := commandline.Arrange(app, words, config.IsList)
	at, flags := app.Commands, app.Flags
	var last *cli.Command
	for _, name := range strings.Fields(path) {
		last = commandline.Find(at, name)
		at, flags, line = last.Subcommands, last.Flags, line[1:]
	}
	for i, word := range line {
		switch name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "="); {
		case word == "--":
			next := strings.Trim(strings.Join(line[i+1:min(i+2, len(line))], ""), "….")
			if next == strings.ToLower(next) && (last == nil || len(at) > 0 && last.ArgsUsage == "") {
				return next
			}
			return ""
		case !slices.ContainsFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }):
			return word
		}
	}
	return ""
}

// needs are the commands of the README that need something that is not here, with what they say without it.
var needs = map[string]string{
	"memoir forget ID": "no session matches",
}

// TestTheCommandsOfTheReadmeRun runs them in the order of the README, in a home with sessions of agents.
func TestTheCommandsOfTheReadmeRun(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	_, err := testdata.Write(home)
	must(t, err)
	for _, agent := range []string{"claude", "codex", "copilot", "pi", "qwen"} {
		must(t, os.Rename(filepath.Join(home, agent), filepath.Join(home, "."+agent)))
	}
	must(t, os.MkdirAll(filepath.Join(work, ".git", "objects"), 0o700))
	must(t, os.WriteFile(filepath.Join(work, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	origin := "[remote \"origin\"]\n\turl = https://git.example.test/acme/lanternd.git\n"
	must(t, os.WriteFile(filepath.Join(work, ".git", "config"), []byte(origin), 0o600))
	must(t, os.WriteFile(filepath.Join(work, "claude"), []byte("#!/bin/sh\nexit 1\n"), 0o700))
	app := newApp(newProgram(nil))
	for _, line := range commandsIn(readDoc(t, "README.md"), false) {
		line = comment.ReplaceAllString(line, "")
		if !strings.HasPrefix(line, "memoir ") {
			continue
		}
		line = strings.ReplaceAll(line, "…", "")
		if c := commandline.Find(app.Commands, strings.Fields(line)[1]); slices.ContainsFunc(c.Flags, func(f cli.Flag) bool {
			return f.Names()[0] == "yes"
		}) {
			line += " --yes" // nobody is there to be asked
		}
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = work
		cmd.Env = environment("HOME="+home, "OPENAI_API_KEY=x", "MEMOIR_MEMORIES_MAX_ROLLOUT_AGE_DAYS=0",
			"MEMOIR_MEMORIES_ENABLED=false") // nothing in the background
		cmd.Env[0] = "PATH=" + filepath.Dir(released(t)) + ":" + work + ":" + os.Getenv("PATH")
		out, err := cmd.CombinedOutput()
		said, fails := needs[strings.TrimSuffix(line, " --yes")]
		if (err != nil) != fails || !strings.Contains(string(out), said) {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}
