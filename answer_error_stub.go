package memoir

// AnswerError is an answer of a model that could not be used. The answer is foreign
// text, not redacted: Error never holds it.
type AnswerError struct {
	Answer string
	Err    error // what is wrong with it
}

func (e *AnswerError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the answer.
func (e *AnswerError) Unwrap() error { return e.Err }
