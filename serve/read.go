package serve

import (
	"context"

	"memoir/memory"
	"memoir/operation"
	"memoir/pipeline"
	"memoir/store"
)

func (s *server) listProjects(c call) (any, error) {
	out, _, err := s.projects(c.Context(), c.st)
	return out, err
}

// projects returns all projects twice: cleaned, and the rows as stored.
func (s *server) projects(ctx context.Context, st *store.Store) (operation.Projects, []store.ProjectRow, error) {
	rows, err := pipeline.Projects(ctx, st, s.Home)
	out := operation.Projects{Projects: []operation.Project{}}
	for _, row := range rows {
		row.Project = operation.CleanProject(row.Project, s.clean)
		out.Projects = append(out.Projects, operation.ProjectOf(s.Home, row))
	}
	return out, rows, err
}

func (s *server) listGenerations(c call) (any, error) {
	generations, err := operation.Generations(c.Context(), c.st, s.Home, c.project.ID)
	return struct {
		Generations []operation.Generation `json:"generations"`
	}{generations}, err
}

func (s *server) compareGenerations(c call) (any, error) {
	from, err := number("from", c.URL.Query().Get("from"))
	if err != nil {
		return nil, err
	}
	to, err := number("to", c.URL.Query().Get("to"))
	if err != nil {
		return nil, err
	}
	return s.compare(c.project.ID, from, to)
}

func (s *server) compare(id string, from, to int) (operation.Comparison, error) {
	out, err := operation.Compare(memory.At(s.Home, id), id, from, to)
	for i := range out.Files {
		out.Files[i].Path, out.Files[i].Diff = s.clean(out.Files[i].Path), s.clean(out.Files[i].Diff)
	}
	return out, err
}

func (s *server) queue(ctx context.Context, st *store.Store) (operation.Queue, error) {
	now, err := st.Status(ctx)
	if err != nil {
		return operation.Queue{}, err
	}
	return operation.QueueOf(ctx, st, now, s.clean)
}

func (s *server) showQueue(c call) (any, error) {
	return s.queue(c.Context(), c.st)
}

func (s *server) showUsage(c call) (any, error) {
	spent, err := operation.SpentEver(c.Context(), c.st)
	return operation.Spending{UsageBy: spent}, err
}
