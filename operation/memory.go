package operation

import (
	"context"
	"strings"

	"memoir/memory"
	"memoir/store"
)

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
