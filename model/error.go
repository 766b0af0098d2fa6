package model

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
	"unicode/utf8"

	"memoir"
)

// Class says what a failed call means for the next one.
type Class string

// The classes.
const (
	ClassTemporary   Class = "temporary"   // 5xx, a time-out, a connection that broke: try again
	ClassLimited     Class = "limited"     // 429 or 529: try again later
	ClassUnreachable Class = "unreachable" // nobody answers there
	ClassTooLong     Class = "too_long"    // more than the model's window: ask with less
	ClassDenied      Class = "denied"      // 401 or 403: the key
	ClassMissing     Class = "missing"     // 404: the model's name or the base URL
	ClassInvalid     Class = "invalid"     // 400: the request
	ClassProgram     Class = "program"     // an external command failed
)

// maxMessage bounds, in bytes, what is told of a server's words.
const maxMessage = 500

// Error is a call that failed. It never holds a key, a header or the request.
type Error struct {
	Class      Class
	Model      string        // provider/model
	Program    string        // of APIExec: what was started; else empty
	Status     int           // of HTTP, or the exit status of a command; 0 if there is none
	RetryAfter time.Duration // what the server asked for; 0 if nothing
	Message    string        // the server's words, at most 500 bytes: foreign text, not redacted

	// What a server said of a call that is too long; 0 where it did not.
	Limit  int // tokens that a call may hold
	Asked  int // tokens of the question, by its count
	Output int // tokens of the cap on the answer, where it counts them in

	// Setting is, of ClassInvalid, the setting of ours that the server refuses, such as
	// maxOutputTokens; empty if it names none.
	Setting string
	// Always says that each call would be refused as this one was, whatever it asks.
	Always bool

	Usage     memoir.Usage // what the call cost all the same
	Estimated bool         // as in Answer
	// Untold says that the server or program had the question when the call ended by a
	// time limit or an interrupt, and told nothing of what it took: Usage has no tokens.
	Untold bool
	// TimedOut is the model's time limit, if that is what ended the call; else 0.
	TimedOut time.Duration
	Err      error // the cause; may be nil
}

// Error says which model failed and how.
func (e *Error) Error() string {
	message := short(e.Message)
	switch {
	case e.Status > 0 && message != "":
		return fmt.Sprintf("%s answered with status %d: %s", e.Model, e.Status, message)
	case e.Status > 0:
		return fmt.Sprintf("%s answered with status %d", e.Model, e.Status)
	case message != "":
		return e.Model + ": " + message
	}
	return fmt.Sprintf("%s: %s", e.Model, e.Class)
}

// timedOut makes e a call that the model's time limit ended. It has no cause: that
// would look like a deadline of the caller's.
func (e *Error) timedOut(limit time.Duration) {
	e.Class, e.Err, e.TimedOut = ClassTemporary, nil, limit
	e.Message = fmt.Sprintf("no answer within %s; a slow model needs a larger timeoutSeconds", limit)
}

// short cuts a text to maxMessage bytes, in front of a character.
func short(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	end := maxMessage
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint says what a person can do about it; empty if nothing but waiting.
func (e *Error) Hint() string {
	switch {
	case e.TimedOut > 0:
		return "if the model is slow, set a larger timeoutSeconds"
	case e.Program == "":
	case e.Class == ClassDenied:
		return "log in with " + e.Program + " in a terminal, or give it its key"
	case e.Class == ClassMissing:
		return "check the model's name: it is what " + e.Program + " calls it"
	case e.Class == ClassUnreachable:
		return "check that " + e.Program + " reaches its provider from here"
	case errors.Is(e.Err, fs.ErrNotExist):
		return "install " + e.Program + ", or give the provider's command another path"
	case e.Class == ClassProgram:
		return "run " + e.Program + " by hand with a question on its standard input"
	}
	switch e.Class {
	case ClassDenied:
		return "check the key: the provider's keyEnv or keyCommand"
	case ClassMissing:
		return "check the model's name and the provider's baseURL"
	case ClassUnreachable:
		return "check that the provider's baseURL is reachable from here"
	case ClassTooLong:
		return e.tooLongHint()
	case ClassInvalid:
		return e.invalidHint()
	}
	return ""
}

// Again reports whether the same call may succeed later.
func (e *Error) Again() bool {
	return e.Class == ClassTemporary || e.Class == ClassLimited || e.Class == ClassUnreachable
}

// ClassOf returns the class of the first Error in err's chain.
func ClassOf(err error) (Class, bool) {
	var e *Error
	if errors.As(err, &e) {
		return e.Class, true
	}
	return "", false
}
