package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func completionCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "completion", Category: groupSetup, ArgsUsage: "bash|zsh|fish",
		Usage: "print a completion script for a shell",
		Description: help("Prints a script that completes commands and flags. It is made from this program's own\n"+
			"command table, so print it again after an upgrade.",
			`eval "$(memoir completion bash)"     # in ~/.bashrc`,
			`memoir completion zsh > "${fpath[1]}/_memoir"`,
			"memoir completion fish > ~/.config/fish/completions/memoir.fish"),
		Action: func(c *cli.Context) error {
			shell, err := argument(c, "shell")
			if err != nil {
				return err
			}
			scripts := map[string]func(*cli.App) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
			script, ok := scripts[shell]
			if !ok {
				return usagef("one of "+strings.Join(shells, ", "), "no completion for shell %q", shell)
			}
			p.ui.printf("%s", script(c.App))
			return nil
		},
	}
}

// completed is one thing that a shell may offer, and what it is for.
type completed struct{ word, usage string }

// offers lists the subcommands and flags of a command, the global flags included.
func offers(app *cli.App, commands []*cli.Command, flags []cli.Flag) (words, options []completed) {
	for _, c := range commands {
		for _, name := range c.Names() {
			if !c.Hidden && len(name) > 1 {
				words = append(words, completed{name, c.Usage})
			}
		}
	}
	for _, f := range slices.Concat(flags, app.Flags) {
		doc, ok := f.(cli.DocGenerationFlag)
		visible, isVisible := f.(cli.VisibleFlag)
		if !ok || isVisible && !visible.IsVisible() {
			continue
		}
		options = append(options, completed{"--" + f.Names()[0], strings.ReplaceAll(doc.GetUsage(), "`", "")})
	}
	return words, options
}

// following lists what may follow a command: its subcommands, or what its argument may be.
func following(app *cli.App, c *cli.Command) (words, options []completed) {
	words, options = offers(app, c.Subcommands, c.Flags)
	switch c.Name {
	case "help":
		words, _ = offers(app, app.Commands, nil)
	case "completion":
		for _, shell := range shells {
			words = append(words, completed{shell, "for " + shell})
		}
	}
	return words, options
}

// values lists what the value of a flag may be, by the flag's name: those that are
// one of a few words.
func values() map[string][]string {
	return map[string][]string{"source": sources(), "reason": reasonNames(), "kind": kindNames(), "sort": orderNames()}
}

// valueCases is a case of a shell's case statement for each flag in values, whose
// body is the flag's words in a format.
func valueCases(format string) string {
	var b strings.Builder
	all := values()
	for _, flag := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "    --%s) "+format+" ;;\n", flag, strings.Join(all[flag], " "))
	}
	return b.String()
}

// shells are those that there is a completion script for.
var shells = []string{"bash", "zsh", "fish"}

// visible yields every command with the words that lead to it, by each of its names.
func visible(app *cli.App) func(yield func(string, *cli.Command) bool) {
	return func(yield func(string, *cli.Command) bool) {
		for _, c := range app.Commands {
			if c.Hidden {
				continue
			}
			for _, name := range c.Names() {
				if len(name) > 1 && !yield(name, c) {
					return
				}
			}
			for _, sub := range c.Subcommands {
				if !yield(c.Name+" "+sub.Name, sub) {
					return
				}
			}
		}
	}
}

func joinWords(list ...[]completed) string {
	var words []string
	for _, c := range slices.Concat(list...) {
		words = append(words, c.word)
	}
	return strings.Join(words, " ")
}

func bashCompletion(app *cli.App) string {
	var cases strings.Builder
	for path, c := range visible(app) {
		words, options := following(app, c)
		fmt.Fprintf(&cases, "    %q) words=%q ;;\n", path, joinWords(words, options))
	}
	words, options := offers(app, app.Commands, nil)
	return fmt.Sprintf(`# bash completion for memoir
_memoir() {
  local cur="${COMP_WORDS[COMP_CWORD]}" path="" next words i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${COMP_WORDS[i]}" in
      %s) ((i++)) ;;
      -*) ;;
      *)
        next="${path:+$path }${COMP_WORDS[i]}"
        case " $next " in%s) path="$next" ;; esac
        ;;
    esac
  done
  case "$path" in
%s    *) words=%q ;;
  esac
  case "${COMP_WORDS[COMP_CWORD-1]}" in
%s  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _memoir memoir
`, valued(app), bashPaths(app), cases.String(), joinWords(words, options), valueCases("words=%q"))
}

