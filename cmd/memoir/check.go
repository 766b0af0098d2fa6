package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/team"
)

func checkCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "check", Category: groupUpkeep,
		Usage: "compare a project's memory with its working tree",
		Description: help("Lists the lines of MEMORY.md, and those that only memory_summary.md has, that name values,\n"+
			"targets, scripts or paths, with the state of these in the files in which sessions saw them: fresh,\n"+
			"moved (now in another file), stale (the file exists without the text), gone (no such file),\n"+
			"unverifiable (nothing to look for, no working tree, or one without any file that the memory refers\n"+
			"to).\n"+
			"-v also lists fresh lines; unverifiable lines are only counted. Stale and gone lines are not\n"+
			"injected; for each of them check prints a command that drops it and keeps its sessions. Nothing is\n"+
			"written.",
			"memoir check", "memoir check --project mise --json"),
		Flags:  []cli.Flag{projectRefFlag(), jsonFlag()},
		Action: p.check,
	}
}

// checkedLine is a line as `check --json` prints it.
type checkedLine struct {
	File  string       `json:"file"`
	Line  int          `json:"line"`
	State memory.State `json:"state"`
	Text  string       `json:"text"`
	Path  string       `json:"path"`   // the anchor's file
	Seen  string       `json:"anchor"` // the anchor's text; "" is the path itself
	At    string       `json:"at"`     // the present file, if it moved
}

type checkReport struct {
	Project string               `json:"project"`
	Tree    string               `json:"tree"` // "": none
	Lines   []checkedLine        `json:"lines"`
	States  map[memory.State]int `json:"states"`
	Forget  []string             `json:"forget"` // proposed commands
}

func (p *program) check(c *cli.Context) error {
	opts, err := p.options(c, nil)
	if err != nil {
		return err
	}
	found, err := p.projectWithTree(c, opts.Settings)
	if err != nil {
		return err
	}
	report, err := checkMemory(memory.At(opts.Home, found.project), found)
	return p.result(c, err, report, func() { p.sayChecked(report) })
}

func checkMemory(root memory.Root, found injection) (checkReport, error) {
	report := checkReport{Project: found.project, Tree: found.tree, Lines: []checkedLine{},
		States: map[memory.State]int{}, Forget: []string{}}
	of := "" // the texts of the lines of MEMORY.md
	for _, file := range []string{memoir.MemoryFile, memoir.SummaryFile} {
		content, err := root.Open(file)
		if memoir.CodeOf(err) == memoir.CodeNotFound {
			continue
		}
		if err != nil {
			return report, err
		}
		told := consolidate.Told(string(content))
		checked, err := root.Check(found.tree, strings.Split(string(content), "\n"))
		if err != nil {
			return report, err
		}
		for i, one := range checked {
			words := memoir.LineText(one.Line)
			if !strings.HasPrefix(strings.TrimSpace(one.Line), "- ") || !slices.Contains(told, one.Line) ||
				file == memoir.SummaryFile && strings.Contains(of, "\n"+strings.TrimSuffix(words, "…")) {
				continue
			}
			of += "\n" + words
			report.States[one.State]++
			if one.Anchor == (memoir.Anchor{}) {
				continue
			}
			text := memory.Neutralise(strings.TrimSpace(one.Line))
			report.Lines = append(report.Lines, checkedLine{file, i + 1, one.State, text, one.Anchor.Path, one.Anchor.Text,
				memory.Neutralise(one.At)})
			command := "memoir forget --project " + singleQuoted(found.project) + " --line " +
				singleQuoted(memoir.LineText(text))
			if one.Outdated() && file == memoir.MemoryFile && !slices.Contains(report.Forget, command) {
				report.Forget = append(report.Forget, command)
			}
		}
	}
	return report, nil
}

