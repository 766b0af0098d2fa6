package pipeline

import (
	"fmt"
	"slices"

	"memoir"
	"memoir/consolidate"
	"memoir/extract"
)

// Report is what a run did; its JSON form is the interface of `run --json`, to
// which fields are only ever added.
type Report struct {
	Scan         ScanReport              `json:"scan"`
	Phase1       Phase1Report            `json:"phase1"`
	Phase2       []ProjectReport         `json:"phase2"`
	Usage        memoir.Usage            `json:"usage"`
	Redactions   map[string]int          `json:"redactions"`          // by rule, of this run
	Grounding    *Grounding              `json:"grounding,omitempty"` // of what language models said
	Left         int                     `json:"left"`                // sessions kept out by the cap or a limit
	DurationMS   int64                   `json:"duration_ms"`
	DryRun       bool                    `json:"dry_run,omitempty"`
	Would        []Planned               `json:"would,omitempty"`         // of a dry run
	Estimate     *memoir.Usage           `json:"estimate,omitempty"`      // of a dry run, by language models
	EstimateBy   map[string]memoir.Usage `json:"estimate_by,omitempty"`   // the same by action
	Limits       []LimitLeft             `json:"limits,omitempty"`        // of a day, of a dry run
	Stopped      *Stopped                `json:"stopped,omitempty"`       // by a spending limit
	Unserved     []Unserved              `json:"unserved,omitempty"`      // models that were asked no more
	InvalidRules []InvalidRules          `json:"invalid_rules,omitempty"` // projects with invalid rules for secrets
	Warnings     []Warning               `json:"warnings,omitempty"`
}

// Grounding counts what was kept of the models' answers, and what was dropped because
// nothing that they were shown bears it out.
type Grounding struct {
	Statements int            `json:"statements"` // of extractions, kept
	Lines      int            `json:"lines"`      // of MEMORY.md that cite a session, in the answers that were used
	Dropped    map[string]int `json:"dropped"`    // by reason: a field of extract.Dropped, or "line"
	Cut        int            `json:"cut"`        // sessions of which items were left out for length
	CutItems   int            `json:"cut_items"`  // that were to be read of those
	Omitted    int            `json:"omitted"`    // of them, those that no call was shown
}

// ScanReport counts what the scan saw.
type ScanReport struct {
	Files    int                   `json:"files"`
	Sessions int                   `json:"sessions"`
	Changed  int                   `json:"changed"` // sessions whose files are new or differ from the last scan
	Reasons  map[memoir.Reason]int `json:"reasons"`
	// NotSessions are files below --sessions that are no agent's sessions and are not registered.
	NotSessions int `json:"not_sessions,omitempty"`
}

// Phase1Report counts what became of claimed sessions.
type Phase1Report struct {
	Claimed   int `json:"claimed"`
	Stored    int `json:"stored"`
	Empty     int `json:"empty"`     // nothing worth keeping
	Copied    int `json:"copied"`    // nothing but what another session has
	Unchanged int `json:"unchanged"` // touched files with the content already extracted
	Failed    int `json:"failed"`
	GivenBack int `json:"given_back"`
	Postponed int `json:"postponed,omitempty"` // of those given back: a model's server failed them, and they wait
	Unread    int `json:"unread,omitempty"`    // of those given back: the system does not let their files be read
}

// Outcome says what became of a project in Phase 2.
type Outcome string

// The outcomes of Phase 2.
const (
	OutcomePublished Outcome = "published" // a new generation is live
	OutcomeUnchanged Outcome = "unchanged" // the inputs changed, their memory did not
	OutcomeEmpty     Outcome = "empty"     // nothing worth keeping yet; an existing root stays as it is
	OutcomeBusy      Outcome = "busy"      // another process works on this project
	OutcomeElsewhere Outcome = "elsewhere" // another process consolidated it during this run
	OutcomeEdited    Outcome = "edited"    // a person was at work on its files all the time
	OutcomeBackoff   Outcome = "backoff"   // failed before; tried again later
	OutcomeOff       Outcome = "off"       // the project's own file switches memory off
	OutcomeFailed    Outcome = "failed"
	OutcomeStopped   Outcome = "stopped" // interrupted, or kept back by a spending limit

	outcomeSuspect Outcome = "suspect" // a process died over it, so it comes last; never reported
)

