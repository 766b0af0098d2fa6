package main

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"memoir"
	"memoir/extract"
)

// A failure is a failed call of a shell with an error line.
type failure struct {
	item      memoir.Item
	at        int // its index
	message   string
	signature string
	commands  []string // those that may have failed
}

// errorLine matches lines that say why a command failed. It is wider than what memoir looks for.
var errorLine = regexp.MustCompile(`(?i)^(?:\S+: )*(?:error|fatal|usage|unknown|invalid|unrecognized)\b|` +
	`command not found|no such (?:file|command)|not found|unknown (?:flag|option|command|json)|` +
	`is not recognized|missing script`)

var exitStatus = regexp.MustCompile(`(?im)^(?:process )?exit(?:ed)?(?: with)?(?: code)?:? [1-9]`)

// common are programs whose failures no memory needs: they show and search files.
var common = memoir.SetOf(`rg grep egrep find fd ls cat sed awk jq head tail cd test [ diff wc rm cp mv mkdir kill
	curl sleep echo printf which command export chmod ssh true`)

// failed reports whether a call failed: its format says so, or its output begins with an error line.
func failed(it *memoir.Item) bool {
	if !it.Shell() {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(it.Output), "\n")
	return it.Failed || it.Exit != nil && *it.Exit != 0 || exitStatus.MatchString(it.Output) ||
		it.Exit == nil && errorLine.MatchString(first)
}

func failures(items []memoir.Item) (out []failure) {
	for i, it := range items {
		if !failed(&it) {
			continue
		}
		for text := range strings.Lines(it.Output) {
			if text = strings.TrimSpace(text); !errorLine.MatchString(text) || len(text) > 400 {
				continue
			}
			f := failure{item: it, at: i, message: text, signature: memoir.Signature(text)}
			all := extract.Simple(it.Input)
			for _, command := range all {
				if name := use(command); name != "" && (len(all) == 1 || speaksOf(text, command)) {
					f.commands = append(f.commands, command)
				}
			}
			out = append(out, f)
			break
		}
	}
	return out
}

// speaksOf reports whether a message names the program of a command or one of its options.
func speaksOf(message, command string) bool {
	words := strings.Fields(command)
	return slices.ContainsFunc(words, func(w string) bool {
		return (w == words[0] || strings.HasPrefix(w, "--")) && len(w) > 1 &&
			strings.Contains(message, strings.TrimLeft(path.Base(w), "-"))
	})
}

// use returns the program of a command with its first argument if that is a plain word.
func use(command string) string {
	words := slices.DeleteFunc(strings.Fields(command), func(w string) bool { return strings.Contains(w, "=") })
	if len(words) == 0 || common[path.Base(words[0])] {
		return ""
	}
	name := path.Base(words[0])
	if len(words) > 1 && !strings.ContainsAny(words[1], "-/.:$'\"") {
		name += " " + words[1]
	}
	return name
}

// earlierFix returns the session before one with the same failure, after which another command line of the same
// program, or one with the missing program in it, passed; the files of the project had not been edited since.
func earlierFix(before []*session, projects map[string]string, s *session, f failure) string {
	for _, e := range slices.Backward(before) {
		if projects[e.Key()] != projects[s.Key()] {
			continue
		}
		for _, g := range e.failures {
			if g.signature != f.signature || len(strings.Fields(g.signature)) < 3 {
				continue
			}
			for _, command := range g.commands {
				if slices.ContainsFunc(f.commands, func(c string) bool { return use(c) == use(command) }) &&
					fixedAfter(e, g, command) {
					return e.Key()
				}
			}
		}
	}
	return ""
}

const within = 25 // items

func fixedAfter(s *session, f failure, command string) bool {
	program, _, _ := strings.Cut(use(command), " ")
	for i := f.at + 1; i < len(s.items) && i <= f.at+within; i++ {
		it := &s.items[i]
		if _, edits := extract.EditOf(it); edits {
			return false
		}
		if !it.Shell() || failed(it) || it.Lost {
			continue
		}
		for _, later := range extract.Simple(it.Input) {
			missing := strings.Contains(f.message, "not found") && slices.Contains(strings.Fields(later), program) &&
				!strings.HasPrefix(later, program)
			if later != command && (use(later) == use(command) || missing) {
				return true
			}
		}
	}
	return false
}
