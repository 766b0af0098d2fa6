package memoir

// CodeModel is a model's failure.
const CodeModel Code = "model"

// AnswerError is an answer of a model that could not be used. The answer is foreign
// text and is not redacted; Error never holds it.
type AnswerError struct {
	Answer string
	Err    error
}

func (e *AnswerError) Error() string { return e.Err.Error() }

// Unwrap returns what was wrong with the answer.
func (e *AnswerError) Unwrap() error { return e.Err }
