package store

import (
	"cmp"
	"context"
	"errors"
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
	err := t.each(`SELECT id, name, identity, remote, renamed FROM project ORDER BY id`, nil,
		func(scan func(...any) error) error {
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
	err = t.each(`SELECT alias, kind, project_id FROM project_alias ORDER BY alias, project_id`, nil,
		func(scan func(...any) error) error {
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

// MergeProjects makes one project of two, of which the caller holds both: all
// that belonged to from is into's, which is due, and what from was known by leads
// to into. It is one durable transaction. What is left to do is the folder of
// from: FolderMoves lists it until FolderMoved. The claim on from ends with it;
// that on into stays. The error has the code memoir.CodeLeaseLost, and nothing is
// changed, when one of the claims is no longer held.
//
// Changes made by hand are all kept. Those of from count as made before those of
// into, so that where the two contradict each other into has the last word.
func (s *Store) MergeProjects(ctx context.Context, from, into ProjectClaim) error {
	err := s.durably(ctx, func(t tx) error {
		for _, c := range []ProjectClaim{from, into} {
			if err := c.unexpired(t, s.ticks()); err != nil {
				return err
			}
		}
		a, err := readAtlas(t)
		if err != nil {
			return err
		}
		source, target := a.projects[from.ProjectID], a.projects[into.ProjectID]
		if source.ID == target.ID {
			return memoir.Errorf(memoir.CodeUsage, "", "a project cannot be merged into itself")
		}
		seq, err := bump(t, target.ID)
		if err != nil {
			return err
		}
		_, err = t.exec(`UPDATE extraction SET project_id = ?, seq = ? WHERE project_id = ?`, target.ID, seq, source.ID)
		if err != nil {
			return err
		}
		for _, statement := range []string{
			`UPDATE session SET project_id = ?1 WHERE project_id = ?2`,
			`UPDATE project_directory SET project_id = ?1 WHERE project_id = ?2`,
			`INSERT INTO project_alias (alias, project_id, kind) SELECT alias, ?1, kind FROM project_alias
				WHERE project_id = ?2 ON CONFLICT DO NOTHING`,
			`DELETE FROM project_union WHERE from_id IN (?1, ?2) AND into_id IN (?1, ?2)`,
			`UPDATE project_union SET into_id = ?1 WHERE into_id = ?2`,
			`UPDATE mark SET project_id = ?1 WHERE project_id = ?2`,
			`UPDATE OR REPLACE withdrawal SET project_id = ?1, seq = (SELECT change_seq FROM project WHERE id = ?1),
				purge = max(purge, coalesce((SELECT w.purge FROM withdrawal w
					WHERE w.project_id = ?1 AND w.text = withdrawal.text), 0)) WHERE project_id = ?2`,
			`UPDATE folder_move SET into_id = ?1 WHERE into_id = ?2`,
			`INSERT INTO folder_move (project_id, into_id) VALUES (?2, ?1)
				ON CONFLICT (project_id) DO UPDATE SET into_id = excluded.into_id`,
		} {
			if _, err := t.exec(statement, target.ID, source.ID); err != nil {
				return err
			}
		}
		err = errors.Join(moveNotes(t, source.ID, target.ID), inheritNames(t, source.Project, target.Project))
		if err != nil {
			return err
		}
		for _, statement := range []string{
			`DELETE FROM redaction WHERE scope = 'consolidate' AND key = ?`,
			`DELETE FROM job WHERE kind = 'consolidate' AND key = ?`,
			`DELETE FROM project WHERE id = ?`,
		} {
			if _, err := t.exec(statement, source.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain(err, "merging project %s into %s", from.ProjectID, into.ProjectID)
}

// inheritNames lets what a merged project was known by lead to the other.
func inheritNames(t tx, source, target memoir.Project) error {
	names := [][2]string{{source.ID, aliasID}, {source.Identity, aliasIdentity}, {source.Name, aliasName}}
	for _, alias := range names {
		if alias[0] == target.Identity || alias[0] == target.Name {
			continue
		}
		if err := addAlias(t, alias[0], alias[1], target.ID); err != nil {
			return err
		}
	}
	return nil
}

// moveNotes gives a project the notes of another, on bases below all of its own:
// no generation that is recorded later replaces them.
func moveNotes(t tx, from, into string) error {
	var newest, oldest int64
	if err := t.get(`SELECT coalesce(max(base), 0) FROM note WHERE project_id = ?`, []any{from}, &newest); err != nil {
		return err
	}
	if err := t.get(`SELECT min(0, coalesce(min(base), 0)) FROM note WHERE project_id = ?`,
		[]any{into}, &oldest); err != nil {
		return err
	}
	_, err := t.exec(`UPDATE note SET project_id = ?, base = base + ? WHERE project_id = ?`, into, oldest-1-newest, from)
	return err
}

func addAlias(t tx, alias, kind, projectID string) error {
	_, err := t.exec(`INSERT INTO project_alias (alias, project_id, kind) VALUES (?, ?, ?)
		ON CONFLICT (alias, project_id) DO UPDATE SET kind = excluded.kind WHERE kind = 'name'`, alias, projectID, kind)
	return err
}

// FolderMove is a folder of a project whose row is gone.
type FolderMove struct {
	ProjectID string
	Into      string // the project that it is kept below; empty: it is to be removed
}

// FolderMoves lists what is to be done with folders, in order.
func (s *Store) FolderMoves(ctx context.Context) ([]FolderMove, error) {
	var moves []FolderMove
	err := s.read(ctx, func(t tx) error {
		return t.each(`SELECT project_id, into_id FROM folder_move ORDER BY project_id`, nil,
			func(scan func(...any) error) error {
				var m FolderMove
				err := scan(&m.ProjectID, &m.Into)
				moves = append(moves, m)
				return err
			})
	})
	return moves, s.explain(err, "listing folders to move")
}

// FolderMoved says that a folder is where it belongs, or gone.
func (s *Store) FolderMoved(ctx context.Context, m FolderMove) error {
	err := s.durably(ctx, func(t tx) error {
		_, err := t.exec(`DELETE FROM folder_move WHERE project_id = ? AND into_id = ?`, m.ProjectID, m.Into)
		return err
	})
	return s.explain(err, "recording that the folder of %s was moved", m.ProjectID)
}
