package pipeline

import (
	"context"
	"errors"
	"fmt"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// Merge makes one project of two registered ones: all that is known of from
// becomes into's, whose memory the next run makes anew from both. What people
// wrote into from's memory by hand is kept as notes first, and its folder, with
// its generations, below into's. It waits for opts.Wait while another process holds
// one of them; then the error has the code memoir.CodeBusy.
//
// A process that dies on the way leaves both as they were, or merged with the
// folder still in its place, which the next run or merge moves.
func Merge(ctx context.Context, st *store.Store, opts Options, from, into memoir.Project) error {
	r, err := newRun(st, opts)
	if err != nil {
		return err
	}
	if err := FinishMoves(ctx, st, opts.Home); err != nil {
		return err
	}
	if err := r.merge(ctx, from, into); err != nil {
		return err
	}
	return FinishMoves(ctx, st, opts.Home)
}

// merge is Merge without the moving of folders.
func (r *run) merge(ctx context.Context, from, into memoir.Project) error {
	claims, err := r.holdBoth(ctx, min(from.ID, into.ID), max(from.ID, into.ID))
	if err != nil {
		return err
	}
	defer func() {
		for _, claim := range claims {
			r.letGo(ctx, claim)
		}
	}()
	source := claims[from.ID]
	for round := 1; ; round++ {
		err := r.keepForMerge(ctx, from, &source)
		if err == nil {
			break
		}
		if memoir.CodeOf(err) != memoir.CodeChanged || round == maxRounds {
			return err
		}
	}
	if err := r.store.MergeProjects(ctx, source, claims[into.ID]); err != nil {
		return err
	}
	delete(claims, from.ID)
	return nil
}

// keepForMerge records what people changed in a memory that is about to be put away.
func (r *run) keepForMerge(ctx context.Context, p memoir.Project, claim *store.ProjectClaim) error {
	root := memory.At(r.opts.Home, p.ID)
	if err := r.recoverRoot(ctx, root, claim); err != nil {
		return err
	}
	live, err := root.Current()
	if err != nil {
		return fmt.Errorf("read the live memory of %s: %w", p.Name, err)
	}
	return r.keepEdits(ctx, root, store.ProjectRow{Project: p}, live)
}

// FinishMoves does with the folders of projects that were merged, cleared or forgotten
// what is left to do: they are put below the other project's, or removed.
func FinishMoves(ctx context.Context, st *store.Store, home string) error {
	moves, err := st.FolderMoves(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range moves {
		root := memory.At(home, m.ProjectID)
		if m.Into == "" {
			err = root.PutAside()
		} else {
			_, err = memory.At(home, m.Into).Keep(root)
		}
		if err == nil {
			err = st.FolderMoved(ctx, m)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, memory.SweepRemoved(home))...)
}

// unite merges the projects that turned out to be one. Those that another process
// holds have to wait for a later run.
func (r *run) unite(ctx context.Context) error {
	unions, err := r.store.Unions(ctx)
	if err != nil || len(unions) == 0 {
		return err
	}
	known, err := r.store.Known(ctx)
	if err != nil {
		return err
	}
	byID := map[string]memoir.Project{}
	for _, p := range known {
		byID[p.ID] = p
	}
	for _, u := range unions {
		from, into := byID[u.From], byID[u.Into]
		err := r.merge(ctx, from, into)
		switch {
		case err == nil:
			r.mention(
				fmt.Sprintf(
					"%s (%s) is now a part of %s: they turned out to be one project",
					from.Name,
					from.ID,
					into.ID,
				),
				"",
			)
		case ctx.Err() != nil, ownFault(err) && memoir.CodeOf(err) != memoir.CodeBusy:
			return err
		case memoir.CodeOf(err) == memoir.CodeNotFound: // another process was faster
		default:
			r.warn(
				fmt.Sprintf(
					"%s and %s are one project, but were not merged: %s",
					from.ID,
					into.ID,
					r.redact(err.Error()),
				),
				"a later run tries again",
			)
		}
	}
	return FinishMoves(ctx, r.store, r.opts.Home)
}
