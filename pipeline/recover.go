package pipeline

import (
	"context"
	"fmt"
	"slices"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// tidy puts the memories in order that a process was changing when it died, and that
// are not due: by restoring, forgetting or merging. Those that are due are put in order
// when they are consolidated.
func (r *run) tidy(ctx context.Context, projects []store.ProjectRow) error {
	abandoned, err := r.store.AbandonedProjects(ctx)
	if err != nil {
		return err
	}
	for _, p := range projects {
		root := memory.At(r.opts.Home, p.ID)
		disturbed, err := root.Disturbed(int(p.Generation))
		if err != nil || !disturbed && !slices.Contains(abandoned, p.ID) {
			continue // what is wrong with it is said where it matters
		}
		claim, err := r.hold(ctx, p.ID)
		switch memoir.CodeOf(err) {
		case "":
		case memoir.CodeBusy, memoir.CodeNotFound: // then nothing of it is left of a dead process
			continue
		default:
			return err
		}
		err = r.recoverRoot(ctx, root, &claim)
		r.letGo(ctx, claim)
		if err != nil {
			r.warn(fmt.Sprintf("project %s: %s", p.Name, r.redact(err.Error())), memoir.HintOf(err))
		}
	}
	return nil
}
