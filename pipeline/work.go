package pipeline

import (
	"context"
	"path/filepath"
	"slices"

	"memoir"
	"memoir/project"
	"memoir/store"
)

// maxWorkDirs bounds how many directories of one session are told apart. What
// comes later counts for none of them.
const maxWorkDirs = 2000

// tally counts where a session worked.
type tally struct {
	at       string // the directory in force
	calls    map[string]int
	messages map[string]int
	seen     map[string]bool
	order    []string // in which directories came up
}

func newTally(began string) *tally {
	return &tally{at: began, calls: map[string]int{}, messages: map[string]int{}, seen: map[string]bool{}}
}

func (t *tally) add(it memoir.Item) {
	if it.CWD != "" {
		t.at = it.CWD
	}
	if t.at == "" {
		return
	}
	if !t.seen[t.at] {
		if len(t.order) == maxWorkDirs {
			return
		}
		t.seen[t.at] = true
		t.order = append(t.order, t.at)
	}
	if it.Kind == memoir.ItemTool {
		t.calls[t.at]++
	} else {
		t.messages[t.at]++
	}
}

// clean makes the directories' names fit to be stored.
func (t *tally) clean(redact func(string) string) {
	dirty := *t
	*t = *newTally(redact(t.at))
	for _, dir := range dirty.order {
		name := redact(dir)
		if !t.seen[name] {
			t.seen[name] = true
			t.order = append(t.order, name)
		}
		for _, counts := range [][2]map[string]int{{t.calls, dirty.calls}, {t.messages, dirty.messages}} {
			if n := counts[1][dir]; n > 0 {
				counts[0][name] += n
			}
		}
	}
}

// counts are the tool calls by directory, the messages if there were no calls.
func (t *tally) counts() map[string]int {
	if len(t.calls) > 0 {
		return t.calls
	}
	return t.messages
}

// excludedWork stands for the directories that are kept out, as if they were one project.
const excludedWork = "(excluded)"

// workOf tells where most of a session's work was: by tool calls, by messages if
// there were none, summed over the directories of a project; those in no project
// do not count. At a tie it is where the session began, else what came up first.
//
// The zero Work means where it began. A CWD without a project means that most of
// the work was in directories that are kept out, of which it is one.
func (r *run) workOf(finder *finder, t *tally, s memoir.Session) store.Work {
	own, status := finder.find(s.CWD, s.Remote)
	counts := t.counts()
	sums := map[string]int{}
	projects := map[string]memoir.Project{}
	most := map[string]string{} // the directory of each project with the most work
	var order []string
	for _, dir := range t.order {
		if counts[dir] == 0 {
			continue
		}
		id := excludedWork
		if !r.excluded(dir) {
			p, ok := r.projectOf(finder, dir, s, own, status)
			if !ok {
				continue
			}
			id = p.ID
			projects[id] = p
		}
		if sums[id] == 0 {
			order = append(order, id)
			most[id] = dir
		}
		if sums[id] += counts[dir]; counts[dir] > counts[most[id]] {
			most[id] = dir
		}
	}
	best := own.ID
	for _, id := range order {
		if best == "" || sums[id] > sums[best] {
			best = id
		}
	}
	switch {
	case best == own.ID && s.WorkCWD != "":
		return store.Work{Project: own} // back to where it began
	case best == "" || best == own.ID:
		return store.Work{}
	case best == excludedWork:
		return store.Work{CWD: most[best]}
	}
	return store.Work{CWD: most[best], Project: projects[best]}
}

// projectOf is the project of a directory that a session worked in. One in no
// repository, below where the session began, is a part of that place.
func (r *run) projectOf(
	finder *finder,
	dir string,
	s memoir.Session,
	own memoir.Project,
	began project.Status,
) (memoir.Project, bool) {
	if dir == s.CWD {
		return own, began.OK()
	}
	p, status := finder.find(dir, "")
	if status == project.Directory && began.OK() && below(dir, s.CWD) {
		return own, true
	}
	return p, status.OK()
}

// excluded reports whether the settings, or a project file, keep a directory out.
func (r *run) excluded(dir string) bool {
	return r.opts.Settings.Excluded(dir) || r.switched.switchOff(dir)
}

// whereWorked tells where most of a claimed session's work was, from what was read of it.
func (r *run) whereWorked(ctx context.Context, items []memoir.Item, s memoir.Session) (store.Work, error) {
	r.placing.Lock()
	defer r.placing.Unlock()
	if r.finder == nil {
		var err error
		if r.finder, err = r.newFinder(ctx); err != nil {
			return store.Work{}, err
		}
	}
	t := newTally(s.CWD)
	for _, it := range items {
		t.add(it)
	}
	return r.workOf(r.finder, t, s), nil
}

// below reports whether a path leads below a directory.
func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// movedTo makes a claimed session one of the place where its work was: that is what
// its extraction is about.
func movedTo(s memoir.Session, w store.Work, items []memoir.Item) memoir.Session {
	if w.CWD == "" {
		return s
	}
	s.CWD, s.Branch, s.Remote = w.CWD, "", w.Project.Remote
	for _, it := range slices.Backward(items) {
		if it.CWD == w.CWD && it.Branch != "" {
			s.Branch = it.Branch
			break
		}
	}
	return s
}
