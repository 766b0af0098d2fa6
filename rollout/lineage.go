package rollout

import (
	"context"
	"path/filepath"
	"sync"
	"time"
)

// Some agents write a new file when a session is resumed or forked, and begin it
// with the entries of the old one, ids and all. Over the files of a directory each
// entry belongs to one session: the one that had it first.

// mark is what a record says of where it comes from.
type mark struct {
	own uint64    // hash of the entry's id; 0: the record is no entry
	id  uint64    // hash of its id and content: unrelated entries may have the same id where programs number them
	of  uint64    // id of the entry that it copies, where it has a new one of its own; else 0
	at  time.Time // as recorded: a copy keeps the time
	// The form of the id does not make it unique: a program numbers its entries.
	numbered bool
	origin   string // thread id of the session that it, or with id 0 the whole file, was copied from; "" if it does not say
}

// lineage finds out which entries of a session belong to another one. The zero
// value with a mark is ready; what it learns of a directory it keeps.
type lineage struct {
	mark func(raw []byte) mark

	mu   sync.Mutex
	dirs map[string]*kinDir
}

// ownedElsewhere returns the ids, hashed, of the entries in a session's file that
// belong to another session in its directory. Nil: all are its own. It reads the
// ends of the files beside it, and more of those only that may have to do with it.
// A file beside it that cannot be read owns nothing.
func (l *lineage) ownedElsewhere(ctx context.Context, path string) (map[uint64]bool, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, nil
	}
	dir := l.dir(filepath.Dir(path))
	dir.mu.Lock()
	defer dir.mu.Unlock()
	dir.refresh(l.mark)
	at, ok := dir.index[path]
	if !ok || dir.files[at].first == 0 {
		return nil, nil
	}
	if done, ok := dir.elsewhere[at]; ok {
		return done, nil
	}
	members, err := dir.family(ctx, l.mark, at)
	if err != nil || len(members) < 2 {
		return nil, err
	}
	f, err := newFamily(ctx, l.mark, dir, members)
	if err != nil {
		return nil, err
	}
	for _, i := range members {
		dir.elsewhere[i] = nil
	}
	for i, owned := range f.share() {
		dir.elsewhere[f.kin[i].file] = owned
	}
	return dir.elsewhere[at], nil
}

func (l *lineage) dir(path string) *kinDir {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.dirs[path]
	if d == nil {
		if len(l.dirs) >= 4096 || l.dirs == nil { // they can be read again
			l.dirs = map[string]*kinDir{}
		}
		d = &kinDir{path: path}
		l.dirs[path] = d
	}
	return d
}
