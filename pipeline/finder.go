package pipeline

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unique"

	"memoir"
	"memoir/project"
	"memoir/store"
)

// finder finds the project of a directory. If a session has no remote and its directory is no longer in a
// repository, it belongs to the project that was in that directory before, according to the registry or to
// another session of the same scan.
type finder struct {
	identify func(dir, remote string) (memoir.Project, project.Status)
	homes    map[string]memoir.Project // by directory; only projects that are not identified by a directory
	known    map[string]bool           // identities of registered projects
	idOf     func(memoir.Project) string
}

func (s *scan) newFinder(ctx context.Context) (*finder, error) {
	known, idOf, err := s.store.Known(ctx)
	if err != nil {
		return nil, err
	}
	f := &finder{homes: map[string]memoir.Project{}, known: map[string]bool{}, identify: s.identifier(), idOf: idOf}
	for _, p := range known {
		f.known[p.Identity] = true
		f.remember(p)
	}
	return f, nil
}

// identifier returns a function that finds the project of a directory and a recorded remote by the settings
// and git's files. Secrets in names and remotes are redacted.
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

// remember records the directories of a project that is not identified by a directory alone.
func (f *finder) remember(p memoir.Project) {
	for _, dir := range p.Directories {
		if dir = filepath.Clean(dir); filepath.ToSlash(dir) != p.Identity &&
			!slices.Contains(p.Aliases, filepath.ToSlash(dir)) ||
			p.Remote != "" {
			f.homes[dir] = memoir.Project{ID: p.ID, Name: p.Name, Identity: p.Identity, Remote: p.Remote}
		}
	}
}

// find returns the project of a directory with the id of the registry; the status is not OK if there is
// none. A directory that is registered as a project stays one, whatever project was above it.
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

// homeOf returns the project that was in a directory or in one above it.
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

// assignProjects finds the project of each scanned session, as finder does, and registers new projects. A
// forgotten session gets no project.
func (s *scan) assignProjects(ctx context.Context, found []foundSession) error {
	finder, err1 := s.newFinder(ctx)
	forgotten, err2 := s.store.Forgotten(ctx)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	var projects []memoir.Project // in the order in which they came up
	index := map[string]int{}
	place := func(s *foundSession, p memoir.Project) {
		s.project, s.identity = p.ID, p.Identity
		i, seen := index[p.ID]
		if !seen {
			i, projects = len(projects), append(projects, memoir.Project{ID: p.ID, Name: p.Name, Identity: p.Identity})
			index[p.ID] = i
		}
		known := &projects[i]
		known.Remote = cmp.Or(known.Remote, p.Remote)
		known.Directories = append(known.Directories, p.Directories...)
		known.Aliases = append(known.Aliases, p.Aliases...)
		known.Inodes, known.Upstreams = append(known.Inodes, p.Inodes...), append(known.Upstreams, p.Upstreams...)
	}
	var later []*foundSession
	for i := range found {
		s := &found[i]
		if s.project = ""; forgotten[s.key] || s.unreadable { // an unreadable session keeps its project
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
	ids, err := s.store.Register(ctx, projects...)
	if err != nil {
		return err
	}
	for i := range found {
		if id, ok := ids[found[i].project]; ok {
			found[i].project = id
		}
	}
	return nil
}

// cleanRemote redacts the URL of a repository and removes its query.
func (r *run) cleanRemote(remote string) string {
	remote = r.redact(remote) // before the cut: half a secret is not recognised
	remote, _, _ = strings.Cut(remote, "?")
	if plain, err := url.PathUnescape(remote); err == nil { // rules do not match escaped text
		if clean := r.redact(plain); clean != plain {
			return clean
		}
	}
	return remote
}

// foundSession is a session of the scan with what is needed to find its project. The rest is assembled when
// it is saved, since a first scan may find many thousands.
type foundSession struct {
	key         string
	files       []store.FileRow
	cwd, remote unique.Handle[string] // many sessions are of one project
	unreadable  bool
	project     string // its id; empty: none
	identity    string // that the project was found by
}
