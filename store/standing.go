package store

import (
	"context"
	"time"
)

// Standing is what a project's memory rests on, and what waits to get into it.
type Standing struct {
	ProjectID    string
	Inputs       int       // sessions that the live generation was made from
	Newest       time.Time // when the last of them ended, as far as they are still stored
	Consolidated time.Time // when a consolidation last ended well, also one that changed nothing

	// What the project is due for; all zero if it is not.
	New       int  // sessions that the memory does not have
	Changed   int  // that it has, and that were extracted anew
	Withdrawn int  // that it has, and that were taken out
	Asked     bool // a person asked for a consolidation

	// What stands in the way of consolidating it.
	RetryAt time.Time // it failed, and waits until then
	Dead    bool      // it failed too often
	Crashes int       // of processes that died over it, of MaxCrashes
}

// Standings returns how the memory of each project stands, by project id. Sizes are
// those of the registry: no text is read.
func (s *Store) Standings(ctx context.Context) (map[string]Standing, error) {
	all := map[string]Standing{}
	err := s.read(ctx, func(t tx) error {
		inputs := map[string]map[string]string{} // of those that are due
		err := t.each(`SELECT p.id, `+isDue+`, p.forced_seq > p.consumed_seq, coalesce(g.inputs, '{}'), p.published_at,
				coalesce(j.status, ''), coalesce(j.finished_at, 0), coalesce(j.next_attempt_at, 0),
				coalesce(j.status = 'dead' AND j.input_version = cast(p.change_seq AS TEXT), 0), coalesce(j.crashes, 0)
			FROM project p LEFT JOIN generation g ON g.project_id = p.id AND g.n = p.generation
				LEFT JOIN job j ON j.kind = 'consolidate' AND j.key = p.id ORDER BY p.id`, nil,
			func(scan func(...any) error) error {
				var st Standing
				var due bool
				var list, status string
				var published, finished, next int64
				if err := scan(&st.ProjectID, &due, &st.Asked, &list, &published, &status, &finished, &next, &st.Dead, &st.Crashes); err != nil {
					return err
				}
				of, err := inputsIn(list)
				if err != nil {
					return err
				}
				st.Inputs = len(of)
				if due {
					inputs[st.ProjectID] = of
				}
				st.Consolidated = moment(published)
				if status == "done" && finished > 0 {
					st.Consolidated = moment(finished)
				}
				if next > millis(s.now()) {
					st.RetryAt = moment(next)
				}
				all[st.ProjectID] = st
				return nil
			})
		if err != nil {
			return err
		}
		return standingOfExtractions(t, all, inputs)
	})
	return all, s.explain(err, "working out how the projects stand")
}

// standingOfExtractions fills in what depends on each extraction; due are the inputs of
// the live generations of the projects that are due.
func standingOfExtractions(t tx, all map[string]Standing, due map[string]map[string]string) error {
	inputs := map[string]map[string]bool{} // of the next consolidation, by project that is due
	for id := range due {
		inputs[id] = map[string]bool{}
	}
	err := t.each(`SELECT e.project_id, e.session_key, e.ended_at, e.seq > p.consumed_seq FROM extraction e JOIN project p ON p.id = e.project_id WHERE `+isInput, nil,
		func(scan func(...any) error) error {
			var id, key string
			var ended int64
			var fresh bool
			if err := scan(&id, &key, &ended, &fresh); err != nil {
				return err
			}
			st := all[id]
			of, isDue := due[id]
			_, known := of[key]
			if isDue {
				inputs[id][key] = true
			}
			switch {
			case isDue && fresh && known:
				st.Changed++
			case isDue && fresh:
				st.New++
			}
			if !fresh || known {
				if at := moment(ended); at.After(st.Newest) {
					st.Newest = at
				}
			}
			all[id] = st
			return nil
		})
	if err != nil {
		return err
	}
	for id, of := range due {
		st := all[id]
		for key := range of {
			if !inputs[id][key] {
				st.Withdrawn++
			}
		}
		all[id] = st
	}
	return nil
}
