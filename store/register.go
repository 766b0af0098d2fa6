package store

import (
	"context"
	"maps"
	"slices"

	"memoir"
)

// Register brings projects that were found into the registry, and returns by the
// id of each the id of the registered project that it is: its own if it is new.
// Two processes that find the same at once register it once. When nothing changes,
// nothing is written.
func (s *Store) Register(ctx context.Context, found ...memoir.Project) (map[string]string, error) {
	ids := map[string]string{}
	changes := false
	err := s.read(ctx, func(t tx) error {
		a, err := readAtlas(t)
		if err != nil {
			return err
		}
		for _, p := range found {
			at := a.resolve(p)
			ids[p.ID] = at.id
			changes = changes || a.changes(p, at)
		}
		return nil
	})
	if err != nil || !changes {
		return ids, s.explain(err, "looking for projects")
	}
	err = s.quickly(ctx, func(t tx) error {
		a, err := readAtlas(t)
		if err != nil {
			return err
		}
		for _, p := range found {
			if ids[p.ID], err = a.register(t, p); err != nil {
				return err
			}
		}
		return nil
	})
	return ids, s.explain(err, "registering projects")
}

// Known returns what identifies the registered projects, ordered by id. It costs
// less than Projects, which counts.
func (s *Store) Known(ctx context.Context) ([]memoir.Project, error) {
	var projects []memoir.Project
	err := s.read(ctx, func(t tx) error {
		a, err := readAtlas(t)
		if err != nil {
			return err
		}
		for _, id := range slices.Sorted(maps.Keys(a.projects)) {
			projects = append(projects, a.projects[id].Project)
		}
		return nil
	})
	return projects, s.explain(err, "reading what projects are known by")
}

// Resolver returns what tells, of a project that was found, the id of the
// registered one that it is, as the registry is now; of one that is new its own.
func (s *Store) Resolver(ctx context.Context) (func(memoir.Project) string, error) {
	var a *atlas
	err := s.read(ctx, func(t tx) (err error) {
		a, err = readAtlas(t)
		return err
	})
	return func(p memoir.Project) string {
		if id := a.resolve(p).id; id != "" {
			return id
		}
		return p.ID
	}, s.explain(err, "reading what projects are known by")
}

// Resolve returns the registered project that one that was found is; an error of
// code CodeNotFound if none.
func (s *Store) Resolve(ctx context.Context, p memoir.Project) (ProjectRow, error) {
	var found []ProjectRow
	err := s.read(ctx, func(t tx) error {
		a, err := readAtlas(t)
		if err != nil {
			return err
		}
		found, err = selectProjects(t, `WHERE p.id = ?`, a.resolve(p).id)
		return err
	})
	if err == nil && len(found) == 0 {
		return ProjectRow{}, memoir.Errorf(memoir.CodeNotFound, "`memoir projects` lists them",
			"no project is known as %q", p.Identity)
	}
	if err != nil {
		return ProjectRow{}, s.explain(err, "finding project %q", p.ID)
	}
	return found[0], nil
}

// changes reports whether registering p would write anything.
func (a *atlas) changes(p memoir.Project, at resolution) bool {
	k := a.projects[at.id]
	if k == nil {
		return true
	}
	next := a.next(p, at)
	return k.Name != next.Name || k.Identity != next.Identity || k.Remote != next.Remote ||
		!containsAll(k.Directories, next.Directories) || !containsAll(k.Aliases, next.Aliases)
}

// next is what the project that p is will be registered with.
func (a *atlas) next(p memoir.Project, at resolution) memoir.Project {
	k := a.projects[at.id]
	if k == nil {
		return p
	}
	out := p
	out.ID = k.ID
	if p.Identity != k.Identity && !at.takeOver {
		// What this one was before: it adds to what is known, and changes nothing.
		out.Name, out.Identity, out.Remote = k.Name, k.Identity, k.Remote
		out.Aliases = append(slices.Clone(p.Aliases), p.Identity)
	}
	if out.Remote == "" {
		out.Remote = k.Remote
	}
	if k.keepsName(out) {
		out.Name = k.Name
	}
	out.Aliases = slices.DeleteFunc(slices.Clone(out.Aliases), func(alias string) bool { return alias == out.Identity })
	return out
}

// register writes one project down and returns its id.
func (a *atlas) register(t tx, p memoir.Project) (string, error) {
	at := a.resolve(p)
	next := a.next(p, at)
	if a.changes(p, at) {
		if err := upsertProject(t, next); err != nil {
			return "", err
		}
		a.apply(next)
	}
	return next.ID, nil
}

// apply changes the atlas as upsertProject changed the registry: what was written
// decides about the projects that follow.
func (a *atlas) apply(p memoir.Project) {
	k := a.projects[p.ID]
	if k == nil {
		a.add(&known{Project: memoir.Project{ID: p.ID, Name: p.Name, Identity: p.Identity, Remote: p.Remote}})
		k = a.projects[p.ID]
	}
	was := k.Project
	if was.Identity != p.Identity {
		delete(a.identity, was.Identity)
		a.identity[p.Identity] = p.ID
		k.remotes = append(k.remotes, remoteIdentity(p.Identity)...)
	}
	k.Name, k.Identity, k.Remote = p.Name, p.Identity, p.Remote
	for _, former := range formerly(was, p) {
		a.addAlias(former.was, former.kind, p.ID)
	}
	for _, dir := range p.Directories {
		if a.dirs[dir] != p.ID {
			a.addDirectory(dir, p.ID)
		}
	}
	for _, alias := range p.Aliases {
		a.addAlias(alias, aliasKind(alias), p.ID)
	}
}
