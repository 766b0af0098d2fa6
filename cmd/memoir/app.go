package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/internal/commandline"
	"memoir/internal/lazyregexp"
	"memoir/search"
)

// The groups in which help lists the commands.
const (
	groupStart   = "set up"
	groupUse     = "use the memory"
	groupLook    = "see what it does"
	groupProgram = "for programs and hooks"
	groupTeam    = "teams"
	groupUpkeep  = "maintenance"
)

// groups are the groups in their order. A new user needs the first three.
var groups = []string{groupStart, groupUse, groupLook, groupProgram, groupTeam, groupUpkeep}

func init() { cli.HelpFlag = nil } // before handles --help

func newApp(p *program) *cli.App {
	app := &cli.App{
		Name:  "memoir",
		Usage: "a memory for coding agents",
		Description: `memoir reads the transcripts that coding agents leave on disk, and tells the next session what
they teach. None of it leaves this machine unless you configure a remote model, share a project with a team, or
send whole sessions to its hub with ` + "`memoir team push URL --transcripts DIR`" + `.

Exit codes: 0 done, or nothing to do; 1 failed or declined, or scan found something; 2 bad usage or configuration;
3 partly done; 4 busy: the project or database is locked; 130 interrupted.
$PAGER shows long results on a terminal. NO_COLOR and CLICOLOR_FORCE change --color auto.`,
		Flags:    globalFlags(),
		Metadata: map[string]any{"recall": "--recent", "recap": "--last"},
		Commands: []*cli.Command{
			initCommand(p), installCommand(p), uninstallCommand(p), doctorCommand(p), configCommand(p),
			viewCommand(p), searchCommand(p), rememberCommand(p), notesCommand(p), whyCommand(p), reviewCommand(p),
			forgetCommand(p),
			runCommand(p), statusCommand(p), showCommand(p), serveCommand(p),
			injectCommand(p), mcpCommand(p), messageCommand(p), journalCommand(p), mountCommand(p), patchCommand(p),
			reflectCommand(p), exportCommand(p), scanCommand(p), redactCommand(p), smokeCommand(p), completionCommand(p),
			teamCommand(p), trustCommand(p),
			sessionsCommand(p), projectsCommand(p), checkCommand(p), catCommand(p), historyCommand(p), logCommand(p),
			diffCommand(p), restoreCommand(p), enqueueCommand(p), retryCommand(p), clearCommand(p),
			versionCommand(p), manCommand(p), helpCommand(),
		},
		Writer:                 p.ui,
		ErrWriter:              p.ui.errw,
		HideHelp:               true,
		HideVersion:            true,
		UseShortOptionHandling: true, DisableSliceFlagSeparator: true, // a text may have commas
		OnUsageError:   usageError,
		ExitErrHandler: func(*cli.Context, error) {},
		Before:         p.before,
		Action: func(c *cli.Context) error {
			if wanted, err := p.offerInit(c); err != nil || wanted {
				return err
			}
			cli.HelpPrinter(p.ui, appHelp, listing(c.App, false))
			return status(exitUsage)
		},
	}
	plainFlags(app.Flags)
	for c := range commandline.Every(app.Commands) {
		plainFlags(c.Flags)
		c.Flags = append(c.Flags, app.Flags...)
		c.HideHelp, c.OnUsageError, c.Before = true, usageError, p.before
		if slices.Contains([]string{"init", "run", "clear", "forget", "restore"}, c.Name) { // they change memories
			c.After = p.refreshSkills
		}
	}
	app.Flags = append(app.Flags, &cli.BoolFlag{Name: "all", Hidden: true}) // of help
	return app
}

func globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "home", Usage: "store data in `DIR` (default: $MEMOIR_HOME, else $XDG_DATA_HOME/memoir or " +
			"~/.local/share/memoir)"},
		&cli.StringFlag{Name: "config", Usage: "read config.yml in `DIR` (default: $XDG_CONFIG_HOME/memoir or " +
			"~/.config/memoir)"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print no messages except warnings and errors"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print more"},
		&cli.StringFlag{Name: "color", Usage: "use colour `WHEN`: always, never or auto (on a terminal; " +
			"NO_COLOR means never, CLICOLOR_FORCE always)"},
		&cli.BoolFlag{Name: "version", Usage: "print the version"},
		&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "show help"},
	}
}

// before applies the global flags of a command, and refuses an unknown command.
func (p *program) before(c *cli.Context) error {
	p.ui.quiet, p.ui.verbose = c.Bool("quiet"), c.Bool("verbose")
	p.ui.setColor(c.String("color"), p.getenv)
	if c.Bool("version") {
		p.ui.printf("memoir %s\n", version())
		return status(exitDone)
	}
	if err := checkWords(c); err != nil {
		return err
	}
	p.page(c)
	if !c.Bool("help") {
		return checkFlags(c)
	}
	if c.Command.HelpName == c.App.Name {
		cli.HelpPrinter(p.ui, appHelp, listing(c.App, c.Bool("all")))
	} else {
		cli.HelpPrinter(p.ui, commandHelp, c.Command)
	}
	return status(exitDone)
}

