package store

import (
	"context"
	"time"

	"memoir/lease"
)

// MaxCrashes is how often a process may die over a job before the job is dead.
const MaxCrashes = 3

// AbandonedProjects lists the projects whose consolidation nobody works on any more,
// although a process claimed it and did not end the claim. The next claim of any
// project sets them free.
func (s *Store) AbandonedProjects(ctx context.Context) (ids []string, err error) {
	err = s.read(ctx, func(t tx) error {
		free, _, err := s.abandoned(t, kindConsolidate, s.ticks())
		for _, f := range free {
			ids = append(ids, f.key)
		}
		return err
	})
	return ids, s.explain(err, "looking for projects that nobody works on any more")
}

// takeOver sets free the running jobs of a kind that nobody works on any more, and
// returns how many are left running.
func (s *Store) takeOver(t tx, kind string) (running int, err error) {
	free, running, err := s.abandoned(t, kind, s.ticks())
	if err != nil {
		return 0, err
	}
	for _, f := range free {
		if err := s.crash(t, kind, f.key, f.because, `(errand = 0)`); err != nil {
			return 0, err
		}
	}
	return running, nil
}

// freed is a running job whose holder is gone.
type freed struct{ key, because string }

// abandoned lists the running jobs of a kind that nobody works on any more, and counts
// the others.
func (s *Store) abandoned(t tx, kind string, now time.Time) (free []freed, running int, err error) {
	holders := map[string]lease.Holder{}
	dead := map[string]bool{}
	// Without statistics SQLite would rather read all jobs of the kind.
	err = t.each(`SELECT key, owner, holder, lease_until FROM job INDEXED BY job_running WHERE kind = ? AND status = 'running'`, []any{kind},
		func(scan func(...any) error) error {
			var key, holder string
			var l lease.Lease
			var until int64
			if err := scan(&key, &l.Owner, &holder, &until); err != nil {
				return err
			}
			if _, ok := holders[holder]; !ok {
				h, _ := lease.ParseHolder(holder) // one that can't be read is unknown: its lease ends it
				holders[holder] = h
				alive, known := h.Alive()
				dead[holder] = known && !alive
			}
			l.Until, l.Holder = moment(until), holders[holder]
			switch {
			case dead[holder]:
				free = append(free, freed{key, holders[holder].Describe() + " ended while working on it"})
			case l.Over(now):
				free = append(free, freed{key, holders[holder].Describe() + " did not extend its lease"})
			default:
				running++
			}
			return nil
		})
	return free, running, err
}

// crash frees a running job; by is the SQL expression of how many crashes it was. What
// counts as none leaves the error of one that did, and what a project was held for besides
// its own work leaves it as it was.
func (s *Store) crash(t tx, kind, key, because, by string) error {
	_, err := t.exec(`UPDATE job SET crashes = crashes + `+by+`,
			status = CASE WHEN errand = 2 OR errand = 0 AND crashes + `+by+` >= ? THEN 'dead' ELSE 'pending' END,
			owner = '', holder = '', lease_until = 0, last_error = CASE WHEN `+by+` = 0 AND last_error <> '' THEN last_error ELSE ? END,
			finished_at = ? WHERE kind = ? AND key = ?`,
		MaxCrashes, because, millis(s.now()), kind, key)
	if err != nil || kind != kindExtract {
		return err
	}
	return s.settle(t, key)
}
