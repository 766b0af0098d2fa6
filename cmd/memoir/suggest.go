package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/xrash/smetrics"
)

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