// valued is the pattern of the flags whose value is the next word.
func valued(app *cli.App) string {
	arity := flagArity(app)
	var flags []string
	add := func(commands []*cli.Command, own []cli.Flag) {
		_, options := offers(app, commands, own)
		for _, o := range options {
			if arity[strings.TrimPrefix(o.word, "--")] && !slices.Contains(flags, o.word) {
				flags = append(flags, o.word)
			}
		}
	}
	add(app.Commands, nil)
	for _, c := range visible(app) {
		add(c.Subcommands, c.Flags)
	}
	return strings.Join(flags, "|")
}

// bashPaths is the pattern of all command paths for a case statement.
func bashPaths(app *cli.App) string {
	var patterns []string
	for path := range visible(app) {
		patterns = append(patterns, fmt.Sprintf(" %q", " "+path+" "))
	}
	return strings.Join(patterns, " |")
}

func zshCompletion(app *cli.App) string {
	describe := func(list []completed) string {
		var b strings.Builder
		for _, c := range list {
			text := strings.NewReplacer("'", "", ":", " ", "[", "(", "]", ")").Replace(c.usage)
			fmt.Fprintf(&b, " '%s:%s'", c.word, text)
		}
		return b.String()
	}
	var cases strings.Builder
	for path, c := range visible(app) {
		words, options := following(app, c)
		fmt.Fprintf(&cases, "    %q) offers=(%s ) ;;\n", path, describe(slices.Concat(words, options)))
	}
	words, options := offers(app, app.Commands, nil)
	return fmt.Sprintf(`#compdef memoir
_memoir() {
  local -a offers
  local seen="" next i
  for ((i = 2; i < CURRENT; i++)); do
    case "${words[i]}" in
      %s) ((i++)) ;;
      -*) ;;
      *)
        next="${seen:+$seen }${words[i]}"
        case " $next " in%s) seen="$next" ;; esac
        ;;
    esac
  done
  case "$seen" in
%s    *) offers=(%s ) ;;
  esac
  case "${words[CURRENT-1]}" in
%s  esac
  _describe 'memoir' offers
  _files
}
if [ "$funcstack[1]" = "_memoir" ]; then _memoir "$@"; else compdef _memoir memoir; fi
`, valued(app), bashPaths(app), cases.String(), describe(slices.Concat(words, options)), valueCases("offers=(%s)"))
}

func fishCompletion(app *cli.App) string {
	var b strings.Builder
	b.WriteString("# fish completion for memoir\n")
	known := values()
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }
	line := func(condition string, c completed) {
		if option, ok := strings.CutPrefix(c.word, "--"); ok {
			more := ""
			if words := known[option]; words != nil {
				more = " -x -a " + quote(strings.Join(words, " "))
			}
			fmt.Fprintf(&b, "complete -c memoir -n %s -l %s%s -d %s\n", quote(condition), option, more, quote(c.usage))
			return
		}
		fmt.Fprintf(&b, "complete -c memoir -f -n %s -a %s -d %s\n", quote(condition), c.word, quote(c.usage))
	}
	words, options := offers(app, app.Commands, nil)
	for _, c := range slices.Concat(words, options) {
		line("__fish_use_subcommand", c)
	}
	for path, c := range visible(app) {
		words, options := following(app, c)
		condition := ""
		for _, word := range strings.Fields(path) {
			condition += "; and __fish_seen_subcommand_from " + word
		}
		for _, o := range slices.Concat(words, options) {
			line(strings.TrimPrefix(condition, "; and "), o)
		}
	}
	return b.String()
}
