package operation

import (
	"context"
	"time"

	"memoir"
	"memoir/store"
)

// Running is a claimed job.
type Running struct {
	Kind   string     `json:"kind"`
	Key    string     `json:"key"`
	Holder string     `json:"holder"`
	Since  *time.Time `json:"since"`
	Until  *time.Time `json:"until"`
	Stale  bool       `json:"stale"` // the next claim releases it
	Title  string     `json:"title"`
	Host   string     `json:"host"`
	PID    int        `json:"pid"`
}

// Failed is a job that failed or crashed.
type Failed struct {
	Kind     string     `json:"kind"`
	Session  string     `json:"session"` // session key; project id if kind is consolidate
	Error    string     `json:"error"`
	Attempts int        `json:"attempts"`
	Crashes  int        `json:"crashes"`
	Next     *time.Time `json:"next"` // of the next attempt; null: at once, or never for a dead job
	Title    string     `json:"title"`
	Suspect  bool       `json:"suspect"` // it crashed: it is tried last and alone
	Model    string     `json:"model"`   // that failed; empty: unknown, or none did
}

// LastRun is the run that started last.
type LastRun struct {
	Holder  string     `json:"holder"`
	BeganAt *time.Time `json:"began_at"`
	EndedAt *time.Time `json:"ended_at"` // null: it is running, or its process died
	Outcome string     `json:"outcome"`  // done, partly, busy, failed, interrupted, running or died
	Reason  string     `json:"reason"`
	Hint    string     `json:"hint"`
}

// Queue is the state of the queue.
type Queue struct {
	Jobs     map[string]int        `json:"jobs"`     // by status
	Sessions map[memoir.Reason]int `json:"sessions"` // by reason, at the last scan
	Running  []Running             `json:"running"`
	Failed   []Failed              `json:"failed"`
	Dead     []Failed              `json:"dead"`
	LastRun  *LastRun              `json:"last_run"`
}

// ReadQueue returns the state of the queue.
func ReadQueue(ctx context.Context, st *store.Store, redact func(string) string) (Queue, error) {
	now, err := st.Status(ctx)
	if err != nil {
		return Queue{}, err
	}
	return queueOf(ctx, st, now, redact)
}

func queueOf(ctx context.Context, st *store.Store, now store.Status, redact func(string) string) (Queue, error) {
	out := Queue{Jobs: now.Jobs, Sessions: now.Reasons, Running: []Running{}, Failed: failedJobs(now.Failed, redact),
		Dead: failedJobs(now.Dead, redact)}
	for _, j := range now.Running {
		out.Running = append(out.Running, Running{j.Kind, j.Key, j.Holder.Describe(), Time(j.Since),
			Time(j.Until), j.Stale, redact(j.Title), j.Holder.Host, j.Holder.PID})
	}
	runs, err := st.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return out, err
	}
	r := runs[0]
	out.LastRun = &LastRun{r.Holder.Describe(), Time(r.Began), Time(r.Ended), string(r.Outcome), redact(r.Reason), r.Hint}
	if r.Ended.IsZero() {
		out.LastRun.Outcome = "running"
		if alive, known := r.Holder.Alive(); known && !alive {
			out.LastRun.Outcome = "died"
		}
	}
	return out, nil
}

func failedJobs(jobs []store.FailedJob, redact func(string) string) []Failed {
	out := []Failed{}
	for _, j := range jobs {
		out = append(out, Failed{Kind: j.Kind, Session: j.Key, Error: redact(j.Error), Attempts: j.Attempts,
			Crashes: j.Crashes, Next: Time(j.Next), Title: redact(j.Title), Suspect: j.Suspect, Model: j.Model})
	}
	return out
}

// Spent is the use of language models for one day, project, model, phase and outcome.
type Spent struct {
	Day     string `json:"day"` // UTC
	Project string `json:"project"`
	Model   string `json:"model"`
	Phase   string `json:"phase"`
	Outcome string `json:"outcome"` // of the work; unfinished: it is running, or its process died
	memoir.Usage
	Estimated  int   `json:"estimated"`   // calls whose tokens and cost are an estimate
	DurationMS int64 `json:"duration_ms"` // of the calls
}

// Spending is the whole ledger, oldest day first.
type Spending struct {
	UsageBy []Spent `json:"usage_by"`
}

// ReadSpending returns the whole ledger.
func ReadSpending(ctx context.Context, st *store.Store) (Spending, error) {
	rows, err := st.UsageRows(ctx, time.Time{})
	out := Spending{[]Spent{}}
	var last Spent // key of the last element; rows that differ only in their call are adjacent
	for _, r := range rows {
		of := Spent{Day: r.Day, Project: r.ProjectID, Model: r.Model, Phase: r.Phase, Outcome: r.Outcome}
		if of != last {
			out.UsageBy, last = append(out.UsageBy, of), of
		}
		sum := &out.UsageBy[len(out.UsageBy)-1]
		sum.Usage, sum.Estimated = sum.Usage.Add(r.Usage), sum.Estimated+r.Estimated
		sum.DurationMS += r.Duration.Milliseconds()
	}
	return out, err
}
