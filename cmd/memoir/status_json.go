package main

import (
	"fmt"
	"time"

	"memoir"
	"memoir/pipeline"
	"memoir/store"
)

// statusJSON is what `status --json` prints.
type statusJSON struct {
	At         time.Time             `json:"at"`
	Error      string                `json:"error,omitempty"` // with --watch: why nothing could be seen this time
	Jobs       map[string]int        `json:"jobs"`            // by status
	Sessions   map[memoir.Reason]int `json:"sessions"`        // as the last scan left them
	Running    []runningJSON         `json:"running"`
	Failed     []failedJSON          `json:"failed"`
	Dead       []failedJSON          `json:"dead"`
	Projects   []projectStatusJSON   `json:"projects"`
	Usage      memoir.Usage          `json:"usage"`
	Redactions map[string]int        `json:"redactions"`
	Limits     []pipeline.LimitLeft  `json:"limits"` // of a day, as far as they are set
	LastRun    *lastRunJSON          `json:"last_run"`
	Next       nextJSON              `json:"next"`
	Unfinished []unfinishedJSON      `json:"unfinished"`
	Misruled   []pipeline.Misruled   `json:"invalid_rules"`      // projects that wait for their rules for secrets to be corrected
	UsageBy    *usageJSON            `json:"usage_by,omitempty"` // with --usage
}

