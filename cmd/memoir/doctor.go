package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"
	"mvdan.cc/sh/v3/syntax"

	"memoir"
	"memoir/config"
	"memoir/internal/disk"
	"memoir/memory"
	"memoir/model"
	"memoir/pipeline"
	"memoir/rollout"
	"memoir/secrets"
	"memoir/team"
)

func doctorCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "doctor", Category: groupStart,
		Usage: "check the installation and the data",
		Description: help("Checks settings, the database, permissions, agents' session directories, records of unknown\n"+
			"types, and every project's live files and archives against their manifests. Each\n"+
			"finding has a hint. Nothing is changed. Exit code 1 means that a check failed. `memoir status`\n"+
			"lists the unfinished work of killed runs. Without --json, -q leaves out the\n"+
			"checks that passed.",
			"memoir doctor", "memoir doctor --json"),
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			d := &doctor{program: p, settings: config.Default()}
			d.installation(c)
			d.data(c)
			return d.report(p, c, map[string]any{})
		},
	}
}

type doctor struct {
	*program
	checklist
	settings config.Settings // the defaults if those of the command are invalid
}

// installation checks settings, agents and configuration files, which are outside the home.
func (d *doctor) installation(c *cli.Context) {
	settings, err := d.program.settings(c, nil)
	home, _ := d.home(c)
	d.verify("settings", "valid", err)
	if err == nil {
		d.settings = settings
		d.models()
		if name := pipeline.Unpriced(d.settings); name != "" {
			d.warn("limits", "set the provider's inputPrice and outputPrice, or use limits.tokensPerRun and limits.tokensPerDay",
				"a limit on costs is set, but the price of %s is unknown: costs may exceed the limit", name)
		}
	}
	switch {
	case err != nil:
		d.fail("memories.enabled", "correct the settings", "hooks do nothing until the settings are valid")
	case settings.Memories.Enabled:
		d.ok("memories.enabled", "on: hooks read sessions and inject memory")
	case tells(settings, home):
		d.ok("memories.enabled", "off: sessions are told what was pulled from a hub; no run starts")
	default:
		hint := "`memoir config set memories.enabled true`"
		if name, ok := strings.CutPrefix(settings.Origin("memories.enabled"), "$"); ok {
			hint = "unset " + name
		}
		d.warn("memories.enabled", hint, "off: hooks, inject and run --startup do nothing; other commands work")
	}
	d.project(c)
	if !d.agents(c.Context, c.Bool("verbose") || c.Bool("json")) && team.SayPulled(home) == "" {
		d.warn("agents", "`memoir run --sessions DIR` reads sessions from any directory", "no sessions were found")
	}
	d.integrations(c)
	d.configuration(c)
}

// project says why there is no memory in this directory's project, if its own settings or exclude forbid one.
func (d *doctor) project(c *cli.Context) {
	here, err := d.here(d.settings)
	if err != nil {
		return // a directory that is gone has no settings
	}
	settings := d.settings
	if _, _, err := d.projectSettings(c, settings, here.top); err != nil {
		d.fail("this project", memoir.HintOf(err), "%v; memory is off in this project", err)
	} else if why := d.switchedOff(c, &settings, here); why != "" {
		d.warn("this project", "remove that setting, if this project is to have a memory", "%s", why)
	}
}

