package model

import (
	"fmt"
	"sync"

	"memoir"
)

// longQuestion is the number of tokens, as we count, from which a question is looked at
// for what the server left unread.
const longQuestion = 3000

// unread finds out servers that cut what is longer than their window without a word, as
// Ollama does: they tell of far fewer tokens than they were sent.
type unread struct{ once sync.Once }

// look compares what a server told of with what it was sent, and warns once.
func (u *unread) look(name string, q Request, told *memoir.Usage, warn func(message, hint string)) {
	if told == nil || told.InputTokens == 0 || warn == nil {
		return
	}
	// Our count may be half of theirs, or a third more: no text has half as many tokens.
	sent := sizeOf(Request{System: q.System, Input: q.Input, Earlier: q.Earlier})
	if sent < longQuestion || told.InputTokens*2 >= int64(sent) {
		return
	}
	u.once.Do(func() {
		e := Error{Model: name}
		warn(fmt.Sprintf("%s read %d tokens of about %d that it was sent: it seems to cut what its window does not hold", name, told.InputTokens, sent),
			"give it a larger window (Ollama: OLLAMA_CONTEXT_LENGTH, or num_ctx of the model), and set "+e.setting("window")+" to that")
	})
}
