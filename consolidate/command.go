package consolidate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// tallyCommands joins the runs of one command over all sessions, and the
// variants of one command that differ only in what they were pointed at. Commands
// that ran in other repositories are left out.
func tallyCommands(sessions []*session) []*claim {
	var all []*usage
	byText := map[string]*usage{}
	for _, s := range sessions {
		for _, st := range s.statements {
			if st.Kind != memoir.StatementCommand || elsewhere(st.Text) != "" {
				continue
			}
			name, verb, runs := splitCommand(st.Text)
			u := byText[name]
			if u == nil {
				u = &usage{claim: &claim{kind: st.Kind, tokens: strings.Fields(name)}, name: name}
				u.base = baseOf(u.tokens)
				byText[name] = u
				all = append(all, u)
			}
			u.add(s, "")
			u.runs += runs
			u.verb = verb
			u.note = cmp.Or(commandNote(st.Text), u.note)
		}
	}
	byBase := map[string][]*usage{}
	var order []string
	for _, u := range all {
		if len(byBase[u.base]) == 0 {
			order = append(order, u.base)
		}
		byBase[u.base] = append(byBase[u.base], u)
	}
	out := make([]*claim, 0, len(order))
	for _, base := range order {
		c := join(base, byBase[base])
		if len(c.from) == 1 && strings.Contains(c.text, "/tmp/") {
			continue // of that session's making
		}
		out = append(out, c)
	}
	return out
}

// A usage is one command as it was run.
type usage struct {
	*claim
	name string // as run
	base string // without what it was pointed at
	verb string
	note string // " — runs `…`": what it was seen to run
}

// join makes one claim of the variants of a command: the general form if it ran,
// else the shape that they share with the newest as an example.
func join(base string, group []*usage) *claim {
	if len(group) == 1 {
		c := group[0].claim
		c.text = "`" + group[0].name + "`" + ran(group[0].verb, c.runs) + group[0].note
		c.order = order(group[0].name, group[0].verb)
		return c
	}
	joined := &claim{kind: group[0].kind, tokens: strings.Fields(base)}
	example := group[0]
	var general *usage
	for _, g := range group {
		joined.runs += g.runs
		joined.from = append(joined.from, g.from...)
		if g.name == base {
			general = g
			continue
		}
		if example.name == base || g.newest().rank > example.newest().rank || g.newest() == example.newest() && g.runs > example.runs {
			example = g
		}
	}
	slices.SortFunc(joined.from, func(a, b *session) int { return a.rank - b.rank })
	joined.from = slices.Compact(joined.from)
	joined.order = order(base, example.verb)
	if general != nil {
		joined.text = "`" + base + "`" + ran(general.verb, joined.runs) + general.note
		return joined
	}
	joined.text = fmt.Sprintf("`%s …`%s, e.g. `%s`", base, ran(example.verb, joined.runs), example.name)
	return joined
}

// baseOf is a command without what it was pointed at: paths, names of tests,
// values of settings, and the options that take them.
func baseOf(words []string) string {
	var out []string
	from := 1 // the program and, behind "cd dir &&", its directory stay
	if len(words) > 3 && words[0] == "cd" && words[2] == "&&" {
		from = 4
	}
	if len(words) > from && interpreters[words[from-1]] {
		from++ // and the script that it runs
	}
	quoted := ""
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case quoted != "": // inside a quotation that has spaces
			if strings.HasSuffix(w, quoted) {
				quoted = ""
			}
		case i < from || assigns(w) && len(out) < from:
			if assigns(w) {
				from++
			}
			out = append(out, w)
		case selects[w] && i+1 < len(words):
			i++
			if q := words[i][:1]; (q == `"` || q == "'") && (len(words[i]) == 1 || !strings.HasSuffix(words[i], q)) {
				quoted = q
			}
		case strings.Trim(w, "v0123456789.+") == "": // a version, a number
		case w == "--nocapture" || w == "--exact" || w == "--ignored":
		case w[0] == '"' || w[0] == '\'':
			if q := w[:1]; len(w) == 1 || !strings.HasSuffix(w, q) {
				quoted = q
			}
		case strings.HasPrefix(w, "-") || w == "./..." || w == "." || w == "--":
			if name, _, ok := strings.Cut(w, "="); ok && selects[name] {
				continue
			}
			out = append(out, w)
		case strings.Contains(w, "@") || !strings.ContainsAny(w, "/.:=_") || strings.Contains(w, ":") && !strings.Contains(w, "::") && !strings.ContainsAny(w, "/._"):
			out = append(out, w)
		}
	}
	for len(out) > 1 && out[len(out)-1] == "--" {
		out = out[:len(out)-1]
	}
	return strings.Join(out, " ")
}

