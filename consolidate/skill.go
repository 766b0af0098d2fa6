package consolidate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

// Bounds on the skills in an answer.
const (
	maxSkillBytes     = 32 << 10 // of each of its files
	maxSkillFiles     = 20
	maxAnsweredSkills = 16
)

// skillsOf returns the skills of an answer. Lines of a SKILL.md are dropped if no session that it or MEMORY.md cites
// supports them. A skill of which little is left, or with an order that no person gave or such a line in
// another file, stays as it is in the present memory.
func (r *renewal) skillsOf(a answer, cited []entry) (skills []memoir.Skill, faults []string) {
	if a.Skills == nil {
		return r.present.Skills, nil
	}
	has := func(name string) bool {
		return slices.ContainsFunc(skills, func(s memoir.Skill) bool { return s.Name == name })
	}
	var known support
	for _, text := range open(memoir.Consolidation{Skills: r.present.Skills}) {
		known.addText(text)
	}
	for _, n := range r.edits {
		if n.Action != memoir.EditRemoved {
			known.addText(n.Text)
		}
	}
	for _, given := range *a.Skills {
		by := r.stepsOf(append(r.cites(memoir.CutBytes(given.Content, maxSkillBytes, ""), nil), cited...))
		by.join(&known)
		s, fault := r.skillOf(given, by)
		if fault == "" && (s.Content == "" || r.strange(s, by)) {
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

// skillOf converts a skill of an answer. A skill with only a name stays as it is.
func (r *renewal) skillOf(a answeredSkill, by support) (s memoir.Skill, fault string) {
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
		if len(text) > maxSkillBytes {
			return s, fmt.Sprintf("%s has more than %d bytes", at, maxSkillBytes)
		}
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
		case folder == "":
			text = r.skillText(a.Name, a.Description, text, by)
		case strings.EqualFold(path.Ext(at), ".md"):
			text = Passive(sanitise(text))
		default:
			text = sanitise(text)
		}
		files[at] = text
	}
	return files.close().Skills[0], ""
}

// skillText makes SKILL.md from a description and a model's text, without the lines that have no support; empty
// if more lines are dropped than kept.
func (r *renewal) skillText(name, description, content string, by support) string {
	body := strings.TrimLeft(content, "\n ") + "\n"
	front := frontOf(body)
	body = body[len(front):]
	description = cmp.Or(describe(memoir.Skill{Content: front}), description)
	if strings.TrimSpace(description) == "" || !by.backsStep(description, false) {
		description = "Steps that worked in this project: " + strings.ReplaceAll(name, "-", " ") + "."
	}
	var b strings.Builder
	b.WriteString(skillHead(name, description))
	p := passivity{skill: true}
	kept, dropped, fenced := 0, 0, false
	for l := range strings.SplitSeq(strings.Trim(body, "\n"), "\n") {
		made := strings.TrimRight(p.inert(withoutFrames(sanitise(r.recite(l)))), " \t\r")
		if have, ok := r.lines[asShown(l)]; ok {
			made = have
		} else if fence(l) {
			fenced = !fenced
		} else if !by.backsStep(strings.TrimSpace(l), fenced) {
			dropped++
			continue
		}
		if made != "" && !isHeading(made) {
			kept++
		}
		b.WriteString(made + "\n")
	}
	if r.unsupported += dropped; dropped > kept {
		return ""
	}
	return tidyBreaks(b.String())
}

func (r *renewal) skill(name string) (memoir.Skill, bool) {
	i := slices.IndexFunc(r.present.Skills, func(s memoir.Skill) bool { return s.Name == name })
	if i < 0 {
		return memoir.Skill{}, false
	}
	return r.present.Skills[i], true
}

// skillHead is the frontmatter of a SKILL.md: only name and description, since other fields may give an agent
// permissions.
func skillHead(name, description string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(cut(bare(description), 480))
	return "---\nname: " + name + "\ndescription: \"" + quoted + "\"\n---\n\n"
}

func describe(s memoir.Skill) string {
	for l := range strings.Lines(s.Content) {
		if d, ok := strings.CutPrefix(l, "description: "); ok {
			d = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(d), `"`), `"`)
			return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(d)
		}
	}
	return ""
}

// frontOf returns the frontmatter of a SKILL.md with its two marks.
func frontOf(text string) string {
	const mark = "---\n"
	if rest, ok := strings.CutPrefix(text, mark); ok {
		if end := strings.Index(rest, "\n"+mark); end >= 0 {
			return text[:len(mark)+end+1+len(mark)]
		}
	}
	return ""
}

// strange reports whether a skill has an order that no person gave, or a line without support. Text that a tool only
// printed does not count.
func (r *renewal) strange(s memoir.Skill, by support) bool {
	for at, text := range open(memoir.Consolidation{Skills: []memoir.Skill{s}}) {
		fenced := !strings.EqualFold(path.Ext(at), ".md")
		for l := range strings.Lines(text) {
			l = strings.TrimSpace(l)
			_, kept := r.lines[asShown(l)]
			switch {
			case kept || r.hand[l]:
			case fence(l):
				fenced = !fenced
			case prompts.Instructs(l) && !by.wants(l), path.Base(at) != memoir.SkillMD && !by.backsStep(l, fenced):
				r.unsupported++
				return true
			}
		}
	}
	return false
}

// commandsIn returns the commands of a line: the whole line in a script, else its code spans that are not the name of
// a thing, and one that is the whole value of the line, perhaps with a directory, or begins a step.
func commandsIn(line string, script, step bool) (commands []string) {
	if script {
		if strings.HasPrefix(line, "#") || shellOptions.MatchString(line) {
			return nil
		}
		return []string{strings.TrimPrefix(line, "$ ")}
	}
	line = Words(line)
	first := alone.MatchString(line) || step && strings.HasPrefix(line, "`")
	for part, code := range pieces(line) {
		if part = strings.TrimSpace(strings.Trim(part, "`")); code && (first || !thing.MatchString(part)) {
			commands, first = append(commands, part), false
		}
	}
	return commands
}

var (
	alone = lazyregexp.New("^(?:[^`]*: )?`+[^`]+`+(?: in `[^`]+`|, also with other arguments)*\\.?$")
	thing = lazyregexp.New(`^[\w@#:-][\w@#:./*+=-]*(?:\(\))?$|^\.\w+$`)
)

// shellOptions matches a line that sets options of the shell and runs nothing.
var shellOptions = lazyregexp.New(`^set -[A-Za-z]+( pipefail)?$`)
