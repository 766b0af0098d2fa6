package search

import (
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/entry"
)

// Filter restricts the hits of a query; empty fields do not. A time is a day in UTC (today, yesterday, 2026-07-01) or
// 2026-07-01T12:00:00Z. The error of Find for an invalid field has the code memoir.CodeUsage.
type Filter struct {
	Kind     string // of Kinds
	Source   string // only sessions of this agent
	Since    string // not before this time
	Until    string // not after this time
	Typed    bool   // only a person's words
	Replaced bool   // also what something newer replaces
}

// Kinds are the kinds of hits; as a filter, session stands for the last five.
var Kinds = []string{SourceMemory, SourceHistory, "note", "journal", "message", "session", "said", SourceCommand,
	SourceError, SourceOutput}

// passes reports whether a kind of passages can have hits.
func (f Filter) passes(k kind) bool {
	switch {
	case f.Typed:
		return k == typedKind
	case f.Kind == SourceMemory:
		return k == memoryKind
	case f.Kind == SourceHistory:
		return k == historyKind
	case f.Kind == "said":
		return k == typedKind || k == agentKind
	case f.Kind == SourceCommand:
		return k == commandKind
	case f.Kind == SourceError:
		return k == errorKind
	case f.Kind == SourceOutput:
		return k == outputKind
	}
	return f.Kind == "" || !k.alone()
}

// keep returns the filter of hits.
func (f Filter) keep() (func(Hit) bool, error) {
	if f.Kind != "" && !slices.Contains(Kinds, f.Kind) {
		return nil, memoir.Errorf(memoir.CodeUsage, "use one of "+strings.Join(Kinds, ", "), "%.100q is not a kind", f.Kind)
	}
	since, _, err := span(f.Since)
	if err != nil {
		return nil, err
	}
	_, until, err := span(f.Until)
	return func(h Hit) bool {
		source, _ := memoir.SplitKey(h.Session)
		return (f.Kind == "" || f.Kind == h.Kind() || f.Kind == "session" && h.inSession()) &&
			(f.Source == "" || f.Source == string(source)) &&
			(f.Since == "" || !h.At.Before(since)) && (f.Until == "" || !h.At.IsZero() && h.At.Before(until)) &&
			(f.Replaced || h.ReplacedBy == "")
	}, err
}

// span returns the begin of a time, and when it is over.
func span(name string) (begin, end time.Time, err error) {
	if begin, err = time.Parse(time.RFC3339, name); err == nil {
		return begin, begin.Add(1), nil
	}
	day, err := entry.Day(name, time.Now())
	if err == nil {
		begin, err = time.Parse(time.DateOnly, day)
	}
	return begin, begin.AddDate(0, 0, 1), err
}
