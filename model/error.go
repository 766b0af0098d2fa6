package model

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"memoir"
	"memoir/internal/lazyregexp"
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

	// Setting is the setting that the server refuses, such as maxOutputTokens; only for
	// ClassInvalid, empty if it names none.
	Setting string
	// Always is true if every call would be refused like this one, whatever it asks.
	Always bool

	Usage     memoir.Usage // what the call cost all the same
	Estimated bool         // as in Answer
	// Untold is true if a time limit or an interrupt ended the call after the question was
	// sent and before any usage was reported: Usage has no tokens then.
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
		return "set " + e.setting("window") + " to what the model takes, or lower memories.phase1InputTokenLimit"
	case ClassInvalid:
		switch {
		case e.Setting != "":
			return "remove " + e.setting(e.Setting) + ", or set it to what the model takes"
		case e.Always:
			return "check the provider's api and baseURL: the server does not take calls of this form"
		}
		return "read the server's message; the provider may need another api"
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

// The settings that servers refuse.
const (
	settingOutput      = "maxOutputTokens"
	settingTemperature = "temperature"
	settingEffort      = "effort"
)

// settingNames are the parameters by which servers refer to our settings.
var settingNames = []struct {
	setting string
	names   *lazyregexp.Regexp
}{
	{settingOutput, lazyregexp.New(`(?i)\bmax_(completion_|output_)?tokens\b|\bmaxOutputTokens\b`)},
	{settingTemperature, lazyregexp.New(`(?i)\btemperature\b`)},
	{
		settingEffort,
		lazyregexp.New(`(?i)\b(reasoning(_effort|\.effort)?|output_config(\.effort)?|effort|budget_tokens|thinking)\b`),
	},
}

// badForm matches the message of a server that takes no such call, whatever it asks: it
// names a parameter that is unknown, or a value that is not allowed.
var badForm = lazyregexp.New(`(?i)\b(unknown|unrecogni[sz]ed|unsupported|unexpected|invalid|extra|missing required) ` +
	`(request )?(parameter|argument|field|input|key|value|name)s?\b|extra (inputs|fields) (are )?not permitted|` +
	`field required|not supported (with|by|for) this model|does not support|` +
	`(parameter|value|option)s? (is|are) not supported|invalid_value|unsupported_(parameter|value)|cannot find field`)

// badText matches a message about the text of the question.
var badText = lazyregexp.New(`(?i)^(messages|input|contents|prompt)\b`)

// blame finds what a server refuses: a setting of ours, the form of every call, or
// neither. param is the parameter that the server names, empty if it names none.
func (e *Error) blame(param, message string) {
	if e.Class != ClassInvalid || badText.MatchString(cmp.Or(param, message)) {
		return
	}
	message = message[:min(len(message), 16*maxMessage)]
	for _, text := range []string{param, message} {
		for _, s := range settingNames {
			if e.Setting == "" && s.names.MatchString(text) {
				e.Setting = s.setting
			}
		}
	}
	e.Always = e.Setting != "" || param != "" || badForm.MatchString(message)
}

// setting names a setting of the model that failed.
func (e *Error) setting(name string) string {
	provider, _, _ := strings.Cut(e.Model, "/")
	return name + " of " + `models."` + e.Model + `" or providers.` + provider
}
