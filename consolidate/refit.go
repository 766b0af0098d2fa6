package consolidate

import (
	"memoir"
	"memoir/model"
)

// maxLess is how often fewer sessions are put to a model after a question that was too long.
const maxLess = 3

// less is the room for sessions, in tokens, after a question that was too long: half of
// what it had. False if fewer sessions would not help.
func (q *question) less(e *model.Error, asked model.Request, before int) (int, bool) {
	if e == nil || e.Class != model.ClassTooLong || before == maxLess {
		return 0, false
	}
	sent := memoir.Tokens(asked.System) + memoir.Tokens(asked.Input)
	return max(sent/2-q.fixed, leastRoom), true
}

// hinted says what can be done about a call that failed for its length, or for that of
// its answer. What concerns the first phase alone is not said.
func hinted(e *model.Error, err error, longer bool) error {
	switch {
	case e == nil:
	case e.Class == model.ClassTooLong:
		return memoir.Errorf(memoir.CodeModel, "set the window of the provider or model to what it takes, or lower memories.maxMemorySize", "%w", err)
	case e.Class == model.ClassInvalid && longer:
		return memoir.Errorf(memoir.CodeModel, "lower memories.maxMemorySize, or use a model with longer answers", "the memory is longer than an answer may be: %w", err)
	}
	return err
}
