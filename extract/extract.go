// Package extract is Phase 1: it makes one Extraction of one session. It reads the items of
// the session only, without access to a database, a transcript or another session.
//
// Start with extract.go: the interface, the built-in model and its signals. session.go arranges the items; command.go,
// purpose.go and status.go read command lines, typed.go and text.go the texts of people and agents. Each signal has a
// file; preference.go has two, a person's rules and corrections. later.go refutes what a later word overturns; rank.go
// selects; render.go makes title and slug. llm.go asks a language model instead.
package extract

import (
	"context"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Input is one session as Phase 1 sees it.
type Input struct {
	Session memoir.Session
	Items   []memoir.Item // redacted, in conversation order
}

// Extractor makes an Extraction of one session.
type Extractor interface {
	// Name is the model's name: provider/model, or "builtin".
	Name() string
	// Extract fills Statements, RolloutSummary, RolloutSlug and Title. All
	// empty means that nothing was worth keeping. It is safe for concurrent use.
	Extract(ctx context.Context, in Input) (memoir.Extraction, error)
}

// BuiltinName is the name of the built-in model, which needs no network.
const BuiltinName = "builtin"

// version of the built-in model. It grows when its rules change: runs read again what an earlier version read.
const version = "14"

// Reader returns what a ContentHash says of a session that the model with this name read.
func Reader(name string) string {
	if name == BuiltinName {
		return name + "/" + version
	}
	return name
}

type builtin struct{}

var _ Extractor = builtin{}

// NewBuiltin returns the built-in model: a few signals that match by form, deterministic and
// offline, in milliseconds per session. It prefers precision to recall.
func NewBuiltin() Extractor { return builtin{} }

// Name is BuiltinName.
func (builtin) Name() string { return BuiltinName }

// Extract makes the memory of one session, of at most 1500 tokens. Its only error is the context's.
func (builtin) Extract(ctx context.Context, in Input) (memoir.Extraction, error) {
	if err := ctx.Err(); err != nil {
		return memoir.Extraction{}, err
	}
	out := describe(memoir.Extraction{}, in.Session, BuiltinName)
	s := arrange(in)
	var all []candidate
	for _, find := range signals {
		for _, c := range find(s) {
			if s.stillHolds(&c) {
				all = append(all, c)
			}
		}
	}
	kept := rank(all)
	if len(kept) == 0 {
		return out, nil
	}
	Date(kept, in.Items, out.EndedAt)
	out.Statements = kept
	out = Later([]memoir.Extraction{out})[0]
	out.Title = s.did(kept)
	out.RolloutSlug = slug(out.Title, in.Session.ID)
	out.RolloutSummary = summaryHead(in.Session, out.Title) + "\n" + out.RawMemory()
	return out, nil
}

// signals find statements of one class each in a session, certain ones first. The session
// itself proves a certain statement: a command that ran, a commit, a person's words. A
// statement that only the agent's words support is a claim.
var signals = []func(*session) []candidate{
	posted, causes, found, openEnds, wishes, takenBack, chosen, refused, fixed, repaired, instructions, passedCommands,
	beforeCommits, conclusions,
}

// A candidate is a statement with the data that rank and stillHolds need.
type candidate struct {
	memoir.Statement
	paths []string // files that it depends on
	worth int      // of a claim, to choose the best ones
}

// The names of signals, which `memoir why` prints. memoir.SignalRule, SignalMaybe and SignalCut are in preference.go.
const (
	signalPosted      = "posted"      // posted.go: a commit, a pull request, an approved plan
	signalCause       = "cause"       // cause.go: why a commit or pull request was made
	signalIssue       = "issue"       // cause.go: an issue that the session filed
	signalFound       = "found"       // cause.go: a cause that the agent found and that a check bears out
	signalOpen        = "open"        // cause.go: what the closing answer leaves open
	signalChosen      = "chosen"      // decided.go: a question about the design with the option that the person chose
	SignalRefused     = "refused"     // decided.go: a refused call with what the person said
	signalFixed       = "fixed"       // fixed.go: a failure with its remedy
	signalRepaired    = "repaired"    // repaired.go: a failure with the one command that repaired it
	signalInstruction = "instruction" // instruction.go: a command of an instruction file that does not work
	signalRenamed     = "renamed"     // preference.go: a person's sentence about a name that changed
	SignalPassed      = "passed"      // passed.go: a command that passed, which one look tells
	signalSought      = "sought"      // passed.go: one that was hard to find, and what is run before a commit
	signalConcluded   = "concluded"   // conclusion.go: a sentence of the agent's closing answer
)

// parties says whose word the statements of each signal are.
var parties = map[string]memoir.Party{
	signalFixed: memoir.ByTool, signalRepaired: memoir.ByTool, memoir.SignalVain: memoir.ByTool,
	signalInstruction: memoir.ByTool, SignalPassed: memoir.ByTool, signalSought: memoir.ByTool,
	memoir.SignalRule: memoir.ByPerson, memoir.SignalMaybe: memoir.ByPerson, memoir.SignalCut: memoir.ByPerson,
	signalChosen: memoir.ByPerson, SignalRefused: memoir.ByPerson, signalRenamed: memoir.ByPerson,
	signalPosted: memoir.ByAgent, signalConcluded: memoir.ByAgent, signalCause: memoir.ByAgent,
	signalIssue: memoir.ByAgent, signalFound: memoir.ByAgent, signalOpen: memoir.ByAgent,
}

// Known reports whether this version has a signal. Statements of signals that it no longer has are not consolidated.
func Known(signal string) bool {
	others := []string{memoir.SignalModel, memoir.SignalNote, memoir.SignalJournal, memoir.SignalRepeated,
		memoir.SignalTeam}
	return parties[signal] != "" || slices.Contains(others, signal)
}

// Chosen reports whether the statements of a signal are a person's choices between two ways.
func Chosen(signal string) bool { return signal == signalChosen || signal == SignalRefused }

// Posted reports whether a signal is of what agents wrote of their work: what they posted, found, concluded or left.
func Posted(signal string) bool {
	written := []string{signalPosted, signalCause, signalIssue, signalFound, signalOpen, signalConcluded}
	return slices.Contains(written, signal)
}

// OfKnown leaves out statements of signals that this version does not have, and extractions without any other.
func OfKnown(extractions []memoir.Extraction) []memoir.Extraction {
	var left []memoir.Extraction
	for _, e := range extractions {
		had := len(e.Statements)
		e.Statements = slices.DeleteFunc(e.Statements, func(s memoir.Statement) bool { return !Known(s.Signal) })
		if len(e.Statements) > 0 || had == 0 {
			left = append(left, e)
		}
	}
	return left
}

// IsSaid reports whether new sessions are told a statement before a consolidation takes it: what a person said to hold
// from now on, and repairs that passed, or what says that they were none.
func IsSaid(st memoir.Statement) bool {
	return st.Signal == memoir.SignalRule || st.Signal == memoir.SignalVain ||
		st.Kind == memoir.StatementFailure && st.Fix != ""
}

func state(signal string, kind memoir.StatementKind, text string, items ...int) candidate {
	by := parties[signal]
	return candidate{Statement: memoir.Statement{Kind: kind, Text: text, Signal: signal, By: by, Items: items}}
}

// describe fills in the fields of an extraction that describe its session and model.
func describe(e memoir.Extraction, s memoir.Session, model string) memoir.Extraction {
	e.SessionKey, e.ProjectID, e.CWD, e.Branch = s.Key(), s.ProjectID, s.CWD, s.Branch
	e.StartedAt, e.EndedAt, e.Model = s.CreatedAt, s.UpdatedAt, model
	return e
}

// Bounds of an extraction, in bytes.
const (
	MaxRawMemory      = 64 << 10
	MaxRolloutSummary = 64 << 10
	MaxSlug           = 60
)

var slugForm = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Check validates an extraction before it is stored: both texts or neither, bounded sizes, a slug that is safe in a
// file name, and citations of existing items. Its errors have the code CodeInvalid.
func Check(e memoir.Extraction, items []memoir.Item) error {
	if e.Empty() {
		return nil
	}
	invalid := func(format string, args ...any) error {
		return memoir.Errorf(memoir.CodeInvalid, "", "the extraction breaks a rule: "+format, args...)
	}
	switch {
	case len(e.Statements) == 0 || strings.TrimSpace(e.RolloutSummary) == "":
		return invalid("raw memory and rollout summary are given together or not at all")
	case len(e.RawMemory()) > MaxRawMemory:
		return invalid("the raw memory has %d bytes, more than %d", len(e.RawMemory()), MaxRawMemory)
	case len(e.RolloutSummary) > MaxRolloutSummary:
		return invalid("the rollout summary has %d bytes, more than %d", len(e.RolloutSummary), MaxRolloutSummary)
	case len(e.RolloutSlug) > MaxSlug || !slugForm.MatchString(e.RolloutSlug):
		return invalid("%q is not a slug of at most %d bytes of a-z, 0-9 and single hyphens", e.RolloutSlug, MaxSlug)
	}
	exists := memoir.Set(memoir.Map(items, func(it memoir.Item) int { return it.N }))
	for _, s := range e.Statements {
		for _, n := range s.Items {
			if !exists[n] {
				return invalid("a statement under %s cites item %d, which the session does not have", s.Kind, n)
			}
		}
	}
	return nil
}