// plainFlags leaves "(default: false)" out of help.
func plainFlags(flags []cli.Flag) {
	for _, f := range flags {
		if b, ok := f.(*cli.BoolFlag); ok {
			b.DisableDefaultText = true
		}
	}
}

// help is a description with examples below it.
func help(text string, examples ...string) string {
	return text + "\n\nExamples:\n  " + strings.Join(examples, "\n  ")
}

// helpCommand is listed with the commands; commandline.Arrange turns `memoir help run`
// into `memoir run --help`.
func helpCommand() *cli.Command {
	return &cli.Command{
		Name: "help", Aliases: []string{"h"}, Category: groupUpkeep, ArgsUsage: "[COMMAND]",
		Usage:       "show help for a command",
		Description: help("Shows a command's purpose, flags and examples.", "memoir help run", "memoir help --all"),
	}
}

// listing is what appHelp prints: the commands of all groups, or of those that a new user needs.
func listing(app *cli.App, all bool) any {
	shown := app.VisibleCategories()
	slices.SortFunc(shown, func(a, b cli.CommandCategory) int {
		return slices.Index(groups, a.Name()) - slices.Index(groups, b.Name())
	})
	if !all {
		shown = shown[:3]
	}
	return struct {
		*cli.App
		Groups []cli.CommandCategory
		All    bool
	}{app, shown, all}
}

const appHelp = `memoir - {{.Usage}}

usage: memoir COMMAND [FLAGS] [ARGUMENTS]

{{.Description}}
{{range .Groups}}
{{.Name}}:{{range .VisibleCommands}}
  {{join .Names ", "}}{{"\t"}}{{.Usage}}{{end}}
{{end}}
` + "`memoir help COMMAND` shows a command's flags and examples" +
	"{{if not .All}}, `memoir help --all` lists the others{{end}}." + `

global flags, before or after the command:{{range .VisibleFlags}}
  {{.}}{{end}}
`

const commandHelp = `{{.HelpName}} - {{.Usage}}

usage: {{.HelpName}}{{if .VisibleFlags}} [FLAGS]{{end}}{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}
{{if .Aliases}}
also called: {{join .Aliases ", "}}
{{end}}
{{.Description}}
{{if .VisibleCommands}}
commands:{{range .VisibleCommands}}
  {{join .Names ", "}}{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}{{"\t"}}{{.Usage}}{{end}}
{{end}}{{if .VisibleFlags}}
flags:{{range .VisibleFlags}}
  {{.}}{{end}}
{{end}}`

// manCommand is for the Makefile. The library of urfave/cli for this slows each start.
func manCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "man", Category: groupUpkeep, Hidden: true, Usage: "print the manual page",
		Description: help("Prints memoir(1) in troff, made of what `memoir help` prints.", "memoir man > memoir.1"),
		Action: func(c *cli.Context) error {
			p.ui.write(manual(c.App))
			return nil
		},
	}
}

// manual is memoir(1): what help prints, the global flags once.
func manual(app *cli.App) string {
	var b strings.Builder
	day, _, _ := strings.Cut(Date, "T")
	fmt.Fprintf(&b, ".TH MEMOIR 1 %q %q\n.SH NAME\nmemoir \\- %s\n", day, "memoir "+version(), roff(app.Usage))
	section := func(heading, template string, of any) {
		var text strings.Builder
		cli.HelpPrinter(&text, template, of)
		b.WriteString(heading + "\n.nf\n")
		for line := range strings.Lines(text.String()) {
			b.WriteString(roff(line))
		}
		b.WriteString(".fi\n")
	}
	section(".SH DESCRIPTION", appHelp, listing(app, true))
	b.WriteString(".SH COMMANDS\n")
	parent := ""
	for c := range commandline.Every(app.VisibleCommands()) {
		if c.HelpName != "" { // a subcommand gets its own only when it is called
			parent = c.HelpName
		}
		one := *c
		one.HelpName, one.Flags = cmp.Or(c.HelpName, parent+" "+c.Name), c.Flags[:len(c.Flags)-len(globalFlags())]
		section(".SS \""+roff(strings.TrimSpace(one.HelpName+" "+c.ArgsUsage))+"\"", commandHelp, &one)
	}
	return b.String()
}

// roff escapes a line: dashes stay dashes, and no line becomes a request.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`, "…", "...").Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}

func usagef(hint, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeUsage, hint, format, args...)
}

func notFoundf(hint, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeNotFound, hint, format, args...)
}

// checkWords refuses words that a command does not take and, unless help is asked for, the lack of those that it needs,
// by its ArgsUsage. A blank word, such as an empty variable of a script, is none; only a value may be blank.
func checkWords(c *cli.Context) error {
	given, usage := c.Args().Slice(), c.Command.ArgsUsage
	if strings.HasPrefix(usage, "--") { // only flags
		usage = ""
	}
	words, blank := strings.Fields(usage), func(word string) bool { return strings.TrimSpace(word) == "" }
	switch least := len(words) - strings.Count(usage, "["); {
	case c.Command.Command(c.Args().First()) != nil:
	case len(given) > len(words) && !strings.Contains(usage, "..."):
		return spareWord(c, given[len(words)])
	case c.Bool("help"), c.Bool("last"): // the last session needs no name
	case len(given) < least, slices.ContainsFunc(given[:least-strings.Count(usage, "VALUE")], blank):
		return usagef("", "%s needs %s", calledAs(c), usage)
	}
	return nil
}

