package hub

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"memoir"
	"memoir/model"
)

// A job is a wake-up. It is queued in the transaction that stores what is to be worked on, and ended in the one that
// stores the result; what a worker does twice counts once, since that transaction compares what the work began from.
// All of River is in this file.

// consolidateArgs wakes a worker to make the next generation of a project.
type consolidateArgs struct {
	Project int64 `json:"project"`
}

// Kind names the job.
func (consolidateArgs) Kind() string { return "consolidate" }

// extractArgs wakes a worker to extract a transcript.
type extractArgs struct {
	Transcript int64 `json:"transcript"`
}

// Kind names the job.
func (extractArgs) Kind() string { return "extract" }

// purgeArgs wakes a worker to delete archives that nobody should get any more.
type purgeArgs struct {
	Project int64 `json:"project"`
}

// Kind names the job.
func (purgeArgs) Kind() string { return "purge" }

const (
	riverSchema = "river"
	// maxFailures is how often a job fails until it is discarded. River's own bound also counts workers that were killed.
	maxFailures, maxAttempts = 3, 100
	// rescueEvery is River's interval between searches for jobs whose worker was killed.
	rescueEvery = 30 * time.Second
	// modelPause is how long a job waits for a model that is not available, whoever's fault that is.
	modelPause    = 10 * time.Minute
	databasePause = 10 * time.Second
	// failurePause is how long a session waits whose job has failed too often.
	failurePause = 24 * time.Hour
)

// WorkOptions say how a hub works on jobs.
type WorkOptions struct {
	Workers     int           // jobs at a time; 0: none
	PollOnly    bool          // needs no LISTEN: behind PgBouncer
	Timeout     time.Duration // of a job; 0: 15 minutes
	RescueAfter time.Duration // of a killed worker's job, above Timeout, and above 30 seconds; 0: a minute
	Retry       time.Duration // after the first failure, then twice and four times that; 0: 3 minutes
}

// queued are the states in which a job is not doubled.
var queued = []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateScheduled,
	rivertype.JobStateRetryable, rivertype.JobStateRunning}

// jobs is a client of the queue.
type jobs = river.Client[pgx.Tx]

func (h *Hub) openQueue() (err error) {
	h.jobs, err = river.NewClient(riverpgxv5.New(h.pool), &river.Config{Schema: riverSchema, Logger: h.quiet()})
	return err
}

// queue queues jobs in a transaction, unless the same are queued or running. A consolidation waits for the debounce.
func (h *Hub) queue(ctx context.Context, tx pgx.Tx, all ...river.JobArgs) error {
	var params []river.InsertManyParams
	for _, args := range all {
		o := river.InsertOpts{MaxAttempts: maxAttempts, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: queued}}
		if args.Kind() == (consolidateArgs{}).Kind() {
			o.ScheduledAt = time.Now().Add(h.debounce)
		}
		params = append(params, river.InsertManyParams{Args: args, InsertOpts: &o})
	}
	if len(params) == 0 {
		return nil
	}
	_, err := h.jobs.InsertManyTx(ctx, tx, params)
	return err
}

// hasten lets a consolidation that waits, for a model or after a failure, begin as if it was queued now.
func (h *Hub) hasten(ctx context.Context, tx pgx.Tx, project int64) error {
	_, err := tx.Exec(ctx, `UPDATE river.river_job SET scheduled_at = least(scheduled_at, $2) WHERE kind = 'consolidate'
		AND state IN ('scheduled', 'retryable') AND (args->>'project')::bigint = $1`, project, time.Now().Add(h.debounce))
	return err
}

// queueDue queues a consolidation of each project of an organisation that has changes which none has read, and each
// transcript that waits; 0 is every organisation. It does so for what hubs of an older version store, and for what
// failed. What waits for a model or a limit is tried at once.
func (h *Hub) queueDue(ctx context.Context, tx pgx.Tx, org int64) error {
	_, err := tx.Exec(ctx, `UPDATE river.river_job SET scheduled_at = now() WHERE state IN ('scheduled', 'retryable')
		AND (kind = 'consolidate' AND (args->>'project')::bigint IN (SELECT memoir.due($1))
			OR kind = 'extract' AND (args->>'transcript')::bigint IN (SELECT memoir.unextracted($1)))`, org)
	if err != nil {
		return err
	}
	rows, _ := tx.Query(ctx, `SELECT false, id FROM memoir.due($1) id
		UNION ALL SELECT true, id FROM memoir.unextracted($1) id ORDER BY 1, 2`, org) // rows have its error
	due, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (river.JobArgs, error) {
		var transcript bool
		var id int64
		if err := row.Scan(&transcript, &id); err != nil || !transcript {
			return consolidateArgs{id}, err
		}
		return extractArgs{id}, nil
	})
	if err == nil {
		err = h.queue(ctx, tx, due...)
	}
	return err
}

