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
	head               string // program and subcommands
	specific           int    // arguments that name a file or a part of the project
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
	c.head, _, c.specific = shapeOf(c.line)
	return c, c.head != ""
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
func commands(sessions []*session) []*command {
	var out []*command
	for _, list := range byHead(sessions) {
		slices.SortStableFunc(list, func(a, b *command) int {
			return cmp.Or(a.specific-b.specific, len(b.sessions)-len(a.sessions), len(a.line)-len(b.line),
				b.newest().rank-a.newest().rank, strings.Compare(a.line, b.line), strings.Compare(a.dir, b.dir))
		})
		best := list[0]
		best.text = best.purpose + ": " + codeSpan(best.line)
		if best.dir != "" && best.dir != "." {
			best.text += " in " + codeSpan(best.dir)
		}
		if best.specific > 0 && len(list) > 1 {
			best.text += ", also with other arguments"
			for _, c := range list[1:] {
				best.sessions = append(best.sessions, c.sessions...)
			}
			slices.SortFunc(best.sessions, func(a, b *session) int { return a.rank - b.rank })
			best.sessions = slices.Compact(best.sessions)
		}
		out = append(out, best)
	}
	return pick(out)
}

// byHead groups the commands of all sessions by purpose and head. Each group has a
// command once, with the sessions that ran it.
func byHead(sessions []*session) [][]*command {
	seen := map[string]*command{}
	at := map[string]int{}
	var out [][]*command
	for _, s := range sessions {
		for _, st := range s.statements {
			c, ok := parseCommand(st.Text)
			if st.Kind != memoir.StatementCommand || !ok {
				continue
			}
			key := c.purpose + "\n" + c.line + "\n" + c.dir
			if seen[key] == nil {
				group := c.purpose + "\n" + c.head
				i, known := at[group]
				if !known {
					i = len(out)
					at[group] = i
					out = append(out, nil)
				}
				seen[key] = &c
				out[i] = append(out[i], &c)
			}
			seen[key].add(s, "")
		}
	}
	return out
}

// pick keeps the commands of each purpose: those of most sessions first, of equals the
// more general, then the newer.
func pick(all []*command) []*command {
	slices.SortStableFunc(all, func(a, b *command) int {
		return cmp.Or(slices.Index(purposes, a.purpose)-slices.Index(purposes, b.purpose), len(b.sessions)-len(a.sessions),
			a.specific-b.specific, len(strings.Fields(a.line))-len(strings.Fields(b.line)), byAge(&a.claim, &b.claim))
	})
	general := map[string]bool{}
	for _, c := range all {
		general[c.purpose] = general[c.purpose] || c.specific == 0
	}
	count := map[string]int{}
	return slices.DeleteFunc(all, func(c *command) bool {
		if c.specific > 0 && len(c.sessions) == 1 && general[c.purpose] {
			return true
		}
		count[c.purpose]++
		return count[c.purpose] > maxOfPurpose
	})
}