func spareWord(c *cli.Context, word string) error {
	var names []string
	for _, c := range c.Command.Subcommands {
		// A typing error must not lead to a command that removes data: restore is near reset.
		if c.Name != "clear" {
			names = append(names, c.Names()...)
		}
	}
	hint := ""
	if near, ok := config.Nearest(word, names); ok {
		hint = "did you mean `" + c.Command.HelpName + " " + near + "`?"
	}
	if c.Command.HelpName == c.App.Name {
		return usagef(hint, "unknown command %q", word)
	}
	return usagef(hint, "unexpected argument %q of %s", word, calledAs(c))
}

// exclusive are pairs of flags that mean two different things.
var exclusive = [][2]string{{"project", "all"}, {"project", "user"}, {"list", "undo"},
	{"line", "match"}, {"line", "purge"}, {"line", "undo"}, {"line", "dry-run"}, {"undo", "dry-run"},
	{"last", "at"}, {"last", "context"}, {"last", "budget"}, {"journal", "recent"}, {"journal", "category"}}

// choices are the values of flags, by the placeholders in their usage.
func choices() map[string][]string {
	return map[string][]string{"SOURCE": sources(), "REASON": reasons(), "SCOPE": {"user", "project"},
		"WHEN": {"auto", "always", "never"}, "CHANNEL": {"instructions"}, "KIND": search.Kinds}
}

func reasons() []string {
	return memoir.Map(memoir.Reasons, func(r memoir.Reason) string { return string(r) })
}

// placeholder returns what stands for the value in the usage of a flag, "" if the flag takes none.
func placeholder(f cli.Flag) string {
	if parts := strings.Split(f.(cli.DocGenerationFlag).GetUsage(), "`"); len(parts) == 3 {
		return parts[1]
	}
	return ""
}

// checkFlags refuses flags that exclude each other, numbers below 1, and values that are not choices.
func checkFlags(c *cli.Context) error {
	for _, pair := range exclusive {
		if c.IsSet(pair[0]) && c.IsSet(pair[1]) {
			return usagef("", "--%s and --%s exclude each other", pair[0], pair[1])
		}
	}
	known := choices()
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if n, ok := c.Value(name).(int); ok && n < 1 && c.IsSet(name) {
			return usagef("", "--%s: must be at least 1, not %d", name, n)
		}
		value, allowed := c.String(name), known[placeholder(f)]
		if value != "" && allowed != nil && !slices.Contains(allowed, value) {
			return usagef(didYouMean(value, allowed), "--%s: %q is not known", name, value)
		}
	}
	return nil
}

func usageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	name, unknown := strings.CutPrefix(text, "flag provided but not defined: -")
	if !unknown {
		text = flagName.ReplaceAllString(text, "${1}-$2")
		return usagef("", "%s", wrongNumber.ReplaceAllString(text, "$2: $1 is not a number"))
	}
	var names []string
	for _, f := range c.Command.Flags {
		names = append(names, f.Names()...)
	}
	hint := "`" + c.Command.HelpName + " --help` lists the flags"
	if takesText.MatchString(c.Command.ArgsUsage) {
		hint += "; text with dashes, such as a command, is put in quotes"
	}
	if near, ok := config.Nearest(name, names); ok {
		hint = "did you mean --" + near + "?"
	}
	return usagef(hint, "%s has no flag %s%s", calledAs(c), "--"[:min(len(name), 2)], name)
}

// takesText matches the arguments of commands that take any words.
var takesText = lazyregexp.New(`\b(?:QUERY|TEXT|WORDS)\b`)

// flagName matches the beginning of a flag in an error of the parser, which writes one dash before long names, too.
var flagName = lazyregexp.New(`(for |argument: )(?:flag )?(-\w\w)`)

// wrongNumber matches an error of the parser about the value of a flag, which is for a number.
var wrongNumber = lazyregexp.New(`^invalid value (".*") for (?:flag )?(-[\w-]+): .*`)

// didYouMean returns the hint for an unknown word: the nearest candidate, else all of them.
func didYouMean(word string, candidates []string) string {
	if near, ok := config.Nearest(word, candidates); ok {
		return "did you mean " + near + "?"
	}
	return "one of " + strings.Join(candidates, ", ")
}

// agentNamed reads the flag instead, else --agent; "" if neither is given.
func agentNamed(c *cli.Context, instead string) (string, error) {
	name := cmp.Or(c.String(instead), c.String("agent"))
	if name != "" && !slices.Contains(formNames(), name) {
		return "", usagef("one of "+strings.Join(formNames(), ", "), "%q is not an agent or format", name)
	}
	return name, nil
}
