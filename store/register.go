package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"memoir"
)

// The kinds of aliases.
const (
	aliasName     = "name"     // a name that a person may use for the project
	aliasIdentity = "identity" // sessions with this identity belong to the project
	aliasInode    = "inode"    // as in memoir.Project.Inodes
)

// explicitIdentity is the prefix of the identity of a project that is named in the settings.
const explicitIdentity = "project:"

// projectIndex indexes the registered projects by what identifies them.
type projectIndex struct {
	projects map[string]*known   // by id
	identity map[string]string   // identity -> id
	aliases  map[string][]string // identity or inode that is an alias -> ids, in order
	dirs     map[string]string   // directory -> id
}

type known struct {
	memoir.Project
	remotes []string // its present and former identities that are not paths
}

// readProjectIndex reads three small tables, but no sessions.
func readProjectIndex(t tx) *projectIndex {
	a := &projectIndex{projects: map[string]*known{}, identity: map[string]string{}, aliases: map[string][]string{},
		dirs: map[string]string{}}
	for scan := range t.rows(`SELECT id, name, identity, remote FROM project ORDER BY id`) {
		k := &known{}
		scan(&k.ID, &k.Name, &k.Identity, &k.Remote)
		a.add(k)
	}
	for scan := range t.rows(`SELECT path, project_id FROM project_directory ORDER BY path`) {
		var path, id string
		scan(&path, &id)
		a.addDirectory(path, id)
	}
	for scan := range t.rows(`SELECT alias, kind, project_id FROM project_alias ORDER BY alias, project_id`) {
		var alias, kind, id string
		scan(&alias, &kind, &id)
		a.addAlias(alias, kind, id)
	}
	return a
}

func (a *projectIndex) add(k *known) {
	a.projects[k.ID] = k
	if _, taken := a.identity[k.Identity]; !taken {
		a.identity[k.Identity] = k.ID
	}
	k.remotes = append(k.remotes, remoteIdentity(k.Identity)...)
}

func (a *projectIndex) addDirectory(path, id string) {
	if former := a.projects[a.dirs[path]]; former != nil {
		former.Directories = slices.DeleteFunc(former.Directories, func(d string) bool { return d == path })
	}
	a.dirs[path] = id
	if k := a.projects[id]; k != nil {
		k.Directories = append(k.Directories, path)
	}
}

func (a *projectIndex) addAlias(alias, kind, id string) {
	k := a.projects[id]
	if k == nil || slices.Contains(k.Aliases, alias) || slices.Contains(k.Inodes, alias) {
		return
	}
	if kind == aliasInode {
		k.Inodes = append(k.Inodes, alias)
	} else {
		k.Aliases = append(k.Aliases, alias)
	}
	if kind == aliasIdentity {
		k.remotes = append(k.remotes, remoteIdentity(alias)...)
	}
	if kind != aliasName {
		a.aliases[alias] = append(a.aliases[alias], id)
	}
}

// resolution says with which registered project a found project is identified.
type resolution struct {
	id       string // of a new project, if no registered one has it
	takeOver bool   // the registered project takes over the name and identity of the found one
}

// resolve identifies p with a registered project: the one with its identity; else the one that had this
// identity before; else the one that had its git directory, at another place or under another remote; else one that was
// known only by a place of p, such as the directory of a repository without a remote. Projects with different remotes
// are never merged because of a place, nor are repositories that took turns there.
func (a *projectIndex) resolve(p memoir.Project) resolution {
	var found resolution
	found.id = cmp.Or(a.pick([]string{a.identity[p.Identity]}, p), a.pick(a.aliases[p.Identity], p))
	if found.id == "" {
		found = a.byInode(p)
	}
	for _, place := range p.Aliases {
		k, identified := a.holder(place)
		if k == nil {
			continue
		}
		id := k.ID
		switch {
		case id == found.id || strings.HasPrefix(k.Identity, explicitIdentity) || k.apart(p):
		case found.id == "" && identified && (p.Remote == "" || k.Remote == "" || k.Remote == p.Remote):
			found.id, found.takeOver = id, true
		case found.id == "" && !identified && (p.Remote == "" || !k.hasOtherRemote(p.Identity)):
			found.id = id
		}
	}
	if found.id == "" {
		found.id = p.ID // derived from the first identity of a project
		if k := a.projects[p.ID]; k != nil && p.Remote == "" && k.apart(p) {
			found.id = memoir.ProjectID(p.Name, p.Identity+p.Inodes[0])
		}
	}
	return found
}

