package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"memoir"
)

// The kinds of aliases.
const (
	aliasName     = "name"     // what people may call the project
	aliasIdentity = "identity" // sessions that are identified by it belong to the project
)

// explicitIdentity begins the identity of a project that a person named in the settings.
const explicitIdentity = "project:"

// atlas is what the registry knows of projects, as far as it tells which of them
// one that was found is.
type atlas struct {
	projects map[string]*known   // by id
	identity map[string]string   // identity -> id
	aliases  map[string][]string // identity that is an alias -> ids, in order
	dirs     map[string]string   // directory -> id
}

type known struct {
	memoir.Project
	remotes []string // identities it has or had that are no paths
}

// readAtlas reads three small tables; sessions are not looked at.
func readAtlas(t tx) (*atlas, error) {
	a := &atlas{projects: map[string]*known{}, identity: map[string]string{}, aliases: map[string][]string{},
		dirs: map[string]string{}}
	err := t.each(`SELECT id, name, identity, remote FROM project ORDER BY id`, nil,
		func(scan func(...any) error) error {
			k := &known{}
			err := scan(&k.ID, &k.Name, &k.Identity, &k.Remote)
			a.add(k)
			return err
		})
	if err != nil {
		return nil, err
	}
	err = t.each(`SELECT path, project_id FROM project_directory ORDER BY path`, nil, func(scan func(...any) error) error {
		var path, id string
		err := scan(&path, &id)
		a.addDirectory(path, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, t.each(`SELECT alias, kind, project_id FROM project_alias ORDER BY alias, project_id`, nil,
		func(scan func(...any) error) error {
			var alias, kind, id string
			err := scan(&alias, &kind, &id)
			a.addAlias(alias, kind, id)
			return err
		})
}

// keepsName reports whether the name stays: p's is another spelling of it.
func (k *known) keepsName(p memoir.Project) bool {
	return k.Identity == p.Identity && strings.EqualFold(k.Name, p.Name)
}

func (a *atlas) add(k *known) {
	a.projects[k.ID] = k
	if _, taken := a.identity[k.Identity]; !taken {
		a.identity[k.Identity] = k.ID
	}
	k.remotes = append(k.remotes, remoteIdentity(k.Identity)...)
}

func (a *atlas) addDirectory(path, id string) {
	if former := a.projects[a.dirs[path]]; former != nil {
		former.Directories = slices.DeleteFunc(former.Directories, func(d string) bool { return d == path })
	}
	a.dirs[path] = id
	if k := a.projects[id]; k != nil {
		k.Directories = append(k.Directories, path)
	}
}

func (a *atlas) addAlias(alias, kind, id string) {
	k := a.projects[id]
	if k == nil || slices.Contains(k.Aliases, alias) {
		return
	}
	k.Aliases = append(k.Aliases, alias)
	if kind == aliasIdentity {
		a.aliases[alias] = append(a.aliases[alias], id)
		k.remotes = append(k.remotes, remoteIdentity(alias)...)
	}
}

// resolution says which registered project one that was found is.
type resolution struct {
	id       string // empty: none
	takeOver bool   // what it is known by now is what it was found by
}

// resolve tells which project p is: the one with its identity; else the one that
// had it; else the one that was known by
// nothing but a place that is p's now, such as the directory of a repository that
// had no remote before. A place never makes one project of two different remotes.
func (a *atlas) resolve(p memoir.Project) resolution {
	var found resolution
	found.id = cmp.Or(a.identity[p.Identity], a.byAlias(p))
	for _, place := range p.Aliases {
		k, identified := a.holder(place)
		if k == nil {
			continue
		}
		id := k.ID
		switch {
		case id == found.id || strings.HasPrefix(k.Identity, explicitIdentity):
		case found.id == "" && identified && (p.Remote == "" || k.Remote == "" || k.Remote == p.Remote):
			found.id, found.takeOver = id, true
		case found.id == "" && !identified && (p.Remote == "" || !k.hasOtherRemote(p.Identity)):
			found.id = id
		}
	}
	if found.id == "" {
		// The id is made of the identity: the project with it was first known by this one.
		if _, ok := a.projects[p.ID]; ok {
			found.id = p.ID
		}
	}
	return found
}

// holder is the project that a place is the identity of, else the only one that has it as an alias; nil if
// there is none.
func (a *atlas) holder(place string) (k *known, identified bool) {
	id, identified := a.identity[place]
	if holders := a.aliases[place]; !identified && len(holders) == 1 {
		id = holders[0]
	}
	return a.projects[id], identified
}

// hasOtherRemote reports whether the project is known by a remote that is not the given one.
func (k *known) hasOtherRemote(identity string) bool {
	return slices.ContainsFunc(k.remotes, func(r string) bool { return r != identity })
}

// byAlias finds the project that has p's identity as an alias. Of several it is
// the one that p's directory belongs to, if that is one of them.
func (a *atlas) byAlias(p memoir.Project) string {
	holders := a.aliases[p.Identity]
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

// remoteIdentity is the identity itself if it is neither a path nor a person's name.
func remoteIdentity(identity string) []string {
	if identity == "" || identity[0] == '/' || len(identity) > 1 && identity[1] == ':' ||
		strings.HasPrefix(identity, explicitIdentity) {
		return nil
	}
	return []string{identity}
}

// aliasKind tells identities, which hold a slash, from names, which cannot.
func aliasKind(alias string) string {
	if strings.Contains(alias, "/") || strings.HasPrefix(alias, explicitIdentity) {
		return aliasIdentity
	}
	return aliasName
}

func addAlias(t tx, alias, kind, projectID string) error {
	_, err := t.exec(`INSERT INTO project_alias (alias, project_id, kind) VALUES (?, ?, ?)
		ON CONFLICT (alias, project_id) DO UPDATE SET kind = excluded.kind WHERE kind = 'name'`, alias, projectID, kind)
	return err
}

// RemovedProjects lists the projects whose rows are gone and whose folders are to be removed, in order.
func (s *Store) RemovedProjects(ctx context.Context) (ids []string, err error) {
	err = s.read(ctx, func(t tx) error {
		ids, err = t.texts(`SELECT project_id FROM removed_folder ORDER BY project_id`)
		return err
	})
	return ids, s.explain(err, "listing folders to remove")
}

// FolderRemoved says that the folder of a removed project is gone.
func (s *Store) FolderRemoved(ctx context.Context, projectID string) error {
	err := s.durably(ctx, func(t tx) error {
		_, err := t.exec(`DELETE FROM removed_folder WHERE project_id = ?`, projectID)
		return err
	})
	return s.explain(err, "recording that the folder of %s was removed", projectID)
}
