package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"memoir"
	"memoir/lease"
)

// ProjectClaimOptions says for whom and for what a project is claimed.
type ProjectClaimOptions struct {
	Holder lease.Holder
	Lease  time.Duration // how long the claim lasts unless extended
	// Always also claims a project that is not due, in backoff or dead, for work other than a
	// consolidation. Release ends such a claim. A crash of its holder is not counted.
	Always bool
	// NoSuspects declines a project whose consolidation crashed: a run tries those last.
	NoSuspects bool
}

// Declined says why a project was not claimed although no process works on it.
type Declined string

// The reasons.
const (
	DeclinedNotDue  Declined = "not_due" // nothing changed since the last consolidation, and none was requested
	DeclinedBackoff Declined = "backoff" // it failed, and is tried again at RetryAt
	DeclinedDead    Declined = "dead"    // its job is dead; a change or Retry revives it
	DeclinedSuspect Declined = "suspect" // its consolidation crashed, and NoSuspects is set
)

// ProjectClaim is the right to consolidate one project. It is valid while the database has its token and fence.
type ProjectClaim struct {
	ProjectID  string
	Token      string
	Fence      int64 // greater than that of every earlier claim on the project
	Seq        int64 // the change sequence that is consumed if the claim succeeds
	Generation int64 // the live one
	Forced     bool  // requested with Enqueue, whether or not anything changed
	Attempt    int   // from 1
	Crashes    int

	// Set when the project was not claimed.
	Declined  Declined
	RetryAt   time.Time
	LastError string
}

func (c ProjectClaim) job() job { return job{kindConsolidate, c.ProjectID, c.Token} }

// ClaimProject claims the consolidation of a project if it is due. The check is part of the transaction,
// so that the fence moves only for real work. If the project is not claimed, ok is false and
// claim.Declined says why. If a living process consolidates it, the error has the code memoir.CodeBusy
// and names that process.
func (s *Store) ClaimProject(
	ctx context.Context, projectID string, o ProjectClaimOptions,
) (claim ProjectClaim, ok bool, err error) {
	err = s.quickly(ctx, func(t tx) { claim, ok = s.claimProject(t, projectID, o) })
	if memoir.CodeOf(err) == memoir.CodeBusy {
		return claim, false, err
	}
	return claim, ok && err == nil, s.explain(err, "claiming project %s", projectID)
}

func (s *Store) claimProject(t tx, id string, o ProjectClaimOptions) (c ProjectClaim, ok bool) {
	c.ProjectID = id
	var due bool
	if !t.find(`SELECT change_seq, generation, forced_seq > consumed_seq, change_seq > consumed_seq
		FROM project WHERE id = ?`,
		[]any{id}, &c.Seq, &c.Generation, &c.Forced, &due) {
		t.fail(unknownProject(id))
	}
	s.takeOver(t, kindConsolidate)
	last := lastConsolidation(t, id)
	if last.status == "running" {
		t.fail(last.busy())
	}
	on := terms{holder: o.Holder, lasts: o.Lease, version: seqVersion(c.Seq), purpose: ownWork}
	dead := last.status == "dead" && last.version == on.version
	switch {
	case o.Always && dead:
		on.purpose = otherWorkOnDead
	case o.Always:
		on.purpose = otherWork
	case !due:
		c.Declined = DeclinedNotDue
	case dead:
		c.Declined = DeclinedDead
	case waits(millis(last.next), millis(last.finished), s.now()):
		c.Declined, c.RetryAt = DeclinedBackoff, last.next
	case o.NoSuspects && last.crashes > 0:
		c.Declined = DeclinedSuspect
	}
	if c.Declined != "" {
		c.LastError, c.Crashes = last.err, last.crashes
		return c, false
	}
	if on.purpose == ownWork {
		t.fail(s.Room())
	}
	c.Token = lease.NewToken()
	t.get(`UPDATE counter SET n = n + 1 WHERE name = 'fence' RETURNING n`, nil, &c.Fence)
	t.exec(`UPDATE project SET fence = ? WHERE id = ?`, c.Fence, id)
	g := s.claimJob(t, c.job(), on)
	c.Attempt, c.Crashes = g.attempt, g.crashes
	return c, t.ok()
}