// byInode returns the project that had the git directory of p. A fork is another project: its repository still has the
// project's remote, under another name.
func (a *projectIndex) byInode(p memoir.Project) (found resolution) {
	var holders []string
	for _, inode := range p.Inodes {
		if strings.HasPrefix(inode, "inode:") {
			holders = append(holders, a.aliases[inode]...)
		}
	}
	slices.Sort(holders)
	found.id = a.pick(slices.DeleteFunc(slices.Compact(holders), func(id string) bool {
		return slices.ContainsFunc(a.projects[id].remotes, func(r string) bool { return slices.Contains(p.Upstreams, r) })
	}), p)
	if k := a.projects[found.id]; k != nil {
		found.takeOver = k.Remote == "" && !strings.HasPrefix(k.Identity, explicitIdentity)
	}
	return found
}

// apart reports whether the git directory of p is none of the project's: git made it at another time.
func (k *known) apart(p memoir.Project) bool {
	git := func(inode string) bool { return strings.HasPrefix(inode, "git:") }
	return slices.ContainsFunc(k.Inodes, git) && slices.ContainsFunc(p.Inodes, git) &&
		!slices.ContainsFunc(p.Inodes, func(inode string) bool { return git(inode) && slices.Contains(k.Inodes, inode) })
}

// holder returns the project whose identity is a place, else the only one that has it as an alias, else nil.
func (a *projectIndex) holder(place string) (k *known, identified bool) {
	id, identified := a.identity[place]
	if holders := a.aliases[place]; !identified && len(holders) == 1 {
		id = holders[0]
	}
	return a.projects[id], identified
}

// hasOtherRemote reports whether the project has or had a remote other than the given one.
func (k *known) hasOtherRemote(identity string) bool {
	return slices.ContainsFunc(k.remotes, func(r string) bool { return r != identity })
}

// pick returns the one of several projects that p is, "" if none is. If several may be, p's directory decides.
func (a *projectIndex) pick(holders []string, p memoir.Project) string {
	holders = slices.DeleteFunc(slices.Clone(holders), func(id string) bool {
		return a.projects[id] == nil || p.Remote == "" && a.projects[id].apart(p)
	})
	if len(holders) == 1 {
		return holders[0]
	}
	for _, dir := range p.Directories {
		if id := a.dirs[dir]; slices.Contains(holders, id) {
			return id
		}
	}
	return ""
}

// remoteIdentity returns the identity if it is neither a path nor a name from the settings.
func remoteIdentity(identity string) []string {
	if identity == "" || identity[0] == '/' || len(identity) > 1 && identity[1] == ':' ||
		strings.HasPrefix(identity, explicitIdentity) {
		return nil
	}
	return []string{identity}
}

// aliasKind distinguishes identities, which contain a slash, from names, which cannot.
func aliasKind(alias string) string {
	if strings.Contains(alias, "/") || strings.HasPrefix(alias, explicitIdentity) {
		return aliasIdentity
	}
	return aliasName
}

// Register registers found projects and returns a map from the id of each to the id of the registered
// project; a new project keeps its id. Processes that register the same project at once create one row.
// If nothing changes, nothing is written.
func (s *Store) Register(ctx context.Context, found ...memoir.Project) (map[string]string, error) {
	ids := map[string]string{}
	changes := false
	err := s.read(ctx, func(t tx) {
		a := readProjectIndex(t)
		for _, p := range found {
			at := a.resolve(p)
			ids[p.ID] = at.id
			changes = changes || a.changes(p, at)
		}
	})
	if err != nil || !changes {
		return ids, s.explain(err, "looking for projects")
	}
	err = s.quickly(ctx, func(t tx) {
		a := readProjectIndex(t)
		for _, p := range found {
			at := a.resolve(p)
			if ids[p.ID] = at.id; a.changes(p, at) {
				a.put(t, a.next(p, at))
			}
		}
	})
	return ids, s.explain(err, "registering projects")
}

