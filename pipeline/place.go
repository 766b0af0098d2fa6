package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"memoir"
	"memoir/project"
)

// finder tells which project a directory belongs to. Sessions whose agent records
// no remote, and whose directory no longer leads to a repository, belong to the
// project that is known to have lived in that directory, be it from another
// agent's session of the same scan.
type finder struct {
	identify func(dir, remote string) (memoir.Project, project.Status)
	homes    map[string]memoir.Project // by directory; only of projects that more than a directory identifies
	known    map[string]bool           // identities of registered projects
	idOf     func(memoir.Project) string
}

func (r *run) newFinder(ctx context.Context) (*finder, error) {
	known, idOf, err := r.store.Known(ctx)
	if err != nil {
		return nil, err
	}
	f := &finder{homes: map[string]memoir.Project{}, known: map[string]bool{}, identify: r.identifier(), idOf: idOf}
	for _, p := range known {
		f.known[p.Identity] = true
		f.remember(p)
	}
	return f, nil
}

// identifier finds the project of a directory and a recorded remote by the settings, a trusted
// project file and git's files, without the secrets that those, or what a link leads to, have
// in their names.
func (r *run) identifier() func(dir, remote string) (memoir.Project, project.Status) {
	resolver := project.NewResolver(project.Options{
		Home:     r.opts.Env.Home,
		Explicit: r.opts.Settings.ProjectFor,
		Clean:    r.cleanRemote,
	})
	clean := map[string]string{} // many sessions are of one project
	redact := func(text string) string {
		if _, known := clean[text]; !known {
			clean[text] = r.redact(text)
		}
		return clean[text]
	}
	return func(dir, remote string) (memoir.Project, project.Status) {
		p, status := resolver.Identify(dir, remote)
		return project.Changed(p, redact), status
	}
}

// remember notes the directories of a project that is known by more than its directory.
func (f *finder) remember(p memoir.Project) {
	for _, dir := range p.Directories {
		if dir = filepath.Clean(dir); filepath.ToSlash(dir) != p.Identity &&
			!slices.Contains(p.Aliases, filepath.ToSlash(dir)) ||
			p.Remote != "" {
			f.homes[dir] = memoir.Project{ID: p.ID, Name: p.Name, Identity: p.Identity, Remote: p.Remote}
		}
	}
}

// find is the project of a directory, as far as the disk and the registry know,
// under the id that it is registered with; the status is not OK if there is none. A
// directory that is a project of its own stays one, whoever lived above it.
func (f *finder) find(dir, remote string) (memoir.Project, project.Status) {
	p, status := f.identify(dir, remote)
	if status == project.Directory && !f.known[p.Identity] {
		if home, ok := f.homeOf(dir); ok {
			p = home
		}
	}
	if status.OK() {
		p.ID = f.idOf(p)
	}
	return p, status
}

// homeOf finds the project that lived in a directory or in one above it.
func (f *finder) homeOf(dir string) (memoir.Project, bool) {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if p, ok := f.homes[dir]; ok {
			return p, true
		}
		if parent := filepath.Dir(dir); parent == dir {
			return memoir.Project{}, false
		}
	}
}

// assignProjects finds the project of each scanned session and registers those
// that are new. Where a directory leads to no repository, the project that is known to have
// lived there counts, also if another session of the scan told. A session that was forgotten
// belongs nowhere.
func (r *run) assignProjects(ctx context.Context, found []foundSession) error {
	finder, err := r.newFinder(ctx)
	if err != nil {
		return err
	}
	forgotten, err := r.store.Forgotten(ctx)
	if err != nil {
		return err
	}
	var projects []memoir.Project // in the order in which they came up
	index := map[string]int{}
	place := func(s *foundSession, p memoir.Project) {
		s.project = p.ID
		i, seen := index[p.ID]
		if !seen {
			i, projects = len(projects), append(projects, memoir.Project{ID: p.ID, Name: p.Name, Identity: p.Identity})
			index[p.ID] = i
		}
		known := &projects[i]
		known.Remote = cmp.Or(known.Remote, p.Remote)
		known.Directories = append(known.Directories, p.Directories...)
		known.Aliases = append(known.Aliases, p.Aliases...)
	}
	var later []*foundSession
	for i := range found {
		s := &found[i]
		if s.project = ""; forgotten[s.key] || s.unreadable { // one that cannot be read stays where it was
			continue
		}
		switch p, status := finder.identify(s.cwd.Value(), s.remote.Value()); {
		case status == project.Directory, !status.OK():
			later = append(later, s)
		default:
			finder.remember(p)
			place(s, p)
		}
	}
	for _, s := range later {
		if p, status := finder.find(s.cwd.Value(), s.remote.Value()); status.OK() {
			place(s, p)
		}
	}
	ids, err := r.store.Register(ctx, projects...)
	if err != nil {
		return fmt.Errorf("register projects: %w", err)
	}
	for i := range found {
		if id, ok := ids[found[i].project]; ok {
			found[i].project = id
		}
	}
	return nil
}
