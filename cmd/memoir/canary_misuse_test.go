package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"
)

// misuse calls commands, in the dense form all, with a canary as an argument and as the value
// of each flag: what is wrong with it is said without it.
func (f *flock) misuse(e ears) {
	f.t.Helper()
	var lines [][]string
	for _, c := range newApp(newProgram(nil)).Commands {
		lines = append(lines, linesOf(c, nil)...)
	}
	f.random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	lines = append([][]string{{}, {"forget", "--text"}}, lines...)
	for _, line := range lines[:min(by(f.t, 12, len(lines), len(lines)), len(lines))] {
		where := "an argument of " + strings.Join(line, " ")
		word := ""
		if slices.Contains(line, "--keep") || slices.Contains(line, "--home") { // both make a directory
			word = f.named(f.all, f.base, "kept", where)
		} else {
			as := func(match string) string { return match }
			if slices.Contains(line, "--project") || slices.Contains(line, "trust") { // a path is said in the form in which it is opened
				as = filepath.Clean
			}
			word = f.plant(where, func(match string) string { return as("x " + match) }, func(match string) string { return as(match) })
		}
		e.call(append(line, word)...)
	}
}

// linesOf are the command lines of a command, and of those below it, that lack a value.
func linesOf(c *cli.Command, before []string) (lines [][]string) {
	name := append(before[:len(before):len(before)], c.Name)
	lines = append(lines, name)
	for _, flag := range c.Flags {
		switch flag.(type) {
		case *cli.StringFlag, *cli.StringSliceFlag, *cli.IntFlag, *cli.DurationFlag:
			lines = append(lines, append(name[:len(name):len(name)], "--"+flag.Names()[0]))
		}
	}
	for _, below := range c.Subcommands {
		lines = append(lines, linesOf(below, name)...)
	}
	return lines
}

// misset has settings hold canaries: in values that are right and in those that are wrong, in
// config.yml, in the environment and in a project's own file.
func (f *flock) misset(e ears) {
	f.t.Helper()
	e.user = f.t.TempDir()
	dir := filepath.Join(e.user, ".config", "memoir")
	must(f.t, os.MkdirAll(dir, 0o700))
	in := func(place, form string) string {
		return f.plant(place, func(match string) string { return fmt.Sprintf(form, word(match)) }, func(match string) string { return fmt.Sprintf(form, match) })
	}
	// A directory is said in the form in which it is opened.
	under := func(place, dir string) string {
		return f.plant(place, func(match string) string { return filepath.Join(dir, word(match)) }, func(match string) string { return filepath.Join(dir, strings.TrimSpace(match)) })
	}
	yaml := func(value string) string { return string(quoted(value)) } // JSON is YAML, too
	for _, config := range []string{
		"modelRoles: {default: mine/m}\nproviders: {mine: {api: openai-chat, baseURL: " + yaml(in("a provider's address", "http://ci:%s@127.0.0.1:1/v1")) + "}}",
		"modelRoles: {default: mine/m}\nproviders: {mine: {api: exec, command: [" + yaml(filepath.Join(e.user, "no-program")) + ", --header, " + yaml(in("a provider's command", "Authorization: Bearer %s")) + "]}}",
		"modelRoles: {default: mine/m}\nproviders: {mine: {api: openai-chat, baseURL: 'http://127.0.0.1:1/v1', keyEnv: " + yaml(in("a key's variable", "%s")) + "}}",
		"modelRoles: {default: mine/m}\nproviders: {mine: {api: openai-chat, baseURL: 'http://127.0.0.1:1/v1', keyCommand: [" + yaml(filepath.Join(e.user, "no-program")) + ", " + yaml(in("a key's command", "%s")) + "]}}",
		"modelRoles: {default: " + yaml(in("a model's name", "mine/%s")) + "}",
		yaml(in("a name of a setting", "%s")) + ": 1",
		"memories: {maxRolloutAgeDays: " + yaml(in("a value of a setting", "%s")) + "}",
		"prompts: {dir: " + yaml(under("a directory of prompts", "/srv")) + "}",
		"memories: {enabled: true\n  " + in("what is no YAML", "x: %s"),
	} {
		must(f.t, os.WriteFile(filepath.Join(dir, "config.yml"), []byte(config+"\n"), 0o600))
		for _, args := range [][]string{{"config"}, {"config", "--json"}, {"doctor"}, {"run", "--sessions", e.user, "--max-age", "0", "--min-idle", "0"}, {"run", "--startup"}} {
			e.call(args...)
		}
	}
	must(f.t, os.Remove(filepath.Join(dir, "config.yml")))
	for _, name := range []string{"MEMOIR_MEMORIES_CONCURRENCY", "MEMOIR_MODELROLES_DEFAULT", "MEMOIR_NOBODYS"} {
		e.env = []string{name + "=" + in("a variable", "%s")}
		e.call("config")
		e.call("run", "--startup")
	}
}

// misown has a project's own files hold canaries, where a directory stands for the project.
func (f *flock) misown(e ears, dir string) {
	f.t.Helper()
	in := func(place, form string) string {
		return f.plant(place, func(match string) string { return fmt.Sprintf(form, word(match)) }, func(match string) string { return fmt.Sprintf(form, match) })
	}
	text := func(value string) string { return string(quoted(value)) } // JSON is YAML, and a text of TOML
	for _, file := range [][2]string{
		{".memoir.yml", text(in("a name of a project's setting", "%s")) + ": 1"},
		{".memoir.yml", "memories: {maxRolloutAgeDays: " + text(in("a value of a project's setting", "%s")) + "}"},
		{".memoir.yml", "modelRoles: {default: " + text(in("a project's model", "mine/%s")) + "}"},
		{".memoir.yml", "memories: {enabled: true\n  " + in("what is no YAML of a project", "x: %s")},
		{".gitleaks.toml", "[[rules]]\nid = " + text(in("a project's rule", "%s")) + "\nregex = \"x(\""},
		{".gitleaks.toml", "[[rules]]\nid = \"x\"\nregex = " + text(in("a project's expression", "(%s"))},
		{".gitleaks.toml", "[extend]\n" + in("what is no TOML of a project", "x %s")},
	} {
		path := filepath.Join(dir, file[0])
		must(f.t, os.WriteFile(path, []byte(file[1]+"\n"), 0o600))
		for _, line := range f.some(2, []string{"view", "inject", "log", "scan --stored", "run --dry-run", "enqueue"}) {
			e.call(append(strings.Fields(line), "--project", dir)...)
		}
		for _, args := range [][]string{{"trust", dir}, {"view", "--project", dir}, {"status", "--project", dir}, {"doctor"}} {
			e.call(args...)
		}
		must(f.t, os.Remove(path))
	}
}

// change has earlier memories come back, and projects become one.
func (f *flock) change(e ears) {
	f.t.Helper()
	projects := gjson.Get(e.call("projects", "--json"), "projects").Array()
	for _, p := range projects[:min(3, len(projects))] {
		e.call("restore", "1", "--yes", "--project", p.Get("id").Str)
	}
	if len(projects) > 1 {
		e.call("projects", "merge", projects[0].Get("id").Str, projects[1].Get("id").Str)
		e.call("run", "--sessions", e.sessions, "--max-age", "0", "--min-idle", "0")
	}
	e.call("projects")
}
