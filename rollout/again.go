package rollout

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"memoir"
)

// Place is a directory, or a database, in which a walk looked for sessions.
type Place struct {
	Path    string
	Root    string        // where the walk began
	Source  memoir.Source // as of an Entry
	ModTime time.Time     // when an entry was added last; zero: not known
}

// settled is how long after a change of a place another one certainly has another time.
const settled = 2 * time.Second

// enter adds a place that the walk is about to read.
func (w *walker) enter(path string) {
	at, _ := lastChange(path)
	if time.Since(at) < settled {
		at = time.Time{}
	}
	w.places = append(w.places, Place{path, w.root, w.source, at})
}

// lastChange returns when a directory, or a database with its log, changed last.
func lastChange(path string) (at time.Time, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return at, err
	}
	if at = info.ModTime(); !info.IsDir() {
		if log, err := os.Stat(path + "-wal"); err == nil {
			at = laterOf(at, log.ModTime())
		}
	}
	return at, nil
}

// Again calls fn as Walk and WalkDir for the entries of the places of earlier walks that changed since, for what is
// below new directories in them, and for new roots of agents. It returns the places as they are now, without those that
// are gone. A file that changed in an unchanged directory is not noticed.
func Again(ctx context.Context, env Env, places []Place, fn func(Entry) error) ([]Place, error) {
	w := walker{ctx: ctx, fn: fn, seen: map[location]bool{},
		known: memoir.Set(memoir.Map(places, func(p Place) location { return location{p.Source, p.Path, ""} }))}
	var err error
	roots := map[string]Root{}
	for _, agent := range Agents {
		for _, root := range agent.Roots(env) {
			roots[string(agent.Source)+root.Dir] = root
			if err == nil && !w.known[location{agent.Source, root.Dir, ""}] {
				err = w.agent(agent.Source, root)
			}
		}
	}
	for _, p := range places {
		root, of := roots[string(p.Source)+p.Root]
		at, gone := lastChange(p.Path)
		switch {
		case err != nil:
		case gone != nil, p.Source != "" && !of:
		case !p.ModTime.IsZero() && p.ModTime.Equal(at):
			w.places = append(w.places, p)
		default:
			w.source, w.root, w.session, w.within = p.Source, p.Root, root.Session, ""
			err = w.again(p.Path)
		}
	}
	return w.places, err
}

// again reads one known place, not those below it.
func (w *walker) again(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // gone meanwhile
	}
	if !info.IsDir() {
		return w.file(path, info)
	}
	if w.source == "" {
		if w.within, err = filepath.EvalSymlinks(w.root); err != nil {
			return nil
		}
	}
	rel, err := filepath.Rel(w.root, path)
	if err != nil {
		return err
	}
	if rel = filepath.ToSlash(rel); rel == "." {
		rel = ""
	}
	at := location{w.source, path, ""}
	w.known[at] = false
	defer func() { w.known[at] = true }()
	return w.dir(path, rel, "")
}
