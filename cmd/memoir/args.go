package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/xrash/smetrics"

	"memoir"
)

// commandLine is a command line in the order that urfave/cli requires: global flags, command,
// subcommand, their flags, "--", arguments. A person may write them in any order.
type commandLine struct {
	args    []string // without the program's name
	version bool     // --version was among them
	command string   // "sessions disable"; also of an invalid line
}

// lineParser reads the words of a command line.
type lineParser struct {
	app       *cli.App
	arity     map[string]bool
	path      []*cli.Command
	commands  []*cli.Command // that may follow
	flags     []parsedFlag
	arguments []string
}

// parsedFlag is a flag as written, its value joined to it.
type parsedFlag struct {
	name string // without dashes
	text string
}

// arrange puts args into the order of commandLine. It fails with
// memoir.CodeUsage on an unknown command or flag, a flag without its value and
// an argument for a command that takes none.
func arrange(app *cli.App, args []string) (line commandLine, err error) {
	l := &lineParser{app: app, arity: flagArity(app), commands: app.Commands}
	for len(args) > 0 && err == nil {
		args, err = l.word(args[0], args[1:])
	}
	line.command = fullName(l.path)
	if err != nil {
		return line, err
	}
	if len(l.path) > 0 && l.path[0].Name == "help" {
		if l.path, err = helpFor(app, l.arguments); err != nil {
			return line, err
		}
		l.arguments, l.flags = nil, append(l.flags, parsedFlag{"help", "--help"})
	}
	return line, l.order(&line)
}

// word reads a word and returns those that follow it, and its value if it is a flag that takes one.
func (l *lineParser) word(word string, rest []string) ([]string, error) {
	switch {
	case word == "--":
		l.arguments = append(l.arguments, rest...)
		return nil, nil
	case strings.HasPrefix(word, "-") && word != "-":
		for _, flag := range splitShort(word, l.arity) {
			name, _, hasValue := strings.Cut(strings.TrimLeft(flag, "-"), "=")
			switch {
			case !l.arity[name] || hasValue:
			case len(rest) == 0:
				return nil, usagef("", "flag --%s needs a value", name)
			default:
				flag += "=" + rest[0]
				rest = rest[1:]
			}
			l.flags = append(l.flags, parsedFlag{name, flag})
		}
		return rest, nil
	}
	if next := findCommand(l.commands, word); next != nil && len(l.arguments) == 0 {
		l.path, l.commands = append(l.path, next), next.Subcommands
		return rest, nil
	}
	if len(l.path) == 0 {
		return nil, unknownCommand(l.app.Commands, word)
	}
	l.arguments = append(l.arguments, word)
	return rest, nil
}

// order fills in the command line in its order.
func (l *lineParser) order(line *commandLine) error {
	own := &cli.Command{}
	if len(l.path) > 0 {
		own = l.path[len(l.path)-1]
	}
	var local []string
	for _, flag := range l.flags {
		switch {
		case flag.name == "version":
			line.version = true
		case hasFlag(own.Flags, flag.name) || own.Name != "" && (flag.name == "help" || flag.name == "h"):
			local = append(local, flag.text)
		case hasFlag(l.app.Flags, flag.name):
			line.args = append(line.args, flag.text)
		default:
			return unknownFlag(l.app, l.path, flag)
		}
	}
	if own.Name != "" && own.ArgsUsage == "" && len(l.arguments) > 0 {
		return unexpectedArgument(l.path, l.arguments[0])
	}
	for _, c := range l.path {
		line.args = append(line.args, c.Name)
	}
	line.args = append(line.args, local...)
	if len(l.arguments) > 0 {
		line.args = append(append(line.args, "--"), l.arguments...)
	}
	return nil
}

// helpFor finds the command that `memoir help COMMAND…` asks about.
func helpFor(app *cli.App, names []string) ([]*cli.Command, error) {
	var path []*cli.Command
	commands := app.Commands
	for _, name := range names {
		c := findCommand(commands, name)
		if c == nil {
			return nil, unknownCommand(commands, name)
		}
		if c.Name == "help" {
			return nil, nil
		}
		path, commands = append(path, c), c.Subcommands
	}
	return path, nil
}

