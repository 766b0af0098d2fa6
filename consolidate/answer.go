package consolidate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/extract"
	"memoir/internal/lazyregexp"
	"memoir/model"
)

// answerSchema is the JSON Schema of an answer. Every field is required, since strict servers demand it; a
// skill's description may be empty.
var answerSchema = json.RawMessage(`{"type":"object","additionalProperties":false,` +
	`"required":["memory_md","skills"],"properties":{"memory_md":{"type":"string"},` +
	`"skills":{"type":"array","items":{"type":"object","additionalProperties":false,` +
	`"required":["name","description","content","scripts","templates","examples"],"properties":{` +
	`"name":{"type":"string"},"description":{"type":"string"},"content":{"type":"string"},` +
	`"scripts":` + filesSchema + `,"templates":` + filesSchema + `,"examples":` + filesSchema + `}}}}}`)

const filesSchema = `{"type":"array","items":{"type":"object","additionalProperties":false,` +
	`"required":["path","content"],"properties":{"path":{"type":"string"},"content":{"type":"string"}}}}`

type answer struct {
	Memory string           `json:"memory_md"`
	Skills *[]answeredSkill `json:"skills"` // nil: unchanged
}

type answeredSkill struct {
	memoir.Skill
	Description string
}

func parseAnswer(text string) (a answer, faults []string) {
	fields, err := model.Object(text, []string{"memory_md", "skills"})
	if err != nil {
		return a, []string{"it is not one JSON object: " + err.Error()}
	}
	// A hostile answer may have a million skills or files: they are counted before they are decoded.
	skills := gjson.ParseBytes(fields["skills"])
	if n := skills.Get("#").Int(); n > maxAnsweredSkills {
		return a, []string{fmt.Sprintf("there are %d skills, more than %d", n, maxAnsweredSkills)}
	}
	for _, s := range skills.Array() {
		n := s.Get("scripts.#").Int() + s.Get("templates.#").Int() + s.Get("examples.#").Int() + 1
		if n > maxSkillFiles {
			name := bare(s.Get("name").String())
			return a, []string{fmt.Sprintf("the skill %s has %d files, more than %d", name, n, maxSkillFiles)}
		}
	}
	whole, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(whole, &a)
	}
	if err != nil {
		return a, []string{"it does not have the form that was asked for: " + err.Error()}
	}
	a.Memory = strings.ReplaceAll(a.Memory, "\r\n", "\n")
	switch {
	case strings.TrimSpace(a.Memory) == "":
		faults = append(faults, "the field memory_md is missing or empty")
	case len(fences.FindAllString(a.Memory, -1))%2 != 0:
		faults = append(faults, "memory_md opens a code fence and does not close it")
	}
	return a, faults
}

// layOut converts MEMORY.md of an answer to the program's form: each line neutralised and without repetition. It drops
// lines that neither cite a session nor are a person's, and those that the sessions that they cite do not support. It
// returns the lists of sessions of the others. The citation of a heading is that of the lines below it that have none.
func (r *renewal) layOut(p *page) map[string][]string {
	lists := map[string][]string{}
	seen := map[string]bool{}
	if slices.ContainsFunc(p.sections[0].lines, isEntry) { // list entries before any heading
		p.sections = slices.Insert(p.sections, 1, &section{heading: headKnown, lines: p.sections[0].lines})
	}
	shared := ""
	for _, s := range p.sections[1:] {
		cites := lastBracket.FindString(r.recite(s.heading))
		if level(s.heading) == 2 || cites != "" {
			shared = cites
		}
		s.heading = r.headingOf(s.heading)
		var out []string
		fenced := false
		for _, text := range joined(s.lines) {
			text = r.under(shared, text)
			have, kept := r.lines[asShown(text)]
			fenced = fenced != fence(text)
			switch code := withoutBracket(text); {
			case kept:
				text = have
			case fenced && code != "" && !fence(text):
				text = r.line(memoir.CodeSpan(strings.TrimSpace(code)) + text[len(code):])
			case text == "" || isHeading(text) || ownHead.MatchString(text):
				continue
			default:
				text = r.line(text)
			}
			own := r.hand[strings.TrimSpace(text)]
			if withoutMark(Uncited(text)) == "" || seen[Uncited(text)] && !own {
				continue
			}
			if !own {
				entries := r.backed(text)
				if r.told(entries, s.heading, text) || !r.counts(entries, s.heading, text, kept) {
					continue
				}
				text = cited(withoutBracket(text), entries, lists)
			}
			seen[Uncited(text)] = true
			out = append(out, text)
		}
		s.lines = out
	}
	return lists
}

