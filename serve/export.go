package serve

import (
	"context"
	"time"

	"memoir"
	"memoir/operation"
	"memoir/store"
)

// exported is the content of the exported file.
type exported struct {
	At       *time.Time
	Projects operation.Projects
	Memories []exportedMemory
	Notes    operation.Entries
	Sessions operation.Sessions
	Queue    operation.Queue
	Spending operation.Spending
}

// An exportedMemory is the memory of a project and its last change.
type exportedMemory struct {
	Name    string
	Memory  Memory
	Changes *operation.Comparison // nil: no generation is archived
}

// Export returns the content of the pages as one HTML file that needs no server, script or other file.
func Export(ctx context.Context, o Options, now time.Time) ([]byte, error) {
	s := &server{Options: o}
	st, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	out := exported{At: operation.Time(now)}
	projects, rows, err := s.projects(ctx, st)
	if err != nil {
		return nil, err
	}
	out.Projects = projects
	for _, row := range rows {
		one, err := s.exportedOf(ctx, st, row)
		if err != nil {
			return nil, err
		}
		out.Memories = append(out.Memories, one)
	}
	notes, err := s.book(st).Notes(ctx, nil, "")
	if err != nil {
		return nil, err
	}
	out.Notes = operation.EntriesOf(notes)
	if out.Sessions, err = s.sessions(ctx, st, store.Filter{}); err != nil {
		return nil, err
	}
	if out.Queue, err = s.queue(ctx, st); err != nil {
		return nil, err
	}
	if out.Spending.UsageBy, err = operation.SpentEver(ctx, st); err != nil {
		return nil, err
	}
	return render(page{Name: "export", Title: "Memory", Static: true, Data: out})
}

// exportedOf returns the memory of a project with the sources of its lines.
func (s *server) exportedOf(ctx context.Context, st *store.Store, row store.ProjectRow) (
	out exportedMemory, err error) {
	out.Name = s.clean(row.Name)
	if out.Memory, err = s.memoryOf(ctx, row.ID); err != nil {
		return out, err
	}
	if err := s.fill(ctx, st, out.Memory.Text, out.Memory.lists); err != nil {
		return out, err
	}
	last, err := s.compare(row.ID, 0, 0)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		return out, nil
	}
	out.Changes = &last
	return out, err
}
