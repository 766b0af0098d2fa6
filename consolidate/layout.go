package consolidate

import (
	"fmt"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// memoryHeads and summaryHeads are the headings of the two files in their order.
var (
	memoryHeads  = []string{headPreferences, headCommands, headKnown, headFailures, headFiles, headEnvironment, headAbroad, headRecent, headOpen, headNotes}
	summaryHeads = []string{headByHand, headManner, headWants, headBuild, headAvoid, headWorth, headEnds}
)

// A draught is a memory that is being laid out.
type draught struct {
	renewal         *renewal
	memory, summary *page
	skills          []memoir.Skill
	uncited, cited  int // lines of MEMORY.md that cite nothing, and were dropped; and those that do

	// Bytes of the lines that were dropped as nobody's wish, which count where the size of
	// an answer is judged: one that is too large is none, whatever it consists of.
	foreignMemory, foreignSummary int
}

// layOut gives two pages the form in which the built-in model writes them: the
// chapters in their order, one line a claim, each with its citations in one form,
// no line twice. Heads, the list of sessions and the map are the program's own.
func (r *renewal) layOut(memory, summary *page, skills []memoir.Skill) *draught {
	d := &draught{renewal: r, memory: memory, summary: summary, skills: skills}
	present := readPage(r.present.MemoryMD)
	briefing := readPage(r.present.MemorySummary)

	memory.drop(headSessions)
	if loose := claimsOf(memory.head); len(loose) > 0 { // claims before any heading
		s := &section{heading: headKnown, lines: loose}
		memory.sections = append([]*section{s}, memory.sections...)
	}
	memory.inOrder(memoryHeads, headKnown, true, func(h string) bool { return present.find(h) != nil })
	d.tidy(memory, nil)
	r.oneArea(memory)
	said := map[string]string{} // what MEMORY.md says, with its citation
	for _, s := range memory.sections {
		for _, l := range s.lines {
			said[r.sayingOf(l.text).text] = lastBracket.FindString(l.text)
		}
	}

	summary.drop(headMap)
	if loose := claimsOf(summary.head); len(loose) > 0 {
		summary.sections = append([]*section{{heading: headWorth, lines: loose}}, summary.sections...)
	}
	summary.inOrder(summaryHeads, headWorth, false, func(h string) bool { return briefing.find(h) != nil })
	d.tidy(summary, said)

	name := r.title
	memory.head = headOf(name, r.sessions, len(skills))
	list := memory.section(headSessions)
	list.lines = r.listed()
	summary.head = "# " + projectName(name) + ": what earlier sessions taught\n"
	return d
}

// oneArea takes the heading off the only area of what is known, as long as no
// person wrote it.
func (r *renewal) oneArea(p *page) {
	known := p.find(headKnown)
	if known == nil || len(known.lines) > 0 {
		return
	}
	var areas []*section
	for _, s := range p.sections[slices.Index(p.sections, known)+1:] {
		if level(s.heading) == 2 {
			break
		}
		if len(s.lines) > 0 {
			areas = append(areas, s)
		}
	}
	if len(areas) == 1 && !r.hand[areas[0].heading] {
		known.lines, areas[0].lines = areas[0].lines, nil
	}
}

// listed are the entries of the list of sessions.
func (r *renewal) listed() []*line {
	p := &page{}
	(&knowledge{sessions: r.sessions}).index(p)
	return append(p.sections[0].lines, r.index...)
}

// list is the list of sessions as a text.
func (r *renewal) list() string {
	var b strings.Builder
	for _, l := range r.listed() {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// claimsOf are the list entries that cite something in the head of a page.
func claimsOf(head string) []*line {
	var out []*line
	for l := range strings.Lines(head) {
		if l = strings.TrimRight(l, "\n"); isEntry(strings.TrimSpace(l)) {
			out = append(out, &line{text: l})
		}
	}
	return out
}

// tidy gives each line of a page its form. Lines that neither cite a session nor
// stood in the memory before go, unless said knows their citation.
func (d *draught) tidy(p *page, said map[string]string) {
	r := d.renewal
	d.title(p)
	seen := map[string]bool{}
	for _, s := range p.sections {
		var out []*line
		parent := ""
		for _, text := range joined(s.lines) {
			have, kept := r.lines[asShown(text)]
			if kept {
				text = have
			} else if text = r.line(text); text == "" && (len(out) == 0 || isEntry(strings.TrimSpace(out[len(out)-1].text))) {
				continue // between entries of a list no line is blank
			}
			if text == "" {
				out = append(out, &line{})
				continue
			}
			if !kept && (fence(text) || r.sayingOf(text).text == "") {
				continue // new claims are lines of a list
			}
			bracket := lastBracket.FindString(text)
			nested := text[0] == ' ' || text[0] == '\t'
			if !kept && !r.citing(text) {
				switch {
				case nested && parent != "":
					text, bracket = text+" "+parent, parent
				case said[r.sayingOf(text).text] != "":
					text += " " + said[r.sayingOf(text).text]
				default:
					if said == nil {
						d.uncited++
					}
					continue
				}
			}
			if !kept && r.foreign(s.heading, text) {
				r.foreignTold++
				if said == nil {
					d.foreignMemory += len(text) + 1
				} else {
					d.foreignSummary += len(text) + 1
				}
				continue
			}
			if !kept && !isEntry(strings.TrimSpace(text)) {
				text = "- " + text
			}
			if said == nil {
				d.cited++
			}
			if !nested {
				parent = bracket
			}
			if key := r.sayingOf(text).text; isEntry(strings.TrimSpace(text)) && !r.hand[strings.TrimSpace(text)] {
				if seen[key] {
					continue
				}
				seen[key] = true
			}
			out = append(out, &line{text: text})
		}
		s.lines = out
		s.trim()
	}
}

// title gives the headings that were not there before the form of one; what stands
// under a heading without words belongs to the one above it.
func (d *draught) title(p *page) {
	var out []*section
	for _, s := range p.sections {
		if have, ok := d.renewal.lines[asShown(s.heading)]; ok {
			s.heading = have
		} else {
			words := cut(bare(strings.Trim(s.heading, "# ")), 80)
			if words == "" && len(out) > 0 {
				out[len(out)-1].lines = append(out[len(out)-1].lines, s.lines...)
				continue
			}
			s.heading = s.heading[:min(level(s.heading), 3)] + " " + words
		}
		out = append(out, s)
	}
	p.sections = out
}

// joined are lines with those that only continue a list entry put behind it.
func joined(lines []*line) []string {
	var out []string
	fenced := false
	for _, l := range lines {
		if fence(l.text) {
			fenced = !fenced
		}
		last := len(out) - 1
		further := l.text != "" && (l.text[0] == ' ' || l.text[0] == '\t') && !isEntry(strings.TrimSpace(l.text)) && !fence(l.text)
		if !fenced && further && last >= 0 && isEntry(strings.TrimSpace(out[last])) {
			out[last] += " " + strings.TrimSpace(l.text)
			continue
		}
		out = append(out, l.text)
	}
	return out
}

// line is a model's line in the form of a memory's.
func (r *renewal) line(text string) string {
	body := strings.TrimLeft(text, " \t")
	indent := ""
	if len(body) < len(text) && isEntry(body) {
		indent = "  "
	}
	for _, mark := range []string{"* ", "+ "} {
		if rest, ok := strings.CutPrefix(body, mark); ok {
			body = "- " + rest
		}
	}
	body = withoutTags(strings.Join(strings.Fields(memoir.WithoutFloods(strings.Map(shown, body))), " "))
	if body == "" {
		return ""
	}
	return indent + r.recite(body)
}

// citing reports whether a line cites a session that is an input.
func (r *renewal) citing(text string) bool {
	for _, bracket := range brackets.FindAllString(text, -1) {
		if slices.ContainsFunc(bracketIDs(bracket), r.register.cited) {
			return true
		}
	}
	return false
}

var inBrackets = lazyregexp.New(`\[[^\[\]]+\]`)

// recite writes the citations of a line in their one form: short id and date, the
// newest first. Brackets that name anything but selected sessions stay.
func (r *renewal) recite(text string) string {
	return inBrackets.ReplaceAllStringFunc(text, func(bracket string) string {
		var from []*session
		more := ""
		for part := range strings.FieldsFuncSeq(bracket[1:len(bracket)-1], func(c rune) bool { return c == ',' || c == ';' }) {
			part = strings.Trim(strings.TrimSpace(part), "`")
			if strings.HasPrefix(part, "+") && strings.Trim(part[1:], "0123456789") == "" {
				more = ", " + part
				continue
			}
			id, _, _ := strings.Cut(part, " ")
			s := r.session(id)
			if s == nil {
				return bracket
			}
			from = append(from, s)
		}
		if len(from) == 0 {
			return bracket
		}
		slices.SortFunc(from, func(a, b *session) int { return b.rank - a.rank })
		from = slices.Compact(from)
		return strings.TrimSuffix(citations(from, len(from)), "]") + more + "]"
	})
}

// headOf begins MEMORY.md.
func headOf(name string, sessions []*session, skills int) string {
	when := sessions[0].date
	if last := sessions[len(sessions)-1].date; last != when {
		when += " to " + last
	}
	head := "# Memory of " + projectName(name) + "\n\n" + fmt.Sprintf(
		"Learned from %s (%s). Each line ends with the sessions it rests on; see Sessions below for their summaries.\n",
		plural(len(sessions), "session"), when)
	if skills > 0 {
		head += fmt.Sprintf("Procedures that recur are written down in skills/ (%d).\n", skills)
	}
	return head
}
