package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/xrash/smetrics"

	"memoir"
)

// commandLine is a command line in the one order that urfave/cli reads: global
// flags, command, subcommand, their flags, "--", arguments. People may write it
// in any order.
type commandLine struct {
	args    []string // without the program's name
	version bool     // --version was among them
	command string   // "sessions disable"; also of a line that is wrong
}

// parsedFlag is a flag as written, its value joined to it.
type parsedFlag struct {
	name string // without dashes
	text string // as handed on
}

// arrange puts args into the order of commandLine. It fails with
// memoir.CodeUsage on an unknown command or flag, a flag without its value and
// an argument for a command that takes none.
func arrange(app *cli.App, args []string) (commandLine, error) {
	var (
		line      commandLine
		path      []*cli.Command
		flags     []parsedFlag
		arguments []string
		literal   bool // after "--"
		arity     = flagArity(app)
	)
	commands := app.Commands
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case literal:
			arguments = append(arguments, arg)
		case arg == "--":
			literal = true
		case strings.HasPrefix(arg, "-") && arg != "-":
			for _, flag := range splitShort(arg, arity) {
				name, _, hasValue := strings.Cut(strings.TrimLeft(flag, "-"), "=")
				if takes, known := arity[name]; known && takes && !hasValue {
					if value, ok := withoutValue(line.command, name, args[i+1:]); ok {
						flags = append(flags, parsedFlag{name, flag + "=" + value})
						continue
					}
					if i+1 == len(args) {
						return line, usagef("", "flag --%s needs a value", name)
					}
					i++
					flag += "=" + args[i]
				}
				flags = append(flags, parsedFlag{name, flag})
			}
		default:
			if next := findCommand(commands, arg); next != nil && len(arguments) == 0 {
				path, commands = append(path, next), next.Subcommands
				line.command = fullName(path)
				continue
			}
			if len(path) == 0 {
				return line, unknownCommand(app.Commands, arg)
			}
			arguments = append(arguments, arg)
		}
	}

	if len(path) > 0 && path[0].Name == "help" {
		var err error
		if path, err = helpFor(app, arguments); err != nil {
			return line, err
		}
		arguments, flags = nil, append(flags, parsedFlag{"help", "--help"})
	}
	var own *cli.Command
	if len(path) > 0 {
		own = path[len(path)-1]
	}
	var global, local []string
	for _, flag := range flags {
		switch {
		case flag.name == "version":
			line.version = true
		case own != nil && (hasFlag(own.Flags, flag.name) || flag.name == "help" || flag.name == "h"):
			local = append(local, flag.text)
		case hasFlag(app.Flags, flag.name):
			global = append(global, flag.text)
		default:
			return line, unknownFlag(app, path, flag)
		}
	}
	if own != nil && own.ArgsUsage == "" && len(arguments) > 0 {
		return line, unexpectedArgument(path, arguments[0])
	}
	line.args = global
	for _, c := range path {
		line.args = append(line.args, c.Name)
	}
	line.args = append(line.args, local...)
	if len(arguments) > 0 {
		line.args = append(append(line.args, "--"), arguments...)
	}
	return line, nil
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

// withoutValue is the value of a flag that may be given without one: what follows on the
// command line, if it is not there or none.
func withoutValue(command, flag string, rest []string) (value string, ok bool) {
	next := ""
	if len(rest) > 0 {
		next = rest[0]
	}
	switch {
	case flag == "project" && command == "forget" && (len(rest) == 0 || strings.HasPrefix(next, "-")):
		return ".", true // this directory's
	case flag == "watch" && (next == "" || next[0] < '0' || next[0] > '9'):
		return watchDefault, true
	}
	return "", false
}

// splitShort takes -qv apart where every letter is a flag without a value.
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

// flagArity says of every flag of every command whether it takes a value. A
// name has one arity throughout, so it can be read before the command is known.
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
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				return true
			}
		}
	}
	return false
}

func usagef(hint, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeUsage, hint, format, args...)
}

func unknownCommand(commands []*cli.Command, name string) error {
	var names []string
	for _, c := range commands {
		// Who mistypes must not be led to a command that destroys: restore is near reset.
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
	hint := "`memoir help " + full + "` shows how it is called"
	if near := nearest(arg, names); near != "" {
		hint = "did you mean `memoir " + full + " " + near + "`?"
	}
	return usagef(hint, "%s takes no argument %q", full, arg)
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
	return usagef(hint, "unknown flag %s of %s", written, name)
}

func fullName(path []*cli.Command) string {
	names := make([]string, len(path))
	for i, c := range path {
		names[i] = c.Name
	}
	return strings.Join(names, " ")
}

// alike is how similar, of 1, a word must be to be offered as what was meant.
const alike = 0.8

// didYouMean is the hint for a word that is none of the candidates.
func didYouMean(word string, candidates []string) string {
	if near := nearest(word, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return "one of " + strings.Join(candidates, ", ")
}

// nearest returns the candidate that a slip of the finger turned into word, ""
// if none is near.
func nearest(word string, candidates []string) string {
	best, most := "", alike
	for _, c := range candidates {
		likeness := smetrics.JaroWinkler(word, c, 0.7, 4)
		if letters(word) == letters(c) {
			likeness = 1 // rnu: in short words a swap counts too much
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
