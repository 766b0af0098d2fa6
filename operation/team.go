package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/store"
	"memoir/team"
)

// Team is what is shared with a hub, and how synchronising goes.
type Team struct {
	team.Hub // without its token and certificates
	team.State
	Shares  []store.Share `json:"shares"`
	Waiting int           `json:"waiting"` // sessions of which something may have to be sent
	// Withdrawals counts statements that the hub has until it is told to withdraw them, by the project's key there.
	Withdrawals map[string]int `json:"withdrawals"`
}

// ReadTeam returns nil for a home that has joined no hub. A nil store is one in which nothing is shared.
func ReadTeam(ctx context.Context, st *store.Store, home string, clean func(string) string) (*Team, error) {
	hub, err := team.Load(home)
	if errors.Is(err, team.ErrNone) {
		return nil, nil
	}
	state, errState := team.ReadState(home)
	hub.Token, hub.Next, hub.CA = "", "", ""
	out := &Team{Hub: hub, State: state, Shares: []store.Share{}, Withdrawals: map[string]int{}}
	out.Held = append([]team.Held{}, out.Held...)
	if err = errors.Join(err, errState); err != nil || st == nil {
		return out, err
	}
	shares, waiting, err := st.Shares(ctx)
	for _, s := range shares {
		s.Key = clean(s.Key)
		out.Shares = append(out.Shares, s)
	}
	withdrawals, gone, errWithdrawals := st.ToWithdraw(ctx)
	out.Waiting = waiting - gone
	for key, n := range withdrawals {
		out.Withdrawals[clean(key)] += n
	}
	return out, errors.Join(err, errWithdrawals)
}

// atHub returns the sessions that a line of a hub cites by their keys there, without known ones.
func (l Line) atHub(known []Evidence) (out []Evidence) {
	for _, ref := range l.cited {
		is := func(e Evidence) bool { return consolidate.Cites(ref, e.ID) }
		if memoir.IsReceived(ref) && !slices.ContainsFunc(known, is) {
			out = append(out, Evidence{ID: ref, Items: []EvidenceItem{}})
		}
	}
	return out
}

// became reports whether members made a line of the one that a statement said.
func (m projectMemory) became(id string, l Line) bool {
	edit, edited := m.edited[id]
	return edited && edit.Became == memoir.LineKey(memoir.WithoutTeam(memoir.LineText(l.Text)))
}

// here returns the statements of this machine that a line of a hub repeats or once said, of the sessions that it cites,
// and the line with its other citations. These are keys of this machine if the hub has its sessions.
func (a Access) here(l Line, m projectMemory, all []withExtraction) (Line, []Statement) {
	hub, err := team.Load(a.Home)
	if err != nil || !team.HasBase(a.Home, m.project) {
		return l, nil
	}
	var ids, left []string
	words := memoir.WordsOf(memoir.WithoutTeam(memoir.LineText(l.Text))) // no name counts
	for _, ref := range l.cited {
		at, _ := memoir.ReceivedGroup(ref)
		before := len(ids)
		for _, s := range all {
			if hub.KeyOf(s.session.SessionKey) == at && (m.became(s.statement.ID, l) ||
				words.Repeats(memoir.WordsOf(s.statement.Text))) {
				ids = append(ids, s.statement.ID)
			}
		}
		is := func(s memoir.Session) bool { return !memoir.IsReceived(s.Key()) && hub.KeyOf(s.Key()) == at }
		if i := slices.IndexFunc(m.sessions, is); i >= 0 {
			ref = m.sessions[i].Key()
		}
		if len(ids) == before {
			left = append(left, ref)
		}
	}
	l.cited = left
	return l, a.evidence(ids, all)
}

// sayEdits sets what members made of the lines of statements.
func (a Access) sayEdits(m projectMemory, all []Statement) {
	for i := range all {
		if edit, edited := m.edited[all[i].ID]; edited {
			edit.By = a.Clean(edit.By)
			all[i].Edit = &edit
		}
	}
}

// TeamNews says that a generation of a project waits for this member, and since when synchronising fails, once that is
// more than a day; else it is empty.
func TeamNews(home, projectID string, now time.Time) (text string) {
	state, err := team.ReadState(home)
	if n := state.Unaccepted[projectID]; n > 0 {
		text = fmt.Sprintf("generation %d of the team's memory waits: `memoir team accept` shows it", n)
	}
	if err == nil && !state.Failing.IsZero() && now.Sub(state.Failing) >= 24*time.Hour {
		text += "; the team's memory is not synchronised since " + Zoned(state.Failing) + ": " + memoir.Cut(state.Error, 200)
	}
	return strings.TrimPrefix(text, "; ")
}
