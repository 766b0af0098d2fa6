package store

import (
	"context"
	"strconv"
	"time"

	"memoir"
	"memoir/internal/disk"
	"memoir/lease"
)

// The kinds of jobs, which are also the phases of the ledger.
const (
	kindExtract     = "extract"     // a session; its key is the session's
	kindConsolidate = "consolidate" // a project; its key is the project's id
)

// purpose says what a job is claimed for: the values of the column job.purpose.
type purpose string

const (
	ownWork         purpose = "own"        // an extraction or consolidation
	otherWork       purpose = "other"      // other work on the project: a crash is not counted
	otherWorkOnDead purpose = "other_dead" // other work on a project whose job is dead and stays dead
)

// MaxCrashes is the number of crashes after which a job is dead.
const MaxCrashes = 3

// releaseWithin bounds how long a process that was asked to stop waits for the database.
const releaseWithin = time.Second

// job identifies a job and, with a token, a claim on it.
type job struct{ kind, key, token string }

func (j job) String() string {
	if j.kind == kindExtract {
		return "session " + j.key
	}
	return "project " + j.key
}

// lost is the error of a lost claim: another process took the job over, or the job was removed. No result
// was stored.
func (j job) lost() error {
	return memoir.Errorf(memoir.CodeLeaseLost, "nothing was stored; another process or a later run does the work",
		"the claim on %s was lost", j)
}

type terms struct {
	holder  lease.Holder
	lasts   time.Duration // unless extended
	version string        // of the input: a new version resets the count of attempts
	purpose purpose
}

type grant struct {
	attempt, crashes int // attempt counts from 1
	doneHash         string
	doneFilter       int
}

// minRoom is twice the size at which SQLite moves a log into the database, in bytes.
const minRoom = 8 << 20

// Room returns an error of code memoir.CodeStorage on a full disk. Then no job is claimed for its own work: the
// claim could not be released, and that would count as a crash.
func (s *Store) Room() error { return disk.Room(s.path, minRoom) }

// claimJob claims a job for j's token, whatever its state: the caller has decided that it may be claimed.
func (s *Store) claimJob(t tx, j job, on terms) (g grant) {
	// Crashes of an earlier version count as one.
	t.get(`INSERT INTO job (kind, key, status, owner, holder, lease_until, input_version, started_at, purpose)
		VALUES (?1, ?2, 'running', ?3, ?4, ?5, ?6, ?7, ?8)
		ON CONFLICT (kind, key) DO UPDATE SET status = 'running', owner = ?3, holder = ?4, lease_until = ?5,
			attempts = iif(input_version = ?6, attempts, 0),
			crashes = iif(input_version = ?6, crashes, min(crashes, 1)),
			input_version = ?6, started_at = ?7, purpose = ?8
		RETURNING attempts + 1, crashes, done_hash, filter_version`,
		[]any{j.kind, j.key, j.token, on.holder.String(), millis(s.ticks().Add(on.lasts)), on.version, millis(s.now()),
			on.purpose},
		&g.attempt, &g.crashes, &g.doneHash, &g.doneFilter)
	return g
}

func seqVersion(seq int64) string { return strconv.FormatInt(seq, 10) }

// runningJob is a job whose claim has not ended.
type runningJob struct {
	job
	lease.Lease
	since     time.Time
	purpose   purpose
	crashes   int
	lastError string
}

// runningJobs lists the running jobs of a kind, by key.
func runningJobs(t tx, kind string) (jobs []runningJob) {
	// Without statistics SQLite would read all jobs of the kind instead.
	for scan := range t.rows(`SELECT kind, key, owner, holder, lease_until, started_at, purpose, crashes, last_error
		FROM job INDEXED BY job_running WHERE kind = ? AND status = 'running' ORDER BY key`, kind) {
		var r runningJob
		scan(&r.kind, &r.key, &r.token, holderColumn{&r.Holder}, timeColumn{&r.Until}, timeColumn{&r.since},
			&r.purpose, &r.crashes, &r.lastError)
		r.Owner = r.token
		jobs = append(jobs, r)
	}
	return jobs
}

