package consolidate

import (
	"maps"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

const foreignMark = " (in another repository: "

// elsewhere names the other repository that a statement is about, as its text
// says; empty for the session's own.
func elsewhere(text string) string {
	_, name, ok := strings.Cut(text, foreignMark)
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(name, ")")
	return name
}

// abroad lists what was learned of other repositories than the project's, by their
// names, whatever kind of line it is.
func (k *knowledge) abroad(p *page) {
	lines := map[string][]*claim{}
	worth := map[*claim]float64{}
	take := func(claims []*claim, value float64) {
		for _, c := range claims {
			if name := elsewhere(c.text); name != "" {
				there := *c
				there.text = strings.Replace(c.text, foreignMark+name+")", "", 1)
				lines[oneLine(name)] = append(lines[oneLine(name)], &there)
				worth[&there] = value + c.value
			}
		}
	}
	take(k.preferences, worthPreference)
	for _, g := range k.known {
		if name, ok := strings.CutPrefix(g.name, foreignArea); ok {
			lines[name] = append(lines[name], g.claims...)
			for _, c := range g.claims {
				worth[c] = worthKnown + c.value
			}
		}
	}
	take(k.environment, worthEnvironment)
	take(k.doneAbroad(), worthRecent)
	p.section(headAbroad)
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		s := p.section("### " + name)
		for _, c := range lines[name] {
			s.add("- "+c.line(), worth[c])
		}
	}
}

// maxAbroad is how many things done in other repositories are told of one session.
const maxAbroad = 3

// doneAbroad are the commands that name the repository that they work on, and what
// the newest sessions did there.
func (k *knowledge) doneAbroad() []*claim {
	var out []*claim
	byText := map[string]*claim{}
	for _, s := range k.sessions {
		done := 0
		for _, st := range s.statements {
			text := st.Text
			switch {
			case elsewhere(text) == "":
				continue
			case st.Kind == memoir.StatementCommand:
				command, verb, _ := splitCommand(strings.Replace(text, foreignMark+elsewhere(text)+")", "", 1))
				if !named.MatchString(command) {
					continue
				}
				text = "`" + command + "` " + verb + foreignMark + elsewhere(text) + ")"
			case st.Kind == memoir.StatementOutcome && substantial(text) && done < maxAbroad && s.rank >= len(k.sessions)-maxRecent && !k.page.has(text):
				done++
			default:
				continue
			}
			c := byText[text]
			if c == nil {
				c = &claim{kind: st.Kind}
				byText[text] = c
				out = append(out, c)
			}
			c.add(s, text)
		}
	}
	for _, c := range out {
		c.rate(k.last)
	}
	byValue(out)
	return out
}

var (
	// named is the repository that a command is told to work on.
	named = lazyregexp.New(`(?:^| )(?:-R|--repo)[ =]["']?(?:https://[\w.-]+/|[\w.-]+\.[a-z]+/)?([\w.-]+)/([\w.-]+?)(?:\.git)?["']?(?: |$)|\b(?:gh|glab) api (?:.* )?/?repos/([\w.-]+)/([\w.-]+)/`)
	// entered is the directory that a command goes to first.
	entered = lazyregexp.New(`^\(?\s*(?:cd|pushd) ["']?(/[^ "';&)]+|~/[^ "';&)]+)["']?\s*(?:&&|;)`)
)

// markAbroad marks the statements whose command works on another repository and that
// do not say so yet: gh --repo owner/name, cd /elsewhere && make.
func markAbroad(sessions []*session, project memoir.Project) {
	own := func(name string) bool { return strings.EqualFold(name, project.Name) }
	for _, s := range sessions {
		for i, st := range s.statements {
			switch st.Kind {
			case memoir.StatementCommand, memoir.StatementFailure:
			default:
				continue
			}
			if !strings.Contains(st.Text, "`") || elsewhere(st.Text) != "" {
				continue
			}
			command, _, _ := splitCommand(st.Text)
			if name := abroadIn(command, s.CWD, project); name != "" && !own(name) {
				s.statements[i].Text += foreignMark + name + ")"
			}
		}
	}
}

// abroadIn is the name of the repository that a command works on, if it names one or
// goes to a directory that is none of the project's.
func abroadIn(command, cwd string, project memoir.Project) string {
	if m := named.FindStringSubmatch(command); m != nil {
		if m[2]+m[4] != "" && project.Name != "" {
			return m[2] + m[4]
		}
		return ""
	}
	m := entered.FindStringSubmatch(command)
	if m == nil || cwd == "" {
		return ""
	}
	dir := path.Clean(m[1])
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		home := homeOf(cwd)
		if home == "" {
			return ""
		}
		dir = home + "/" + rest
	}
	for _, temporary := range []string{"/tmp", "/private/tmp", "/var/folders", "/private/var"} {
		if dir == temporary || strings.HasPrefix(dir, temporary+"/") {
			return ""
		}
	}
	for _, d := range append([]string{cwd}, project.Directories...) {
		if d = strings.TrimRight(d, "/"); d != "" && (dir == d || strings.HasPrefix(dir, d+"/") || strings.HasPrefix(d, dir+"/")) {
			return ""
		}
	}
	if strings.Contains(dir, "/"+project.Name+"/") {
		return "" // a directory of another checkout
	}
	return path.Base(dir)
}

// homeOf is the home directory that a path lies in.
func homeOf(dir string) string {
	parts := strings.Split(dir, "/")
	if len(parts) > 3 && (parts[1] == "Users" || parts[1] == "home") {
		return strings.Join(parts[:3], "/")
	}
	return ""
}
