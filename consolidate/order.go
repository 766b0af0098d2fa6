package consolidate

import (
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

// unordered reports whether a model's new line gives an order that no person gave: it tells
// under a heading of wishes what no session says of one, or it reads as an instruction to an
// agent. A model may have obeyed what a tool printed.
func (r *renewal) unordered(heading, line string) bool {
	wishes := heading == headPreferences || heading == headWants
	return (wishes || prompts.Instructs(line)) && !r.wanted(line)
}

// wanted reports whether at least half of a line's words stand in what people wanted or
// asked for in one of the sessions.
func (r *renewal) wanted(line string) bool {
	want := words(withoutMark(uncited(line)))
	for _, s := range r.sessions {
		var said []string
		for _, st := range s.statements {
			if st.Kind == memoir.StatementPreference || st.Kind == memoir.StatementTask {
				said = append(said, words(st.Text)...)
			}
		}
		slices.Sort(said)
		if 2*common(want, slices.Compact(said)) >= len(want) {
			return true
		}
	}
	return false
}

// strangeStep is the first command of a skill that no session ran or was asked for, and
// that the memory did not have; empty if there is none. What a tool only printed is no step.
func (r *renewal) strangeStep(s memoir.Skill) string {
	known := r.knownSteps()
	for name, text := range open(memoir.Consolidation{Skills: []memoir.Skill{s}}) {
		if name == memoir.MemoryFile || name == memoir.SummaryFile {
			continue
		}
		fenced, script := false, strings.Contains(name, "/scripts/")
		for l := range strings.Lines(text) {
			l = strings.TrimSpace(l)
			if _, kept := r.lines[asShown(l)]; kept || r.hand[l] {
				continue
			}
			if fence(l) {
				fenced = !fenced
				continue
			}
			if prompts.Instructs(l) && !r.wanted(l) {
				return l
			}
			for _, command := range commandsIn(l, fenced || script) {
				if !stands(command, known) {
					return command
				}
			}
		}
	}
	return ""
}

// commandsIn are the commands of a line: all of it in a script, else its code spans of
// more than one word.
func commandsIn(line string, script bool) (commands []string) {
	if script {
		if line == "" || strings.HasPrefix(line, "#") || glue(line) {
			return nil
		}
		return []string{strings.TrimPrefix(line, "$ ")}
	}
	for part, code := range pieces(line) {
		if part = strings.TrimSpace(strings.Trim(part, "`")); code && strings.Contains(part, " ") {
			commands = append(commands, part)
		}
	}
	return commands
}

// glueWords begin lines of a script that do nothing by themselves.
var glueWords = set("set if then else elif fi for while do done case esac cd exit return shift local trap { } " +
	"function [ [[ echo printf")

// glue reports whether a line only holds commands together.
func glue(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	return glueWords[strings.TrimRight(first, ";")] && !strings.ContainsAny(line, "|`") &&
		!strings.Contains(line, "$(") && !strings.Contains(line, "; ") && !strings.Contains(line, "&&")
}

// knownSteps is the text in which commands of a skill must stand: what sessions stated
// except of their environment and what a failing command printed, the present skills, and
// what people wrote.
func (r *renewal) knownSteps() string {
	var b strings.Builder
	for _, s := range r.sessions {
		for _, st := range s.statements {
			text := st.Text
			switch st.Kind {
			case memoir.StatementEnvironment, memoir.StatementClaim:
				continue
			case memoir.StatementFailure:
				command, after, _ := strings.Cut(text, " failed")
				_, remedy, _ := strings.Cut(after, "; ")
				text = command + "\x00" + remedy
			}
			b.WriteString(squeezed(text) + "\x00")
		}
	}
	for _, text := range open(memoir.Consolidation{Skills: r.present.Skills}) {
		b.WriteString(squeezed(text) + "\x00")
	}
	for _, n := range r.notes {
		b.WriteString(squeezed(n.Text) + "\x00")
	}
	return b.String()
}

// placeholder matches what stands for something else in a command of a skill.
var placeholder = lazyregexp.New(`<[A-Za-z][\w -]*>|‹[A-Za-z][\w -]*›|\$\{?\w+\}?|…|\.\.\.|"\$@"`)

// stands reports whether all parts of a command between placeholders stand in a text.
func stands(command, known string) bool {
	for _, part := range strings.Split(placeholder.ReplaceAllString(command, "\x00"), "\x00") {
		if part = squeezed(part); len(part) > 2 && !strings.Contains(known, part) {
			return false
		}
	}
	return true
}

// squeezed is a text without space, marks of Markdown and quotes.
func squeezed(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c), strings.ContainsRune("`*\"'“”", c):
			return -1
		case c == '‹':
			return '<'
		case c == '›':
			return '>'
		}
		return c
	}, text)
}
