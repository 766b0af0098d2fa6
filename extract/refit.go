package extract

import (
	"errors"

	"memoir"
	"memoir/model"
)

// maxShrinks is how often less of a session is shown where the server says how much it
// takes: its count and ours differ from text to text.
const maxShrinks = 3

// mayShrink reports whether less of the session may be shown after a call that was too
// long: once, and again where the server says by how much.
func (a *inquiry) mayShrink(err error) bool {
	var failed *model.Error
	return a.shrunk == 0 || a.shrunk < maxShrinks && errors.As(err, &failed) && failed.Limit > 0
}

// refit shows as much of a session as the server takes, where it said. The frame around the
// session stays as it is.
func (x llm) refit(a *inquiry, failed *model.Error, q model.Request, s shown) {
	if failed == nil {
		return
	}
	sent := memoir.Tokens(q.System) + memoir.Tokens(q.Input)
	fit := failed.Fit(sent, x.answerRoom(failed.Limit))
	if fit == 0 {
		return
	}
	session := memoir.Tokens(s.text)
	a.budget = max(min(fit-(sent-session), session*9/10), minBudget)
}

// answerRoom is what is left of a window to an answer, in tokens: its cap, but never more than half.
func (x llm) answerRoom(window int) int {
	if x.MaxOutput > 0 {
		return min(x.MaxOutput, window/2)
	}
	return min(answerRoom, window/4)
}

// moreOutput is a larger cap for an answer that was cut. Where nobody knows the cap that cut it,
// and the answer had to share it with thoughts, what the answer came to says little.
func (a *inquiry) moreOutput(answer model.Answer) int {
	if a.output > 0 {
		return 2 * max(a.output, int(answer.Usage.OutputTokens))
	}
	return 2 * max(answerRoom, int(answer.Usage.OutputTokens))
}
