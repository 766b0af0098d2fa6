package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"memoir"
	"memoir/config"
	"memoir/consolidate"
	"memoir/entry"
	"memoir/extract"
	"memoir/lease"
	"memoir/model"
	"memoir/rollout"
	"memoir/search"
	"memoir/secrets"
	"memoir/store"
)

// Options says what a run is to do. Home and Settings are required.
type Options struct {
	Home      string
	ConfigDir string // where the user's settings and rules are; may be empty
	Settings  config.Settings
	Env       rollout.Env

	SessionsDir string   // read every session file below it instead of the agents' own directories
	ProjectIDs  []string // limit both phases to these projects; empty: all
	DryRun      bool     // refresh the registry and nothing else
	Again       bool     // read again what another model read

	Now     time.Time     // for eligibility and dates that are written, not for leases; zero: the clock
	MinIdle time.Duration // 0: no limit, and active sessions are included
	MaxAge  time.Duration // 0: no limit
	Limit   int           // most sessions that this run claims
	Wait    time.Duration // how long to wait for another process's lease; 0: not at all

	Background bool // nobody waits for the run

	// Grace is how long an interrupted run may take to publish the result of a paid call; 0 means 400 ms, so
	// that it exits within a second.
	Grace time.Duration

	StartingSession string   // id of a session that is active whatever its times say; may be empty
	Only            []string // keys of the sessions to extract from, in any directory; empty: all

	// Sleep waits before a call of a model is tried again; it returns the context's error when the context
	// ends. Nil means a timer.
	Sleep func(ctx context.Context, d time.Duration) error

	// Phases makes the extractor and the consolidator; nil: those that the settings name. It must pass each
	// model with its options to meter and use the result, or the limits do not apply to its calls.
	Phases func(meter Meter) (extract.Extractor, consolidate.Consolidator, error)

	Progress func(Progress) // called from one goroutine at a time; may be nil
}

// Meter returns a model whose calls are counted and limited. Retries must wrap it.
type Meter func(model.Model, model.Options) model.Model

// run is what all steps of a run share.
type run struct {
	reporter
	store   *store.Store
	opts    Options
	scanner *secrets.Scanner
	trusted config.TrustStore
	meter   *meter
	holder  lease.Holder
	began   time.Time
	id      string // in the ledger
	epoch   int64  // in which the scanner was made, or that this run began

	forgotten map[string]bool // tombstones, as of the scan
}

func newRun(st *store.Store, opts Options) (*run, error) {
	r := &run{store: st, opts: opts, holder: lease.Self(), began: time.Now(), id: lease.NewToken()}
	r.show = opts.Progress
	r.report = Report{Phase2: []ProjectReport{}, Redactions: map[string]int{}}
	r.report.Scan.Reasons = map[memoir.Reason]int{}
	var err error
	if r.epoch, err = st.Epoch(context.Background()); err != nil {
		return nil, err
	}
	if r.scanner, err = secrets.New(secrets.Options{ConfigPath: config.RulesFile(opts.ConfigDir)}); err != nil {
		return nil, err
	}
	if r.trusted, err = config.LoadTrust(opts.Home); err != nil {
		return nil, err
	}
	r.meter = &meter{run: r.id, store: st, limits: opts.Settings.Limits, scanner: r.scanner, warn: r.warn}
	r.meter.ended = sync.NewCond(&r.meter.mu)
	return r, nil
}

// redact makes a text safe to print and to store.
func (r *run) redact(text string) string {
	return r.scanner.Message(text)
}

func (r *run) clean(text string) string {
	text, _ = r.scanner.Redact(text)
	return text
}

// now is the run's clock for eligibility and written dates.
func (r *run) now() time.Time {
	if !r.opts.Now.IsZero() {
		return r.opts.Now
	}
	return r.began
}

// selected reports whether the run's restrictions include a project.
func (r *run) selected(projectID string) bool {
	return len(r.opts.ProjectIDs) == 0 || slices.Contains(r.opts.ProjectIDs, projectID)
}

func (r *run) window() store.Window {
	w := store.Window{
		Now:               r.now(),
		MinIdle:           r.opts.MinIdle,
		MaxAge:            r.opts.MaxAge,
		Keys:              r.opts.Only,
		Projects:          r.opts.ProjectIDs,
		Starting:          r.opts.StartingSession,
		IncludeAutomation: r.opts.Settings.Memories.IncludeAutomation,
		Cap:               r.opts.Limit,
	}
	one, two := model.Phases(r.opts.Settings.ModelRoles)
	if r.opts.Again || one.Model == model.Builtin && two.Model == model.Builtin { // it costs nothing, nor what follows
		w.Reader = extract.Reader(one.Model)
	}
	if w.MinIdle > 0 {
		w.ActiveFor = time.Duration(r.opts.Settings.Memories.ActiveRolloutMinutes * float64(time.Minute))
	}
	return w
}

// settingsOf returns the settings of a project, with the project file of the first of its directories that
// has one.
func (r *run) settingsOf(p memoir.Project) (config.Settings, error) {
	for _, dir := range p.Directories {
		if _, err := os.Stat(filepath.Join(dir, config.ProjectFileName)); err != nil {
			continue
		}
		settings, _, err := r.opts.Settings.ForProject(dir, r.trusted)
		return settings, err
	}
	return r.opts.Settings, nil
}

func (r *run) getenv(name string) string {
	if r.opts.Env.Getenv == nil {
		return ""
	}
	return r.opts.Env.Getenv(name)
}

// index updates the search index. After an error a later run does.
func (r *run) index(ctx context.Context) {
	if err := search.Update(ctx, r.store, r.opts.Home, r.clean, false); err != nil && ctx.Err() == nil {
		r.warn("cannot update the search index: "+err.Error(), memoir.HintOf(err))
	}
}

// Book returns the book to write entries of registered projects. A text is redacted with the person's rules as they are
// now, and then by redact. While the rules are invalid, the error has the code memoir.CodeConfig.
func Book(st *store.Store, opts Options, redact func(string) string) (entry.Book, error) {
	r, err := newRun(st, opts)
	if err != nil {
		return entry.Book{}, err
	}
	b := r.book()
	b.Redact = func(text string) string { return redact(r.clean(text)) }
	return b, nil
}

func (r *run) book() entry.Book {
	return entry.Book{Store: r.store, Home: r.opts.Home, Redact: r.clean}
}