// splitShort splits -qv into -q and -v if every letter is a flag without a value.
func splitShort(arg string, arity map[string]bool) []string {
	letters := strings.TrimPrefix(arg, "-")
	if strings.HasPrefix(letters, "-") || len(letters) < 2 {
		return []string{arg}
	}
	var out []string
	for _, letter := range letters {
		if takes, known := arity[string(letter)]; !known || takes {
			return []string{arg}
		}
		out = append(out, "-"+string(letter))
	}
	return out
}

// flagArity tells for every flag of every command whether it takes a value. A name has the same
// arity in all commands, so it can be read before the command is known.
func flagArity(app *cli.App) map[string]bool {
	arity := map[string]bool{}
	add := func(flags []cli.Flag) {
		for _, f := range flags {
			doc, ok := f.(cli.DocGenerationFlag)
			for _, name := range f.Names() {
				arity[name] = ok && doc.TakesValue()
			}
		}
	}
	add(app.Flags)
	for c := range everyCommand(app.Commands) {
		add(c.Flags)
	}
	return arity
}

// everyCommand yields commands and their subcommands.
func everyCommand(commands []*cli.Command) func(yield func(*cli.Command) bool) {
	return func(yield func(*cli.Command) bool) {
		for _, c := range commands {
			if !yield(c) {
				return
			}
			for _, sub := range c.Subcommands {
				if !yield(sub) {
					return
				}
			}
		}
	}
}

func findCommand(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

func hasFlag(flags []cli.Flag, name string) bool {
	return slices.ContainsFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

func usagef(hint, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeUsage, hint, format, args...)
}

func notFoundf(hint, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeNotFound, hint, format, args...)
}

func unknownCommand(commands []*cli.Command, name string) error {
	var names []string
	for _, c := range commands {
		// A typing error must not lead to a command that removes data: restore is near reset.
		if !c.Hidden && c.Name != "clear" {
			names = append(names, c.Names()...)
		}
	}
	hint := "`memoir help` lists the commands"
	if near := nearest(name, names); near != "" {
		hint = "did you mean `memoir " + near + "`?"
	}
	if name == "version" {
		hint = "did you mean `memoir --version`?"
	}
	return usagef(hint, "unknown command %q", name)
}

func unexpectedArgument(path []*cli.Command, arg string) error {
	own := path[len(path)-1]
	var names []string
	for _, c := range own.Subcommands {
		names = append(names, c.Names()...)
	}
	full := fullName(path)
	hint := "`memoir help " + full + "` shows the usage"
	if near := nearest(arg, names); near != "" {
		hint = "did you mean `memoir " + full + " " + near + "`?"
	}
	return usagef(hint, "unexpected argument %q of %s", arg, full)
}

func unknownFlag(app *cli.App, path []*cli.Command, flag parsedFlag) error {
	flags := app.Flags
	name, help := "memoir", "memoir help"
	if len(path) > 0 {
		flags = slices.Concat(path[len(path)-1].Flags, flags)
		name = fullName(path)
		help += " " + name
	}
	var names []string
	for _, f := range flags {
		for _, n := range f.Names() {
			if len(n) > 1 {
				names = append(names, n)
			}
		}
	}
	hint := "`" + help + "` lists the flags"
	if near := nearest(flag.name, names); near != "" {
		hint = "did you mean --" + near + "?"
	}
	written, _, _ := strings.Cut(flag.text, "=")
	return usagef(hint, "%s has no flag %s", name, written)
}

func fullName(path []*cli.Command) string {
	names := make([]string, len(path))
	for i, c := range path {
		names[i] = c.Name
	}
	return strings.Join(names, " ")
}

// minSimilarity is the Jaro-Winkler similarity from which on a word is suggested.
const minSimilarity = 0.8

// didYouMean is the hint for an unknown word: the nearest candidate, or all.
func didYouMean(word string, candidates []string) string {
	if near := nearest(word, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return "one of " + strings.Join(candidates, ", ")
}

// nearest returns the candidate that word is probably a typing error of, "" if there is none.
func nearest(word string, candidates []string) string {
	best, most := "", minSimilarity
	for _, c := range candidates {
		likeness := smetrics.JaroWinkler(word, c, 0.7, 4)
		if letters(word) == letters(c) {
			likeness = 1 // "rnu" for "run": in short words a swap counts too much
		}
		if likeness > most {
			best, most = c, likeness
		}
	}
	return best
}

// letters sorts the letters of a word.
func letters(word string) string {
	runes := []rune(word)
	slices.Sort(runes)
	return string(runes)
}
