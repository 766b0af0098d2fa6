package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/internal/disk"
	"memoir/model"
	"memoir/operation"
)

// cleanSetting redacts a setting. Some secrets show only beside their option: a list with one is printed as one text.
func (p *program) cleanSetting(v config.Value) config.Value {
	out := config.Value{Name: p.redact(v.Name), Value: p.redact(v.Value), Origin: v.Origin, Doc: v.Doc}
	for _, element := range v.List {
		if out.Value == v.Value {
			out.List = append(out.List, p.redact(element))
		}
	}
	return out
}

func configCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "config", Category: groupStart, ArgsUsage: "[SETTING]",
		Usage: "print every setting with its value, origin and meaning; change config.yml",
		Description: help("Prints every effective setting with its origin: default, a line of config.yml, a\n"+
			"MEMOIR_* variable, or this project's .memoir.yml. `config set` changes one setting in\n"+
			"config.yml and leaves the rest of the file as it is, comments included. Set memories.enabled\n"+
			"to true to let hooks read sessions and inject memory. `memoir doctor` shows the\n"+
			"source of each model's key.\n\n"+config.VariableHelp+"\n"+
			"The settings of a provider (providers.NAME.…) are:\n\n"+config.ProviderHelp(),
			"memoir config", "memoir config get memories.enabled", "memoir config set memories.enabled true",
			"memoir config set exclude '~/private/**' '**/scratch'", "memoir config unset exclude",
			"MEMOIR_MEMORIES_ENABLED=true memoir config --json"),
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return p.getSetting(c)
			}
			opts, err := p.options(c, nil)
			settings, errHere := p.settingsHere(c)
			if err = cmp.Or(err, errHere); err != nil {
				return err
			}
			return p.printSettings(c, opts.Home, opts.ConfigDir, settings.Values())
		},
		Subcommands: []*cli.Command{
			{Name: "get", ArgsUsage: "SETTING", Usage: "print the value of one setting",
				Description: help("Prints only the effective value.", "memoir config get modelRoles.default"),
				Flags:       []cli.Flag{jsonFlag()}, Action: p.getSetting},
			{Name: "set", ArgsUsage: "SETTING VALUE...", Usage: "change one setting in config.yml",
				Description: help("Checks the value and writes it. A list takes several values. Comments, order and other\n"+
					"settings stay; comments between the elements of a list go with it. A missing key or program is\n"+
					"only a warning. Keys are not written: name a variable with keyEnv. Words after the first\n"+
					"value of a list are values, so flags go before it; after -- no word is a flag.",
					"memoir config set modelRoles.default exec/claude", "memoir config set limits.costPerDay 2",
					"memoir config set providers.mine.command ask-my-model --quiet"),
				Action: p.setSetting},
			{Name: "unset", ArgsUsage: "SETTING", Usage: "remove one setting from config.yml", Action: p.unsetSetting,
				Description: help("The default applies again. providers.NAME removes a whole provider. Names that memoir does\n"+
					"not know are removed, too.", "memoir config unset exclude", "memoir config unset providers.mine")},
			{Name: "path", Usage: "print the path of config.yml",
				Description: help("Prints the path, even if the file does not exist.", "memoir config path"),
				Action: func(c *cli.Context) error {
					o, err := p.configOptions(c)
					if err == nil {
						p.ui.printf("%s\n", filepath.Join(o.ConfigDir, config.FileName))
					}
					return err
				}},
		},
	}
}

// settingsHere returns the settings of this directory's project. It warns of settings that its file may not change.
func (p *program) settingsHere(c *cli.Context) (config.Settings, error) {
	settings, err := p.settings(c, nil)
	if err != nil {
		return settings, err
	}
	here, err := p.here(settings)
	if err != nil {
		return settings, nil
	}
	settings, ignored, err := p.projectSettings(c, settings, here.top)
	for _, i := range ignored {
		p.ui.warn("read the file, then `memoir trust`", "%s", i)
	}
	return settings, err
}

// printSettings prints the settings, redacted: an address may contain a password, and a command a key.
func (p *program) printSettings(c *cli.Context, home, dir string, values []config.Value) error {
	settings := []config.Value{}
	t := newTable("setting", "value", "origin")
	for _, v := range values {
		shown := p.cleanSetting(v)
		settings = append(settings, shown)
		t.row(shown.Name, orDash(shown.Value), shown.Origin)
	}
	return p.result(c, nil, map[string]any{"home": home, "config_dir": dir, "settings": settings}, func() {
		section := ""
		for i, line := range strings.SplitAfter(t.format(p.ui.width()), "\n") {
			if i == 0 || i > len(values) {
				p.ui.write(line)
				continue
			}
			if head, _, _ := strings.Cut(values[i-1].Name, "."); head != section {
				section = head
				p.ui.write("\n")
			}
			p.ui.printf("%s    %s\n", line, values[i-1].Doc)
		}
		p.ui.say("data in %s, configuration in %s", home, dir)
	})
}

func (p *program) getSetting(c *cli.Context) error {
	name, _, err := config.Describe(c.Args().First(), config.UserHome(p.environ))
	if err != nil {
		return err
	}
	settings, err := p.settingsHere(c)
	if err != nil {
		return err
	}
	v := config.Value{Name: name}
	if i := slices.IndexFunc(settings.Values(), func(v config.Value) bool { return v.Name == name }); i >= 0 {
		v = settings.Values()[i]
	}
	shown := p.cleanSetting(v)
	return p.result(c, nil, shown, func() {
		if shown.List == nil {
			shown.List = []string{shown.Value}
		}
		for _, element := range shown.List {
			p.ui.printf("%s\n", element)
		}
	})
}