// abandoned lists the running jobs of a kind. free has those whose holder is dead or whose lease has
// expired, by key, with the reason.
func (s *Store) abandoned(t tx, kind string) (free map[string]string, jobs []runningJob) {
	jobs, free = runningJobs(t, kind), map[string]string{}
	dead := map[lease.Holder]bool{}
	for _, j := range jobs {
		if _, known := dead[j.Holder]; !known {
			alive, known := j.Holder.Alive()
			dead[j.Holder] = known && !alive
		}
		if dead[j.Holder] {
			free[j.key] = j.Holder.Describe() + " ended while working on it"
		} else if j.Over(s.ticks()) {
			free[j.key] = j.Holder.Describe() + " did not extend its lease"
		}
	}
	return free, jobs
}

// takeOver releases the abandoned jobs of a kind and returns how many others are running.
func (s *Store) takeOver(t tx, kind string) (running int) {
	free, jobs := s.abandoned(t, kind)
	for _, j := range jobs {
		if because, abandoned := free[j.key]; abandoned {
			s.crash(t, j, because)
		} else {
			running++
		}
	}
	return running
}

// crash releases a running job and counts a crash. If it was claimed for other work, no crash is counted,
// and an earlier error stays.
func (s *Store) crash(t tx, j runningJob, because string) {
	status := "pending"
	if j.purpose == ownWork {
		j.crashes++
		j.lastError = because
	} else if j.lastError == "" {
		j.lastError = because
	}
	if j.purpose == otherWorkOnDead || j.purpose == ownWork && j.crashes >= MaxCrashes {
		status = "dead"
	}
	t.exec(`UPDATE job SET crashes = ?, status = ?, owner = '', holder = '', lease_until = 0, last_error = ?,
		finished_at = ? WHERE kind = ? AND key = ?`, j.crashes, status, j.lastError, millis(s.now()), j.kind, j.key)
	if j.kind == kindExtract {
		s.settle(t, j.key)
	}
}

// held fails with an error of code memoir.CodeLeaseLost unless the job still runs under this claim. Every
// method that stores a result calls it in the same transaction.
func (j job) held(t tx) {
	if !t.exists(`SELECT 1 FROM job WHERE kind = ? AND key = ? AND owner = ? AND owner <> ''
		AND status = 'running'`,
		j.kind, j.key, j.token) {
		t.fail(j.lost())
	}
}

// owning is write for a claim that must still be held.
func (s *Store) owning(ctx context.Context, how durability, j job, fn func(tx)) error {
	return s.write(ctx, how, func(t tx) {
		j.held(t)
		fn(t)
	})
}

// Claimed is a claim on a session or a project.
type Claimed interface{ job() job }

// Extend sets the end of a claim's lease. An expired lease can be extended unless another process has
// claimed the job. ok is false if the claim is no longer ours.
func (s *Store) Extend(ctx context.Context, c Claimed, until time.Time) (ok bool, err error) {
	j := c.job()
	err = s.quickly(ctx, func(t tx) {
		ok = t.exec(`UPDATE job SET lease_until = ? WHERE kind = ? AND key = ? AND owner = ? AND status = 'running'`,
			millis(until), j.kind, j.key, j.token) > 0
	})
	return ok && err == nil, s.explain(err, "extending the lease of %s", j)
}

// finish ends a job that succeeded, and records the version, content hash and filter version of its input.
func (s *Store) finish(t tx, j job, version, hash string, filter int) {
	t.exec(`UPDATE job SET status = 'done', owner = '', holder = '', lease_until = 0, attempts = 0, crashes = 0,
			next_attempt_at = 0, last_error = '', done_version = ?, done_hash = ?, filter_version = ?, finished_at = ?
		WHERE kind = ? AND key = ?`, version, hash, filter, millis(s.now()), j.kind, j.key)
}

// Release releases a claim that is still ours without counting an attempt. The job returns to the state
// that it had before the claim. Release also works if ctx has ended, for at most a second.
func (s *Store) Release(ctx context.Context, c Claimed) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	err := s.quickly(ctx, func(t tx) { s.release(t, c.job()) })
	return s.explain(err, "releasing %s", c.job())
}

func (s *Store) release(t tx, j job) {
	t.exec(`UPDATE job SET owner = '', holder = '', lease_until = 0, status = CASE
			WHEN purpose = ?1 THEN 'dead'
			WHEN next_attempt_at > ?2 THEN 'error'
			WHEN EXISTS (SELECT 1 FROM project p WHERE job.kind = 'consolidate' AND p.id = job.key
				AND p.change_seq <= p.consumed_seq) THEN 'done'
			ELSE 'pending' END
		WHERE kind = ?3 AND key = ?4 AND owner = ?5 AND status = 'running'`,
		otherWorkOnDead, millis(s.now()), j.kind, j.key, j.token)
}
