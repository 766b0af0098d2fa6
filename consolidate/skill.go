package consolidate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

// Bounds of the skills in an answer.
const (
	maxSkillBytes     = 32 << 10 // of each of its files
	maxSkillFiles     = 20
	maxAnsweredSkills = 16
)

// skillsOf are the skills of an answer. One that gives an order nobody gave, or takes a step
// that nobody took, is left as it is now.
func (r *renewal) skillsOf(a answer) (skills []memoir.Skill, faults []string) {
	if a.Skills == nil {
		return r.present.Skills, nil
	}
	has := func(name string) bool {
		return slices.ContainsFunc(skills, func(s memoir.Skill) bool { return s.Name == name })
	}
	for _, given := range *a.Skills {
		s, fault := r.skillOf(given)
		if fault == "" && r.strange(s) {
			var there bool
			if s, there = r.skill(s.Name); !there {
				continue
			}
		}
		switch {
		case fault != "":
			faults = append(faults, fault)
		case has(s.Name):
			faults = append(faults, "the skill "+s.Name+" occurs twice")
		default:
			skills = append(skills, s)
		}
	}
	gone := 0
	for _, s := range r.present.Skills {
		if !has(s.Name) {
			gone++
		}
	}
	if gone > 2 && 2*gone > len(r.present.Skills) {
		faults = append(faults,
			fmt.Sprintf("%d of %d present skills are missing: to keep one, name it with an empty content",
				gone, len(r.present.Skills)))
	}
	slices.SortFunc(skills, func(a, b memoir.Skill) int { return strings.Compare(a.Name, b.Name) })
	return skills, faults
}

// skillOf makes a skill of what an answer holds for it. A present skill is given
// by its name alone.
func (r *renewal) skillOf(a answeredSkill) (s memoir.Skill, fault string) {
	a.Name = strings.TrimSpace(a.Name)
	present, there := r.skill(a.Name)
	switch empty := strings.TrimSpace(a.Content) == ""; {
	case !memoir.LegalSkill(a.Name):
		return s, fmt.Sprintf("%q is not a name of a skill: lower-case words joined by single hyphens",
			cut(oneLine(a.Name), 80))
	case empty && there:
		return present, ""
	case empty:
		return s, "the skill " + a.Name + " is empty, and no present skill has that name"
	}
	files := artifacts{}
	given := open(memoir.Consolidation{Skills: []memoir.Skill{a.Skill}})
	for _, at := range sortedKeys(given) {
		_, folder, rest, ok := memoir.SkillPath(at)
		if !ok {
			continue
		}
		text := strings.ReplaceAll(given[at], "\r\n", "\n")
		if faults := r.register.faults(at, text, r.hand); len(faults) > 0 {
			return s, faults[0]
		}
		if folder != "" { // some repeat the folder in the path
			at = strings.TrimSuffix(at, rest) + strings.TrimPrefix(rest, folder+"/")
		}
		switch err := memoir.CheckPath(at); {
		case err != nil:
			return s, err.Error()
		case strings.ContainsFunc(at, func(c rune) bool { return c <= ' ' || c > '~' }):
			return s, fmt.Sprintf("path %q may only have letters, digits and marks of ASCII", at)
		case len(text) > maxSkillBytes:
			return s, fmt.Sprintf("%s has more than %d bytes", at, maxSkillBytes)
		case folder == "":
			text = r.skillText(a.Name, a.Description, text)
		case strings.EqualFold(path.Ext(at), ".md"):
			text = Passive(tame(text))
		default:
			text = tame(text)
		}
		files[at] = text
	}
	if len(files) > maxSkillFiles {
		return s, fmt.Sprintf("the skill %s has %d files, more than %d", a.Name, len(files), maxSkillFiles)
	}
	return files.close().Skills[0], ""
}

