package pipeline

import (
	"context"
	"fmt"
	"maps"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// adoptAhead takes over what the database lost of projects whose live memory is newer
// than what is recorded: its log lost its end, or an earlier copy was put in its place. A
// process that died just before it recorded a generation lost nothing else, and nothing
// is taken over then.
func (r *run) adoptAhead(ctx context.Context) error {
	if r.opts.DryRun {
		return nil
	}
	rows, err := r.store.Projects(ctx)
	if err != nil {
		return fmt.Errorf("list projects: %w", err)
	}
	for _, row := range rows {
		if !r.selected(row.ID) || ctx.Err() != nil {
			continue
		}
		root := memory.At(r.opts.Home, row.ID)
		if linked, err := root.Linked(); err != nil || int64(linked) <= row.Generation {
			continue // who publishes there says what is wrong
		}
		if err := r.adoptNewer(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// adoptNewer takes over one project's live memory.
func (r *run) adoptNewer(ctx context.Context, row store.ProjectRow) error {
	sessions, err := r.store.Sessions(ctx, store.Filter{Project: row.ID})
	if err != nil {
		return err
	}
	a, err := adoptionOf(row.ID, sessions, AdoptOptions{Home: r.opts.Home, Identify: r.resolver().Identify, NotesLost: true})
	if err != nil || a.Generation.N <= row.Generation {
		return nil // the same
	}
	a.Ahead = true
	maps.DeleteFunc(a.Notes, func(base int64, _ []memoir.Note) bool { return base < row.Generation })
	adopted, err := r.store.Adopt(ctx, a)
	if err != nil {
		return err
	}
	if adopted.Extractions+adopted.Notes > 0 {
		r.warn(fmt.Sprintf("project %s: the database lost what was written last: generation %d is live, and %d was recorded; %d extractions and %d edits by hand are taken over from its files",
			row.Name, a.Generation.N, row.Generation, adopted.Extractions, adopted.Notes),
			"what was forgotten or disabled meanwhile is not known any more: `memoir forget` and `memoir sessions disable` say it again")
	}
	return nil
}
