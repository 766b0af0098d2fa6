package consolidate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// purposes of commands in their order in MEMORY.md.
var purposes = []string{"set up", "build", "test", "lint", "format", "check", "generate", "run", "release"}

// maxOfPurpose is how many commands of a purpose are shown.
const maxOfPurpose = 4

// A command is one of which sessions tell that it passed.
type command struct {
	claim
	purpose, line string
	head          string // program and subcommands
	specific      int    // arguments that name a file or a part of the project
}

var (
	firstSpan = lazyregexp.New("`([^`]+)`")
	inDir     = lazyregexp.New("^ in `([^`]+)`")
)

// parseCommand reads a command statement: "PURPOSE: `CMD` in `DIR` (N times)", or what
// a language model writes instead: any line with a code span. It returns nil if there is none.
func parseCommand(text string) *command {
	at := firstSpan.FindStringSubmatchIndex(text)
	if at == nil {
		return nil
	}
	c := &command{line: strings.TrimSpace(text[at[2]:at[3]])}
	c.purpose = strings.ToLower(strings.TrimRight(text[:at[0]], ": "))
	if !slices.Contains(purposes, c.purpose) {
		c.purpose = purposeOf(c.line)
	}
	c.text = c.purpose + ": " + codeSpan(c.line)
	if m := inDir.FindStringSubmatch(text[at[1]:]); m != nil && m[1] != "." {
		c.text += " in " + codeSpan(m[1])
	}
	if c.head, _, c.specific = shapeOf(c.line); c.head == "" {
		return nil
	}
	return c
}

// purposeOf guesses a purpose by the words of a command, for statements that name none.
func purposeOf(line string) string {
	for _, w := range split(line) {
		for _, p := range []struct{ purpose, names string }{
			{"test", "test tests pytest jest vitest rspec tox"}, {"lint", "lint eslint ruff golangci-lint clippy vet"},
			{"format", "fmt format gofmt prettier black"}, {"build", "build compile"}, {"check", "check typecheck tsc mypy"},
			{"generate", "generate codegen"}, {"set up", "install sync setup"}, {"release", "release publish deploy"},
		} {
			if set(p.names)[path.Base(w)] {
				return p.purpose
			}
		}
	}
	return "run"
}

// environment is an assignment before a command.
var environment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)

// shapeOf splits a command into its head, which is its program and subcommands, and the
// names of its flags. What they are applied to is left out; specific counts that.
func shapeOf(line string) (head, flags string, specific int) {
	var parts, names []string
	for _, w := range strings.Fields(line) {
		w = strings.Trim(w, `"'`)
		switch {
		case w == "" || len(parts) == 0 && environment.MatchString(w):
		case len(parts) == 0:
			parts = append(parts, path.Base(w))
		case w[0] == '-':
			name, _, _ := strings.Cut(w, "=")
			names = append(names, name)
		case w == "." || w == "./...":
		case strings.ContainsAny(w, "/.=*:$") && !scriptName(parts, w) || len(parts) > 3:
			specific++
		default:
			parts = append(parts, w)
		}
	}
	slices.Sort(names)
	return strings.Join(parts, " "), strings.Join(slices.Compact(names), " "), specific
}

// scriptName reports whether a word names a script or a target: that of "npm run test:unit",
// or the file of "python manage.py".
func scriptName(parts []string, w string) bool {
	return strings.Contains(w, ":") && !strings.Contains(w, "/") ||
		len(parts) == 1 && path.Ext(w) != "" && path.Base(w) == w
}

// commands are what passed: one example a head, at most maxOfPurpose a purpose, general
// and repeated ones first. A line cites the sessions that ran just that. Of a head that
// ran only on parts of the project, one example is shown that says so; it is left out where
// one session ran it and the purpose has a general command.
func commands(sessions []*session) []*claim {
	seen := map[string]*command{}
	heads := map[string][]*command{}
	for _, s := range sessions {
		for _, st := range s.statements {
			c := parseCommand(st.Text)
			if c == nil || st.Kind != memoir.StatementCommand {
				continue
			}
			if seen[c.text] == nil {
				seen[c.text] = c
				heads[c.purpose+"\n"+c.head] = append(heads[c.purpose+"\n"+c.head], c)
			}
			seen[c.text].add(s, c.text)
		}
	}
	var examples []*command
	general := map[string]bool{} // purposes
	for _, list := range heads {
		best := slices.MinFunc(list, func(a, b *command) int {
			return cmp.Or(a.specific-b.specific, len(b.sessions)-len(a.sessions), len(a.line)-len(b.line),
				byAge(&a.claim, &b.claim))
		})
		if best.specific > 0 && len(list) > 1 {
			text := best.text + ", also with other arguments"
			for _, c := range list {
				best.join(&c.claim)
			}
			best.text = text
		}
		examples = append(examples, best)
		general[best.purpose] = general[best.purpose] || best.specific == 0
	}
	slices.SortFunc(examples, func(a, b *command) int {
		return cmp.Or(slices.Index(purposes, a.purpose)-slices.Index(purposes, b.purpose), len(b.sessions)-len(a.sessions),
			a.specific-b.specific, len(strings.Fields(a.line))-len(strings.Fields(b.line)), byAge(&a.claim, &b.claim))
	})
	var out []*claim
	count := map[string]int{}
	for _, c := range examples {
		if c.specific > 0 && len(c.sessions) == 1 && general[c.purpose] || count[c.purpose] == maxOfPurpose {
			continue
		}
		count[c.purpose]++
		out = append(out, &c.claim)
	}
	return out
}
