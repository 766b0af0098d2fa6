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
	purpose, line, dir string
	shape              string
	specific           int // arguments that name a file or a part of the project
}

var (
	firstSpan = lazyregexp.New("`([^`]+)`")
	inDir     = lazyregexp.New("^ in `([^`]+)`")
)

// parseCommand reads a command statement: "PURPOSE: `CMD` in `DIR` (N times)", or what
// a language model writes instead: any line with a code span.
func parseCommand(text string) (c command, ok bool) {
	at := firstSpan.FindStringSubmatchIndex(text)
	if at == nil {
		return c, false
	}
	c.line = strings.TrimSpace(text[at[2]:at[3]])
	rest := text[at[1]:]
	if m := inDir.FindStringSubmatch(rest); m != nil {
		c.dir = m[1]
	}
	before := strings.ToLower(strings.TrimRight(text[:at[0]], ": "))
	if c.purpose = before; !slices.Contains(purposes, before) {
		c.purpose = purposeOf(c.line)
	}
	c.shape, c.specific = shapeOf(c.line)
	return c, c.shape != ""
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

// shapeOf is a command's program, its subcommands and the names of its flags, without
// what they are applied to; specific counts that.
func shapeOf(line string) (shape string, specific int) {
	var parts, flags []string
	for _, w := range strings.Fields(line) {
		w = strings.Trim(w, `"'`)
		switch {
		case w == "" || len(parts) == 0 && environment.MatchString(w):
		case len(parts) == 0:
			parts = append(parts, path.Base(w))
		case w[0] == '-':
			name, _, _ := strings.Cut(w, "=")
			flags = append(flags, name)
		case w == "." || w == "./...":
		case strings.ContainsAny(w, "/.=*:$") && !scriptName(parts, w) || len(parts) > 3:
			specific++
		default:
			parts = append(parts, w)
		}
	}
	slices.Sort(flags)
	return strings.Join(append(parts, slices.Compact(flags)...), " "), specific
}

// scriptName reports whether a word names a script or a target: that of "npm run test:unit",
// or the file of "python manage.py".
func scriptName(parts []string, w string) bool {
	return strings.Contains(w, ":") && !strings.Contains(w, "/") || len(parts) == 1 && path.Ext(w) != "" && path.Base(w) == w
}

// commands are what passed: one example a shape, at most maxOfPurpose a purpose, general
// and repeated ones first.
func commands(sessions []*session) []*command {
	examples := map[string]*command{} // by purpose and line
	var order []*command
	for _, s := range sessions {
		for _, st := range s.statements {
			if st.Kind != memoir.StatementCommand {
				continue
			}
			c, ok := parseCommand(st.Text)
			if !ok {
				continue
			}
			key := c.purpose + "\n" + c.line + "\n" + c.dir
			if examples[key] == nil {
				examples[key] = &c
				order = append(order, &c)
			}
			examples[key].add(s, "")
		}
	}
	better := func(a, b *command) int { // as the example of their shape
		return cmp.Or(a.specific-b.specific, len(b.sessions)-len(a.sessions), b.newest().rank-a.newest().rank,
			strings.Compare(a.line, b.line), strings.Compare(a.dir, b.dir))
	}
	slices.SortStableFunc(order, better)
	shapes := map[string]*command{}
	var out []*command
	for _, c := range order {
		key := c.purpose + "\n" + c.shape
		if first := shapes[key]; first != nil {
			first.sessions = append(first.sessions, c.sessions...)
			continue
		}
		shapes[key] = c
		out = append(out, c)
	}
	for _, c := range out {
		slices.SortFunc(c.sessions, func(a, b *session) int { return a.rank - b.rank })
		c.sessions = slices.Compact(c.sessions)
		c.text = c.purpose + ": " + codeSpan(c.line)
		if c.dir != "" && c.dir != "." {
			c.text += " in " + codeSpan(c.dir)
		}
	}
	return pick(out)
}

// pick keeps the commands of each purpose: those of most sessions first, of equals the
// more general, then the newer.
func pick(all []*command) []*command {
	slices.SortStableFunc(all, func(a, b *command) int {
		return cmp.Or(slices.Index(purposes, a.purpose)-slices.Index(purposes, b.purpose), len(b.sessions)-len(a.sessions),
			a.specific-b.specific, len(strings.Fields(a.line))-len(strings.Fields(b.line)), byAge(&a.claim, &b.claim))
	})
	count := map[string]int{}
	return slices.DeleteFunc(all, func(c *command) bool {
		count[c.purpose]++
		return count[c.purpose] > maxOfPurpose
	})
}
