package pipeline

import (
	"context"
	"strings"

	"memoir"
	"memoir/rollout"
)

// Parts looks at a registered session's files as they are now, and puts them into
// reading order. Its errors have the code CodeUnreadable.
func Parts(ctx context.Context, s memoir.Session) ([]rollout.Part, error) {
	return partsOf(ctx, s, nil)
}

// partsOf is Parts with what was seen of files in this run: one that was not
// touched since is not looked at again.
func partsOf(ctx context.Context, s memoir.Session, seen map[string]rollout.Head) ([]rollout.Part, error) {
	parts := make([]rollout.Part, 0, len(s.Files))
	for _, f := range s.Files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		head, known := seen[f.Path]
		if !known || !untouched(f) {
			var err error
			if head, err = rollout.Probe(rollout.Entry{File: f, Source: s.Source}); err != nil {
				return nil, err
			}
		}
		if head.ID != s.ID && !strings.HasPrefix(s.ID, redactedID) {
			return nil, memoir.Errorf(memoir.CodeUnreadable, "run memoir again: the next scan sees what it is now",
				"%s holds another session than when it was registered", f.Path)
		}
		parts = append(parts, rollout.Part{Path: f.Path, Head: head})
	}
	ordered, _ := rollout.Assemble(parts)
	if len(ordered) == 0 {
		return nil, memoir.Errorf(memoir.CodeUnreadable, "the agent may have deleted them", "the files of session %s are gone", s.ID)
	}
	return ordered, nil
}

// untouched reports whether a file is as it was when it was registered.
func untouched(f memoir.File) bool {
	now, err := rollout.Stat(f.Path)
	if f.Inode == 0 {
		now.Inode = 0
	}
	return err == nil && same(now, f)
}
