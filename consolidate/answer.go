package consolidate

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"memoir"
	"memoir/model"
)

// answerSchema is the form of an answer. Every field is required, as strict
// servers want it; a skill's description may be empty.
var answerSchema = json.RawMessage(`{"type":"object","additionalProperties":false,` +
	`"required":["memory_md","memory_summary","skills"],"properties":{` +
	`"memory_md":{"type":"string"},"memory_summary":{"type":"string"},` +
	`"skills":{"type":"array","items":{"type":"object","additionalProperties":false,` +
	`"required":["name","description","content","scripts","templates","examples"],"properties":{` +
	`"name":{"type":"string"},"description":{"type":"string"},"content":{"type":"string"},` +
	`"scripts":` + filesSchema + `,"templates":` + filesSchema + `,"examples":` + filesSchema + `}}}}}`)

const filesSchema = `{"type":"array","items":{"type":"object","additionalProperties":false,` +
	`"required":["path","content"],"properties":{"path":{"type":"string"},"content":{"type":"string"}}}}`

// Bounds of the skills in an answer.
const (
	maxSkillBytes     = 32 << 10 // of each of its files
	maxSkillFiles     = 20
	maxAnsweredSkills = 16
)

// An answer is what a model made of a memory, as it wrote it.
type answer struct {
	memory, summary string
	skills          []answeredSkill
	keepSkills      bool // it says nothing of skills
}

type answeredSkill struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Content     string             `json:"content"`
	Scripts     []memoir.SkillFile `json:"scripts"`
	Templates   []memoir.SkillFile `json:"templates"`
	Examples    []memoir.SkillFile `json:"examples"`
}

// parseAnswer reads an answer's fields one by one, so that all that is wrong is
// told at once.
func parseAnswer(text string) (a answer, faults []string) {
	fields, err := model.Object(text, []string{"memory_md", "memory_summary", "skills"})
	if err != nil {
		return a, []string{"it is not one JSON object: " + err.Error()}
	}
	for _, field := range []struct {
		name string
		to   *string
	}{{"memory_md", &a.memory}, {"memory_summary", &a.summary}} {
		name, to := field.name, field.to
		switch raw, ok := fields[name]; {
		case !ok:
			faults = append(faults, "the field "+name+" is missing")
		case json.Unmarshal(raw, to) != nil:
			faults = append(faults, "the field "+name+" is not a string")
		case strings.TrimSpace(*to) == "":
			faults = append(faults, "the field "+name+" is empty")
		}
		*to = strings.ReplaceAll(*to, "\r\n", "\n")
	}
	raw, ok := fields["skills"]
	if !ok || string(raw) == "null" {
		a.keepSkills = true
		return a, faults
	}
	var each []json.RawMessage
	if json.Unmarshal(raw, &each) != nil {
		faults = append(faults, "the field skills is not a list")
	}
	if len(each) > maxAnsweredSkills {
		faults = append(faults, fmt.Sprintf("there are %d skills, more than %d", len(each), maxAnsweredSkills))
		each = nil
	}
	for i, raw := range each {
		var s answeredSkill
		if json.Unmarshal(raw, &s) != nil {
			faults = append(faults, fmt.Sprintf("skills[%d] does not have the form of a skill", i))
			continue
		}
		a.skills = append(a.skills, s)
	}
	return a, faults
}

// skillOf makes a skill of what an answer holds for it. A present skill is given
// by its name alone. The head of SKILL.md is written anew, with name and
// description only: others of its fields give an agent rights.
func (r *renewal) skillOf(a answeredSkill) (s memoir.Skill, fault string) {
	name := strings.TrimSpace(a.Name)
	if !legalSkill(name) {
		return s, fmt.Sprintf("%q is not a name of a skill: lower-case words joined by single hyphens",
			cut(oneLine(name), 80))
	}
	present, there := r.skill(name)
	if strings.TrimSpace(a.Content) == "" {
		if there {
			return present, ""
		}
		return s, "the skill " + name + " is empty, and there is none of that name to keep"
	}
	s = memoir.Skill{Name: name}
	files := 0
	for _, set := range []struct {
		dir  string
		from []memoir.SkillFile
		to   *[]memoir.SkillFile
	}{
		{"scripts/", a.Scripts, &s.Scripts}, {"templates/", a.Templates, &s.Templates},
		{"examples/", a.Examples, &s.Examples},
	} {
		taken := map[string]bool{}
		for _, f := range set.from {
			f.Path = strings.TrimPrefix(f.Path, set.dir)
			switch folded := strings.ToLower(f.Path); {
			case !legalPath(f.Path):
				return s, fmt.Sprintf("the skill %s has a file with the path %q: it must be relative and stay in %s",
					name, cut(oneLine(f.Path), 80), set.dir)
			case taken[folded]:
				return s, fmt.Sprintf("the skill %s has the file %s twice", name, path.Join(set.dir, f.Path))
			case len(f.Content) > maxSkillBytes:
				return s, fmt.Sprintf("the file %s of the skill %s has more than %d bytes",
					path.Join(set.dir, f.Path), name, maxSkillBytes)
			default:
				taken[folded] = true
			}
			f.Content = tame(strings.ReplaceAll(f.Content, "\r\n", "\n"))
			if strings.EqualFold(path.Ext(f.Path), ".md") {
				f.Content = Passive(f.Content)
			}
			*set.to = append(*set.to, f)
			files++
		}
	}
	if files > maxSkillFiles {
		return s, fmt.Sprintf("the skill %s has %d files, more than %d", name, files, maxSkillFiles)
	}
	if len(a.Content) > maxSkillBytes {
		return s, fmt.Sprintf("the skill %s has more than %d bytes", name, maxSkillBytes)
	}
	s.Content = r.skillText(name, a.Description, strings.ReplaceAll(a.Content, "\r\n", "\n"))
	return s, ""
}

// skillText makes SKILL.md of a description and what a model wrote.
func (r *renewal) skillText(name, description, content string) string {
	body := strings.TrimLeft(content, "\n ")
	if rest, ok := strings.CutPrefix(body, "---\n"); ok {
		if front, rest, ok := strings.Cut(rest, "\n---"); ok {
			if d := describe(memoir.Skill{Content: front + "\n"}); d != "" {
				description = d
			}
			_, body, _ = strings.Cut(rest, "\n")
		}
	}
	if strings.TrimSpace(description) == "" {
		description = "Steps that worked in this project: " + strings.ReplaceAll(name, "-", " ") + "."
	}
	var b strings.Builder
	b.WriteString("---\nname: " + yamlName(name) + "\ndescription: " + yamlString(description) + "\n---\n\n")
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
