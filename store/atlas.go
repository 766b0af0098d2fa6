package store

import (
	"slices"
	"strings"

	"memoir"
)

// The kinds of aliases.
const (
	aliasName     = "name"     // what people may call the project
	aliasIdentity = "identity" // sessions that are identified by it belong to the project
	aliasID       = "id"       // of a project that was merged into this one
)

// explicitIdentity begins the identity of a project that a person named in the settings.
const explicitIdentity = "project:"

// atlas is what the registry knows of projects, as far as it tells which of them
// one that was found is.
type atlas struct {
	projects map[string]*known   // by id
	identity map[string]string   // identity -> id
	aliases  map[string][]string // identity that is an alias -> ids, in order
	former   map[string]string   // id of a merged project -> id of the one it is in
	dirs     map[string]string   // directory -> id
	unions   map[string]string   // from -> into
}

type known struct {
	memoir.Project
	renamed bool
	remotes []string // identities it has or had that are no paths
}

// readAtlas reads three small tables; sessions are not looked at.
func readAtlas(t tx) (*atlas, error) {
	a := &atlas{projects: map[string]*known{}, identity: map[string]string{}, aliases: map[string][]string{},
		former: map[string]string{}, dirs: map[string]string{}, unions: map[string]string{}}
	err := t.each(`SELECT id, name, identity, remote, renamed FROM project ORDER BY id`, nil, func(scan func(...any) error) error {
		k := &known{}
		err := scan(&k.ID, &k.Name, &k.Identity, &k.Remote, &k.renamed)
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
	err = t.each(`SELECT alias, kind, project_id FROM project_alias ORDER BY alias, project_id`, nil, func(scan func(...any) error) error {
		var alias, kind, id string
		err := scan(&alias, &kind, &id)
		a.addAlias(alias, kind, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, t.each(`SELECT from_id, into_id FROM project_union`, nil, func(scan func(...any) error) error {
		var from, into string
		err := scan(&from, &into)
		a.unions[from] = into
		return err
	})
}

// keepsName reports whether the name stays, whatever p is called: a person chose
// it, or p's is another spelling of it.
func (k *known) keepsName(p memoir.Project) bool {
	return k.renamed || k.Identity == p.Identity && strings.EqualFold(k.Name, p.Name)
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
	switch kind {
	case aliasIdentity:
		a.aliases[alias] = append(a.aliases[alias], id)
		k.remotes = append(k.remotes, remoteIdentity(alias)...)
	case aliasID:
		a.former[alias] = id
	}
}

// resolution says which registered project one that was found is.
type resolution struct {
	id       string   // empty: none
	takeOver bool     // what it is known by now is what it was found by
	same     []string // others that are the same project, and must be merged into it
}

// resolve tells which project p is: the one with its identity; else the one that
// had it, or was merged with one that had it; else the one that was known by
// nothing but a place that is p's now, such as the directory of a repository that
// had no remote before. A place never makes one project of two different remotes.
func (a *atlas) resolve(p memoir.Project) resolution {
	var found resolution
	if id, ok := a.identity[p.Identity]; ok {
		found.id = id
	} else if id := a.byAlias(p); id != "" {
		found.id = id
	}
	for _, place := range p.Aliases {
		id, identified := a.identity[place]
		if holders := a.aliases[place]; !identified && len(holders) == 1 {
			id = holders[0]
		}
		k := a.projects[id]
		switch {
		case k == nil || id == found.id || strings.HasPrefix(k.Identity, explicitIdentity):
		case found.id == "" && identified && (p.Remote == "" || k.Remote == "" || k.Remote == p.Remote):
			found.id, found.takeOver = id, true
		case found.id == "" && !identified && (p.Remote == "" || !slices.ContainsFunc(k.remotes, func(r string) bool { return r != p.Identity })):
			found.id = id
		case found.id != "" && identified && k.Remote == "":
			found.same = append(found.same, id)
		}
	}
	if found.id == "" {
		// The id is made of the identity: the project with it was first known by this one.
		if _, ok := a.projects[p.ID]; ok {
			found.id = p.ID
		} else {
			found.id = a.former[p.ID]
		}
	}
	return found
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
	if identity == "" || identity[0] == '/' || len(identity) > 1 && identity[1] == ':' || strings.HasPrefix(identity, explicitIdentity) {
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
