package operation

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/config"
	"memoir/extract"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/search"
	"memoir/store"
	"memoir/team"
)

// Project is the form of a registered project.
type Project struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Root        string     `json:"root"` // path of the live memory; empty before the first publication
	Directories []string   `json:"directories"`
	Remote      string     `json:"remote"`
	Aliases     []string   `json:"aliases"`
	Sessions    int        `json:"sessions"`
	Extractions int        `json:"extractions"` // sessions that are inputs of a consolidation
	Notes       int        `json:"notes"`
	Generation  int64      `json:"generation"`
	PublishedAt *time.Time `json:"published_at"`
	Due         bool       `json:"due"`
	New         int        `json:"new"` // lines that wait for a review
	Lines       int        `json:"-"`   // of MEMORY.md
	ActiveAt    time.Time  `json:"-"`   // the last change of a session
}

// ProjectOf returns the form of a project with clean texts, except its id: a folder has that name.
func ProjectOf(home string, r store.ProjectRow, clean func(string) string) Project {
	out := Project{
		ID: r.ID, Name: clean(r.Name), Directories: memoir.Map(CheckoutsFirst(r.Directories), clean),
		Remote: clean(r.Remote), Aliases: memoir.Map(r.Aliases, clean),
		Sessions: r.Sessions, Extractions: r.Extractions, Notes: r.Notes, Generation: int64(r.Generation),
		PublishedAt: Time(r.PublishedAt), Due: r.Due,
	}
	link := memory.At(home, r.ID).Link()
	if _, err := os.Stat(link); err == nil {
		out.Root = link
	}
	return out
}

// CheckoutsFirst orders directories of a project: checkouts of its repository, then others that exist, then worktrees,
// which agents make and remove.
func CheckoutsFirst(dirs []string) []string {
	rank := map[string]int{}
	for _, dir := range dirs {
		git, err := os.Stat(filepath.Join(dir, ".git"))
		switch _, gone := os.Stat(dir); {
		case gone != nil && strings.Contains(filepath.ToSlash(dir), "worktrees/"):
			rank[dir] = 3
		case gone != nil || err == nil && !git.IsDir():
			rank[dir] = 2
		case err != nil:
			rank[dir] = 1
		}
	}
	return slices.SortedStableFunc(slices.Values(dirs), func(a, b string) int { return rank[a] - rank[b] })
}

// Projects is a list of projects.
type Projects struct {
	Projects []Project `json:"projects"`
}

// ListProjects lists all projects, with clean texts.
func ListProjects(ctx context.Context, st *store.Store, home string, clean func(string) string) (Projects, error) {
	rows, err := pipeline.Projects(ctx, st, home)
	active, errActive := st.LastActive(ctx)
	out := Projects{[]Project{}}
	for _, row := range rows {
		one := ProjectOf(home, row, clean)
		news, _ := ReadNews(ctx, st, home, row.ID) // doctor reports a memory that cannot be read
		one.New, one.Lines, one.ActiveAt = news.New, news.Lines, active[row.ID]
		out.Projects = append(out.Projects, one)
	}
	return out, cmp.Or(err, errActive)
}

// Status is the state of the registry, and what the next run would do.
type Status struct {
	At time.Time `json:"at"`
	Queue
	Projects     []Project            `json:"projects"`
	Usage        memoir.Usage         `json:"usage"`
	Entries      map[string]int       `json:"entries"` // by kind, and unconfirmed notes
	Redactions   map[string]int       `json:"redactions"`
	Index        Index                `json:"index"`
	Limits       []pipeline.LimitLeft `json:"limits"` // of a day, as far as they are set
	Next         Next                 `json:"next"`
	Again        Next                 `json:"again"` // the same of `run --again`, for sessions that were read before
	Unfinished   []Unfinished         `json:"unfinished"`
	Unreadable   []Unreadable         `json:"unreadable"`
	TeamMemories []team.Memory        `json:"team_memories"`
	UsageBy      []store.UsageRow     `json:"usage_by,omitempty"` // only on request
	Team         *Team                `json:"team,omitempty"`     // unless no hub was joined
}

// TeamMemories lists the memories of teams in the projects' repositories.
func TeamMemories(ctx context.Context, st *store.Store, home string, clean func(string) string) ([]team.Memory, error) {
	out := []team.Memory{}
	rows, err := st.Projects(ctx)
	trusted, errTrust := config.LoadTrust(home)
	for _, row := range rows {
		if s, ok := team.Look(home, row.Project, trusted); ok {
			s.Project, s.Repository = row.ID, clean(s.Repository)
			out = append(out, s)
		}
	}
	return out, cmp.Or(err, errTrust)
}