// under adds the citation of its heading to a line of an answer that has none, unless a person wrote it.
func (r *renewal) under(shared, text string) string {
	plain := strings.TrimSpace(text)
	if plain == "" || isHeading(plain) || r.hand[plain] || len(r.inputsOf(r.recite(text), nil)) > 0 {
		return text
	}
	return strings.TrimRight(text, " ") + shared
}

// counts counts a line of MEMORY.md, and reports whether its sessions back it.
func (r *renewal) counts(entries []entry, heading, line string, kept bool) bool {
	switch {
	case len(entries) == 0:
		r.uncited++
	case r.unbacked(entries, heading, line, kept):
		r.unsupported++
	default:
		r.kept++
		return true
	}
	return false
}

// headingOf returns a heading as the present memory has it, or neutralised.
func (r *renewal) headingOf(heading string) string {
	if have, ok := r.lines[asShown(heading)]; ok {
		return have
	}
	words := cut(bare(withoutBracket(strings.Trim(r.recite(heading), "# "))), 80)
	if words == "" || !(support{}).quotes(html.UnescapeString(words)) { // it cites nothing
		return headKnown
	}
	return strings.Repeat("#", max(2, min(level(heading), 3))) + " " + words
}

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

// line converts a line of an answer to a list entry, neutralised.
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
	return indent + "- " + extract.Titled(r.recite(body))
}

var fences = lazyregexp.New("(?m)^[\\s\\pZ]*(?:```|~~~)")

var inBrackets = lazyregexp.New(`\[[^\[\]]+\]`)

// recite writes the citations of a line in the standard form, ids with dates. Brackets that do not only name
// selected sessions stay.
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

// backed returns the sessions that support a line of an answer, newest first: those that it cites, and those of
// the line of the present memory that it repeats. A count "+N" without such a line is ignored.
func (r *renewal) backed(line string) []entry {
	unsure := func(e entry) bool { return r.by[e.key] != nil && r.by[e.key].unsure() }
	out := slices.DeleteFunc(r.inputsOf(line, nil), unsure)
	if len(out) == 0 {
		return nil
	}
	before := line
	if len(r.present.Citations[lineKey(line)]) == 0 && strings.Contains(lastBracket.FindString(line), "+") {
		want, best := memoir.WordsOf(line), 0
		for _, key := range sortedKeys(r.lines) {
			list := r.inputsOf(r.lines[key], r.present.Citations)
			if len(list) > 1 && slices.ContainsFunc(out, func(e entry) bool { return e.key == list[0].key }) {
				if n := want.Shared(memoir.WordsOf(r.lines[key])); n > best {
					before, best = r.lines[key], n
				}
			}
		}
	}
	out = append(out, r.inputsOf(before, r.present.Citations)...)
	rank := func(e entry) int {
		if s := r.by[e.key]; s != nil {
			return s.rank
		}
		return -1
	}
	slices.SortStableFunc(out, func(a, b entry) int {
		return cmp.Or(strings.Compare(b.date, a.date), rank(b)-rank(a), strings.Compare(a.key, b.key))
	})
	return slices.CompactFunc(out, func(a, b entry) bool { return a.key == b.key })
}
