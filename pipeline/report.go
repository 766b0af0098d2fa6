package pipeline

import (
	"slices"
	"sync"

	"memoir"
	"memoir/secrets"
)

// Report is the result of a run. Its JSON form is the output of `run --json`: fields may be added, but not
// changed.
type Report struct {
	Scan       ScanReport              `json:"scan"`
	Phase1     Phase1Report            `json:"phase1"`
	Phase2     []ProjectReport         `json:"phase2"`
	Usage      memoir.Usage            `json:"usage"`
	Redactions map[string]int          `json:"redactions"`          // by rule, of this run
	Grounding  *Grounding              `json:"grounding,omitempty"` // of language models' answers
	Left       int                     `json:"left"`                // sessions kept out by the cap or a limit
	Edits      int                     `json:"edits,omitempty"`     // hand edits that the hub got, for all members
	DurationMS int64                   `json:"duration_ms"`
	DryRun     bool                    `json:"dry_run,omitempty"`
	Would      []Planned               `json:"would,omitempty"`       // of a dry run
	Estimate   *memoir.Usage           `json:"estimate,omitempty"`    // of a dry run, by language models
	EstimateBy map[string]memoir.Usage `json:"estimate_by,omitempty"` // the same by action
	Limits     []LimitLeft             `json:"limits,omitempty"`      // of a day, of a dry run
	Stopped    *Stopped                `json:"stopped,omitempty"`     // by a spending limit
	Unserved   []Unserved              `json:"unserved,omitempty"`    // models that were out of service
	Warnings   []Warning               `json:"warnings,omitempty"`
}

// Grounding counts the parts of the models' answers that were kept, and those that were dropped because the
// sessions do not support them.
type Grounding struct {
	Statements int            `json:"statements"` // kept, of extractions
	Lines      int            `json:"lines"`      // of MEMORY.md that cite a session, in used answers
	Dropped    map[string]int `json:"dropped"`    // by reason: a field of extract.Dropped, "line" or unsupported
	Cut        int            `json:"cut"`        // sessions of which items were left out because of length
	CutItems   int            `json:"cut_items"`  // items of these sessions
	Omitted    int            `json:"omitted"`    // of these items, those that no call included
}

// unsupported is the reason of consolidate.Report.Unsupported.
const unsupported = "unsupported"

// Unsupported says how many lines of consolidations were dropped since no session states them; empty: none.
func (g *Grounding) Unsupported() string {
	if g == nil || g.Dropped[unsupported] == 0 {
		return ""
	}
	return memoir.Count(g.Dropped[unsupported], "line") + " of a model dropped: no session has what they quote or run"
}

// ScanReport counts the results of the scan.
type ScanReport struct {
	Files    int                   `json:"files"`
	Sessions int                   `json:"sessions"`
	Changed  int                   `json:"changed"` // sessions whose files are new or differ from the last scan
	Reasons  map[memoir.Reason]int `json:"reasons"`
	Found    int                   `json:"found"` // sessions of these files; Sessions are all that are registered
	// NotSessions is the number of files below --sessions that are not sessions and are not registered.
	NotSessions int `json:"not_sessions,omitempty"`
}

// Phase1Report counts claimed sessions by their result.
type Phase1Report struct {
	Claimed   int `json:"claimed"`
	Stored    int `json:"stored"`
	Empty     int `json:"empty"`     // without anything worth keeping
	Copied    int `json:"copied"`    // copies of another session only
	Unchanged int `json:"unchanged"` // changed files with the content of the last extraction
	Failed    int `json:"failed"`
	Released  int `json:"given_back"`          // released
	Postponed int `json:"postponed,omitempty"` // released because a model's server or a disk failed; delayed
	Unread    int `json:"unread,omitempty"`    // released because a file cannot be read
}

// Outcome is the result of a project in Phase 2.
type Outcome string

// The outcomes of Phase 2.
const (
	OutcomePublished Outcome = "published" // a new generation is live
	OutcomeUnchanged Outcome = "unchanged" // the inputs changed, but not the memory
	OutcomeEmpty     Outcome = "empty"     // nothing worth keeping yet; an existing memory stays as it is
	OutcomeBusy      Outcome = "busy"      // another process works on this project
	OutcomeEdited    Outcome = "edited"    // its files kept changing, so nothing was published
	OutcomeBackoff   Outcome = "backoff"   // it failed before and is tried again later, or its job is dead
	OutcomeOff       Outcome = "off"       // the project's own file switches memory off
	OutcomeFailed    Outcome = "failed"
	OutcomeStopped   Outcome = "stopped" // by an interruption, a spending limit or a model out of service

	outcomeSuspect Outcome = "suspect" // it crashed before, so it comes last; never reported
)

// ProjectReport is the result of Phase 2 for one project that was due.
type ProjectReport struct {
	Project    string  `json:"project"`
	Name       string  `json:"name"`
	Outcome    Outcome `json:"outcome"`
	Generation int     `json:"generation"`         // the live one afterwards; 0: none
	ByHand     []int   `json:"by_hand,omitempty"`  // the generations with hand edits
	Inputs     int     `json:"inputs"`             // sessions
	Notes      int     `json:"notes"`              // and other entries
	Promoted   int     `json:"promoted,omitempty"` // statements of the repository's team memory
	Root       string  `json:"root,omitempty"`     // path of the live memory
	Detail     string  `json:"detail,omitempty"`

	crashes int // of a suspect
}