// Index is what searching knows.
type Index struct {
	Unread int   `json:"unread"` // sessions that were not read since they changed
	Bytes  int64 `json:"bytes"`  // of the index, without the texts, which are in the database
}

// Next is what the next run would do; `run --dry-run` lists it.
type Next struct {
	Sessions int           `json:"sessions"` // that it would extract from
	Left     int           `json:"left"`     // over the cap
	Projects int           `json:"projects"` // that it would consolidate
	Estimate *memoir.Usage `json:"estimate,omitempty"`
	Error    string        `json:"error,omitempty"` // it would not begin
	Hint     string        `json:"hint,omitempty"`

	Warnings []pipeline.Warning `json:"warnings,omitempty"` // of work that it would leave
}

// NextOf sums up the report of a dry run.
func NextOf(r pipeline.Report) Next {
	sessions, projects := r.Planned()
	return Next{Sessions: sessions, Projects: projects, Left: r.Left, Estimate: r.Estimate}
}

// Again is what `run --again` would do, without a cap, with sessions that were read before.
func Again(ctx context.Context, st *store.Store, opts pipeline.Options) Next {
	opts.Again, opts.Limit, opts.MaxAge = true, 0, 1 // without those that were never read
	r, _ := pipeline.Glance(ctx, st, opts)           // the next run says why it cannot begin
	return NextOf(r)
}

// Unfinished is unfinished work of a killed run, which a later run completes.
type Unfinished struct {
	What    string `json:"what"` // forgetting, purge, folder or publication
	Project string `json:"project"`
	Detail  string `json:"detail"`
	Hint    string `json:"hint"`
}

// Unreadable is a session, or a store of sessions, that cannot be read.
type Unreadable struct {
	Session string `json:"session"`
	Error   string `json:"error"` // it names the path
}

// ReadStatus returns the status. A nil store is one in which nothing is registered. redact cleans titles and errors,
// project the texts of projects.
func ReadStatus(ctx context.Context, st *store.Store, opts pipeline.Options, redact, project func(string) string) (
	Status, error) {
	out := Status{At: time.Now().UTC(), Queue: Queue{Jobs: map[string]int{}, Sessions: map[memoir.Reason]int{},
		Running: []Running{}, Failed: []store.FailedJob{}, Dead: []store.FailedJob{}}, Projects: []Project{},
		Redactions: map[string]int{}, Entries: map[string]int{}, Limits: []pipeline.LimitLeft{},
		Unfinished: []Unfinished{}, Unreadable: []Unreadable{}, TeamMemories: []team.Memory{}}
	var err error
	if out.Team, err = ReadTeam(ctx, st, opts.Home, redact); err != nil || st == nil {
		return out, err
	}
	now, err := st.Status(ctx)
	if err != nil {
		return out, err
	}
	out.Entries, out.Redactions, out.Usage = now.Entries, now.Redactions, now.Usage
	out.Index.Bytes = search.Size(opts.Home)
	var errs [6]error
	out.Index.Unread, errs[4] = st.CountUntaken(ctx, "", 0)
	out.TeamMemories, errs[5] = TeamMemories(ctx, st, opts.Home, project)
	out.Queue, errs[0] = queueOf(ctx, st, now, redact)
	projects, err := ListProjects(ctx, st, opts.Home, project)
	out.Projects, errs[1] = projects.Projects, err
	out.Unfinished, errs[2] = unfinishedWork(ctx, st, opts.Home, out.Projects)
	unread, err := st.Sessions(ctx, store.Filter{Reason: memoir.ReasonUnreadable})
	if errs[3] = err; cmp.Or(errs[:]...) != nil {
		return out, cmp.Or(errs[:]...)
	}
	out.Unreadable = memoir.Map(unread, func(s memoir.Session) Unreadable {
		return Unreadable{redact(s.Key()), redact(s.Error)}
	})
	next, err := pipeline.Glance(ctx, st, opts)
	if err == nil {
		err = st.Room()
	}
	if err != nil && ctx.Err() != nil {
		return out, err
	} else if err != nil {
		out.Next.Error, out.Next.Hint = redact(err.Error()), memoir.HintOf(err)
	}
	if len(next.Scan.Reasons) > 0 { // those of the settings; the last run may have had flags
		out.Sessions = next.Scan.Reasons
	}
	out.Again = Again(ctx, st, opts)
	out.Limits, out.Next.Left, out.Next.Estimate = append(out.Limits, next.Limits...), next.Left, next.Estimate
	for _, w := range next.Warnings {
		out.Next.Warnings = append(out.Next.Warnings, pipeline.Warning{Message: redact(w.Message), Hint: w.Hint})
	}
	fresh := map[string]bool{} // projects that get something new, which revives a dead one
	for _, w := range next.Would {
		if w.Action == "extract" {
			out.Next.Sessions++
			fresh[w.Project] = true
		} else if fresh[w.Project] || !out.waits(w.Project) {
			out.Next.Projects++
		}
	}
	return out, nil
}

