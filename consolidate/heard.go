package consolidate

import (
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

// wished reports whether a line on what the person wants is borne out by the sessions that
// it cites: half of its words at least stand in what those say that the person wanted or
// asked for.
func (r *renewal) wished(text string) bool {
	want := r.sayingOf(strings.TrimPrefix(strings.TrimSpace(askedIn.ReplaceAllString(text, "")), "- "))
	if len(want.words) == 0 || r.hand[strings.TrimSpace(text)] {
		return true
	}
	var said []string
	for _, id := range idsIn(text) {
		s := r.session(id)
		if s == nil {
			return true // one that was not selected: its statements are not at hand
		}
		for _, st := range r.texts[s] {
			if st.Kind == memoir.StatementPreference || st.Kind == memoir.StatementTask {
				said = append(said, tokens(uncounted(oneLine(st.Text)))...)
			}
		}
	}
	slices.Sort(said)
	n := 0
	for _, w := range want.words {
		if _, ok := slices.BinarySearch(said, w); ok {
			n++
		}
	}
	return 2*n >= len(want.words)
}

// askedIn begins a line on what was asked again and again.
var askedIn = lazyregexp.New(`^\s*[-*+] asked in \d+ of \d+ sessions: `)

// foreign reports whether a new line of an answer may not stand under a heading: it tells
// as a person's wish what no session says of one, or reads as an instruction to an agent
// that no person gave.
func (r *renewal) foreign(heading, text string) bool {
	switch heading {
	case headPreferences, headWants, headManner, headByHand:
		return !r.wished(text)
	}
	return prompts.Instructs(text) && !r.wished(text)
}

// unheard is the first command of a skill that was neither run nor asked for in any session,
// and that the memory did not have: what a tool only printed is no step. Empty: there is none.
func (r *renewal) unheard(s memoir.Skill) string {
	for name, text := range open(memoir.Consolidation{Skills: []memoir.Skill{s}}).text {
		if name == memoryFile || name == summaryFile {
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
			if prompts.Instructs(l) && !r.wished(l) {
				return cut(oneLine(l), 80)
			}
			var commands []string
			if fenced || script {
				commands = commandsOf(l)
			} else {
				for part, code := range pieces(l) {
					if code {
						commands = append(commands, strings.TrimSpace(strings.Trim(part, "`")))
					}
				}
			}
			for _, c := range commands {
				if strings.Contains(c, " ") && !r.heard(c) {
					return cut(oneLine(c), 80)
				}
			}
		}
	}
	return ""
}

var placeholder = lazyregexp.New(`<[A-Za-z][\w -]*>|‹[A-Za-z][\w -]*›|\$\{?\w+\}?|…|\.\.\.|"\$@"`)

// heard reports whether a command stands in what sessions ran, decided, were asked for or
// were helped by. What stands for something else in it is passed over.
func (r *renewal) heard(command string) bool {
	if r.commands == "" {
		var b strings.Builder
		for _, s := range r.sessions {
			for _, st := range r.texts[s] {
				text := st.Text
				switch st.Kind {
				case memoir.StatementFailure: // what helped, not what was printed
					if i := max(strings.LastIndex(text, " — "), strings.LastIndex(text, "→"), strings.LastIndex(text, "; ")); i >= 0 {
						head, _, _ := strings.Cut(text, " failed")
						text = head + "\x00" + text[i:]
					}
				case memoir.StatementEnvironment:
					continue
				}
				b.WriteString(squeezed(text) + "\x00")
			}
		}
		for _, s := range r.present.Skills {
			for _, text := range open(memoir.Consolidation{Skills: []memoir.Skill{s}}).text {
				b.WriteString(squeezed(text) + "\x00")
			}
		}
		for _, n := range r.notes {
			b.WriteString(squeezed(n.Text) + "\x00")
		}
		r.commands = b.String() + "\x00"
	}
	for _, part := range strings.Split(placeholder.ReplaceAllString(command, "\x00"), "\x00") {
		if part = squeezed(part); len(part) > 2 && !strings.Contains(r.commands, part) {
			return false
		}
	}
	return true
}

// squeezed is a text without space, marks of Markdown and kinds of brackets and quotes.
func squeezed(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c), c == '`', c == '*', c == '"', c == '\'', c == '“', c == '”':
			return -1
		case c == '‹':
			return '<'
		case c == '›':
			return '>'
		}
		return c
	}, text)
}

// commandsOf are the commands of a line of a shell script: what only holds them together
// is none.
func commandsOf(line string) []string {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	first, _, _ := strings.Cut(line, " ")
	switch strings.TrimRight(first, ";") {
	case "set", "if", "then", "else", "elif", "fi", "for", "while", "do", "done", "case", "esac", "cd", "exit", "return", "shift", "local", "trap", "{", "}", "function", "[", "[[", "echo", "printf":
		if !strings.ContainsAny(line, "|`") && !strings.Contains(line, "$(") && !strings.Contains(line, "; ") && !strings.Contains(line, "&&") {
			return nil
		}
	}
	return []string{strings.TrimPrefix(line, "$ ")}
}
