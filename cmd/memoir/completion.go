package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completeFlag as the last argument asks what may stand in its place: the scripts of shells pass it.
const completeFlag = "--complete"

// completionScripts are what a shell evaluates, by its name. Each asks memoir for the words.
var completionScripts = map[string]string{
	"bash": `# bash completion for memoir
_memoir() {
  local words="$(memoir "${COMP_WORDS[@]:1:COMP_CWORD-1}" --complete 2>/dev/null)"
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _memoir memoir
`,
	"zsh": `#compdef memoir
_memoir() {
  compadd -- ${(f)"$(memoir ${words[2,CURRENT-1]} --complete 2>/dev/null)"}
  _files
}
if [ "$funcstack[1]" = "_memoir" ]; then _memoir "$@"; else compdef _memoir memoir; fi
`,
	"fish": `# fish completion for memoir
complete -c memoir -a '(memoir (commandline -opc)[2..-1] --complete 2>/dev/null)'
`,
}

func completionCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "completion", Category: groupSetup, ArgsUsage: "bash|zsh|fish",
		Usage: "print a completion script for a shell",
		Description: help("Prints a script that completes commands and flags.",
			`eval "$(memoir completion bash)"     # in ~/.bashrc`,
			`memoir completion zsh > "${fpath[1]}/_memoir"`,
			"memoir completion fish > ~/.config/fish/completions/memoir.fish"),
		Action: func(c *cli.Context) error {
			shell, err := argument(c, "shell")
			if err != nil {
				return err
			}
			script, ok := completionScripts[shell]
			if !ok {
				return usagef("one of "+strings.Join(shells(), ", "), "no completion for shell %q", shell)
			}
			p.ui.write(script)
			return nil
		},
	}
}

func shells() []string { return slices.Sorted(maps.Keys(completionScripts)) }

// completions lists what may follow the words of a command line: subcommands and flags, or nothing
// where a flag waits for its value. Words that are neither a command nor a flag are passed over.
func completions(app *cli.App, words []string) []string {
	commands, flags, arity := app.Commands, app.Flags, flagArity(app)
	var out []string
	for i := 0; i < len(words); i++ {
		if flag := strings.TrimLeft(words[i], "-"); flag != words[i] {
			if arity[flag] {
				if i++; i == len(words) {
					return nil
				}
			}
		} else if c := findCommand(commands, words[i]); c != nil {
			commands, flags = c.Subcommands, c.Flags
			switch c.Name {
			case "help":
				commands = app.Commands
			case "completion":
				out = shells()
			}
		}
	}
	for _, c := range commands {
		out = append(out, c.Names()...)
	}
	for _, f := range flags {
		if v, ok := f.(cli.VisibleFlag); ok && v.IsVisible() {
			out = append(out, "--"+f.Names()[0])
		}
	}
	return out
}