// waits reports whether a project's consolidation is dead, or waits for its next attempt.
func (s *Status) waits(project string) bool {
	of := func(j store.FailedJob) bool { return j.Key == project }
	return slices.ContainsFunc(s.Dead, of) || slices.ContainsFunc(s.Failed, func(j store.FailedJob) bool {
		return of(j) && j.Next != nil && j.Next.After(s.At)
	})
}

func unfinishedWork(ctx context.Context, st *store.Store, home string, projects []Project) ([]Unfinished,
	error) {
	out := []Unfinished{}
	withdrawals, err := st.Withdrawals(ctx)
	purging, errPurging := st.Purging(ctx)
	removed, errRemoved := st.RemovedFolders(ctx)
	if err = cmp.Or(err, errPurging, errRemoved); err != nil {
		return nil, err
	}
	for _, w := range withdrawals {
		out = append(out, Unfinished{"forgetting", w.ProjectID, "its memory still contains forgotten text",
			"the next run removes it, or says why it cannot"})
	}
	if purging {
		out = append(out, Unfinished{"purge", "", "copies, logs and free pages may still contain forgotten text",
			"the next run removes it after all forgetting is done"})
	}
	for _, id := range slices.Sorted(maps.Keys(removed)) {
		out = append(out, Unfinished{"folder", id, "its directory is not removed yet", "the next run removes it"})
	}
	for _, r := range projects {
		// doctor reports what cannot be read.
		if linked, err := memory.At(home, r.ID).Linked(); err == nil && linked > int(r.Generation) &&
			!team.IsPulled(home, r.ID) {
			out = append(out, Unfinished{"publication", r.ID,
				"the live generation is not recorded: its run, or restore, was killed",
				"the next run that consolidates it records it: `memoir rebuild --project " + r.ID + "`"})
		}
	}
	return out, nil
}

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
	Failed   []store.FailedJob     `json:"failed"`
	Dead     []store.FailedJob     `json:"dead"`
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
	out := Queue{Jobs: now.Jobs, Sessions: now.Reasons, Running: []Running{}, Failed: now.Failed, Dead: now.Dead}
	for _, jobs := range [][]store.FailedJob{now.Failed, now.Dead} {
		for i := range jobs {
			jobs[i].Error, jobs[i].Title = redact(jobs[i].Error), extract.Title(redact(jobs[i].Title))
		}
	}
	for _, j := range now.Running {
		out.Running = append(out.Running, Running{j.Kind, j.Key, j.Holder.Describe(), Time(j.Since),
			Time(j.Until), j.Stale, extract.Title(redact(j.Title)), j.Holder.Host, j.Holder.PID})
	}
	r, err := st.LastRun(ctx)
	if err != nil || r.ID == "" {
		return out, err
	}
	out.LastRun = &LastRun{r.Holder.Describe(), Time(r.Began), Time(r.Ended), string(r.Outcome), redact(r.Reason), r.Hint}
	if r.Ended.IsZero() {
		out.LastRun.Outcome = "running"
		if alive, known := r.Holder.Alive(); known && !alive {
			out.LastRun.Outcome = "died"
		}
	}
	return out, nil
}

// Spending is the whole ledger, oldest day first.
type Spending struct {
	UsageBy []store.UsageRow `json:"usage_by"`
}

// ReadSpending returns the whole ledger.
func ReadSpending(ctx context.Context, st *store.Store) (Spending, error) {
	rows, err := st.UsageRows(ctx, time.Time{})
	return Spending{rows}, err
}