func (d *doctor) data(c *cli.Context) {
	ctx := c.Context
	home, err := d.home(c)
	if err != nil {
		d.verify("home", "", err)
		return
	}
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		d.warn("home", "`memoir init` sets it up", "%s does not exist yet", home)
		return
	}
	d.permissions(home)
	st, err := d.openWith(c, d.settings)
	if memoir.CodeOf(err) == memoir.CodeNotFound && team.SayPulled(home) != "" {
		d.ok("database", "none: %v", err)
		return
	}
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		d.warn("database", memoir.HintOf(err), "%v", err)
		return
	}
	if err != nil {
		d.verify("database", "", err)
		return
	}
	defer st.Close()
	if !d.database(ctx, home, st) {
		return
	}
	d.unread(ctx, st)
	rows, err := st.Projects(ctx)
	shared, fault := st.SharedPaths(ctx)
	if err = cmp.Or(err, fault); err != nil {
		d.verify("projects", "", err)
		return
	}
	for _, row := range rows {
		if slices.Contains(shared, row.ID) {
			d.warn("project "+row.ID, "in each container, name its directory in the setting projects, or make it a repository",
				"more than one directory was at %s, for example because containers mount theirs there; "+
					"nothing tells their sessions apart, so they share this memory", row.Identity)
		}
		root := memory.At(home, row.ID)
		if n, err := root.Linked(); err == nil && team.IsPulled(home, row.ID) { // no run has recorded it
			row.Generation = int64(n)
		}
		projectCheck{d, "project " + row.ID, root, row}.run()
	}
}

// models reports for each role its model and the source of its key. No model is called.
func (d *doctor) models() {
	for _, role := range model.Roles(d.settings) {
		choice, err := model.Choose(d.settings, role)
		if err = cmp.Or(err, choice.Check(d.getenv)); err != nil {
			d.fail(role.Setting, memoir.HintOf(err), "%v", cmp.Or(errors.Unwrap(err), err)) // without the role's name
			continue
		}
		switch {
		case choice.Spec.Builtin():
			d.ok(role.Setting, "%s", model.Builtin)
		case choice.Options.API == model.APIExec:
			d.ok(role.Setting, "%s runs %s", choice.Spec, choice.Program())
		default:
			d.ok(role.Setting, "%s at %s; key: %s", choice.Spec, choice.Options.BaseURL, choice.Key.Source(d.getenv))
		}
	}
}

// agents reports the directories of each agent's sessions that exist, with all also the others, and what cannot be read
// in them. It returns whether one exists.
func (d *doctor) agents(ctx context.Context, all bool) (anyFound bool) {
	unread := map[memoir.Source][]error{}
	err := rollout.Unread(ctx, d.env(), func(source memoir.Source, err error) {
		unread[source] = append(unread[source], err)
	})
	if err != nil {
		d.verify("agents", "", err)
	}
	var absentees []string // agents without any directory
	for _, agent := range rollout.Agents {
		name, roots := "agent "+string(agent.Source), agent.Roots(d.env())
		found := len(roots) == 0
		for _, root := range roots {
			_, err := os.Stat(root.Dir)
			if errors.Is(err, fs.ErrNotExist) {
				if all {
					d.ok(name, "not found: %s", root.Dir)
				}
				continue
			}
			found, anyFound = true, true
			within := func(err error) bool { return strings.Contains(err.Error(), root.Dir) }
			if err != nil || !slices.ContainsFunc(unread[agent.Source], within) {
				d.verify(name, root.Dir, err)
			}
		}
		for _, err := range unread[agent.Source] {
			say := d.fail
			if errors.Is(err, rollout.ErrNoSession) { // one file
				say = d.warn
			}
			say(name, memoir.HintOf(err), "%v", err)
		}
		if !found {
			absentees = append(absentees, string(agent.Source))
		}
	}
	if len(absentees) > 0 && !all {
		d.ok("agents", "not found: %s (-v lists the directories)", strings.Join(absentees, ", "))
	}
	return anyFound
}

// configuration checks that no other user may change the settings, which name programs and servers that get
// transcripts. It also checks a person's own rules for secrets.
func (d *doctor) configuration(c *cli.Context) {
	dir, err := d.configDir(c)
	if err != nil || dir == "" {
		return // the check of the settings reports it
	}
	rules := config.RulesFile(dir)
	for _, path := range []string{dir, filepath.Join(dir, config.FileName), rules} {
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS == "windows" {
			continue
		}
		mode := info.Mode().Perm()
		if mode&0o022 != 0 {
			d.warn("configuration", "chmod go-w "+shellWord(path),
				"other users can change %s (%s), which names programs and servers", path, mode)
		}
		content, err := disk.ReadFile(path, config.MaxFileSize)
		if err == nil && mode&0o044 != 0 && path != rules && d.redact(string(content)) != string(content) {
			d.warn("configuration", "chmod go= "+shellWord(path)+"; better, name a variable with keyEnv",
				"other users can read %s, which seems to contain a key", path)
		}
	}
	if _, err := os.Stat(rules); errors.Is(err, fs.ErrNotExist) {
		return
	}
	d.verify("secret rules", rules+" is valid", secrets.Check(secrets.Options{ConfigPath: rules}))
}