// assigns reports whether a word in front of a command sets a variable for it.
func assigns(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" || w == "sudo"
}

// selects are the options that choose a part of the work.
var selects = map[string]bool{
	"-run": true, "--run": true, "-k": true, "-t": true, "-p": true, "--package": true, "--test": true, "--grep": true, "-g": true, "--filter": true, "--testNamePattern": true,
	"--tests": true, "-m": true, "--only": true, "--spec": true, "-count": true, "-timeout": true,
}

// Kinds of commands, in the order in which an engineer asks for them.
const (
	kindTest = iota + 1
	kindLint
	kindBuild
	kindFormat
	kindRun
	kindOther
)

// order tells the kind of a command by its words and by what was said of it.
func order(name, verb string) int {
	has := func(parts ...string) bool {
		for _, w := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == ':' || r == '-' || r == '/' || r == '.' }) {
			for _, p := range parts {
				if strings.HasPrefix(w, p) {
					return true
				}
			}
		}
		return false
	}
	program, sub, _ := strings.Cut(stepKey(name), " ")
	sub, _, _ = strings.Cut(sub, " ")
	switch sub {
	case "install", "i", "add", "get", "trust", "toolchain", "update", "upgrade", "publish", "version", "mod", "require":
		return kindOther
	}
	switch {
	case program == "uv" || strings.HasPrefix(sub, "version:"):
		return kindOther
	case strings.HasPrefix(verb, "formats"), strings.HasPrefix(verb, "fixes"):
		return kindFormat
	case has("test", "pytest", "bats", "vitest", "jest", "spec", "e2e"):
		return kindTest
	case strings.HasPrefix(verb, "passes"):
		return kindLint
	case has("build", "compile", "dist", "make", "bundle"):
		return kindBuild
	}
	return kindRun
}

// fewCommands is how many commands there must be for those that install, and ran in
// one session only, to be left out. How a release is made is seldom seen, and wanted.
const fewCommands = 5

// byUse orders commands: those of most sessions first, then by kind, then the
// newest, then those run most often. Of one program and subcommand two stay.
func byUse(claims []*claim) []*claim {
	slices.SortFunc(claims, func(a, b *claim) int {
		return cmp.Or(
			cmp.Compare(min(len(b.from), 4), min(len(a.from), 4)),
			cmp.Compare(a.order, b.order),
			cmp.Compare(b.newest().rank, a.newest().rank),
			cmp.Compare(b.runs, a.runs),
			strings.Compare(a.text, b.text),
		)
	})
	count := map[string]int{}
	var out []*claim
	for _, c := range claims {
		if c.order == kindOther && len(c.from) == 1 && len(out) >= fewCommands && c.purpose() != "release" {
			continue // was needed once
		}
		name, _, _ := splitCommand(c.text)
		family := stepKey(name)
		if count[family]++; count[family] > 2 {
			continue
		}
		out = append(out, c)
	}
	return out
}

// splitCommand reads a statement such as "`go test ./...` passes (ran 3 times, 1 failed)";
// runs are those that did not fail.
func splitCommand(text string) (name, verb string, runs int) {
	runs = 1
	rest := ""
	if inner, ok := strings.CutPrefix(text, "`"); ok {
		inner = strings.TrimLeft(inner, "` ")
		if end := strings.IndexByte(inner, '`'); end >= 0 {
			name, rest = inner[:end], strings.TrimLeft(inner[end:], "`")
		}
	}
	if name == "" {
		return strings.ReplaceAll(text, "`", ""), "", 1
	}
	if i := strings.Index(rest, " — runs "); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.Index(rest, "(ran "); i >= 0 {
		digits := rest[i+5:]
		if end := strings.IndexByte(digits, ' '); end > 0 {
			if n, err := strconv.Atoi(digits[:end]); err == nil && n > 0 {
				runs = n
			}
			if _, failed, ok := strings.Cut(digits, "times, "); ok {
				if n, err := strconv.Atoi(failed[:max(0, strings.IndexByte(failed, ' '))]); err == nil && n >= 0 && n < runs {
					runs -= n
				}
			}
		}
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '('); i >= 0 && strings.HasSuffix(rest, " failed)") {
		rest = rest[:i]
	}
	return strings.TrimSpace(name), strings.TrimSpace(rest), runs
}