func (p *program) setSetting(c *cli.Context) error {
	name, values := c.Args().First(), c.Args().Tail()
	for _, v := range append(slices.Clone(values), strings.Join(values, " ")) {
		if p.redact(v) != v {
			return memoir.Errorf(memoir.CodeConfig,
				"set the key in the environment, and name its variable with providers.NAME.keyEnv",
				"%s: the value looks like a key; keys are not written to files", name)
		}
	}
	return p.changeSetting(c, name, func(f *config.File) (string, error) {
		err := f.Set(name, values...)
		settings, _ := f.Settings() // Set has checked them
		for _, role := range model.Roles(settings) {
			if err == nil && role.Setting == name {
				_, err = model.Find(settings, role)
			}
		}
		return "set", err
	})
}

func (p *program) unsetSetting(c *cli.Context) error {
	name := c.Args().First()
	return p.changeSetting(c, name, func(f *config.File) (string, error) {
		was, err := f.Unset(name)
		if !was {
			return "not set", err
		}
		return "no longer set", err
	})
}

func (p *program) changeSetting(c *cli.Context, name string, change func(*config.File) (string, error)) error {
	o, err := p.configOptions(c)
	if err != nil {
		return err
	}
	now := ""
	err = locked(o.ConfigDir, func() error {
		f, err := config.ReadFile(o)
		if err != nil {
			return err
		}
		done, err := change(f)
		if now, _, _ = config.Describe(name, config.UserHome(p.environ)); err == nil && done != "not set" {
			err = f.Save()
		}
		if err == nil {
			p.ui.say("%s is %s in %s", now, done, f.Path)
		}
		return err
	})
	if err != nil {
		return err
	}
	settings, err := config.Load(o)
	if origin := settings.Origin(now); err == nil && strings.HasPrefix(origin, "$") {
		p.ui.warn("unset the variable", "%s overrides %s in the file", origin, now)
	}
	for _, role := range model.Roles(settings) {
		provider, _, _ := strings.Cut(role.Model, "/")
		if err != nil || now != role.Setting && !strings.HasPrefix(now+".", "providers."+provider+".") {
			continue
		}
		choice, err := model.Choose(settings, role)
		if err = cmp.Or(err, choice.Check(p.getenv)); err != nil {
			p.ui.warn(memoir.HintOf(err), "%v", err)
		}
	}
	if opts, st, errStore := p.openToChange(c); errStore == nil && strings.HasPrefix(now, "modelRoles.") {
		defer st.Close()
		p.ui.sayHint(sayAgain(operation.Again(c.Context, st, opts)))
	}
	return err
}

func trustCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "trust", Category: groupTeam, ArgsUsage: "[DIR|BRANCH]",
		Usage: "trust a project's settings",
		Description: help("A project's .memoir.yml may switch memory off and lower caps. Its other settings apply only\n"+
			"after this command, which must be repeated when the file changes. Read the file first.\n"+
			"--team instead trusts, once, what the repository's default branch at origin has in .memoir-team,\n"+
			"or the branch BRANCH. Without a remote, BRANCH is needed. It asks first.",
			"memoir trust", "memoir trust ~/src/app", "memoir trust --undo ~/src/app", "memoir trust --list",
			"memoir trust --team", "memoir trust --team main", "memoir trust --team --undo"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "team", Usage: "the team memory of this directory's repository"},
			&cli.BoolFlag{Name: "undo", Usage: "revoke the trust"},
			&cli.BoolFlag{Name: "list", Usage: "list trusted files, and those that have changed since"},
			yesFlag(), jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			dir := c.Args().First()
			home, err := p.home(c)
			if err != nil {
				return err
			}
			if c.Bool("list") {
				return p.listTrusted(c, home)
			}
			if c.Bool("team") {
				return p.trustTeam(c, home, dir)
			}
			if dir == "" {
				here, err := p.placeAt(c, "")
				if err != nil {
					return err
				}
				dir = here.top
			}
			if filepath.Base(dir) == config.ProjectFileName {
				dir = filepath.Dir(dir)
			}
			file, err := filepath.Abs(filepath.Join(dir, config.ProjectFileName))
			if err != nil {
				return err
			}
			change, done := config.Trust, "%s is trusted in its current version"
			if c.Bool("undo") {
				change, done = config.Distrust, "%s is not trusted"
			}
			if err := locked(home, func() error { return change(home, file) }); err != nil {
				return err
			}
			if p.ui.say(done, file); !c.Bool("json") {
				return nil
			}
			return p.listTrusted(c, home)
		},
	}
}

// listTrusted prints the files that are trusted, and those that were in an earlier version.
func (p *program) listTrusted(c *cli.Context, home string) error {
	trusted, err := config.LoadTrust(home)
	if err != nil {
		return err
	}
	files := map[string][]string{"trusted": {}, "changed": {}, "teams": append([]string{}, trusted.Teams()...)}
	for _, file := range trusted.Files() {
		state := "trusted"
		if content, err := disk.ReadFile(file, config.MaxFileSize); err != nil || !trusted.Trusted(file, content) {
			state = "changed"
		}
		files[state] = append(files[state], file)
	}
	return p.result(c, nil, files, func() {
		for _, file := range files["trusted"] {
			p.ui.printf("%s\n", file)
		}
		for _, file := range files["changed"] {
			p.ui.printf("%s: changed since; not trusted\n", file)
		}
		for _, repository := range files["teams"] {
			p.ui.printf("%s: team memory\n", repository)
		}
		if len(trusted) == 0 {
			p.ui.say("no project is trusted")
		}
	})
}
