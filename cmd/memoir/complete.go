package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/internal/commandline"
	"memoir/memory"
	"memoir/operation"
	"memoir/store"
)

// completeFlag is the last argument of a call by a shell's script. It asks for completions of the word before it.
// The answer has a line for each: the word, a tab, its description.
const completeFlag = "--complete"

// filesToo is a line that asks the script to offer file names, too.
const filesToo = ":files"

// mostSessions limits the number of sessions that are offered, the latest first.
const mostSessions = 100

// aboutWidth limits the description of a word, in characters.
const aboutWidth = 60

// completionScripts are the scripts by shell. They ask memoir for the words.
var completionScripts = map[string]string{
	"bash": `# bash completion for memoir
_memoir() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = :files ]; then compopt -o default; else COMPREPLY+=("${line%%$'\t'*}"); fi
  done < <(memoir "${COMP_WORDS[@]:1:COMP_CWORD}" --complete 2>/dev/null)
}
complete -F _memoir memoir
`,
	"zsh": `#compdef memoir
_memoir() {
  local -a lines=(${(f)"$(memoir "${(@)words[2,CURRENT]}" --complete 2>/dev/null)"})
  local -a offered=(${${lines:#:files}/$'\t'/:})
  (( $#offered )) && _describe -V memoir offered
  [[ -n ${(M)lines:#:files} ]] && _files
}
if [ "$funcstack[1]" = "_memoir" ]; then _memoir "$@"; else compdef _memoir memoir; fi
`,
	"fish": `# fish completion for memoir
function __memoir_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    for line in (memoir $words[2..-1] "$word" --complete 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$word"
        else
            echo $line
        end
    end
end
complete -c memoir -f -a '(__memoir_complete)'
`,
}

func completionCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "completion", Category: groupProgram, ArgsUsage: "bash|zsh|fish",
		Usage: "print a completion script for a shell",
		Description: help("Prints a script that completes commands, flags, projects, sessions and settings. Packages and\n"+
			"`make install` install it where the shell finds it.",
			`eval "$(memoir completion bash)"     # in ~/.bashrc`,
			`memoir completion zsh > "${fpath[1]}/_memoir"`,
			"memoir completion fish > ~/.config/fish/completions/memoir.fish"),
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
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

type candidate struct{ word, about string }

// completion is a command line up to the word to complete.
type completion struct {
	p         *program
	c         *cli.Context // has --home and --config
	word      string       // the typed beginning of the word
	commands  []*cli.Command
	command   *cli.Command // nil before the first
	flags     []cli.Flag   // nil after help
	arguments int          // before the word
	found     []candidate
	files     bool
}

// complete prints the completions of the last word; none after an error, since a shell shows no message.
func (p *program) complete(ctx context.Context, app *cli.App, words []string) {
	word := ""
	if n := len(words); n > 0 {
		words, word = words[:n-1], words[n-1]
	}
	if word == "=" { // a word of its own in bash
		word = ""
	}
	words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "=" })
	at := &completion{p: p, word: word, commands: app.Commands, flags: app.Flags}
	open := at.read(ctx, app, words)
	name, value, joined := strings.Cut(word, "=")
	switch {
	case open != "":
		at.value(open)
	case slices.Contains(words, "--") || !strings.HasPrefix(word, "-"):
		at.argument()
	case joined:
		at.word = value
		at.value(strings.TrimLeft(name, "-"))
		at.print(name + "=")
		return
	default:
		for _, f := range at.flags {
			if v, ok := f.(cli.VisibleFlag); ok && v.IsVisible() {
				at.found = append(at.found, candidate{"--" + f.Names()[0], usageOf(f)})
			}
		}
	}
	at.print("")
}

// read parses the complete words. It returns the flag whose value comes next; "" if none does.
func (at *completion) read(ctx context.Context, app *cli.App, words []string) (open string) {
	line, command := commandline.Arrange(app, words, config.IsList)
	for _, name := range strings.Fields(command) {
		at.command = commandline.Find(at.commands, name)
		at.commands, at.flags, line = at.command.Subcommands, at.command.Flags, line[1:]
	}
	if end := slices.Index(line, "--"); end >= 0 {
		line, at.arguments = line[:end], len(line)-end-1
	}
	given := flag.NewFlagSet("", flag.ContinueOnError)
	for _, name := range []string{"home", "config", "project"} {
		given.String(name, "", "")
	}
	for _, word := range line {
		name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		_ = given.Set(name, value) // other flags do not matter here
		if !joined && commandline.Arity(app)[name] {
			open = name // of the last word, since commandline.Arrange joins others with their values
		}
	}
	if slices.Contains(line, "--help") {
		at.flags = nil
	}
	at.c = cli.NewContext(app, given, nil)
	at.c.Context = ctx
	return open
}

