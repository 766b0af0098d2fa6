package operation

import (
	"context"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/store"
)

// A Line is a line of MEMORY.md or of the injected text.
type Line struct {
	Key     string // of memoir.LineKey; empty: it has no origin
	Text    string
	Project string // whose memory contains it
	Held    bool   // MEMORY.md has it
	Note    string // number, if it is a note
	Why     *Why   // set by Explain

	origin memoir.LineOrigin
	cited  []string // the sessions that it cites
}

// Memory is the text that the next session of a project gets, and the project's MEMORY.md.
type Memory struct {
	Project        string   `json:"project"`
	Generation     int      `json:"generation"`
	Injected       string   `json:"injected"`
	Content        string   `json:"content"`
	Lines          int      `json:"lines"`
	Injects, Holds []Line   `json:"-"` // lines of Injected and Content for pages
	Files          []string `json:"-"` // that can be read; see File
}

type projectMemory struct {
	project        string
	generation     int
	content        string // of MEMORY.md, redacted
	lines, summary []Line
	published      []memoir.Extraction // with statements only
	edited         map[string]memoir.LineEdit
	sessions       []memoir.Session
	files          []string
}

// Memory returns the memory of a project with the neutralised text that its next session gets. It finds the lines of
// this text in MEMORY.md by their keys.
func (a Access) Memory(projectID, injected string) (Memory, error) {
	m, err := a.readMemory(projectID)
	out := Memory{Project: projectID, Generation: m.generation, Content: m.content, Holds: m.lines,
		Lines: strings.Count(m.content, "\n"), Files: m.files}
	if err != nil {
		return out, err
	}
	user, err := a.readMemory(memoir.UserProjectID)
	if err != nil {
		return out, err
	}
	known := map[string]Line{}
	for _, l := range slices.Concat(user.summary, m.summary, user.lines, m.lines) {
		if l.Key != "" {
			known[l.Key] = l
		}
	}
	out.Injected = a.Redact(injected)
	for text := range strings.Lines(out.Injected) {
		text = strings.TrimRight(text, "\n")
		l := known[memoir.LineKey(text)]
		l.Text = text
		if number, ok := strings.CutPrefix(text, "- [#"); ok {
			l.Note, _, _ = strings.Cut(number, "]")
		}
		out.Injects = append(out.Injects, l)
	}
	return out, nil
}

func (a Access) readMemory(projectID string) (m projectMemory, err error) {
	live, err := memory.At(a.Home, projectID).Current()
	m = projectMemory{project: projectID, generation: live.Generation,
		content: a.Redact(string(live.Files[memoir.MemoryFile])), files: slices.Sorted(maps.Keys(live.Files)),
		edited: live.Manifest.Edited}
	if err != nil {
		return m, err
	}
	m.published, _ = memory.DecodeStatements(live.Files[memory.StatementsFile]) // a person may have damaged it
	a.markWritten(&live)
	lines := func(text string, held bool) (out []Line) {
		for line := range strings.Lines(a.Clean(text)) {
			l := Line{Text: strings.TrimRight(line, "\n"), Project: projectID, Held: held}
			key, known := memoir.LineKey(l.Text), false
			if l.origin, known = live.Manifest.Lines[key]; held && consolidate.IsEntry(l.Text) {
				l.cited = consolidate.Cited(l.Text, live.Manifest.Citations)
				l.origin.Hand = l.origin.Hand || !known && len(l.cited) == 0 // added since a consolidation
				known = true
			}
			if known {
				l.Key = key
			}
			out = append(out, l)
		}
		return out
	}
	m.lines, m.summary = lines(m.content, true), lines(a.Redact(string(live.Files[memoir.SummaryFile])), false)
	return m, nil
}

// Explain sets the origins of the lines of a memory, on request with the items that show them, for which it reads their
// sessions.
func (a Access) Explain(ctx context.Context, st *store.Store, m Memory, items bool) error {
	live, err := a.readMemory(m.Project)
	if err != nil {
		return err
	}
	all, err := live.statements(ctx, st)
	if err != nil {
		return err
	}
	var every []Statement
	from := make([]int, len(m.Holds)+1)
	for i, l := range m.Holds {
		every = append(every, a.source(l, live, all)...)
		from[i+1] = len(every)
	}
	if items {
		if err := a.fill(ctx, st, every); err != nil {
			return err
		}
	}
	for i := range m.Holds {
		l := &m.Holds[i]
		if l.Key != "" {
			l.Why = &Why{Lines: []string{l.Text}, Statements: every[from[i]:from[i+1]], HandWritten: l.origin.Hand}
		}
	}
	return nil
}

// File returns a file of a project's memory as the Content of one.
func (a Access) File(projectID, path string) (Memory, error) {
	text, err := memory.At(a.Home, projectID).Open(path)
	out := Memory{Project: projectID, Content: a.Clean(string(text))}
	out.Lines = strings.Count(out.Content, "\n")
	return out, err
}

// First returns the number of the first item that shows a statement; 0: unknown.
func (e Evidence) First() int { return append(e.numbers, 0)[0] }
