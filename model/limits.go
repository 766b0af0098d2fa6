package model

import (
	"cmp"
	"strconv"
	"sync"

	"memoir"
)

// limits are what a server said of its model when it refused a call. They hold for as
// long as the model is open, so that later calls are made to fit from the start. Its
// methods are safe for concurrent use.
type limits struct {
	mu     sync.Mutex
	window int // tokens of a call, as we count; 0: nothing was said
	output int // tokens of an answer; 0: nothing was said
}

// maxDensity is how many tokens of a server's count are believed to come to one of ours.
const maxDensity = 2

// learn takes in the length of a call of sent tokens, as we count, that was refused. Where
// the server counts more in the same text, its window holds less of ours.
func (l *limits) learn(told length, sent int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	window := told.limit
	if told.asked > sent && told.asked <= maxDensity*sent {
		window = int(float64(window) * float64(sent) / float64(told.asked))
	}
	if window > 0 && (l.window == 0 || window < l.window) {
		l.window = window
	}
}

// learnCap takes in the largest cap on an answer.
func (l *limits) learnCap(most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if most > 0 && (l.output == 0 || most < l.output) {
		l.output = most
	}
}

// windowOf is the smaller of the window that was configured and the one that was learned,
// in tokens as we count.
func (l *limits) windowOf(configured int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.window > 0 && (configured <= 0 || l.window < configured) {
		return l.window
	}
	return configured
}

// most is the largest cap that the server takes; 0: it has not said.
func (l *limits) most() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.output
}

// cap is the cap on an answer to be sent, 0 for none. A question's own goes before the
// configured one, which is raised to what the answer needs; usual is the one where nobody says.
// Neither what the server takes nor what the question leaves of the window is exceeded.
func (l *limits) cap(q Request, o Options, usual int) int {
	n := cmp.Or(q.MaxOutput, max(o.MaxOutput, 0), usual)
	if n <= 0 {
		return 0
	}
	if q.MaxOutput == 0 {
		n = max(n, q.Output)
	}
	if most := l.most(); most > 0 {
		n = min(n, most)
	}
	if window := l.windowOf(o.Window); window > 0 {
		asked := sizeOf(q)
		n = min(n, max(window-asked-asked/8, window/4))
	}
	return max(n, 1)
}

// hopeless reports whether a question asks for more output than the model has, and gets no
// more than one that asks for none.
func (l *limits) hopeless(q Request, o Options, usual int) bool {
	most := l.most()
	return most > 0 && q.MaxOutput > most && most <= max(cmp.Or(o.MaxOutput, usual), q.Output)
}

// lesser is the cap with which a call that was too long with a cap fits after all; 0 if
// what is left would be too little for its answer.
func (told length) lesser(sent int, q Request) int {
	if told.asked == 0 || sent == 0 {
		return 0
	}
	room := told.limit - told.asked
	if room >= sent || room < q.Output || room < min(sent/4, enoughOutput) || room < 1 {
		return 0
	}
	return room
}

// enoughOutput is the number of tokens that most answers need no more than.
const enoughOutput = 4096

// sizeOf is what a question comes to, in tokens as we count.
func sizeOf(q Request) int {
	n := memoir.Tokens(q.System) + memoir.Tokens(q.Input) + memoir.Tokens(string(q.Schema))
	for _, e := range q.Earlier {
		n += memoir.Tokens(e.Answer) + memoir.Tokens(e.Objection)
	}
	return n
}

// Fit is how many tokens, as we count, a question may have so that the server takes it
// with an answer of so many, by what it said about one of sent tokens; 0 if it said nothing.
func (e *Error) Fit(sent, answer int) int {
	if e.Class != ClassTooLong || e.Limit <= 0 {
		return 0
	}
	room := e.Limit - min(max(answer, 0), e.Limit/2)
	fit := room * 4 / 5 // how it counts is unknown
	if e.Asked > 0 {
		fit = int(float64(sent) * float64(room) / float64(e.Asked) * 0.95)
	}
	return max(min(fit, sent*9/10), 1)
}

// refit learns from a refusal and reports whether the same question should be put again,
// with a cap that it lowers: to the one that the server names, or to what the question
// leaves of the window.
func (l *limits) refit(q *Request, o Options, usual, sent int, told length, most int) bool {
	l.learn(told, sizeOf(*q))
	if most > 0 && most < sent {
		l.learnCap(most)
		return !l.hopeless(*q, o, usual)
	}
	less := told.lesser(sent, *q)
	if less > 0 {
		q.MaxOutput = less
	}
	return less > 0
}

// lengthOf is what a refusal says of the length of a call that is too long.
func (r *refusal) lengthOf() length {
	if r.class() != ClassTooLong {
		return length{}
	}
	if r.length.limit > 0 {
		return r.length
	}
	return lengthIn(r.message)
}

// noMoreOutput is the error of a question that asks for an answer longer than the model
// has. Nobody was called.
func noMoreOutput(name string, most int) *Error {
	e := &Error{Class: ClassInvalid, Model: name, Setting: settingOutput}
	e.Message = "its answers have at most " + strconv.Itoa(most) + " tokens"
	return e
}