// skillText makes SKILL.md of a description and what a model wrote.
func (r *renewal) skillText(name, description, content string) string {
	body := strings.TrimLeft(content, "\n ") + "\n"
	front := frontOf(body)
	body = body[len(front):]
	description = cmp.Or(describe(memoir.Skill{Content: front}), description)
	if strings.TrimSpace(description) == "" {
		description = "Steps that worked in this project: " + strings.ReplaceAll(name, "-", " ") + "."
	}
	var b strings.Builder
	b.WriteString(skillHead(name, description))
	p := passivity{skill: true}
	for l := range strings.SplitSeq(strings.Trim(body, "\n"), "\n") {
		made := strings.TrimRight(p.inert(withoutFrames(tame(r.recite(l)))), " \t\r")
		if have, ok := r.lines[asShown(l)]; ok {
			made = have
		}
		b.WriteString(made + "\n")
	}
	return tidyBreaks(b.String())
}

// skill returns the present skill of a name.
func (r *renewal) skill(name string) (memoir.Skill, bool) {
	i := slices.IndexFunc(r.present.Skills, func(s memoir.Skill) bool { return s.Name == name })
	if i < 0 {
		return memoir.Skill{}, false
	}
	return r.present.Skills[i], true
}

// skillHead is the frontmatter of a SKILL.md: name and description alone, as other fields give an
// agent rights.
func skillHead(name, description string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(cut(bare(description), 480))
	return "---\nname: " + name + "\ndescription: \"" + quoted + "\"\n---\n\n"
}

// describe returns the description in the head of a SKILL.md.
func describe(s memoir.Skill) string {
	for l := range strings.Lines(s.Content) {
		if d, ok := strings.CutPrefix(l, "description: "); ok {
			d = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(d), `"`), `"`)
			return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(d)
		}
	}
	return ""
}

// frontOf is the head of a SKILL.md between its two marks, with them.
func frontOf(text string) string {
	const mark = "---\n"
	if rest, ok := strings.CutPrefix(text, mark); ok {
		if end := strings.Index(rest, "\n"+mark); end >= 0 {
			return text[:len(mark)+end+1+len(mark)]
		}
	}
	return ""
}

// strange reports whether a skill holds an order that nobody gave, or a command that no session ran
// or was asked for and that the memory did not have. What a tool only printed is no step.
func (r *renewal) strange(s memoir.Skill) bool {
	known := r.knownSteps()
	for at, text := range open(memoir.Consolidation{Skills: []memoir.Skill{s}}) {
		fenced := strings.Contains(at, "/scripts/")
		for l := range strings.Lines(text) {
			l = strings.TrimSpace(l)
			_, kept := r.lines[asShown(l)]
			unknown := func(command string) bool { return !stands(command, known) }
			switch {
			case kept || r.hand[l]:
			case fence(l):
				fenced = !fenced
			case prompts.Instructs(l) && !r.wanted(l), slices.ContainsFunc(commandsIn(l, fenced), unknown):
				return true
			}
		}
	}
	return false
}

// commandsIn are the commands of a line: all of it in a script, else its code spans of
// more than one word.
func commandsIn(line string, script bool) (commands []string) {
	if script {
		if strings.HasPrefix(line, "#") || shellOptions.MatchString(line) {
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

// knownSteps is the text in which commands of a skill must stand: what sessions stated
// except of their environment and what a failing command printed, the present skills, and
// what people wrote.
func (r *renewal) knownSteps() string {
	var known []string
	for _, s := range r.sessions {
		for _, st := range s.statements {
			switch st.Kind {
			case memoir.StatementEnvironment, memoir.StatementClaim:
			case memoir.StatementFailure:
				command, after, _ := strings.Cut(st.Text, " failed")
				_, remedy, _ := strings.Cut(after, "; ")
				known = append(known, command, remedy)
			default:
				known = append(known, st.Text)
			}
		}
	}
	for _, text := range open(memoir.Consolidation{Skills: r.present.Skills}) {
		known = append(known, text)
	}
	for _, n := range r.notes {
		known = append(known, n.Text)
	}
	return squeezed(strings.Join(known, "\x00"))
}

// shellOptions matches a line that sets options of the shell and runs nothing.
var shellOptions = lazyregexp.New(`^set -[A-Za-z]+( pipefail)?$`)

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
