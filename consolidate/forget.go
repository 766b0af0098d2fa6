package consolidate

import (
	"context"
	"slices"
	"strings"

	"memoir"
)

// Forgotten is what must leave no trace in a memory.
type Forgotten struct {
	Extractions []memoir.Extraction // of the withdrawn sessions, as far as they are still known
	Texts       []string            // lines that hold one of them, or a part of one that goes on over their end, go; see memoir.Folded
}

// leastTelling is how many bytes of a statement, or of a line, are enough to
// recognise it by in other text.
const leastTelling = 16

// A forgetting tells what rests on forgotten sessions alone.
type forgetting struct {
	register   register
	hand       map[string]bool
	statements []*saying       // of the forgotten sessions
	said       []string        // what they say in words of their own, in lower case
	texts      []string        // folded
	spanned    map[string]bool // lines, without space around them, that hold a part of a text
	forgotten  string          // all that was extracted from the forgotten sessions, in lower case
	kept       string          // all that was extracted from the others, in lower case
}

func (f Forgotten) in(in Input) *forgetting {
	out := &forgetting{register: in.register(), hand: handLines(in), spanned: map[string]bool{}}
	for _, text := range f.Texts {
		if text != "" {
			out.texts = append(out.texts, memoir.Folded(text))
		}
	}
	out.learnSpans(in)
	var gone, kept strings.Builder
	for _, e := range f.Extractions {
		for line := range strings.Lines(e.RawMemory + "\n" + e.RolloutSummary + "\n" + e.Title + "\n") {
			if !isHeading(strings.TrimSpace(line)) || e.Title != "" && strings.Contains(line, e.Title) { // other headings are the form's
				gone.WriteString(line)
			}
		}
		for _, st := range allStatements(e) {
			text := oneLine(st.Text)
			out.said = append(out.said, tellings(text)...)
			out.statements = append(out.statements, newSaying(text))
		}
	}
	for _, e := range without(in.Extractions, in.Withdrawn) {
		kept.WriteString(e.RawMemory + "\n" + e.RolloutSummary + "\n" + e.Title + "\n")
	}
	out.forgotten, out.kept = strings.ToLower(gone.String()), strings.ToLower(kept.String())
	out.said = slices.DeleteFunc(out.said, func(text string) bool { return strings.Contains(out.kept, text) })
	return out
}

// learnSpans finds the lines of a memory, and of what a person changed in it, on which a
// text stands that goes on over their end.
func (f *forgetting) learnSpans(in Input) {
	if len(f.texts) == 0 {
		return
	}
	if in.Current != nil {
		for _, text := range open(*in.Current).text {
			f.learn(text)
		}
	}
	var added strings.Builder // the lines that were added to a file one after the other
	file := ""
	for _, n := range in.Notes {
		if n.Action == memoir.NoteFile {
			f.learn(n.Text)
		}
		if n.Action != memoir.NoteAdded {
			continue
		}
		if n.File != file {
			f.learn(added.String())
			added.Reset()
			file = n.File
		}
		added.WriteString(strings.TrimRight(n.Text, "\n") + "\n")
	}
	f.learn(added.String())
}

// learn finds the lines of a text that hold a part of one that is to be forgotten.
func (f *forgetting) learn(content string) {
	for _, text := range f.texts {
		numbers := memoir.LinesHolding(content, text)
		if len(numbers) == 0 {
			continue
		}
		lines := strings.Split(content, "\n")
		for _, n := range numbers {
			f.spanned[strings.TrimSpace(lines[n-1])] = true
		}
	}
}

// holds reports whether a line holds one of the texts, or a part of one.
func (f *forgetting) holds(line string) bool {
	if len(f.texts) == 0 {
		return false
	}
	folded := memoir.Folded(line)
	return f.spanned[strings.TrimSpace(line)] || slices.ContainsFunc(f.texts, func(text string) bool { return strings.Contains(folded, text) })
}

// quotes reports whether a line says, word for word, what forgotten sessions alone said.
func (f *forgetting) quotes(line string) bool {
	line = plainly(listMark.ReplaceAllString(strings.TrimSpace(line), ""))
	if len(line) < leastTelling {
		return false
	}
	if strings.Contains(f.forgotten, line) && !strings.Contains(f.kept, line) {
		return true
	}
	return slices.ContainsFunc(f.said, func(text string) bool { return strings.Contains(line, text) })
}

// plainly is a text in lower case, without the marks around it: of a comment, a
// quotation, the end of a sentence.
func plainly(text string) string {
	return strings.ToLower(strings.Trim(text, "#/*>“”\"'` .,;:!?—-"))
}

// tellings are the parts of a statement that tell where a text has it from: the
// whole, and what it quotes.
func tellings(text string) []string {
	out := []string{plainly(text)}
	for part := range strings.SplitSeq(text, "“") {
		if quoted, _, ok := strings.Cut(part, "”"); ok {
			out = append(out, plainly(quoted))
		}
	}
	return slices.DeleteFunc(out, func(part string) bool { return len(part) < leastTelling })
}

// line is a line that a person wrote as it may stand: without citations of
// withdrawn sessions. One that rests on such sessions alone, names one in full or
// holds a forgotten text may not stand.
func (f *forgetting) line(line string) (string, bool) {
	if f.holds(line) {
		return "", false
	}
	return f.register.live(line)
}

// Clean is text of a file that a person wrote, without the lines that may not stand.
// Without anything to forget it is the same.
func (f Forgotten) Clean(text string, in Input) string {
	if len(in.Withdrawn) == 0 && len(f.Texts) == 0 {
		return text
	}
	return f.in(in).clean(text)
}

