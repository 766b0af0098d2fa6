package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"memoir"
	"memoir/config"
	"memoir/internal/lazyregexp"
	"memoir/search"
)

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
	{"line", "match"}, {"line", "purge"}, {"line", "undo"}, {"last", "at"}, {"last", "context"},
	{"last", "budget"}, {"journal", "recent"}, {"journal", "category"}}

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
	if near, ok := config.Nearest(name, names); ok {
		hint = "did you mean --" + near + "?"
	}
	return usagef(hint, "%s has no flag %s%s", calledAs(c), "--"[:min(len(name), 2)], name)
}

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