// migrateJobs creates or updates River's tables by one of its migrations: a new value of a type must be committed
// before the next one uses it. done says that there is none left.
func (h *Hub) migrateJobs(ctx context.Context, tx pgx.Tx) (done bool, err error) {
	migrator, err := rivermigrate.New(riverpgxv5.New(h.pool), &rivermigrate.Config{
		Schema: riverSchema, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		_, err = tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS river`)
	}
	if err != nil {
		return false, err
	}
	//lint:ignore SA1019 it warns of several migrations in one transaction
	step, err := migrator.MigrateTx(ctx, tx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{MaxSteps: 1})
	return err == nil && len(step.Versions) == 0, err
}

// Work works on jobs until ctx is done. Then it gives those that run back, for other workers.
func (h *Hub) Work(ctx context.Context, o WorkOptions) error {
	if o.Workers <= 0 {
		<-ctx.Done()
		return nil
	}
	if o.Timeout < 0 || o.RescueAfter != 0 && o.RescueAfter <= rescueEvery {
		return memoir.Errorf(memoir.CodeUsage, "", "jobs of killed workers are looked for every %s: --rescue-after "+
			"is longer, and --job-timeout not negative", rescueEvery)
	}
	o.Timeout, o.RescueAfter = cmp.Or(o.Timeout, 15*time.Minute), cmp.Or(o.RescueAfter, time.Minute)
	rescue := o.Timeout + max(o.RescueAfter-rescueEvery, time.Second)
	retry := retries{cmp.Or(o.Retry, 3*time.Minute), rescue}
	workers := river.NewWorkers()
	river.AddWorker(workers, worker(h, retry, h.consolidate))
	river.AddWorker(workers, worker(h, retry, h.purge))
	river.AddWorker(workers, worker(h, retry, h.extract))
	err := h.CheckServing(ctx)
	var client *jobs
	if err == nil {
		client, err = river.NewClient(riverpgxv5.New(h.pool), &river.Config{
			Schema: riverSchema, Logger: h.quiet(), PollOnly: o.PollOnly, Workers: workers, ReindexerIndexNames: []string{},
			Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: o.Workers}}, RetryPolicy: retry,
			JobTimeout: o.Timeout, RescueStuckJobsAfter: rescue,
			SoftStopTimeout: time.Second, FetchPollInterval: 250 * time.Millisecond,
		})
	}
	if err == nil {
		err = pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error { return h.queueDue(ctx, tx, 0) })
	}
	if err == nil {
		err = client.Start(ctx)
	}
	switch {
	case err != nil && ctx.Err() != nil: // it was stopped before it began
		return nil
	case err != nil:
		return asError(err)
	}
	h.log.Info("working", "workers", o.Workers)
	<-client.Stopped()
	return nil
}

// quiet is the log without what River tells every few seconds.
func (h *Hub) quiet() *slog.Logger { return slog.New(warnings{h.log.Handler()}) }

type warnings struct{ slog.Handler }

// Enabled reports whether a level is of warnings, or above.
func (w warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && w.Handler.Enabled(ctx, l)
}

// retries is River's policy for the next try: the delay doubles with each failure. The job of a worker that was killed
// is tried at once: it has run for longer than any other.
type retries struct{ first, rescue time.Duration }

// NextRetry returns when a job that failed, or was rescued, is tried again.
func (r retries) NextRetry(job *rivertype.JobRow) time.Time {
	if job.AttemptedAt != nil && time.Since(*job.AttemptedAt) > r.rescue {
		return time.Now()
	}
	return time.Now().Add(r.first << min(failures(job), maxFailures))
}

// failures counts how often a job has failed. A worker that was killed is not the job's fault.
func failures(job *rivertype.JobRow) (n int) {
	for _, e := range job.Errors {
		if !strings.HasPrefix(e.Error, "Stuck job rescued") { // River's words
			n++
		}
	}
	return n
}

// running is a job that is worked on.
type running struct {
	row          *rivertype.JobRow
	complete     func(ctx context.Context, tx pgx.Tx) error // ends it in the transaction that stores its result
	project, seq int64                                      // of a consolidation, with the last change that it has read
	of           int64                                      // the project, also of an extraction
}

// worker returns what works on the jobs of a kind.
func worker[T river.JobArgs](
	h *Hub, retry retries, do func(ctx context.Context, r *running, args T) error,
) river.Worker[T] {
	return river.WorkFunc(func(ctx context.Context, job *river.Job[T]) error {
		r := &running{row: job.JobRow, complete: func(ctx context.Context, tx pgx.Tx) error {
			_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
			return err
		}}
		err := caught(func() error { return do(ctx, r, job.Args) })
		switch {
		case err == nil, errors.Is(err, errGone):
			return nil
		case ctx.Err() != nil && errors.Is(err, context.Canceled): // River gives it back
			return err
		}
		reason := h.scanner.Message(asError(err).Error())
		h.log.Warn("a job failed", "job", job.ID, "kind", job.Kind, "failures", failures(job.JobRow), "error", reason)
		pause := pauseOf(err)
		if ctx.Err() != nil && !errors.Is(err, errSlow) { // it took too long
			pause = 0
		}
		if pause == 0 && failures(job.JobRow)+1 < maxFailures {
			return errors.New(reason)
		}
		if pause == 0 && r.project == 0 {
			pause = failurePause
		}
		if pause == 0 {
			given, err := h.discard(context.WithoutCancel(ctx), r, reason)
			if given || err != nil {
				return asError(err)
			}
			pause = retry.first
		}
		if memoir.CodeOf(err) != memoir.CodeLimit {
			r.of = 0
		}
		if err := cmp.Or(river.MetadataSet(ctx, "reason", reason), river.MetadataSet(ctx, "limited", r.of)); err != nil {
			return err
		}
		return river.JobSnooze(pause)
	})
}

// caught returns a panic as an error, which is redacted; River would store it as it is.
func caught(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = memoir.Errorf(memoir.CodeInvalid, "", "panic: %v", v)
		}
	}()
	return do()
}

// pauseOf returns how long a job waits for what is not its own fault: a spending limit ends with the day, a model or
// the database may be away. 0: it is its fault.
func pauseOf(err error) time.Duration {
	if memoir.CodeOf(err) == memoir.CodeLimit {
		day := 24 * time.Hour
		return time.Until(time.Now().UTC().Truncate(day).Add(day + time.Second))
	}
	if failed, ok := errors.AsType[*model.Error](err); ok && failed.Class != model.ClassTooLong &&
		failed.Class != model.ClassInvalid {
		return modelPause
	}
	failed, ok := errors.AsType[*pgconn.PgError](err)
	if data := ok && slices.Contains([]string{"22", "23", "42", "54"}, failed.Code[:2]); ok && !data ||
		!ok && memoir.CodeOf(err) == memoir.CodeInternal {
		return databasePause
	}
	return 0
}

// discard ends a consolidation that failed too often. More may have been pushed since it began, which no other job will
// do: then it is not discarded. The lock of the project makes a push wait, which then queues another one.
func (h *Hub) discard(ctx context.Context, r *running, reason string) (done bool, err error) {
	err = h.asWorker(ctx, r.project, func(tx pgx.Tx) error {
		ended, err := tx.Exec(ctx, `WITH same AS (SELECT 1 FROM memoir.project WHERE id = $2 AND seq = $3 FOR UPDATE)
			UPDATE river.river_job SET state = 'discarded', finalized_at = now(), errors = array_append(errors,
				jsonb_build_object('at', now(), 'attempt', attempt, 'error', $4::text, 'trace', ''))
			FROM same WHERE id = $1 AND state = 'running'`, r.row.ID, r.project, r.seq, reason)
		done = ended.RowsAffected() > 0
		return err
	})
	return done && err == nil, err
}

// Jobs lists what is queued, what failed in the last week, and what the built-in model did instead of another in the
// last day, with the reason.
func (a Admin) Jobs(ctx context.Context) (Table, error) {
	return a.table(ctx, `SELECT j.id, kind, coalesce(p.key, '') AS project, j.state::text AS state, scheduled_at AS due,
			coalesce(metadata->>'fallback', CASE j.state WHEN 'scheduled' THEN metadata->>'reason' END,
				errors[array_upper(errors, 1)]->>'error', '') AS reason
		FROM river.river_job j LEFT JOIN memoir.transcript t ON t.id = (args->>'transcript')::bigint
		LEFT JOIN memoir.project p ON p.id = coalesce(t.project, (coalesce(args->>'project', metadata->>'project'))::bigint)
		WHERE (j.state <> 'completed' OR metadata ? 'fallback') AND (p.organisation = $1 OR p.id IS NULL) ORDER BY j.id`)
}
