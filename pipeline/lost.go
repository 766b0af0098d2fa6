package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// takeBack sees to sessions whose extraction is gone from the database, though nobody
// took them out. What the live memory wrote down of them is taken over again, as of a
// database that is new; the others are read again, as far as their files are there.
func (r *run) takeBack(ctx context.Context) error {
	lost, err := r.store.LostExtractions(ctx)
	if err != nil || len(lost) == 0 {
		return err
	}
	said := "what was extracted from " + sessions(len(lost)) + " is gone from the database, though nobody took that out"
	if r.opts.DryRun {
		r.warn(said, "a run takes it over from the memory, or extracts it anew")
		return nil
	}
	r.recordBegin(ctx)
	for _, id := range projectsOf(lost) {
		if err := r.adoptLost(ctx, id); err != nil {
			return err
		}
	}
	left, err := r.store.LostExtractions(ctx)
	if err != nil {
		return err
	}
	if err := r.store.ReadAgain(ctx, left); err != nil {
		return err
	}
	if r.report.Scan.Reasons, err = r.refreshReasons(ctx); err != nil {
		return err
	}
	again, err := r.again(ctx, left)
	if err != nil {
		return err
	}
	for _, l := range left {
		r.toldLost[l.Key] = true
	}
	r.warn(said+": "+fates(len(lost)-len(left), again, len(left)-again), "`memoir sessions` tells of each; `memoir forget` takes a session out")
	return nil
}

// again counts the lost sessions that are read again, now or later.
func (r *run) again(ctx context.Context, lost []store.Lost) (int, error) {
	keys := make([]string, len(lost))
	for i, l := range lost {
		keys[i] = l.Key
	}
	registered, err := r.store.Sessions(ctx, store.Filter{Keys: keys})
	n := len(lost) - len(registered) // found by the next scan
	for _, s := range registered {
		switch s.Reason {
		case memoir.ReasonEligible, memoir.ReasonOverCap, memoir.ReasonBackoff, memoir.ReasonActive, memoir.ReasonTooRecent:
			n++
		}
	}
	return n, err
}

// fates tells what becomes of lost sessions.
func fates(taken, again, gone int) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{taken, "of %s taken over again from the memory"},
		{again, "%s to be read again"},
		{gone, "of %s, which can't be read again, what the memory has stays"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf(p.what, sessions(p.n)))
		}
	}
	return strings.Join(parts, "; ")
}

func sessions(n int) string {
	if n == 1 {
		return "1 session"
	}
	return fmt.Sprintf("%d sessions", n)
}

// projectsOf lists the projects of sessions, each once, in order.
func projectsOf(lost []store.Lost) []string {
	ids := map[string]bool{}
	for _, l := range lost {
		if l.ProjectID != "" {
			ids[l.ProjectID] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// adoptLost takes over what the live memory of a registered project tells.
func (r *run) adoptLost(ctx context.Context, id string) error {
	of, err := r.store.Sessions(ctx, store.Filter{Project: id})
	if err != nil {
		return err
	}
	a, err := adoptionOf(id, of, AdoptOptions{Home: r.opts.Home, Identify: r.resolver().Identify, ExtractionsLost: true})
	if err != nil { // who publishes there says so, too
		r.warn(fmt.Sprintf("project %s: its memory can't be read: %s", id, r.redact(err.Error())), memoir.HintOf(err))
		return nil
	}
	_, err = r.store.Adopt(ctx, a)
	return err
}

// takeBackInputs is takeBack for what a project's memory rests on, under the project's
// lease: nothing is taken for withdrawn because it is missing.
func (r *run) takeBackInputs(ctx context.Context, project store.ProjectRow, live memory.Snapshot) error {
	if live.Generation == 0 {
		return nil
	}
	lost, err := r.lostInputs(ctx, project.ID, live)
	if err != nil || len(lost) == 0 {
		return err
	}
	if err := r.adoptLost(ctx, project.ID); err != nil {
		return err
	}
	left, err := r.lostInputs(ctx, project.ID, live)
	if err != nil {
		return err
	}
	stay := 0
	r.mu.Lock()
	for _, key := range left {
		if !r.toldLost[key] {
			r.toldLost[key], stay = true, stay+1
		}
	}
	r.mu.Unlock()
	taken := len(lost) - len(left)
	if taken+stay == 0 {
		return nil
	}
	said := fmt.Sprintf("project %s: what was extracted from %s is gone from the database, though nobody took that out", project.Name, sessions(taken+stay))
	if stay > 0 {
		said += ": what the memory has of " + sessions(stay) + " stays"
	}
	r.warn(said, "`memoir forget` takes a session out")
	return nil
}

// lostInputs are the sessions that a project's memory rests on and whose extraction is lost.
func (r *run) lostInputs(ctx context.Context, projectID string, live memory.Snapshot) ([]string, error) {
	last, err := r.lastInputs(ctx, projectID, live)
	if err != nil {
		return nil, err
	}
	_, lost, err := r.store.Absent(ctx, projectID, slices.Sorted(maps.Keys(last)))
	return lost, err
}

// lastInputs are what a project's memory rests on, with content hashes. Where the
// database lost the record of the live generation its manifest tells.
func (r *run) lastInputs(ctx context.Context, projectID string, live memory.Snapshot) (map[string]string, error) {
	last, err := r.store.LastInputs(ctx, projectID)
	if err != nil {
		return nil, fmt.Errorf("read the last inputs: %w", err)
	}
	if len(last) == 0 {
		last = inputsByKey(live.Manifest.Inputs)
	}
	return last, nil
}
