package consolidate

import (
	"fmt"
	"slices"
	"strings"

	"memoir"
)

// Forgotten is what must leave no trace in a memory.
type Forgotten struct {
	Extractions []memoir.Extraction // of the withdrawn sessions, as far as they are still known
	Texts       []string            // lines that hold one of them, or a part of one that goes on over their end, go
}

// leastTelling is how many bytes of a statement, or of a line, are enough to
// recognise it by in other text.
const leastTelling = 16

// A forgetting tells what rests on forgotten sessions alone.
type forgetting struct {
	register  register
	hand      map[string]bool
	said      []string        // statements of the forgotten sessions alone, in lower case
	forgotten string          // all that was extracted from the forgotten sessions, in lower case
	kept      string          // all that was extracted from the others, in lower case
	texts     []string        // folded
	spanned   map[string]bool // lines, without space around them, that hold a part of a text
	heads     string          // the headings of both pages, which name the project
}

func (f Forgotten) in(in Input) *forgetting {
	name := projectName(in.Project)
	g := &forgetting{register: in.register(), hand: handLines(in), spanned: map[string]bool{},
		heads: memoryTitle(name) + summaryHead(name)}
	for _, text := range f.Texts {
		if text != "" {
			g.texts = append(g.texts, memoir.Folded(text))
		}
	}
	if in.Current != nil {
		for _, text := range open(*in.Current) {
			g.learn(text)
		}
	}
	var gone, kept, byHand strings.Builder
	for _, n := range in.Notes {
		if n.Action == memoir.NoteAdded || n.Action == memoir.NoteFile {
			byHand.WriteString(strings.TrimRight(n.Text, "\n") + "\n")
		}
	}
	g.learn(byHand.String())
	for _, e := range f.Extractions {
		for line := range strings.Lines(e.RawMemory + "\n" + e.RolloutSummary + "\n" + e.Title + "\n") {
			// Other headings are the form's.
			if !isHeading(strings.TrimSpace(line)) || e.Title != "" && strings.Contains(line, e.Title) {
				gone.WriteString(line)
			}
		}
		for _, st := range statementsOf(e) {
			g.said = append(g.said, tellings(oneLine(st.Text))...)
		}
	}
	for _, e := range without(in.Extractions, in.Withdrawn) {
		kept.WriteString(e.RawMemory + "\n" + e.RolloutSummary + "\n" + e.Title + "\n")
	}
	g.forgotten, g.kept = strings.ToLower(gone.String()), strings.ToLower(kept.String())
	g.said = slices.DeleteFunc(g.said, func(text string) bool { return strings.Contains(g.kept, text) })
	return g
}

// learn finds the lines of a text that hold a part of one that is to be forgotten.
func (f *forgetting) learn(content string) {
	for _, text := range f.texts {
		lines := strings.Split(content, "\n")
		for _, n := range memoir.LinesHolding(content, text) {
			f.spanned[strings.TrimSpace(lines[n-1])] = true
		}
	}
}

// holds reports whether a line holds one of the texts, or a part of one. The project keeps its
// name, and so the headings of its pages.
func (f *forgetting) holds(line string) bool {
	if strings.HasPrefix(line, "# ") && strings.Contains(f.heads, strings.TrimSpace(line)+"\n") {
		return false
	}
	return f.spanned[strings.TrimSpace(line)] ||
		slices.ContainsFunc(f.texts, func(text string) bool { return strings.Contains(memoir.Folded(line), text) })
}

// quotes reports whether a line says, word for word, what forgotten sessions alone said.
func (f *forgetting) quotes(line string) bool {
	line = plainly(withoutMark(uncited(line)))
	if len(line) < leastTelling {
		return false
	}
	return strings.Contains(f.forgotten, line) && !strings.Contains(f.kept, line) ||
		slices.ContainsFunc(f.said, func(text string) bool { return strings.Contains(line, text) })
}

// plainly is a text in lower case, without the marks around it.
func plainly(text string) string {
	return strings.ToLower(strings.Trim(text, "#/*>“”\"'` .,;:!?—-…"))
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

// alone reports whether a line that cites nobody, and that no person wrote, says what
// only forgotten sessions said.
func (f *forgetting) alone(line string) bool {
	return !slices.ContainsFunc(idsIn(line), f.register.cited) && !f.hand[strings.TrimSpace(line)] && f.quotes(line)
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
func (f Forgotten) Clean(text string, in Input) string {
	if len(in.Withdrawn)+len(f.Texts) == 0 {
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

// Withdraw returns the present memory without what rests on the withdrawn sessions of the
// input, and asks no model. All else stays as it is. A line that others support as well stays
// without the citation; one that cites nobody goes if only forgotten sessions said what it
// says. The summary is made anew of what is left. pruned is false if nothing had to go. Open
// are the sessions that are new or changed, and those behind lines that lost a citation.
//
// The error is of memoir.CodeInvalid where there are no extractions or no memory, else that
// of Verify.
func (f Forgotten) Withdraw(in Input) (out memoir.Consolidation, pruned bool, err error) {
	in.Extractions = without(in.Extractions, in.Withdrawn)
	sessions := arrange(in.Extractions)
	if len(sessions) == 0 || in.Current == nil {
		return out, false, memoir.Errorf(memoir.CodeInvalid, "",
			"nothing to withdraw from: the project has no extractions or no memory")
	}
	var gone func(line string) bool
	if g := f.in(in); len(f.Extractions)+len(f.Texts) > 0 {
		gone = func(line string) bool { return g.holds(line) || g.alone(line) }
	}
	r := newRenewal(in, sessions, gone)
	out, err = r.asIs()
	out.Open = r.stillDue(nil)
	return out, r.pruned, err
}

// A Trace is a place where files still tell of what was forgotten.
type Trace struct {
	Path string
	Line int    // from 1; 0 means the path itself
	What string // as in "cites session X"
	// Alone: no name, citation or text tells; it says what of all sessions only forgotten ones said.
	Alone bool
}

// String is path:line and what stands there.
func (t Trace) String() string {
	if t.Line == 0 {
		return t.Path + " " + t.What
	}
	return fmt.Sprintf("%s:%d %s", t.Path, t.Line, t.What)
}

// Traces lists where files, all those of a root, still cite or name a session that
// the input says was withdrawn, hold a forgotten text, or say word for word what only
// forgotten sessions said. What people wrote by hand is theirs, as long as it cites
// none of those. In the order of paths and lines.
func (f Forgotten) Traces(files map[string][]byte, in Input) []Trace {
	g := f.in(in)
	var out []Trace
	for _, path := range sortedKeys(files) {
		g.learn(string(files[path]))
		if what := g.told(path); what != "" {
			out = append(out, Trace{path, 0, what, false})
		}
		n := 0
		for line := range strings.Lines(string(files[path])) {
			n++
			if what := g.told(line); what != "" {
				out = append(out, Trace{path, n, what, false})
			} else if g.alone(line) {
				out = append(out, Trace{path, n, "repeats what only a forgotten session said", true})
			}
		}
	}
	return out
}

// told says how a line tells of what was forgotten whoever wrote it; empty if it does not.
func (g *forgetting) told(line string) string {
	for _, id := range idsIn(line) {
		if g.register.withdrawn(id) {
			return "cites session " + id
		}
	}
	if id := g.register.names(line); id != "" {
		return "names session " + id
	}
	if g.holds(line) {
		return "contains the text"
	}
	return ""
}
