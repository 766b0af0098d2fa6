package pipeline

import (
	"context"
	"fmt"
	"maps"
	"time"

	"memoir"
	"memoir/store"
)

// clockSkew is how far in the future a session may lie before the clock is doubted.
const clockSkew = 24 * time.Hour

// window says which sessions this run takes.
func (r *run) window() store.Window {
	w := store.Window{
		Now:               r.now(),
		MinIdle:           r.opts.MinIdle,
		MaxAge:            r.opts.MaxAge,
		Keys:              r.keys,
		Projects:          r.opts.ProjectIDs,
		ExcludeKey:        r.starting,
		IncludeAutomation: r.opts.Settings.Memories.IncludeAutomation,
		Cap:               r.opts.Limit,
	}
	if w.MinIdle > 0 {
		w.ActiveFor = time.Duration(r.opts.Settings.Memories.ActiveRolloutMinutes * float64(time.Minute))
	}
	return w
}

// claimable is the window without the projects whose own limits are reached, or whose
// rules for secrets are invalid: their sessions stay eligible for a later run.
func (r *run) claimable() store.Window {
	w := r.window()
	for _, stop := range r.meter.stoppedProjects() {
		w.Without = append(w.Without, stop.Project)
	}
	w.Without = append(w.Without, r.misruledProjects()...)
	return w
}

// refreshReasons brings every session's reason up to date and returns how many
// sessions have each.
func (r *run) refreshReasons(ctx context.Context) (map[memoir.Reason]int, error) {
	reasons, err := r.store.RefreshReasons(ctx, r.window())
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(reasons, func(_ memoir.Reason, n int) bool { return n == 0 })
	return reasons, nil
}

// doubtClock warns when sessions lie in the future: with a clock that was set
// back, they stay too recent until it has caught up with them.
func (r *run) doubtClock(ctx context.Context) error {
	newest, err := r.store.Newest(ctx)
	if err != nil {
		return err
	}
	if ahead := newest.Sub(r.now()); ahead > clockSkew {
		r.warn(
			fmt.Sprintf(
				"the newest session ended %d days after now (%s)",
				int(ahead.Hours()/24),
				r.now().Format(time.DateOnly),
			),
			"check this machine's clock, or give the right moment with --now; such sessions count as too recent",
		)
	}
	return nil
}

// findStarting resolves the id of the session that is just beginning.
func (r *run) findStarting(ctx context.Context) error {
	if r.opts.StartingSession == "" {
		return nil
	}
	sessions, err := r.store.FindSessions(ctx, r.opts.StartingSession)
	if err != nil && memoir.CodeOf(err) != memoir.CodeNotFound {
		return err
	}
	for _, s := range sessions {
		if s.ID == r.opts.StartingSession || s.Key() == r.opts.StartingSession {
			r.starting = s.Key()
		}
	}
	return nil
}
