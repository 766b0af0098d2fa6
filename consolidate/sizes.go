package consolidate

import (
	"memoir"
	"memoir/model"
)

const (
	anyInput    = 100_000 // tokens of a question to a model whose window nobody named
	leastRoom   = 300     // tokens for sessions, below which asking makes no sense
	answerFrame = 2000    // tokens of an answer beside the two files
)

// sizes divide a model's window.
type sizes struct {
	window        int // tokens; 0: unknown
	input         int // tokens that a question may have
	output        int // tokens that an answer may need, or may have if that is more
	memoryBytes   int // what the model is asked to keep MEMORY.md within
	summaryTokens int
}

// sizeOf leaves room for an answer that repeats the memory and adds to it. Small
// windows get a small memory, not smaller than it is.
func sizeOf(o LLM, r *renewal, bytes, tokens int) sizes {
	s := sizes{window: o.Model.Window(), memoryBytes: bytes, summaryTokens: tokens}
	if s.window > 0 {
		s.memoryBytes = min(bytes, max(s.window*4/5, len(r.present.MemoryMD)+1000))
		s.summaryTokens = min(tokens, max(s.window/12, memoir.Tokens(r.present.MemorySummary)+100))
	}
	// What the program writes itself.
	s.memoryBytes = max(s.memoryBytes-len(r.list())-300, s.memoryBytes/2)
	s.summaryTokens = max(s.summaryTokens*4/5, 200)
	s.output = (s.memoryBytes/4+s.summaryTokens)*23/20 + answerFrame // JSON's own marks
	s.output = max(s.output, o.MaxOutput)
	s.input = anyInput
	if s.window > 0 {
		s.output = min(s.output, s.window/2)
		s.input = s.window - s.output - s.window/20
	}
	if o.InputTokens > 0 && (s.window == 0 || o.InputTokens < s.input) {
		s.input = o.InputTokens
	}
	return s
}

// longer is a larger cap for an answer that was cut; 0 if there is none. What was asked
// for is s.output at least, wherever there was a cap.
func (s sizes) longer(q model.Request, cut memoir.Usage) int {
	n := max(s.output*3/2, 2*int(cut.OutputTokens))
	if s.window > 0 {
		n = min(n, s.window-memoir.Tokens(q.System)-memoir.Tokens(q.Input))
	}
	if n <= int(cut.OutputTokens) {
		return 0
	}
	return n
}
