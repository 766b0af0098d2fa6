package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"memoir"
	"memoir/project"
	"memoir/store"
)

// finder tells which project a directory belongs to. Sessions whose agent records
// no remote, and whose directory no longer leads to a repository, belong to the
// project that is known to have lived in that directory, be it from another
// agent's session of the same scan.
type finder struct {
	resolver resolver
	homes    map[string]memoir.Project // by directory; only of projects that more than a directory identifies
	known    map[string]bool           // identities of registered projects
	idOf     func(memoir.Project) string
}

func (r *run) newFinder(ctx context.Context) (*finder, error) {
	known, idOf, err := r.store.Known(ctx)
	if err != nil {
		return nil, err
	}
	f := &finder{homes: map[string]memoir.Project{}, known: map[string]bool{}, resolver: r.resolver(), idOf: idOf}
	for _, p := range known {
		f.known[p.Identity] = true
		f.remember(p)
	}
	return f, nil
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
	p, status := f.resolver.Identify(dir, remote)
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

// A resolver finds projects by the settings, a trusted project file and git's files.
type resolver struct {
	*project.Resolver
	redact func(string) string // remembers what it was asked: many sessions are of one project
}

func (r *run) resolver() resolver {
	var known sync.Map
	redact := func(text string) string {
		clean, ok := known.Load(text)
		if !ok {
			clean, _ = known.LoadOrStore(text, r.redact(text))
		}
		return clean.(string)
	}
	return resolver{project.NewResolver(project.Options{
		Home:     r.opts.Env.Home,
		Explicit: r.opts.Settings.ProjectFor,
		Clean:    r.cleanRemote,
	}), redact}
}

// Identify is the project of a directory and a recorded remote, without the secrets that
// git's files, or what a link leads to, have in their names.
func (r resolver) Identify(cwd, remote string) (memoir.Project, project.Status) {
	p, status := r.Resolver.Identify(cwd, remote)
	return project.Changed(p, r.redact), status
}

// assignProjects finds the project of each scanned session and registers those
// that are new. Where a directory leads to no repository, the project that is known to have
// lived there counts, also if another session of the scan told. A session that was forgotten
// belongs nowhere.
func (r *run) assignProjects(ctx context.Context, scans []store.SessionScan) error {
	finder, err := r.newFinder(ctx)
	if err != nil {
		return err
	}
	forgotten, err := r.store.Forgotten(ctx)
	if err != nil {
		return err
	}
	before, err := r.registeredUnreadable(ctx, scans)
	if err != nil {
		return err
	}
	placed := placements{found: map[string]memoir.Project{}}
	var later []*memoir.Session
	for i := range scans {
		s := &scans[i].Session
		s.ProjectID = ""
		if forgotten[s.Key()] {
			continue
		}
		if s.Error != "" { // it stays where it was, if it is one
			s.ProjectID = before[s.Key()].ProjectID
			continue
		}
		switch p, status := finder.resolver.Identify(s.CWD, s.Remote); {
		case status == project.Directory, !status.OK():
			later = append(later, s)
		default:
			finder.remember(p)
			placed.add(s, p)
		}
	}
	for _, s := range later {
		if p, status := finder.find(s.CWD, s.Remote); status.OK() {
			placed.add(s, p)
		}
	}
	ids, err := r.store.Register(ctx, placed.projects()...)
	if err != nil {
		return fmt.Errorf("register projects: %w", err)
	}
	for i := range scans {
		if id, ok := ids[scans[i].Session.ProjectID]; ok {
			scans[i].Session.ProjectID = id
		}
	}
	return nil
}

// placements are the projects of the sessions of a scan, in the order in which they came up.
type placements struct {
	found map[string]memoir.Project // by id
	order []string
}

// add makes a session one of a project.
func (f *placements) add(s *memoir.Session, p memoir.Project) {
	s.ProjectID = p.ID
	known, seen := f.found[p.ID]
	if !seen {
		f.order = append(f.order, p.ID)
		known.ID, known.Name, known.Identity = p.ID, p.Name, p.Identity
	}
	if known.Remote == "" {
		known.Remote = p.Remote
	}
	known.Directories = append(known.Directories, p.Directories...)
	known.Aliases = append(known.Aliases, p.Aliases...)
	f.found[p.ID] = known
}

func (f *placements) projects() []memoir.Project {
	projects := make([]memoir.Project, 0, len(f.order))
	for _, id := range f.order {
		projects = append(projects, f.found[id])
	}
	return projects
}

// registeredUnreadable are those of the scanned sessions that cannot be read now, as they
// are registered, by key.
func (r *run) registeredUnreadable(ctx context.Context, scans []store.SessionScan) (map[string]memoir.Session, error) {
	var keys []string
	for _, scan := range scans {
		if scan.Session.Error != "" {
			keys = append(keys, scan.Session.Key())
		}
	}
	before := map[string]memoir.Session{}
	if len(keys) == 0 {
		return before, nil
	}
	sessions, err := r.store.Sessions(ctx, store.Filter{Keys: keys})
	for _, s := range sessions {
		before[s.Key()] = s
	}
	return before, err
}
