package serve

import (
	"context"
	"time"

	"memoir"
	"memoir/store"
)

// exported is what the file has.
type exported struct {
	At       *time.Time
	Projects []Project
	Memories []exportedMemory
	Notes    noteList
	Sessions sessionList
	Queue    Queue
	Spending []day
}

// An exportedMemory is the memory of a project, and what changed in it last.
type exportedMemory struct {
	Memory  memoryView
	Changes *changes // nil: nothing was published
}

// Export is what the pages show as one HTML file, which needs no server, no script and no other file.
func Export(ctx context.Context, o Options, now time.Time) ([]byte, error) {
	s := &server{Options: o}
	st, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	out := exported{At: Time(now)}
	if out.Projects, err = s.projects(ctx, st); err != nil {
		return nil, err
	}
	rows, err := st.Projects(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		memory, err := s.exportedOf(ctx, st, row)
		if err != nil {
			return nil, err
		}
		out.Memories = append(out.Memories, memory)
	}
	if out.Notes, err = s.notesOf(ctx, st, ""); err != nil {
		return nil, err
	}
	if out.Sessions, err = s.listOf(ctx, st, store.Filter{}, ""); err != nil {
		return nil, err
	}
	if out.Queue, err = s.queue(ctx, st); err != nil {
		return nil, err
	}
	if out.Spending, err = daysOf(ctx, st); err != nil {
		return nil, err
	}
	return render("export", page{Title: "Memory", Static: true, Data: out})
}

// exportedOf is the memory of a project with what its lines rest on.
func (s *server) exportedOf(ctx context.Context, st *store.Store, row store.ProjectRow) (
	out exportedMemory, err error) {
	if out.Memory, err = s.memoryOf(ctx, st, row); err != nil {
		return out, err
	}
	_, lists, err := s.linesOf(row.ID)
	if err != nil {
		return out, err
	}
	for i, l := range out.Memory.Memory {
		if l.Rests {
			if out.Memory.Memory[i].Sources, err = s.sources(ctx, st, l.Text, lists); err != nil {
				return out, err
			}
		}
	}
	if err := s.fill(ctx, st, out.Memory.Memory); err != nil {
		return out, err
	}
	last, err := s.changesOf(ctx, st, row.ID, 0, 0)
	if memoir.CodeOf(err) == memoir.CodeNotFound {
		return out, nil
	}
	out.Changes = &last
	return out, err
}
