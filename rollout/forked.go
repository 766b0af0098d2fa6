package rollout

import "context"

// Some agents begin the file of a forked session with copies of the entries of the
// session it was forked from, ids and all, and name that session. What that session
// gives itself is not given twice; an entry that was undone there, and stands here,
// is kept.

// inherited returns the keys of the entries that the session in a file gives; nil if
// there is no such file, or nothing can be read of it. plan says which records of a
// session do not stand; keys are equal for an entry and its copy, and none for what
// is no entry.
func inherited(ctx context.Context, path string, plan func(context.Context, *tape) (dead func(record int) bool, err error), keys func(raw []byte) []uint64) (map[uint64]bool, error) {
	if path == "" {
		return nil, nil
	}
	t := &tape{parts: []Part{{Path: path}}, stats: &Stats{}}
	dead, err := plan(ctx, t)
	if err != nil {
		return nil, ctx.Err()
	}
	out := map[uint64]bool{}
	err = t.each(ctx, false, func(at place, raw []byte) error {
		if !dead(at.index) {
			for _, key := range keys(raw) {
				out[key] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, ctx.Err()
	}
	return out, nil
}

// isInherited reports whether an entry is one of those that another session gives.
func isInherited(given map[uint64]bool, keys []uint64) bool {
	for _, key := range keys {
		if given[key] {
			return true
		}
	}
	return false
}