// Known returns the registered projects, ordered by id, and a function that returns the id of the registered
// project for a found one, or the found one's own id if it is new. Both are a snapshot. Known is cheaper
// than Projects, which counts sessions.
func (s *Store) Known(ctx context.Context) (projects []memoir.Project, idOf func(memoir.Project) string, err error) {
	a, err := fetch(ctx, s, readProjectIndex, "reading the names of projects")
	if err != nil {
		return nil, nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(a.projects)) {
		projects = append(projects, a.projects[id].Project)
	}
	return projects, func(p memoir.Project) string { return a.resolve(p).id }, nil
}

// changes reports whether registering p would write anything.
func (a *projectIndex) changes(p memoir.Project, at resolution) bool {
	k := a.projects[at.id]
	if k == nil {
		return true
	}
	next := a.next(p, at)
	return k.Name != next.Name || k.Identity != next.Identity || k.Remote != next.Remote ||
		!containsAll(k.Directories, next.Directories) || !containsAll(k.Aliases, next.Aliases) ||
		!containsAll(k.Inodes, next.Inodes)
}

// next returns the values with which p will be registered.
func (a *projectIndex) next(p memoir.Project, at resolution) memoir.Project {
	out, k := p, a.projects[at.id]
	if out.ID = at.id; k == nil {
		return out
	}
	if p.Identity != k.Identity && !at.takeOver {
		// p has a former identity of the project: it adds aliases and directories, and changes nothing else.
		out.Name, out.Identity, out.Remote = k.Name, k.Identity, k.Remote
		out.Aliases = append(slices.Clone(p.Aliases), p.Identity)
	}
	if out.Remote == "" {
		out.Remote = k.Remote
	}
	if k.Identity == out.Identity && strings.EqualFold(k.Name, out.Name) {
		out.Name = k.Name
	}
	out.Aliases = slices.DeleteFunc(slices.Clone(out.Aliases), func(alias string) bool { return alias == out.Identity })
	return out
}

// put stores a project under its id and updates the index, since later projects are resolved with it. The former
// name and identity become aliases. A former remote becomes an alias of kind name: a project whose identity
// it is, is another project.
func (a *projectIndex) put(t tx, p memoir.Project) {
	k := a.projects[p.ID]
	if k == nil {
		k = &known{}
	}
	p.Remote = cmp.Or(p.Remote, k.Remote)
	t.exec(`INSERT INTO project (id, name, identity, remote) VALUES (?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, identity = excluded.identity, remote = excluded.remote`,
		p.ID, p.Name, p.Identity, p.Remote)
	was := k.Project
	delete(a.identity, was.Identity)
	k.ID, k.Name, k.Identity, k.Remote = p.ID, p.Name, p.Identity, p.Remote
	a.add(k)
	for _, dir := range p.Directories {
		if a.dirs[dir] == p.ID {
			continue
		}
		t.exec(`INSERT INTO project_directory (path, project_id) VALUES (?, ?)
			ON CONFLICT (path) DO UPDATE SET project_id = excluded.project_id`, dir, p.ID)
		a.addDirectory(dir, p.ID)
	}
	aliases := map[string]string{}
	for _, former := range [][3]string{
		{was.Name, p.Name, aliasName}, {was.Remote, p.Remote, aliasName}, {was.Identity, p.Identity, aliasIdentity},
	} {
		if former[0] != "" && former[0] != former[1] {
			aliases[former[0]] = former[2]
		}
	}
	for _, alias := range p.Aliases {
		if aliases[alias] != aliasIdentity {
			aliases[alias] = aliasKind(alias)
		}
	}
	for _, inode := range p.Inodes {
		aliases[inode] = aliasInode
	}
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		t.exec(`INSERT INTO project_alias (alias, project_id, kind) VALUES (?, ?, ?)
			ON CONFLICT (alias, project_id) DO UPDATE SET kind = excluded.kind WHERE kind = 'name'`,
			alias, p.ID, aliases[alias])
		a.addAlias(alias, aliases[alias], p.ID)
	}
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(v string) bool { return !slices.Contains(all, v) })
}