// permissions finds files of the home that other users may read, and directories and databases that
// their owner may not write.
func (d *doctor) permissions(home string) {
	if runtime.GOOS == "windows" {
		return
	}
	var open, locked []string
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && entry.Type()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			open = append(open, path)
		}
		database := strings.HasPrefix(entry.Name(), "memoir.db")
		if err == nil && (entry.IsDir() || database) && info.Mode().Perm()&0o200 == 0 {
			locked = append(locked, path)
		}
		return nil
	})
	switch {
	case err != nil:
		d.fail("permissions", "chmod -R u+rwX "+shellWord(home), "%v", err)
	case errors.Is(writable(home), syscall.EROFS):
		d.fail("permissions", disk.HintOr(syscall.EROFS, "--home"), "%s is not writable: %v", home, syscall.EROFS)
	case len(locked) > 0:
		d.fail("permissions", "chmod -R u+rwX "+shellWord(home),
			"%s not writable, such as %s", count(len(locked), "path"), locked[0])
	case len(open) > 0:
		d.warn("permissions", "chmod -R go= "+shellWord(home),
			"other users can read %s, such as %s", count(len(open), "path"), open[0])
	default:
		d.ok("permissions", "%s is readable only by you", home)
	}
}

func shellWord(path string) string {
	word, err := syntax.Quote(path, syntax.LangPOSIX)
	if err != nil { // it has a byte that no shell accepts
		return path
	}
	return word
}

// Results of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn" // worth knowing; the exit code stays 0
	checkFail = "fail"
)

// check is one line of `doctor` and `smoke`.
type check struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

type checklist struct {
	checks []check
}

func (l *checklist) ok(name, format string, args ...any) {
	l.checks = append(l.checks, check{name, checkOK, fmt.Sprintf(format, args...), ""})
}

func (l *checklist) warn(name, hint, format string, args ...any) {
	l.checks = append(l.checks, check{name, checkWarn, fmt.Sprintf(format, args...), hint})
}

func (l *checklist) fail(name, hint, format string, args ...any) {
	l.checks = append(l.checks, check{name, checkFail, fmt.Sprintf(format, args...), hint})
}

// verify adds a check, which fails if err is not nil.
func (l *checklist) verify(name, good string, err error) {
	if err != nil {
		l.fail(name, memoir.HintOf(err), "%v", err)
		return
	}
	l.ok(name, "%s", good)
}

// report prints a line for each check, with its hint below; with -q only warnings and failures. JSON also has more.
// The checks are redacted: they quote settings, paths and errors.
func (l *checklist) report(p *program, c *cli.Context, more map[string]any) error {
	failed := 0
	for i := range l.checks {
		one := &l.checks[i]
		one.Name, one.Detail, one.Hint = p.redact(one.Name), p.redact(one.Detail), p.redact(one.Hint)
		if one.Status == checkFail {
			failed++
		}
	}
	more["ok"], more["checks"] = failed == 0, l.checks
	err := p.result(c, nil, more, func() {
		for _, one := range l.checks {
			if p.ui.quiet && one.Status == checkOK {
				continue
			}
			p.ui.printf("%-4s  %s: %s\n", one.Status, one.Name, oneLine(one.Detail))
			if one.Hint != "" {
				p.ui.printf("      %s\n", oneLine(one.Hint))
			}
		}
	})
	if err != nil || failed == 0 {
		return err
	}
	p.ui.say("%s failed", count(failed, "check"))
	return status(exitFailed)
}