// Warning is a problem that did not stop the run.
type Warning struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Busy reports whether another process's lease kept a project from being consolidated.
func (r Report) Busy() bool { return r.has(OutcomeBusy) }

// Partly reports whether a part of the run failed, or was stopped by a spending limit or a model out of
// service.
func (r Report) Partly() bool {
	reason, _ := r.problem()
	return reason != ""
}

// problem returns the first reason why a run is incomplete; empty if there is none.
func (r Report) problem() (reason, hint string) {
	switch {
	case r.Stopped != nil:
		return "stopped by a limit: " + r.Stopped.Reason, r.Stopped.hint()
	case len(r.Unserved) > 0:
		return r.Unserved[0].Reason, r.Unserved[0].hint
	case r.Phase1.Failed+r.Phase1.Postponed > 0:
		return memoir.Count(r.Phase1.Failed+r.Phase1.Postponed, "session") + " failed", ""
	}
	for _, p := range r.Phase2 {
		if p.Outcome == OutcomeFailed || p.Outcome == OutcomeEdited {
			return p.Name + ": " + p.Detail, ""
		}
	}
	return "", ""
}

func (r Report) has(o Outcome) bool {
	return slices.ContainsFunc(r.Phase2, func(p ProjectReport) bool { return p.Outcome == o })
}

// drop counts dropped parts by reason.
func (g *Grounding) drop(counts map[string]int) {
	for reason, n := range counts {
		if n > 0 {
			g.Dropped[reason] += n
		}
	}
}

func (r *reporter) ground(change func(*Grounding)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report.Grounding == nil {
		r.report.Grounding = &Grounding{Dropped: map[string]int{}}
	}
	change(r.report.Grounding)
}

// Planned is the work that a run would do on one session or project.
type Planned struct {
	Session string        `json:"session,omitempty"`
	Source  memoir.Source `json:"source,omitempty"`
	Project string        `json:"project"`
	Title   string        `json:"title,omitempty"`
	Action  string        `json:"action"` // "extract" or "consolidate"

	// Of a language model.
	Tokens       int     `json:"tokens,omitempty"` // input, at most
	Model        string  `json:"model,omitempty"`
	Calls        int     `json:"calls,omitempty"` // without retries
	OutputTokens int     `json:"output_tokens,omitempty"`
	Cost         float64 `json:"cost,omitempty"` // US dollars; 0 if unknown
}

// Planned counts the sessions and the projects of a dry run.
func (r Report) Planned() (sessions, projects int) {
	for _, w := range r.Would {
		if w.Action == phaseExtract {
			sessions++
		}
	}
	return sessions, len(r.Would) - sessions
}

// Stage names a part of a run for its progress.
type Stage string

// The stages of a run.
const (
	StageScan        Stage = "scan"
	StageExtract     Stage = "extract"
	StageRead        Stage = "read" // reading sessions for searching
	StageConsolidate Stage = "consolidate"
	StageSearch      Stage = "search" // searching texts for secrets, or for what to forget
	StageRedact      Stage = "redact" // removing secrets from memories
)

// Progress is the progress of a stage. Total is 0 while it is unknown.
type Progress struct {
	Stage Stage
	Done  int
	Total int
	What  string       // the session or project that begins; safe to print
	Of    string       // the project of a session
	Spent memoir.Usage // of the run so far
	Warn  string       // a problem that did not stop the run; safe to print
	Hint  string       // what can be done about Warn
	Minor bool         // Warn is not shown with --quiet
}

// A reporter collects the report of a run, for all of its goroutines.
type reporter struct {
	show func(Progress) // as Options.Progress

	mu     sync.Mutex
	report Report
	fault  error // of a worker; it ends the run
}

// count changes Phase 1's figures.
func (r *reporter) count(change func(*Phase1Report)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.report.Phase1)
}

func (r *reporter) addRedactions(counts map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	secrets.Counts(r.report.Redactions).Merge(counts)
}

func (r *reporter) progress(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send(p)
}

// send calls Options.Progress. The caller holds mu, so one goroutine calls it at a time.
func (r *reporter) send(p Progress) {
	if r.show != nil {
		r.show(p)
	}
}

// warn reports a problem that does not stop the run, now and in the report.
func (r *reporter) warn(message, hint string) { r.tell(Progress{Warn: message, Hint: hint}) }

// mention is warn for minor problems, such as a file that is not a session.
func (r *reporter) mention(message, hint string) {
	r.tell(Progress{Warn: message, Hint: hint, Minor: true})
}

func (r *reporter) tell(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	warning := Warning{Message: p.Warn, Hint: p.Hint}
	if slices.Contains(r.report.Warnings, warning) { // for instance, two models lack the same key
		return
	}
	r.report.Warnings = append(r.report.Warnings, warning)
	r.send(p)
}

// fail ends the run with an error; the first one counts.
func (r *reporter) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil {
		r.fault = err
	}
}

// faulty returns the error with which a worker ended the run, or nil.
func (r *reporter) faulty() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fault
}
