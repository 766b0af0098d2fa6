// Package commandline lets people write flags before and after arguments, for both programs.
package commandline

import (
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"
)

// Arrange puts the words of a command line into the order that urfave/cli requires: command,
// subcommand, flags with their values joined, "--", arguments. A person may write them in any
// order. A word such as -5 is an argument, and so is every word after the first value of a setting that isList names.
// `help run` becomes `run --help`. It also returns the name of the command: "sessions disable". The parser refuses
// wrong words, so they stay.
func Arrange(app *cli.App, args []string, isList func(string) bool) (line []string, command string) {
	var path, flags, arguments []string
	commands, arity, takesValues := app.Commands, Arity(app), false
	for i := 0; i < len(args); i++ {
		word := args[i]
		if takesValues && len(arguments) > 1 && isList(arguments[0]) {
			arguments = append(arguments, args[i:]...)
			break
		}
		if word == "--" {
			arguments = append(arguments, args[i+1:]...)
			break
		}
		if name := strings.TrimLeft(word, "-"); name != word && strings.IndexFunc(name, unicode.IsLetter) == 0 {
			if arity[name] && i+1 < len(args) {
				i++
				word += "=" + args[i]
			}
			flags = append(flags, word)
		} else if next := Find(commands, word); next != nil && len(arguments) == 0 {
			if flag, ok := app.Metadata[word].(string); ok { // an alias that stands for a flag, too
				flags = append(flags, flag)
			}
			path, commands = append(path, next.Name), next.Subcommands
			takesValues = strings.HasSuffix(next.ArgsUsage, " VALUE...")
		} else {
			arguments = append(arguments, word)
		}
	}
	if len(path) > 0 && path[0] == "help" {
		flags = slices.DeleteFunc(flags, func(f string) bool { return f == "-h" || f == "--help" })
		return Arrange(app, slices.Concat(arguments, flags, []string{"--help"}), isList)
	}
	if len(path) == 0 && len(arguments) > 0 {
		flags = nil // the command is wrong, not its flags
	}
	line = slices.Concat(path, flags)
	if len(arguments) > 0 {
		line = append(append(line, "--"), arguments...)
	}
	return line, strings.Join(path, " ")
}

// Arity returns for every flag of every command whether it takes a value. That is the same in all
// commands, so flags can be parsed before the command is known.
func Arity(app *cli.App) map[string]bool {
	arity := map[string]bool{}
	for c := range Every(app.Commands) {
		for _, f := range c.Flags {
			doc, ok := f.(cli.DocGenerationFlag)
			for _, name := range f.Names() {
				arity[name] = ok && doc.TakesValue()
			}
		}
	}
	return arity
}

// Every yields commands, each before its subcommands.
func Every(commands []*cli.Command) func(yield func(*cli.Command) bool) {
	return func(yield func(*cli.Command) bool) {
		for _, c := range commands {
			for _, c := range append([]*cli.Command{c}, c.Subcommands...) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// Find returns the command of a name, nil if there is none.
func Find(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}
