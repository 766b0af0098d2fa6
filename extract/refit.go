package extract

import (
	"memoir/model"
)

// maxShrinks is how often less of a session is shown after a call that was too long.
const maxShrinks = 3

// answerRoom is what is left of a window to an answer, in tokens: its cap, but never more
// than half.
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