func (f *forgetting) clean(text string) string {
	var out strings.Builder
	f.learn(text)
	for line := range strings.Lines(text) {
		if line, ok := f.line(line); ok {
			out.WriteString(line)
		}
	}
	return out.String()
}

// Editor returns what takes the trace of what is forgotten out of notes; false
// means that nothing of the note may stay. Where a note stands, and what it took
// away, may be told in words of a forgotten session: those go, too.
func (f Forgotten) Editor(in Input) func(memoir.Note) (memoir.Note, bool) {
	g := f.in(in)
	return func(n memoir.Note) (memoir.Note, bool) {
		for _, at := range []*string{&n.After, &n.Section} {
			if line, ok := g.line(*at); !ok || g.quotes(line) && !g.hand[strings.TrimSpace(line)] {
				*at = ""
			} else {
				*at = line
			}
		}
		var ok bool
		switch n.Action {
		case memoir.NoteAdded:
			n.Text, ok = g.line(n.Text)
			return n, ok
		case memoir.NoteRemoved:
			n.Text, ok = g.line(n.Text)
			return n, ok && !g.quotes(n.Text)
		case memoir.NoteFile:
			n.Text = g.clean(n.Text)
		}
		return n, true
	}
}

// withdrawal is what forgets without asking a model.
type withdrawal struct{ forgotten Forgotten }

var _ Consolidator = withdrawal{}

// NewWithdrawal returns a consolidator that asks nobody: the present memory comes
// back without what rests on the withdrawn sessions of the input, and all else stays
// as it is. A line that others support as well stays without the citation; one that
// cites nobody goes if only forgotten sessions said what it says.
func NewWithdrawal(f Forgotten) Consolidator { return withdrawal{f} }

// Name tells a generation that forgetting made, in its manifest.
func (withdrawal) Name() string { return "memoir/withdrawal" }

// Consolidate asks nobody; the usage is zero. Its error is of memoir.CodeInvalid where there
// are no extractions or no memory, else that of Verify or of the context.
func (w withdrawal) Consolidate(ctx context.Context, in Input) (memoir.Consolidation, memoir.Usage, error) {
	in.Extractions = without(in.Extractions, in.Withdrawn)
	sessions := arrange(in.Extractions)
	if len(sessions) == 0 || in.Current == nil {
		return memoir.Consolidation{}, memoir.Usage{}, memoir.Errorf(memoir.CodeInvalid, "", "nothing to withdraw from: the project has no extractions or no memory")
	}
	if err := ctx.Err(); err != nil {
		return memoir.Consolidation{}, memoir.Usage{}, err
	}
	g := w.forgotten.in(in)
	current, dropped := g.withoutTexts(*in.Current)
	in.Current = &current
	r := newRenewal(in, sessions)
	present, unsaid := g.withoutUncited(r, r.present)
	if dropped || unsaid {
		r.pruned = true
		r.setPresent(present)
	}
	out, err := r.asIs()
	return out, memoir.Usage{}, err
}

// withoutTexts is a memory without the lines that hold a forgotten text. A skill
// whose head holds one goes.
func (g *forgetting) withoutTexts(c memoir.Consolidation) (memoir.Consolidation, bool) {
	a, any := open(c), false
	for _, name := range slices.Sorted(mapKeys(a.text)) {
		if !a.has(name) || !g.holds(a.get(name)) && !g.holds(name) {
			continue
		}
		any = true
		if _, file, isSkill := skillPath(name); isSkill && (g.holds(name) || file == skillFile && g.holds(frontOf(a.get(name)))) {
			a.remove(name)
			continue
		}
		var out strings.Builder
		for line := range strings.Lines(a.get(name)) {
			if !g.holds(line) {
				out.WriteString(line)
			}
		}
		a.put(name, out.String())
	}
	if !any {
		return c, false
	}
	return a.close(), true
}

// withoutUncited is a memory without the lines that cite nobody and say what only
// forgotten sessions said. A file beside a skill goes whole: half a script is none.
func (g *forgetting) withoutUncited(r *renewal, c memoir.Consolidation) (memoir.Consolidation, bool) {
	a, any := open(c), false
	for _, name := range slices.Sorted(mapKeys(a.text)) {
		if !a.has(name) {
			continue
		}
		_, file, isSkill := skillPath(name)
		var out strings.Builder
		lost := 0
		front := len(strings.SplitAfter(frontOf(a.get(name)), "\n")) - 1
		n := 0
		for line := range strings.Lines(a.get(name)) {
			n++
			if !g.alone(r, line, isSkill) {
				out.WriteString(line)
				continue
			}
			lost++
			if isSkill && (file != skillFile || n <= front) {
				lost = -1
				break
			}
		}
		switch {
		case lost < 0:
			a.remove(name)
		case lost > 0:
			a.put(name, out.String())
		}
		any = any || lost != 0
	}
	if !any {
		return c, false
	}
	return a.close(), true
}

// alone reports whether a line that cites nobody and that no person wrote says what
// only forgotten sessions said: in a skill word for word, elsewhere about.
func (g *forgetting) alone(r *renewal, line string, literal bool) bool {
	text := strings.TrimSpace(line)
	if text == "" || r.hand[text] || slices.ContainsFunc(brackets.FindAllString(text, -1), func(b string) bool {
		return slices.ContainsFunc(bracketIDs(b), r.register.cited)
	}) {
		return false
	}
	if g.quotes(text) {
		return true
	}
	if literal || !isEntry(text) {
		return false
	}
	want := r.sayingOf(text)
	if len(want.words) == 0 {
		return false
	}
	like := func(have *saying) bool { return likeLine(want, have) }
	return (slices.ContainsFunc(g.statements, like) || slices.ContainsFunc(r.gone, like)) && !r.says(want)
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
