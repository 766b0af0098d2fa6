package serve

import (
	"context"
	"time"

	"memoir"
	"memoir/entry"
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
	Memory  operation.Memory
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
	if out.Projects, err = operation.ListProjects(ctx, st, s.Home, s.Clean); err != nil {
		return nil, err
	}
	for _, project := range out.Projects.Projects {
		one, err := s.exportedOf(ctx, st, project)
		if err != nil {
			return nil, err
		}
		out.Memories = append(out.Memories, one)
	}
	notes, err := entry.Book{Store: st}.Notes(ctx, nil, "")
	if err != nil {
		return nil, err
	}
	out.Notes = operation.EntriesOf(notes)
	if out.Sessions, err = operation.ListSessions(ctx, st, store.Filter{}, 0, s.Clean); err != nil {
		return nil, err
	}
	if out.Queue, err = operation.ReadQueue(ctx, st, s.Clean); err != nil {
		return nil, err
	}
	if out.Spending, err = operation.ReadSpending(ctx, st); err != nil {
		return nil, err
	}
	return render(page{Name: "export", Title: "Memory", Static: true, Data: out})
}

// exportedOf returns the memory of a project with the sources of its lines.
func (s *server) exportedOf(ctx context.Context, st *store.Store, project operation.Project) (
	out exportedMemory, err error) {
	out.Name = project.Name
	injected, err := s.Injected(ctx, project.ID)
	if err != nil {
		return out, err
	}
	if out.Memory, err = s.Memory(project.ID, injected); err != nil {
		return out, err
	}
	if err := s.Explain(ctx, st, out.Memory); err != nil {
		return out, err
	}
	last, err := s.compare(project.ID, 0, 0)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		return out, nil
	}
	out.Changes = &last
	return out, err
}
