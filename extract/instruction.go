package extract

import (
	"cmp"
	"path"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// instructionFile matches the names of files that tell agents and people which commands to run.
var instructionFile = lazyregexp.New(`^(?:CLAUDE|AGENTS|GEMINI|CONTRIBUTING|README)(?:\.\w+)*$`)

// learn records the commands that an instruction file names: its code spans and the lines of its fences.
func (s *session) learn(it *memoir.Item, runs []*run) {
	name := firstText(gjson.Parse(it.Input), pathArguments...)
	if it.Shell() {
		if len(runs) != 1 || !readers[runs[0].program] && runs[0].program != "sed" {
			return
		}
		words := runs[0].words()
		name = words[len(words)-1]
	}
	if name = path.Base(name); it.Failed || !instructionFile.MatchString(name) {
		return
	}
	fence := false
	for line := range strings.Lines(it.Output) {
		if line = strings.TrimSpace(numbered.ReplaceAllString(line, "")); strings.HasPrefix(line, "```") {
			fence = !fence
		} else if fence {
			line, _, _ = strings.Cut(line, " #")
			s.named[strings.TrimSpace(strings.TrimPrefix(line, "$ "))] = name
		}
		for _, m := range firstSpan.FindAllStringSubmatch(line, -1) {
			s.named[m[1]] = name
		}
	}
}

// numbered matches the line number that a tool prints before a line.
var numbered = lazyregexp.New(`(?m)^[ \t]*\d+(?:→|\t)`)

// instructions is the signal of commands that an instruction file names and that do not exist or do nothing: the
// program, target or script is missing, and the session does not add it.
func instructions(s *session) []candidate {
	var out []candidate
	for i, r := range s.runs {
		file := s.named[r.text]
		if file == "" || r.filter || len(r.text) > maxCommand {
			continue
		}
		why, signature := r.missing(), ""
		if why != "" {
			signature = unfound(path.Base(r.program))
		} else if message := usageMessage(r); r.status == statusFailed && absent.MatchString(message) {
			why = firstClause(message)
		}
		for _, l := range s.runs[i+1:] {
			if l.text == r.text && l.status == statusPassed {
				why = ""
			}
		}
		if why != "" {
			why = straight.Replace(why)
			c := state(signalInstruction, memoir.StatementFailure, file+" says "+code(r.text)+": "+why, r.item)
			c.Command, c.Dir, c.Error, c.Paths = r.text, r.dir, why, []string{file}
			c.Signature = cmp.Or(signature, memoir.Signature(why))
			out = append(out, c)
		}
	}
	return out
}

// absent matches the messages of programs that lack a target, script or subcommand.
var absent = lazyregexp.New(`(?i)no rule to make|missing script|no tasks? |unknown command|no such command|` +
	`(?:target|script|task|recipe|command) .*(?:not found|does not exist|not contain)`)
