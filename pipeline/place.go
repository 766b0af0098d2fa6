package pipeline

import (
	"context"
	"fmt"
	"path/filepath"

	"memoir"
	"memoir/project"
	"memoir/store"
)

// assignProjects finds the project of each scanned session and registers those
// that are new. Sessions whose agent records no remote, and whose directory no
// longer leads to a repository, belong to the project that is known to have lived
// in that directory, be it from another agent's session of the same scan.
func (r *run) assignProjects(ctx context.Context, scans []store.SessionScan) error {
	rows, err := r.store.Projects(ctx)
	if err != nil {
		return fmt.Errorf("list projects: %w", err)
	}
	homes := map[string]memoir.Project{} // by directory; only of projects that more than a directory identifies
	for _, row := range rows {
		r.remember(homes, row.Project)
	}
	found := map[string]memoir.Project{} // by id
	place := func(s *memoir.Session, p memoir.Project) {
		s.ProjectID = p.ID
		known := found[p.ID]
		known.ID, known.Name, known.Identity = p.ID, p.Name, p.Identity
		if known.Remote == "" {
			known.Remote = p.Remote
		}
		known.Directories = append(known.Directories, p.Directories...)
		known.Aliases = append(known.Aliases, p.Aliases...)
		found[p.ID] = known
	}

	resolver := r.resolver()
	type homeless struct {
		session *memoir.Session
		project memoir.Project
	}
	var byDirectory []homeless
	for i := range scans {
		s := &scans[i].Session
		if s.Error != "" {
			continue
		}
		p, status := resolver.Identify(s.CWD, s.Remote)
		switch {
		case !status.OK():
		case status == project.Directory:
			byDirectory = append(byDirectory, homeless{s, p})
		default:
			r.remember(homes, p)
			place(s, p)
		}
	}
	for _, h := range byDirectory {
		if p, ok := homeOf(homes, h.session.CWD); ok {
			h.project = p
		}
		place(h.session, h.project)
	}

	var projects []memoir.Project
	for _, s := range scans {
		if p, ok := found[s.Session.ProjectID]; ok {
			projects = append(projects, p)
			delete(found, s.Session.ProjectID)
		}
	}
	if err := r.store.UpsertProject(ctx, projects...); err != nil {
		return fmt.Errorf("register projects: %w", err)
	}
	return nil
}

// remember notes the directories of a project that is known by more than its directory.
func (r *run) remember(homes map[string]memoir.Project, p memoir.Project) {
	for _, dir := range p.Directories {
		if dir = filepath.Clean(dir); dir != p.Identity {
			homes[dir] = memoir.Project{ID: p.ID, Name: p.Name, Identity: p.Identity, Remote: p.Remote}
		}
	}
}

// homeOf finds the project that lived in a directory or in one above it.
func homeOf(homes map[string]memoir.Project, dir string) (memoir.Project, bool) {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if p, ok := homes[dir]; ok {
			return p, true
		}
		if parent := filepath.Dir(dir); parent == dir {
			return memoir.Project{}, false
		}
	}
}

// resolver finds projects by the settings, a trusted project file and git's files.
func (r *run) resolver() *project.Resolver {
	return project.NewResolver(project.Options{
		Home:     r.opts.Env.Home,
		Explicit: func(dir string) string { return r.opts.Settings.ProjectName(dir, r.trusted) },
	})
}