// commandNote is what a statement tells of a command behind its counts: " — runs `…`".
func commandNote(text string) string {
	i := strings.Index(text, " — runs `")
	if i < 0 {
		return ""
	}
	rest := text[i+len(" — runs `"):]
	end := strings.IndexByte(rest, '`')
	if end <= 0 {
		return ""
	}
	return text[i : i+len(" — runs `")+end+1]
}

// ran renders a verb and a count of runs.
func ran(verb string, runs int) string {
	if verb == "" {
		verb = "works"
	}
	if runs > 1 {
		return fmt.Sprintf(" %s (ran %d times)", verb, runs)
	}
	return " " + verb
}

// counted is how often a session changed or read a file, behind its path.
var counted = lazyregexp.New(`^ ?[—–-] ?(?:changed|read)(?: (?:\d+ times|once|twice))?`)

// fileNote is what a statement tells of a file beyond counts: " (adds `…`)", or what a
// language model says that it is for.
func fileNote(text string) string {
	for _, begin := range []string{" (adds ", " (generated"} {
		if i := strings.Index(text, begin); i >= 0 && strings.HasSuffix(text, ")") {
			return text[i:]
		}
	}
	end := strings.LastIndexByte(text[:strings.IndexByte(text+" ", ' ')], '`') + 1
	note := strings.Trim(counted.ReplaceAllString(text[end:], ""), " :;,.—–-")
	if strings.HasPrefix(note, "(") && strings.HasSuffix(note, ")") {
		note = note[1 : len(note)-1]
	}
	if len(strings.Fields(note)) < 2 {
		return ""
	}
	return " (" + note + ")"
}

// tallyFiles joins what sessions say of one file.
func tallyFiles(sessions []*session) []*claim {
	var claims []*claim
	byPath := map[string]*claim{}
	reads := map[*claim]int{}
	notes := map[*claim]string{} // of the newest session that tells more
	for _, s := range sessions {
		for _, st := range s.statements {
			if st.Kind != memoir.StatementFile || elsewhere(st.Text) != "" {
				continue
			}
			name, what, _ := splitCommand(st.Text)
			if strings.ContainsAny(name, " \t") {
				continue
			}
			c := byPath[name]
			if c == nil {
				c = &claim{kind: st.Kind, text: name, tokens: []string{name}}
				byPath[name] = c
				claims = append(claims, c)
			}
			c.add(s, "")
			if note := fileNote(st.Text); note != "" {
				notes[c] = note
			}
			n := 1
			for w := range strings.FieldsSeq(what) {
				if k, err := strconv.Atoi(w); err == nil {
					n = k
				}
			}
			switch {
			case strings.HasPrefix(what, "— read"):
				reads[c] += n
			case counted.MatchString(what):
				c.runs += n
			}
		}
	}
	for _, c := range claims {
		switch {
		case c.runs == 0 && reads[c] == 0:
			c.text = "`" + c.text + "` — " + cmp.Or(strings.TrimSuffix(strings.TrimPrefix(notes[c], " ("), ")"), "matters")
			continue
		case c.runs == 0:
			c.text = fmt.Sprintf("`%s` — read %d times", c.text, reads[c])
		case len(c.from) > 1:
			c.text = fmt.Sprintf("`%s` — changed in %d sessions", c.text, len(c.from))
		case c.runs > 1:
			c.text = fmt.Sprintf("`%s` — changed %d times", c.text, c.runs)
		default:
			c.text = fmt.Sprintf("`%s` — changed", c.text)
		}
		c.text += notes[c]
	}
	return claims
}
