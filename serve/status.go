package serve

import (
	"context"
	"time"

	"memoir"
	"memoir/store"
)

// Running is a job that a process has claimed.
type Running struct {
	Kind   string     `json:"kind"`
	Key    string     `json:"key"`
	Holder string     `json:"holder"`
	Since  *time.Time `json:"since"`
	Until  *time.Time `json:"until"`
	Stale  bool       `json:"stale"` // the next run takes it over
	Title  string     `json:"title"`
	Host   string     `json:"host"`
	PID    int        `json:"pid"`
}

// Failed is a job that failed, or that processes died over.
type Failed struct {
	Kind     string     `json:"kind"`
	Session  string     `json:"session"` // its key, or the project's id if kind is consolidate
	Error    string     `json:"error"`
	Attempts int        `json:"attempts"`
	Crashes  int        `json:"crashes"`
	Next     *time.Time `json:"next"` // null: at once, or never if dead
	Title    string     `json:"title"`
	Suspect  bool       `json:"suspect"` // a process died while working on it: it is tried last and alone
	Model    string     `json:"model"`   // that failed; empty: not known
}

// LastRun is the run that began last.
type LastRun struct {
	Holder  string     `json:"holder"`
	BeganAt *time.Time `json:"began_at"`
	EndedAt *time.Time `json:"ended_at"` // null: it is under way, or died
	Outcome string     `json:"outcome"`  // done, partly, busy, failed, interrupted, running or died
	Reason  string     `json:"reason"`
	Hint    string     `json:"hint"`
}

// Queue is how the queue stands.
type Queue struct {
	Jobs     map[string]int        `json:"jobs"`     // by status
	Sessions map[memoir.Reason]int `json:"sessions"` // as the last scan left them
	Running  []Running             `json:"running"`
	Failed   []Failed              `json:"failed"`
	Dead     []Failed              `json:"dead"`
	LastRun  *LastRun              `json:"last_run"`
}

// QueueOf is the form of a status and of the last run.
func QueueOf(ctx context.Context, st *store.Store, now store.Status, redact func(string) string) (Queue, error) {
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

// Spent is the use of language models of one day, project, model, phase and outcome.
type Spent struct {
	Day     string `json:"day"` // of UTC
	Project string `json:"project"`
	Model   string `json:"model"`
	Phase   string `json:"phase"`
	Outcome string `json:"outcome"` // of the work; unfinished: it is under way, or its process died
	memoir.Usage
	Estimated  int   `json:"estimated"`   // of the calls: those whose tokens and cost are an estimate
	DurationMS int64 `json:"duration_ms"` // of the calls
}

// SpentEver is all that the ledger holds, the oldest day first, one element for each day, project, model, phase and
// outcome.
func SpentEver(ctx context.Context, st *store.Store) ([]Spent, error) {
	rows, err := st.UsageRows(ctx, time.Time{})
	out := []Spent{}
	var last Spent // without its sums; rows that differ only in the state of the calls follow each other
	for _, r := range rows {
		of := Spent{Day: r.Day, Project: r.ProjectID, Model: r.Model, Phase: r.Phase, Outcome: r.Outcome}
		if of != last {
			out, last = append(out, of), of
		}
		sum := &out[len(out)-1]
		sum.Usage, sum.Estimated = sum.Usage.Add(r.Usage), sum.Estimated+r.Estimated
		sum.DurationMS += r.Duration.Milliseconds()
	}
	return out, err
}

func (s *server) queue(ctx context.Context, st *store.Store) (Queue, error) {
	now, err := st.Status(ctx)
	if err != nil {
		return Queue{}, err
	}
	return QueueOf(ctx, st, now, s.clean)
}

func (s *server) showQueue(c call) (any, error) {
	return s.queue(c.Context(), c.st)
}

// Spending is all that the ledger holds, the oldest day first.
type Spending struct {
	UsageBy []Spent `json:"usage_by"`
}

func (s *server) showUsage(c call) (any, error) {
	spent, err := SpentEver(c.Context(), c.st)
	return Spending{spent}, err
}
