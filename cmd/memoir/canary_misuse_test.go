package main

import (
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