func unknownProject(id string) error {
	return memoir.Errorf(memoir.CodeNotFound, "`memoir projects` lists them", "no project with the id %q", id)
}

// consolidation is the state of a project's job; zero if it has none.
type consolidation struct {
	status, version, err         string
	holder                       lease.Holder
	since, until, next, finished time.Time
	crashes                      int
}

func lastConsolidation(t tx, projectID string) (last consolidation) {
	t.find(`SELECT status, holder, started_at, lease_until, input_version, next_attempt_at, finished_at,
		last_error, crashes
		FROM job WHERE kind = 'consolidate' AND key = ?`, []any{projectID}, &last.status, holderColumn{&last.holder},
		timeColumn{&last.since}, timeColumn{&last.until}, &last.version, timeColumn{&last.next}, timeColumn{&last.finished},
		&last.err, &last.crashes)
	return last
}

// busy does not name the project, since the caller does.
func (c consolidation) busy() error {
	return memoir.Errorf(memoir.CodeBusy, "wait for it, for instance with --wait",
		"%s has held the project since %s, with a lease until %s",
		c.holder.Describe(), c.since.Format(time.RFC3339), c.until.Format(time.RFC3339))
}

// AbandonedProjects lists the projects whose claim was not ended and whose holder is dead, or whose lease
// has expired. The next claim of any project releases them.
func (s *Store) AbandonedProjects(ctx context.Context) ([]string, error) {
	return fetch(ctx, s, func(t tx) []string {
		free, _ := s.abandoned(t, kindConsolidate)
		return slices.Sorted(maps.Keys(free))
	}, "looking for abandoned projects")
}

// unexpired fails with an error of code memoir.CodeLeaseLost unless the claim is still ours and its lease has not
// expired. It guards writes outside of the database, so it compares the fence as well as the token.
func (c ProjectClaim) unexpired(t tx, now time.Time) {
	var until time.Time
	if !t.find(`SELECT j.lease_until FROM job j JOIN project p ON p.id = j.key AND p.fence = ?
		WHERE j.kind = 'consolidate' AND j.key = ? AND j.owner = ? AND j.owner <> '' AND j.status = 'running'`,
		[]any{c.Fence, c.ProjectID, c.Token}, timeColumn{&until}) {
		t.fail(c.job().lost())
	} else if !until.After(now) {
		t.fail(memoir.Errorf(memoir.CodeLeaseLost, "a later run does it again",
			"the lease on project %s ended at %s", c.ProjectID, until.Format(time.RFC3339)))
	}
}

// FinishProjectUnchanged ends a claim without a publication. The change sequence of the claim is consumed.
func (s *Store) FinishProjectUnchanged(ctx context.Context, c ProjectClaim) error {
	err := s.owning(ctx, quick, c.job(), func(t tx) { s.finishProject(t, c) })
	return s.explain(err, "finishing project %s", c.ProjectID)
}

func (s *Store) finishProject(t tx, c ProjectClaim) {
	t.exec(`UPDATE project SET consumed_seq = max(consumed_seq, ?) WHERE id = ?`, c.Seq, c.ProjectID)
	t.exec(endSaid, c.ProjectID, "")
	s.finish(t, c.job(), seqVersion(c.Seq), "", 0)
}

// Enqueue makes a project due whether or not anything changed. It stays due if a consolidation that is
// running now succeeds. A dead job becomes claimable again.
func (s *Store) Enqueue(ctx context.Context, projectID string) error {
	return s.explain(s.durably(ctx, func(t tx) {
		if t.exec(`UPDATE project SET change_seq = change_seq + 1, forced_seq = change_seq + 1 WHERE id = ?`,
			projectID) == 0 {
			t.fail(unknownProject(projectID))
		}
	}), "enqueueing project")
}

// Edited makes a project due because a person edited its memory.
func (s *Store) Edited(ctx context.Context, projectID string) error {
	err := s.durably(ctx, func(t tx) { bump(t, projectID) })
	return s.explain(err, "recording that project %s was edited", projectID)
}

// bump advances a project's change sequence, which makes it due, and returns it.
func bump(t tx, projectID string) (seq int64) {
	t.get(`UPDATE project SET change_seq = change_seq + 1 WHERE id = ? RETURNING change_seq`, []any{projectID}, &seq)
	return seq
}