func (at *completion) argument() {
	if at.arguments == 0 {
		for _, c := range at.commands {
			for _, name := range c.Names() {
				if !c.Hidden {
					at.found = append(at.found, candidate{name, c.Usage})
				}
			}
		}
	}
	if at.command == nil || at.flags == nil {
		return
	}
	usage := at.command.ArgsUsage
	kinds := strings.Fields(strings.NewReplacer("[", "", "]", "", "...", "").Replace(usage))
	n := at.arguments
	if strings.Contains(usage, "...") {
		n = min(n, len(kinds)-1)
	}
	if n < len(kinds) {
		for kind := range strings.SplitSeq(kinds[n], "|") {
			at.offer(kind)
		}
	}
}

func (at *completion) value(name string) {
	for _, f := range at.flags {
		if slices.Contains(f.Names(), name) {
			at.offer(placeholder(f))
		}
	}
}

func usageOf(f cli.Flag) string {
	doc, _ := f.(cli.DocGenerationFlag)
	return strings.ReplaceAll(doc.GetUsage(), "`", "")
}

// offer adds the values of a placeholder of help, kind. A word in lower case stands for itself.
func (at *completion) offer(kind string) {
	var words []string
	switch kind {
	case "-":
	case "DIR", "FILE", "PATH":
		at.files = true
	case "GENERATION", "FROM", "TO":
		words = at.generations()
	case "REF", "PROJECT", "INTO", "SESSION":
		at.files = at.files || kind != "SESSION" && strings.ContainsAny(at.word, "./~")
		if st, _ := at.p.openToInject(at.c); st != nil {
			defer st.Close()
			map[string]func(*store.Store){"REF": at.projects, "PROJECT": at.projects, "INTO": at.projects,
				"SESSION": at.sessions}[kind](st)
		}
	case "SETTING":
		for _, v := range config.Default().Values() {
			at.found = append(at.found, candidate{v.Name, v.Doc})
		}
	case "AGENT":
		words = agentNames()
	case "FORMAT":
		words = formNames()
	case "CATEGORY":
		words = memoir.Categories
	case "DAY":
		words = []string{"today", "yesterday"}
	case "ROLE":
		words = []string{memoir.RoleUser, memoir.RoleAssistant, "system"}
	case strings.ToLower(kind):
		words = []string{kind}
	default:
		words = choices()[kind]
	}
	for _, word := range words {
		at.found = append(at.found, candidate{word, ""})
	}
}

// projects offers registered projects by name, or by id if several share the name; a path is completed as a file.
func (at *completion) projects(st *store.Store) {
	rows, _ := st.Projects(at.c.Context)
	named := map[string]int{}
	for _, r := range rows {
		named[r.Name]++
	}
	for _, r := range rows {
		word := at.p.redact(r.Name)
		if named[word] != 1 || !plainWord(word) {
			word = r.ID
		}
		at.found = append(at.found, candidate{word, count(r.Sessions, "session")})
	}
}

func (at *completion) generations() (words []string) {
	if home, id, err := at.p.projectID(at.c); err == nil {
		kept, _ := memory.At(home, id).Kept()
		for _, n := range slices.Backward(kept) {
			words = append(words, fmt.Sprint(n))
		}
	}
	return words
}

// sessions offers the latest sessions whose id begins with the word, and notes where a command takes them.
func (at *completion) sessions(st *store.Store) {
	sessions, _ := st.Sessions(at.c.Context, store.Filter{})
	takesNotes := at.command.Name != "retry" && at.command.Name != "reflect"
	sessions = slices.DeleteFunc(sessions, func(s memoir.Session) bool {
		barred := s.Kind == memoir.KindEntry && (!takesNotes || s.Reason == memoir.ReasonForgotten)
		return barred || !strings.HasPrefix(s.ID, at.word)
	})
	sessions = sessions[:min(len(sessions), mostSessions)]
	_ = st.Entitle(at.c.Context, sessions) // else with their own titles
	for _, s := range sessions {
		one := operation.SessionOf(s, at.p.redact)
		about := when(s.UpdatedAt) + ", " + one.Source + ", " + orUntitled(one.Title)
		at.found = append(at.found, candidate{one.ID, about})
	}
}

// print prints the words that begin with the present text, each after a prefix.
func (at *completion) print(prefix string) {
	for _, f := range at.found {
		if strings.HasPrefix(f.word, at.word) && plainWord(f.word) {
			line := prefix + f.word
			if f.about != "" {
				line += "\t" + memoir.Cut(oneLine(f.about), aboutWidth)
			}
			at.p.ui.printf("%s\n", line)
		}
	}
	if at.files {
		at.p.ui.printf("%s\n", filesToo)
	}
}

// plainWord reports whether a word needs no quoting in any shell or in the scripts.
func plainWord(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./@+", r)
	})
}
