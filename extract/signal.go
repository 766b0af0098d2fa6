package extract

import "memoir"

// A signal finds statements of one class in a session. What a certain signal finds is
// borne out by what the session shows: a command that ran, a commit, a person's words.
// Anything that only the agent's words support is a claim.
type signal interface {
	find(s *session) []candidate
}

// A candidate is a statement with what rank and stands need to know of it.
type candidate struct {
	memoir.Statement
	times int      // how often the session showed it; at least 1
	paths []string // files that it depends on
	said  string   // a person's words or the agent's claim, which later words can take back
}

// signalFunc is a signal that is a function.
type signalFunc func(s *session) []candidate

func (f signalFunc) find(s *session) []candidate { return f(s) }

// signals are all signals, certain ones first.
var signals = []signal{
	signalFunc(asked),
	signalFunc(posted),
	signalFunc(rules),
	signalFunc(corrections),
	signalFunc(fixed),
	signalFunc(passedCommands),
	signalFunc(required),
	signalFunc(procedures),
	signalFunc(conclusions),
}

// state makes a candidate of one text.
func state(kind memoir.StatementKind, text string, items ...int) candidate {
	return candidate{Statement: memoir.Statement{Kind: kind, Text: text, Items: items}, times: 1}
}
