package consolidate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
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
	if !memoir.LegalSkill(name) {
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
			case memoir.CheckPath(memoir.SkillsDir+"/"+name+"/"+set.dir+f.Path) != nil,
				strings.ContainsFunc(f.Path, func(c rune) bool { return c <= ' ' || c > '~' }):
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

// layOut gives a model's MEMORY.md the program's form: each line neutralised, once, with
// one citation. Lines that neither cite a session nor stood there before are dropped.
func (r *renewal) layOut(p *page) (*page, map[string][]string) {
	lists := map[string][]string{}
	r.kept, r.uncited = 0, 0
	seen := map[string]bool{}
	if slices.ContainsFunc(p.sections[0].lines, isEntry) { // claims before any heading
		p.sections = slices.Insert(p.sections, 1, &section{heading: headKnown, lines: p.sections[0].lines})
	}
	for _, s := range p.sections[1:] {
		s.heading = r.headingOf(s.heading)
		var out []string
		for _, text := range joined(s.lines) {
			have, kept := r.lines[asShown(text)]
			switch {
			case kept:
				text = have
			case strings.TrimSpace(text) == "" || isHeading(text) || strings.HasPrefix(text, headFrom+" "):
				continue
			case r.unordered(s.heading, text):
				continue
			default:
				text = r.line(text)
			}
			if withoutMark(uncited(text)) == "" {
				continue
			}
			entries := r.backed(text, kept)
			key := uncited(text)
			own := r.hand[strings.TrimSpace(text)]
			switch {
			case len(entries) > 0 && !own:
				r.kept++
				text = strings.TrimRight(lastBracket.ReplaceAllString(text, ""), " ") + " " + bracketOf(entries)
				if len(entries) > 1 {
					lists[lineKey(text)] = keysOf(entries)
				}
			case !kept || !own && text != "":
				r.uncited++
				continue
			}
			if !seen[key] || own {
				seen[key] = true
				out = append(out, text)
			}
		}
		s.lines = out
	}
	return p, lists
}

// headingOf is a heading in the form of one that stood there, or neutralised.
func (r *renewal) headingOf(heading string) string {
	if have, ok := r.lines[asShown(heading)]; ok {
		return have
	}
	words := cut(bare(strings.Trim(heading, "# ")), 80)
	if words == "" {
		return headKnown
	}
	return strings.Repeat("#", max(2, min(level(heading), 3))) + " " + words
}

// layOutSummary neutralises a model's summary, and joins its sections of one heading.
func (r *renewal) layOutSummary(p *page) *page {
	for i, s := range p.sections[1:] {
		s.heading = r.headingOf(s.heading)
		var out []string
		for _, text := range joined(s.lines) {
			if have, kept := r.lines[asShown(text)]; kept {
				out = append(out, have)
			} else if r.unordered(s.heading, text) {
				continue
			} else if text = r.line(text); text != "" {
				out = append(out, text)
			}
		}
		s.lines = out
		for _, earlier := range p.sections[1 : i+1] {
			if earlier.heading == s.heading {
				earlier.lines, s.lines = append(earlier.lines, s.lines...), nil
				break
			}
		}
	}
	p.sections = slices.DeleteFunc(p.sections, func(s *section) bool { return s.heading != "" && len(s.lines) == 0 })
	return p
}

// joined are lines with those that only continue a list entry put behind it.
func joined(lines []string) []string {
	var out []string
	fenced := false
	for _, l := range lines {
		if fence(l) {
			fenced = !fenced
		}
		last := len(out) - 1
		further := strings.HasPrefix(l, "  ") && !isEntry(strings.TrimSpace(l)) && !fence(l)
		if !fenced && further && last >= 0 && isEntry(strings.TrimSpace(out[last])) {
			out[last] += " " + strings.TrimSpace(l)
			continue
		}
		out = append(out, l)
	}
	return out
}

// line is a model's line in the form of a memory's: an entry of a list, neutralised.
func (r *renewal) line(text string) string {
	body := strings.TrimLeft(text, " \t")
	indent := ""
	if len(body) < len(text) && isEntry(body) {
		indent = "  "
	}
	body = withoutMark(body)
	body = withoutTags(strings.Join(strings.Fields(memoir.WithoutFloods(strings.Map(shown, body))), " "))
	if body == "" || fence(body) {
		return ""
	}
	return indent + "- " + r.recite(body)
}

var inBrackets = lazyregexp.New(`\[[^\[\]]+\]`)

// recite writes the citations of a line in their one form, of ids and dates. Brackets that
// name anything but selected sessions stay.
func (r *renewal) recite(text string) string {
	return inBrackets.ReplaceAllStringFunc(text, func(bracket string) string {
		var parts []string
		separates := func(c rune) bool { return c == ',' || c == ';' }
		for part := range strings.FieldsFuncSeq(strings.Trim(bracket, "[]"), separates) {
			part = strings.Trim(strings.TrimSpace(part), "`")
			id, _, _ := strings.Cut(part, " ")
			s := r.by[r.register.inputs.key(id)]
			switch {
			case s != nil:
				parts = append(parts, s.cite())
			case len(parts) > 0 && strings.HasPrefix(part, "+") && strings.Trim(part[1:], "0123456789") == "":
				parts = append(parts, part)
			default:
				return bracket
			}
		}
		return "[" + strings.Join(parts, ", ") + "]"
	})
}

// backed are the sessions behind a line of an answer, newest first: those that it cites, and
// those of the present line that it takes up. A count that no present line
// backs does not count.
func (r *renewal) backed(line string, kept bool) []entry {
	own := r.entries(line, nil)
	own = slices.DeleteFunc(own, func(e entry) bool { return !r.register.keys[e.key] })
	if len(own) == 0 {
		return nil
	}
	bracket := lastBracket.FindString(line)
	before := ""
	switch {
	case kept || len(r.present.Citations[lineKey(line)]) > 0:
		before = line
	case strings.Contains(bracket, "+"):
		want, best := words(line), 0
		for _, have := range sortedKeys(r.lines) {
			have = r.lines[have]
			list := r.entries(have, r.present.Citations)
			if len(list) > 1 && slices.ContainsFunc(own, func(e entry) bool { return e.key == list[0].key }) {
				if n := common(want, words(have)); n > best {
					before, best = have, n
				}
			}
		}
	}
	if before != "" {
		for _, e := range r.entries(before, r.present.Citations) {
			if r.register.keys[e.key] && !slices.ContainsFunc(own, func(o entry) bool { return o.key == e.key }) {
				own = append(own, e)
			}
		}
	}
	for i, e := range own {
		if s := r.by[e.key]; s != nil {
			own[i].short, own[i].date = s.short, s.date
		}
	}
	slices.SortStableFunc(own, func(a, b entry) int {
		rank := func(e entry) int {
			if s := r.by[e.key]; s != nil {
				return s.rank
			}
			return -1
		}
		return cmp.Or(strings.Compare(b.date, a.date), rank(b)-rank(a), strings.Compare(a.key, b.key))
	})
	return slices.CompactFunc(own, func(a, b entry) bool { return a.key == b.key })
}

func keysOf(entries []entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.key+" "+e.date)
	}
	return out
}