// ProjectReport is what Phase 2 did for one project that was due.
type ProjectReport struct {
	Project    string  `json:"project"`
	Name       string  `json:"name"`
	Outcome    Outcome `json:"outcome"`
	Generation int     `json:"generation"`        // the live one afterwards; 0: none
	ByHand     []int   `json:"by_hand,omitempty"` // the generations that keep what people had edited
	Inputs     int     `json:"inputs"`            // sessions
	Notes      int     `json:"notes"`             // besides
	Root       string  `json:"root,omitempty"`    // path of the live memory
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

// Partly reports whether something of the run failed, or a spending limit or a server
// that does not serve stopped it.
func (r Report) Partly() bool {
	reason, _ := r.problem()
	return reason != ""
}

// problem is the first thing that kept a run from doing all; empty if nothing did.
func (r Report) problem() (reason, hint string) {
	switch {
	case r.Stopped != nil:
		return "stopped by a limit: " + r.Stopped.Reason, r.Stopped.hint()
	case len(r.Unserved) > 0:
		return r.Unserved[0].Reason, r.Unserved[0].hint
	case len(r.InvalidRules) > 0:
		return "project " + r.InvalidRules[0].Project + " waits: " + r.InvalidRules[0].Error, r.InvalidRules[0].Hint
	case r.Phase1.Failed+r.Phase1.Postponed > 0:
		return fmt.Sprintf("%d sessions failed", r.Phase1.Failed+r.Phase1.Postponed), ""
	}
	for _, p := range r.Phase2 {
		if p.Outcome == OutcomeFailed || p.Outcome == OutcomeEdited {
			return p.Name + ": " + p.Detail, ""
		}
	}
	return "", ""
}

func (r Report) has(o Outcome) bool {
	for _, p := range r.Phase2 {
		if p.Outcome == o {
			return true
		}
	}
	return false
}

// extracted enters what became of a model's extraction.
func (r *run) extracted(e extract.Report) {
	r.meter.named(r.extractor.Name()).served()
	r.ground(func(g *Grounding) {
		g.Statements += e.Kept
		if e.Omitted > 0 {
			g.Cut++
			g.CutItems += e.Shown + e.Omitted
			g.Omitted += e.Omitted
		}
		d := e.Dropped
		for reason, n := range map[string]int{
			"uncited": d.Uncited, "missing": d.Missing, "ungrounded": d.Ungrounded, "foreign": d.Foreign,
			"unplaced": d.Unplaced, "summary": d.Summary,
		} {
			if n > 0 {
				g.Dropped[reason] += n
			}
		}
	})
}

// consolidated enters what became of a model's consolidation.
func (r *run) consolidated(c consolidate.Report) {
	r.meter.named(r.consolidator.Name()).served()
	r.ground(func(g *Grounding) {
		g.Lines += c.Kept
		if c.Uncited > 0 {
			g.Dropped["line"] += c.Uncited // of MEMORY.md
		}
	})
}

func (r *run) ground(change func(*Grounding)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.report.Grounding == nil {
		r.report.Grounding = &Grounding{Dropped: map[string]int{}}
	}
	change(r.report.Grounding)
}

// count changes Phase 1's figures.
func (r *run) count(change func(*Phase1Report)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.report.Phase1)
}

// capLeft is how many more sessions the run may claim.
func (r *run) capLeft() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.opts.Limit-r.report.Phase1.Claimed, 0)
}

func (r *run) addRedactions(counts map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rule, n := range counts {
		r.report.Redactions[rule] += n
	}
}

// reportProject adds what became of a project; one without an outcome had nothing to do.
func (r *run) reportProject(p ProjectReport) {
	if p.Outcome == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Phase2 = append(r.report.Phase2, p)
}

// redact makes a text safe to print and to store.
func (r *run) redact(text string) string {
	return r.scanner.Message(text)
}

func (r *run) progress(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send(p)
}

// send calls the listener; mu is held, so it is called by one goroutine at a time.
func (r *run) send(p Progress) {
	if r.opts.Progress != nil {
		r.opts.Progress(p)
	}
}

// warn reports a problem that does not stop the run, now and in the report.
func (r *run) warn(message, hint string) { r.tell(Progress{Warn: message, Hint: hint}) }

// mention is warn for what is no trouble, such as a file that is no session.
func (r *run) mention(message, hint string) {
	r.tell(Progress{Warn: message, Hint: hint, Minor: true})
}

func (r *run) tell(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	warning := Warning{Message: p.Warn, Hint: p.Hint}
	if slices.Contains(r.report.Warnings, warning) { // of two models that lack the same key
		return
	}
	r.report.Warnings = append(r.report.Warnings, warning)
	r.log.Warn(p.Warn, "hint", p.Hint)
	r.send(p)
}

// warnOnce reports what a session failed of, unless another one failed of the same: `memoir
// status` lists them all.
func (r *run) warnOnce(session, message, hint string) {
	r.mu.Lock()
	said := r.said[message]
	r.said[message] = true
	r.mu.Unlock()
	if !said {
		r.warn(session+": "+message, hint)
	}
}