// singleQuoted quotes a text as one word of a shell. The text may be from a transcript and have any characters.
func singleQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func (p *program) sayChecked(r checkReport) {
	t := newTable("state", "line", "seen in", "text")
	for _, state := range []memory.State{memory.Stale, memory.Gone, memory.Moved, memory.Fresh} {
		for _, l := range r.Lines {
			if l.State != state || state == memory.Fresh && !p.ui.verbose {
				continue
			}
			where := l.Path
			if l.Seen != "" {
				where += ": " + l.Seen
			}
			if l.At != "" {
				where += " → " + l.At
			}
			t.row(string(state), l.File+":"+strconv.Itoa(l.Line), where, memoir.LineText(l.Text))
		}
	}
	p.ui.table(t)
	if r.Tree == "" {
		p.ui.say("%s has no working tree here; nothing was verified", r.Project)
	}
	n := r.States
	p.ui.say("%d fresh, %d moved, %d stale, %d gone, %d unverifiable", n[memory.Fresh], n[memory.Moved], n[memory.Stale],
		n[memory.Gone], n[memory.Unverifiable])
	if len(r.Forget) > 0 {
		p.ui.say("to drop a line and keep the sessions that say it (asks first):")
		for _, command := range r.Forget {
			p.ui.say("  %s", command)
		}
	}
}

// forgetLine is `forget --line`.
func (p *program) forgetLine(c *cli.Context) error {
	line := memoir.LineText(c.String("line"))
	if c.NArg() > 0 || line == "" {
		return usagef("", "--line takes the text of one line, and no SESSION")
	}
	opts, st, err := p.openToChange(c)
	if err != nil {
		return err
	}
	defer st.Close()
	project, err := p.projectOf(c, st)
	if err != nil {
		return err
	}
	if line, err = p.wholeLine(memory.At(opts.Home, project.ID), line); err != nil {
		return err
	}
	do := "remove from MEMORY.md of " + project.ID + " the line “" + oneLine(line) + "”; its sessions stay"
	if memoir.WithoutTeam(line) != line && team.HasBase(opts.Home, project.ID) {
		do += ", and the team loses the line"
	}
	if err := p.confirm(c, do, opts.Home); err != nil {
		return err
	}
	out, err := pipeline.ChangeLines(c.Context, st, opts, project.Project, map[string]string{line: ""})
	return p.result(c, err, out, func() {
		p.ui.say("%s: published generation %d without it", project.Name, out.Generation)
	})
}

// wholeLine returns the one line of MEMORY.md that contains a text. A text that is a whole line means that one, and one
// that no line contains is returned as it is.
func (p *program) wholeLine(root memory.Root, text string) (string, error) {
	content, err := root.Open(memoir.MemoryFile)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		return text, nil
	}
	var found []string
	for line := range strings.Lines(string(content)) {
		line = memoir.LineText(memory.Neutralise(line))
		if memoir.Folded(line) == memoir.Folded(text) {
			return text, nil
		} else if strings.Contains(memoir.Folded(line), memoir.Folded(text)) && !memoir.IsHeading(line) {
			found = append(found, line)
		}
	}
	switch len(found) {
	case 0:
		return text, err
	case 1:
		return found[0], err
	}
	for _, line := range found {
		p.ui.say("%s", p.redact(line))
	}
	return "", usagef("name more of the one that is meant", "%d lines of MEMORY.md contain it", len(found))
}

// sayHeld lists the lines that were removed from a summary.
func (p *program) sayHeld(held []memory.Checked) {
	if len(held) == 0 {
		return
	}
	p.ui.say("%s not injected: stale or gone in the working tree, or told by its own files", countAre(len(held), "line"))
	for _, one := range held {
		p.ui.detail("%s: %s (%s)", one.State, memoir.LineText(memory.Neutralise(one.Line)), one.Anchor.Path)
	}
	p.ui.sayHint("`memoir check` lists them, with -v also the fresh ones")
}

// projectWithTree returns the project of --project, else of this directory, and its working tree: the one around
// this directory if it is the project's, else the project's first directory that exists.
func (p *program) projectWithTree(c *cli.Context, settings config.Settings) (injection, error) {
	_, id, err := p.projectID(c)
	if err != nil {
		return injection{}, err
	}
	here, err := p.here(settings)
	if err == nil && (here.project.ID == id || c.String("project") == "") {
		return injection{project: id, tree: here.top, dir: here.dir}, nil
	}
	return p.projectInTree(c, id), nil
}

// projectInTree returns a project with its first registered directory that exists.
func (p *program) projectInTree(c *cli.Context, id string) injection {
	found := injection{project: id}
	st, err := p.openForReading(c)
	if err != nil { // without a registry, its directories are unknown
		return found
	}
	defer p.release(st)
	if row, err := st.FindProject(c.Context, id); err == nil {
		dirs := operation.CheckoutsFirst(row.Directories)
		if i := slices.IndexFunc(dirs, isDirectory); i >= 0 {
			found.tree = dirs[i]
		}
	}
	return found
}