type runningJSON struct {
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

type failedJSON struct {
	Kind     string     `json:"kind"`
	Session  string     `json:"session"` // its key, or the project's id if kind is consolidate
	Error    string     `json:"error"`
	Attempts int        `json:"attempts"`
	Crashes  int        `json:"crashes"`
	Next     *time.Time `json:"next"` // null: at once, or never if dead
	Title    string     `json:"title"`
	Suspect  bool       `json:"suspect"`         // a process died over it: it is tried last and alone
	Model    string     `json:"model"`           // that failed; empty: not known
	Other    bool       `json:"other,omitempty"` // another model would be asked now, and yet it waits
}

// projectStatusJSON is a project with what its memory rests on and waits for.
type projectStatusJSON struct {
	projectJSON
	Inputs         int        `json:"inputs"` // sessions that the live generation was made from
	NewestInput    *time.Time `json:"newest_input"`
	ConsolidatedAt *time.Time `json:"consolidated_at"`   // also when that changed nothing
	Why            []string   `json:"why"`               // it is due
	Waits          *time.Time `json:"waits,omitempty"`   // it failed, and is tried again then
	Dead           bool       `json:"dead,omitempty"`    // it failed too often
	Crashes        int        `json:"crashes,omitempty"` // of processes that died over it, while it is due
}

// lastRunJSON is the run that began last.
type lastRunJSON struct {
	Holder  string     `json:"holder"`
	BeganAt *time.Time `json:"began_at"`
	EndedAt *time.Time `json:"ended_at"` // null: it is under way, or died
	Outcome string     `json:"outcome"`  // done, partly, busy, failed, interrupted, running or died
	Reason  string     `json:"reason"`
	Hint    string     `json:"hint"`
	Left    int        `json:"left"` // sessions that it left to be done
}

// nextJSON is what the next run would do, by the settings' window.
type nextJSON struct {
	Sessions int                   `json:"sessions"` // that it would extract from
	Left     int                   `json:"left"`     // over the cap
	Projects []nextProjectJSON     `json:"projects"`
	Reasons  map[memoir.Reason]int `json:"reasons"` // that all sessions would have
	Estimate *memoir.Usage         `json:"estimate,omitempty"`
	Warnings []pipeline.Warning    `json:"warnings"`
	Error    string                `json:"error,omitempty"` // it would not begin
	Hint     string                `json:"hint,omitempty"`
}

type nextProjectJSON struct {
	Project     string     `json:"project"`
	Sessions    int        `json:"sessions"`
	Consolidate bool       `json:"consolidate"`
	Why         []string   `json:"why"`
	Waits       *time.Time `json:"waits,omitempty"` // it failed, and is not tried before
	Dead        bool       `json:"dead,omitempty"`  // it failed too often: what is extracted anew revives it
}

// unfinishedJSON is something that was begun, and that a later run has to end.
type unfinishedJSON struct {
	What    string `json:"what"` // forgetting, purge, folder or publication
	Project string `json:"project"`
	Detail  string `json:"detail"`
	Hint    string `json:"hint"`
}

func emptyStatus(at time.Time) statusJSON {
	return statusJSON{
		At: at.UTC(), Jobs: map[string]int{}, Sessions: map[memoir.Reason]int{}, Running: []runningJSON{}, Failed: []failedJSON{}, Dead: []failedJSON{},
		Projects: []projectStatusJSON{}, Redactions: map[string]int{}, Limits: []pipeline.LimitLeft{}, Unfinished: []unfinishedJSON{}, Misruled: []pipeline.Misruled{},
		Next: nextJSON{Projects: []nextProjectJSON{}, Reasons: map[memoir.Reason]int{}, Warnings: []pipeline.Warning{}},
	}
}

func (s *statusJSON) addJobs(now store.Status) {
	s.Jobs, s.Sessions, s.Redactions, s.Usage = now.Jobs, now.Reasons, now.Redactions, now.Usage
	s.Failed, s.Dead = failedJobs(now.Failed), failedJobs(now.Dead)
	for _, j := range now.Running {
		s.Running = append(s.Running, runningJSON{j.Kind, j.Key, j.Holder.Describe(), moments(j.Since), moments(j.Until), j.Stale, j.Title, j.Holder.Host, j.Holder.PID})
	}
}

func failedJobs(jobs []store.FailedJob) []failedJSON {
	out := []failedJSON{}
	for _, j := range jobs {
		out = append(out, failedJSON{Kind: j.Kind, Session: j.Key, Error: j.Error, Attempts: j.Attempts, Crashes: j.Crashes,
			Next: moments(j.Next), Title: j.Title, Suspect: j.Suspect, Model: j.Model})
	}
	return out
}

// addRuns picks the run that began last.
func (s *statusJSON) addRuns(runs []store.RunRow) {
	if len(runs) == 0 {
		return
	}
	r := runs[0]
	s.LastRun = &lastRunJSON{r.Holder.Describe(), moments(r.Began), moments(r.Ended), string(r.Outcome), r.Reason, r.Hint, r.Left}
	if r.Ended.IsZero() {
		s.LastRun.Outcome = "running"
		if alive, known := r.Holder.Alive(); known && !alive {
			s.LastRun.Outcome = "died"
		}
	}
}

func asProjectStatuses(home string, rows []store.ProjectRow, standings map[string]store.Standing) []projectStatusJSON {
	out := []projectStatusJSON{}
	for _, r := range rows {
		st := standings[r.ID]
		p := projectStatusJSON{projectJSON: asProjectJSON(home, r), Inputs: st.Inputs, NewestInput: moments(st.Newest),
			ConsolidatedAt: moments(st.Consolidated), Why: []string{}}
		if r.Due {
			p.Why, p.Waits, p.Dead, p.Crashes = whyDue(st), moments(st.RetryAt), st.Dead, st.Crashes
		}
		out = append(out, p)
	}
	return out
}

// whyDue says what waits to get into a project's memory.
func whyDue(st store.Standing) []string {
	why := []string{}
	for _, part := range []struct {
		n    int
		what string
	}{{st.New, "new"}, {st.Changed, "changed"}, {st.Withdrawn, "withdrawn"}} {
		if part.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if st.Asked {
		why = append(why, "asked for")
	}
	return why
}

// doubtWaits marks what waits because of a model that is not asked any more.
func (s *statusJSON) doubtWaits(o pipeline.Outlook) {
	for i := range s.Failed {
		j := &s.Failed[i]
		asked := o.Extractor
		if j.Kind == "consolidate" {
			asked = o.Consolidator
		}
		j.Other = j.Model != "" && j.Model != asked && j.Next != nil && j.Next.After(s.At)
	}
}
