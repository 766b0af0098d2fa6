package pipeline

import (
	"context"
	"log/slog"
	"time"

	"memoir/config"
	"memoir/consolidate"
	"memoir/extract"
	"memoir/model"
	"memoir/rollout"
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

	Now     time.Time     // for eligibility and for dates that are written; zero: the clock. Never for leases.
	MinIdle time.Duration // 0: no limit, and sessions in use are taken too
	MaxAge  time.Duration // 0: no limit
	Limit   int           // sessions claimed by this run, at most
	Wait    time.Duration // how long to wait for another process's lease; 0: not at all

	// Grace is how long each step of keeping what was paid for may take once a run is
	// interrupted. 0 is what lets it exit within a second.
	Grace time.Duration

	StartingSession string // id of a session that is just beginning: left alone; may be empty

	// Sleep waits before a call to a model is tried again, or returns the context's
	// error as soon as it is done. Nil is a real one.
	Sleep func(ctx context.Context, d time.Duration) error

	// Phases makes the extractor and the consolidator; nil: those that the settings
	// name. Each model that they call they have from meter, which is given the model
	// and the options that it was opened with: what is not metered is in no limit.
	Phases func(meter Meter) (extract.Extractor, consolidate.Consolidator, error)

	Progress func(Progress) // called from one goroutine at a time; may be nil
	Log      *slog.Logger   // may be nil
}

// Meter returns a model whose calls are counted and kept within the limits. What
// repeats failed calls belongs above it.
type Meter func(model.Model, model.Options) model.Model

// Stage names a part of a run for its progress.
type Stage string

// The stages of a run.
const (
	StageScan        Stage = "scan"
	StageExtract     Stage = "extract"
	StageConsolidate Stage = "consolidate"
	StageSearch      Stage = "search"  // of transcripts, for what is to be forgotten
	StageSecrets     Stage = "secrets" // looking for them in all that is stored
	StageRedact      Stage = "redact"  // taking them out of memories
)

// Progress reports how far a stage is. Total is 0 while it is not known.
type Progress struct {
	Stage Stage
	Done  int
	Total int
	What  string        // the session or project that begins, or goes on; safe to print
	Since time.Duration // how long ago it began; 0: it begins
	Alone bool          // What is worked on last and alone, because a process died over it
	Warn  string        // a problem that did not stop the run; safe to print
	Hint  string        // what can be done about Warn
	Minor bool          // Warn is worth a line, but not to someone who asked for silence
}
