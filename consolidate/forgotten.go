package consolidate

import (
	"fmt"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Forgotten is what must leave no trace in a memory.
type Forgotten struct {
	Extractions []memoir.Extraction // of the withdrawn sessions, if they are still stored
	Texts       []string            // lines that contain one, or a part of one that spans lines, are removed
	Unshared    []string            // keys of withdrawn sessions that nobody withdrew: the project is not shared any more
}

// leastTelling is the number of bytes of a statement or line that identify it in other text.
const leastTelling = 16

// A forgetting finds text that depends only on forgotten sessions.
type forgetting struct {
	register  register
	hand      map[string]bool
	phrases   []string        // sentences, quotations and commands of forgotten sessions only, folded
	forgotten string          // extractions of the forgotten sessions, folded
	kept      string          // extractions of the others, folded
	texts     []string        // folded
	spanned   map[string]bool // trimmed lines that contain a part of a text
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
	for _, n := range in.HandEdits {
		if n.Action == memoir.EditAdded || n.Action == memoir.EditFile {
			byHand.WriteString(strings.TrimRight(n.Text, "\n") + "\n")
		}
	}
	g.learn(byHand.String())
	for _, e := range f.Extractions {
		for line := range strings.Lines(allTexts(e)) {
			// Other headings are those of the format.
			if !isHeading(strings.TrimSpace(line)) || e.Title != "" && strings.Contains(line, e.Title) {
				gone.WriteString(line)
			}
		}
		g.phrases = append(g.phrases, phrasesOf(memoir.Statement{Text: e.Title})...)
		for _, st := range e.Statements {
			g.phrases = append(g.phrases, phrasesOf(st)...)
		}
	}
	for _, e := range append(in.baseSessions(), without(in.Extractions, in.Withdrawn)...) {
		kept.WriteString(allTexts(e) + fieldsOf(e))
	}
	g.forgotten, g.kept = folded(gone.String()), folded(kept.String())
	g.phrases = slices.DeleteFunc(g.phrases, func(text string) bool { return strings.Contains(g.kept, text) })
	return g
}

// allTexts returns the texts of an extraction, its statements also as memories have them.
func allTexts(e memoir.Extraction) string {
	text := e.RawMemory() + "\n" + e.RolloutSummary + "\n" + e.Title + "\n"
	for _, st := range e.Statements {
		text += oneLine(st.Text) + "\n"
	}
	return text
}

// fieldsOf returns what the file of statements has of an extraction besides its texts.
func fieldsOf(e memoir.Extraction) string {
	out := []string{e.CWD, e.Branch}
	for _, st := range e.Statements {
		for _, text := range st.Texts() {
			out = append(out, *text)
		}
		for _, a := range st.Anchors {
			out = append(out, a.Path, a.Text, a.Key)
		}
		out = append(out, st.Paths...)
	}
	return strings.Join(out, "\n") + "\n"
}

// learn finds the lines of a file that contain a part of a forgotten text.
func (f *forgetting) learn(content string) {
	for _, text := range f.texts {
		lines := strings.Split(content, "\n")
		for _, n := range memoir.LinesHolding(content, text) {
			f.spanned[strings.TrimSpace(lines[n-1])] = true
		}
	}
}

// holds reports whether a line contains a forgotten text or a part of one. The headings of the pages, which have
// the project's name, stay.
func (f *forgetting) holds(line string) bool {
	if strings.HasPrefix(line, "# ") && strings.Contains(f.heads, strings.TrimSpace(line)+"\n") {
		return false
	}
	return f.spanned[strings.TrimSpace(line)] ||
		slices.ContainsFunc(f.texts, func(text string) bool { return strings.Contains(memoir.Folded(line), text) })
}

// quotes reports whether a line repeats literally what only forgotten sessions said.
func (f *forgetting) quotes(line string) bool {
	line = Words(line)
	only := func(text string) bool {
		text = folded(text)
		return strings.Contains(f.forgotten, text) && !strings.Contains(f.kept, text)
	}
	return len(line) >= leastTelling && only(line) || slices.ContainsFunc(quoted.FindAllString(line, -1), only) ||
		slices.ContainsFunc(f.phrases, func(text string) bool { return strings.Contains(folded(line), text) })
}

// phrasesOf returns the parts of a statement by which other text is recognised: its sentences and quotations, and its
// commands and errors of several words.
func phrasesOf(st memoir.Statement) (out []string) {
	for _, text := range append(quoted.FindAllString(st.Text, -1), oneLine(st.Text), st.Quote) {
		out = append(out, strings.Split(sentences(text), "\x01")...)
	}
	out = slices.DeleteFunc(out, func(part string) bool { return len(strings.TrimSpace(part)) < leastTelling })
	for _, text := range append(quoted.FindAllString(st.Text, -1), st.Command, st.Error, st.Fix) {
		if text = folded(text); strings.Contains(strings.TrimSpace(text), " ") {
			out = append(out, text)
		}
	}
	return out
}

// alone reports whether a line that no person wrote repeats what only forgotten sessions said, whatever it cites.
func (f *forgetting) alone(line string) bool {
	return !f.hand[strings.TrimSpace(line)] && f.quotes(line)
}

// quoted matches quotations and commands.
var quoted = lazyregexp.New("“[^”]{3,}”|`[^`]{3,}`")

// Clean removes the lines that must be forgotten from a file that a person wrote.
func (f Forgotten) Clean(text string, in Input) string {
	if len(in.Withdrawn)+len(f.Texts) == 0 {
		return text
	}
	return f.in(in).clean(text)
}

// clean is Clean. A line that contains a forgotten text is removed whatever it cites.
func (f *forgetting) clean(text string) string {
	var out strings.Builder
	f.learn(text)
	for line := range strings.Lines(text) {
		if kept, ok := f.register.live(line); ok && !f.holds(line) {
			out.WriteString(kept)
		}
	}
	return out.String()
}

// Editor returns a function that removes forgotten text from hand edits; false means that the edit must be
// deleted. It also removes forgotten text from the position of an edit and from a line that the edit removed. What a
// person made of lines that rest on Unshared sessions becomes theirs alone: it loses the citation of these.
func (f Forgotten) Editor(in Input) func(memoir.HandEdit) (memoir.HandEdit, bool) {
	unshared := Input{Withdrawn: f.Unshared}.register()
	f.Extractions = slices.DeleteFunc(slices.Clone(f.Extractions), func(e memoir.Extraction) bool {
		return slices.Contains(f.Unshared, e.SessionKey)
	})
	g := f.in(in)
	return func(n memoir.HandEdit) (memoir.HandEdit, bool) {
		lines := strings.Split(n.Text, "\n")
		for i, line := range lines {
			own, others := unshared.live(line)
			if lines[i] = own; !others {
				lines[i] = memoir.WithoutTeam(own)
			}
		}
		n.Text = strings.Join(lines, "\n")
		for _, at := range []*string{&n.After, &n.Section} {
			if *at = g.clean(*at); g.quotes(*at) && !g.hand[strings.TrimSpace(*at)] {
				*at = ""
			}
		}
		before := n.Text
		n.Text = g.clean(n.Text)
		ok := n.Text == before || strings.TrimSpace(n.Text) != "" || n.Action == memoir.EditFile
		return n, ok && (n.Action != memoir.EditRemoved || !g.quotes(n.Text))
	}
}

// Withdraw removes the lines that depend only on withdrawn sessions of the input from the present memory, without
// a model. A line that other sessions support as well only loses the citation. A line without a citation is
// removed if it repeats what only forgotten sessions said. The summary is made from the rest. pruned is false if
// nothing had to be removed. out.Open has the sessions that are new or changed, and those of lines that lost a
// citation.
//
// The error has the code memoir.CodeInvalid if there are no extractions or no memory, else it is that of Verify.
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

// A Trace is a place in files with a trace of forgotten text.
type Trace struct {
	Path string
	Line int    // from 1; 0 means the path
	What string // as in "cites session X"
	// Alone means that the line has no name, citation or text, but repeats what only forgotten sessions said.
	Alone bool
}

// String returns "path:line what".
func (t Trace) String() string {
	if t.Line == 0 {
		return t.Path + " " + t.What
	}
	return fmt.Sprintf("%s:%d %s", t.Path, t.Line, t.What)
}

// Traces lists the places where the files of a root cite or name a withdrawn session, contain a forgotten text,
// or repeat literally what only forgotten sessions said. The last does not apply to lines that people wrote. The
// order is by path and line.
func (f Forgotten) Traces(files map[string][]byte, in Input) []Trace {
	g := f.in(in)
	var out []Trace
	for _, path := range sortedKeys(files) {
		g.learn(string(files[path]))
		if what := g.trace(path); what != "" {
			out = append(out, Trace{path, 0, what, false})
		}
		n := 0
		for line := range strings.Lines(string(files[path])) {
			n++
			if what := g.trace(line); what != "" {
				out = append(out, Trace{path, n, what, false})
			} else if g.alone(line) {
				out = append(out, Trace{path, n, "repeats what only a forgotten session has", true})
			}
		}
	}
	return out
}

// trace returns how a line, whoever wrote it, refers to a forgotten session or text; empty if it does not.
func (g *forgetting) trace(line string) string {
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
