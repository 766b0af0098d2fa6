package pipeline

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"memoir"
	"memoir/isolate"
	"memoir/lease"
	"memoir/store"
)

// A task is what a process of its own is given: one claim, and what the run that has it
// knows and no other process can find out.
type task struct {
	Version string // of the program that gave it; empty: it has none
	Run     string
	Holder  lease.Holder
	Began   time.Time         // the run
	Elapsed time.Duration     // since the attempt to claim began
	Keys    map[string]string // of providers: a command that prints one may ask a person
	Spent   spentSoFar        // by the run
	Own     spentSoFar        // by the run on the project
	Health  map[string]healthState

	Session *store.Claim

	Project *store.ProjectRow // or this
	Claim   *store.ProjectClaim
	Report  ProjectReport
}

// projectID is the project that the task is about; empty if that is none.
func (t *task) projectID() string {
	if t.Project != nil {
		return t.Project.ID
	}
	return t.Session.Session.ProjectID
}

// outcome is what comes back.
type outcome struct {
	Report      Report        // what the process did
	Project     ProjectReport // of a project
	Interrupted bool
	Fault       *failed  // that ends the run
	Stopped     *Stopped // by a limit of the run
	OwnStopped  *Stopped // by one of the project's
	Excess      map[string]excessState
	Health      map[string]healthState
}

// spentSoFar is what a budget has seen of a run.
type spentSoFar struct{ Spent, Today memoir.Usage }

// failed is an error on its way between processes.
type failed struct {
	Code          memoir.Code
	Message, Hint string
}

func failedOf(err error) *failed {
	if err == nil {
		return nil
	}
	return &failed{memoir.CodeOf(err), err.Error(), hintOf(err)}
}

func (f *failed) err() error {
	if f == nil {
		return nil
	}
	return memoir.Errorf(f.Code, f.Hint, "%s", f.Message)
}

// healthState is a health between processes.
type healthState struct {
	Served, Strikes, Useless int
	Doubted                  map[string]int
	Out                      *failed
}

func (m *meter) healthStates() map[string]healthState {
	out := map[string]healthState{}
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, h := range m.healths {
		h.mu.Lock()
		s := healthState{Served: h.served, Strikes: h.strikes, Useless: h.useless, Doubted: maps.Clone(h.doubted)}
		if h.out != nil {
			s.Out = failedOf(h.out)
			s.Out.Hint = unservedHint(h.out)
		}
		h.mu.Unlock()
		out[name] = s
	}
	return out
}

func (m *meter) setHealth(states map[string]healthState) {
	for name, s := range states {
		h := m.health(name)
		h.mu.Lock()
		h.served, h.strikes, h.useless, h.doubted = s.Served, s.Strikes, s.Useless, s.Doubted
		h.mu.Unlock()
		if s.Out != nil {
			h.end(s.Out.err())
		}
	}
}

// excessState is an excess between processes.
type excessState struct {
	Phase, Limit, Project, Name string
	Most, Next                  float64
}

func (a aside) states() map[string]excessState {
	out := map[string]excessState{}
	for key, e := range a {
		out[key] = excessState{e.phase, e.limit, e.project, e.name, e.most, e.next}
	}
	return out
}

func (s excessState) excess() *excess {
	e := &excess{phase: s.Phase, limit: s.Limit, project: s.Project, name: s.Name, most: s.Most, next: s.Next, say: sayTokens}
	if strings.HasPrefix(s.Limit, "limits.cost") {
		e.say = sayCost
	}
	return e
}

// Isolated prepares a process that Options.Isolate started for what it was given: it
// does for one claim what the run that started it would do by itself, with the same
// code, and its answer is what that run reports.
func Isolated(ctx context.Context, st *store.Store, opts Options, given []byte) (isolate.Work, error) {
	var t task
	if err := isolate.Decode(given, &t); err != nil {
		return nil, fmt.Errorf("read what is to be done: %w", err)
	}
	if t.Version != opts.Version {
		return nil, memoir.Errorf(memoir.CodeUsage, "run it again", "another version of memoir (%s) has taken its place meanwhile", opts.Version)
	}
	if t.Session == nil && (t.Project == nil || t.Claim == nil) {
		return nil, memoir.Errorf(memoir.CodeUsage, "", "there is nothing to do")
	}
	attempt := time.Now().Add(-t.Elapsed)
	opts.Isolate = isolate.Command{}
	r, err := newRun(st, opts)
	if err != nil {
		return nil, err
	}
	r.id, r.meter.run, r.holder, r.began = t.Run, t.Run, t.Holder, t.Began
	for provider, key := range t.Keys {
		r.secretKeys[provider] = key
	}
	if err := r.chooseModels(ctx); err != nil {
		return nil, err
	}
	if err := r.recall(ctx); err != nil {
		return nil, err
	}
	r.meter.carry(t.Spent, r.budgetOf(ctx, t.projectID()), t.Own)
	r.meter.setHealth(t.Health)
	r.report.Warnings = nil // the run that started this has said so
	return func(ctx context.Context) ([]byte, error) {
		var o outcome
		if t.Session != nil {
			r.work(ctx, *t.Session, attempt)
		} else {
			report, err := r.consolidateClaimed(ctx, *t.Project, *t.Claim, attempt, t.Report)
			o.Project = r.conclude(ctx, *t.Project, report, err)
		}
		own := r.budgetOf(context.WithoutCancel(ctx), t.projectID())
		r.meter.mu.Lock()
		o.Stopped = r.meter.stopped
		if own != nil {
			o.OwnStopped = own.stopped
		}
		r.meter.mu.Unlock()
		o.Health, o.Interrupted, o.Fault = r.meter.healthStates(), ctx.Err() != nil, failedOf(r.faulty())
		r.mu.Lock()
		defer r.mu.Unlock()
		o.Report, o.Excess = r.report, r.aside.states()
		return isolate.Encode(o)
	}, nil
}

// carry enters what was spent before.
func (m *meter) carry(run spentSoFar, own *budget, on spentSoFar) {
	day := m.midnight()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(day)
	m.spent, m.today = run.Spent, run.Today
	if own != nil {
		own.spent, own.today = on.Spent, on.Today
	}
}

// carried is what carry is given elsewhere.
func (m *meter) carried(own *budget) (run, on spentSoFar) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if own != nil {
		on = spentSoFar{own.spent, own.today}
	}
	return spentSoFar{m.spent, m.today}, on
}
