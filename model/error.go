package model

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"time"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Class is the kind of a failed call, which determines whether it is repeated.
type Class string

// The classes.
const (
	ClassTemporary   Class = "temporary"   // 5xx, a timeout, a broken connection: try again
	ClassLimited     Class = "limited"     // 429 or 529: try again later
	ClassUnreachable Class = "unreachable" // no connection to the server, or the command does not start
	ClassTooLong     Class = "too_long"    // more than the model's window: ask with less
	ClassDenied      Class = "denied"      // 401 or 403: the key
	ClassMissing     Class = "missing"     // 404: the model's name or the base URL
	ClassInvalid     Class = "invalid"     // 400: the request
	ClassProgram     Class = "program"     // an external command failed

	// classDeclined is a filter's refusal of the request; Call returns it as StopRefusal.
	classDeclined Class = "declined"
)

// Error is a failed call. It never contains a key, a header or the request.
type Error struct {
	Class      Class
	Model      string        // provider/model
	Program    string        // of APIExec: the program; else empty
	Status     int           // of HTTP, or the exit status of a command; 0 if there is none
	RetryAfter time.Duration // the wait that the server asked for; 0 if none
	Message    string        // the server's words, at most 500 bytes: untrusted text

	Usage     memoir.Usage // of the failed call
	Estimated bool         // as in Answer
	// Unreported is true if a time limit, an interrupt or a broken connection ended the call
	// before any usage was reported; Usage then has no tokens.
	Unreported bool
	// TimedOut is the model's time limit, if that is what ended the call; else 0.
	TimedOut time.Duration
	Err      error // the cause; may be nil
}

// Error names the model and describes the failure.
func (e *Error) Error() string {
	switch {
	case e.Status > 0 && e.Program != "" && e.Message == "":
		return fmt.Sprintf("%s exited with status %d and printed no answer", e.Model, e.Status)
	case e.Status > 0 && e.Program != "":
		return fmt.Sprintf("%s exited with status %d: %s", e.Model, e.Status, e.Message)
	case e.Status > 0 && e.Message != "":
		return fmt.Sprintf("%s answered with status %d: %s", e.Model, e.Status, e.Message)
	case e.Status > 0:
		return fmt.Sprintf("%s answered with status %d", e.Model, e.Status)
	case e.Message != "":
		return e.Model + ": " + e.Message
	}
	return fmt.Sprintf("%s: %s", e.Model, e.Class)
}

// timedOut marks e as ended by the model's time limit. It drops the cause, which would look
// like the caller's deadline. The end of a program's output stays.
func (e *Error) timedOut(limit time.Duration) {
	words := ""
	if e.Program != "" && e.Message != "" {
		words = ": " + e.Message
	}
	e.Class, e.Err, e.TimedOut = ClassTemporary, nil, limit
	e.Message = fmt.Sprintf("no answer within %s%s", limit, words)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint returns advice for a person; empty if waiting is the only remedy.
func (e *Error) Hint() string {
	switch {
	case e.TimedOut > 0:
		return "if the model is slow, raise " + e.settings() + ".timeoutSeconds; a call is tried up to four times"
	case e.Program == "":
	case errors.Is(e.Err, fs.ErrNotExist):
		return "install " + e.Program + ", or give the provider's command another path"
	case e.Class == ClassDenied:
		return "log in with " + e.Program + " in a terminal, or give it its key"
	case e.Class == ClassMissing:
		return "check the model's name: use a name that " + e.Program + " knows"
	case e.Class == ClassUnreachable && e.Err == nil:
		return "check that " + e.Program + " reaches its provider from here"
	case e.Class == ClassProgram, e.Class == ClassUnreachable:
		return "run " + e.Program + " by hand with a prompt on its standard input"
	}
	switch e.Class {
	case ClassDenied:
		return "check the key: the provider's keyEnv or keyCommand"
	case ClassMissing:
		return "check the model's name and the provider's baseURL"
	case ClassUnreachable:
		return "check that the provider's baseURL is reachable from here"
	case ClassTooLong:
		return "set window of " + e.settings() + " to what the model takes, or lower memories.phase1InputTokenLimit"
	case ClassInvalid:
		return "change what the message names in " + e.settings() + ", or the provider's api"
	}
	return ""
}

func (e *Error) settings() string {
	provider, _, _ := strings.Cut(e.Model, "/")
	return "providers." + provider
}

// Again reports whether the same call may succeed later.
func (e *Error) Again() bool {
	return e.Class == ClassTemporary || e.Class == ClassLimited || e.Class == ClassUnreachable
}

// Words of servers and agents that classify a failure better than its status.
var (
	noCredit = lazyregexp.New(`(?i)insufficient_quota|billing_(hard_limit_reached|not_active)|access_terminated|` +
		`credit balance is too low`)
	tooLong = lazyregexp.New(`(?i)context[ _-]?(length|window|size|limit)|too many (input |prompt )?tokens|` +
		`(prompt|input|request|message|conversation|text|string)s?( is| are)? too (long|large)|input token count|` +
		`tokens must be reduced|reduce the length of|exceeds the (context|model)`)
)

// classes maps words of a server or an agent to the class of a failure. The first match counts.
var classes = []struct {
	class Class
	form  *lazyregexp.Regexp
}{
	{ClassDenied, noCredit},
	{ClassTooLong, tooLong},
	{ClassLimited, lazyregexp.New(`(?i)\b(429|529)\b|(rate|usage|session|weekly|5-hour|hourly|daily).{0,12}limit|quota|` +
		`too many requests|overloaded|resource.?exhausted`)},
	{ClassDenied, lazyregexp.New(`(?i)\b(401|403)\b|unauthori[sz]ed|forbidden|authenticat|api.?key|` +
		`not logged in|log ?in\b|credential`)},
	{ClassMissing, lazyregexp.New(`(?i)\b404\b( not found|.{0,20}model)|model_not_found|` +
		`(model|provider).{0,60}(not found|not exist|unknown|no access)|` +
		`(unknown|no such|invalid|not a valid) (model|provider)|issue with the selected model|unexpected endpoint`)},
	{ClassUnreachable, lazyregexp.New(`(?i)ECONNREFUSED|ENOTFOUND|EAI_AGAIN|connection refused|unable to connect|` +
		`fetch failed|network (error|unreachable)|getaddrinfo`)},
	{ClassTemporary, lazyregexp.New(`(?i)\b50[0234]\b|timed? ?out|temporar|high demand|ECONNRESET|` +
		`connection (error|reset|closed)|disconnected|internal server error|service unavailable`)},
}

func classOfWords(text string) (Class, bool) {
	for _, c := range classes {
		if c.form.MatchString(text) {
			return c.class, true
		}
	}
	return "", false
}

// maxMessage bounds, in bytes, the message of a failure in foreign words.
const maxMessage = 500

// words makes one short line of foreign text: the beginning of a server's message, the end of
// a program's. It cuts at a blank, since the rest of a cut secret would not be recognised.
func (o Options) words(text string, end bool) string {
	text = o.clean(text)
	switch {
	case len(text) <= maxMessage:
	case end:
		text = text[len(text)-maxMessage:]
		text = text[strings.IndexByte(text, ' ')+1:]
	default:
		const more = "…"
		text = text[:maxMessage-len(more)]
		if blank := strings.LastIndexByte(text, ' '); blank > 0 {
			text = text[:blank]
		}
		text = strings.ToValidUTF8(text, "") + more
	}
	return strings.ToValidUTF8(text, "")
}

// clean makes one line of foreign text, without the key and other secrets. It must be called
// before the text is cut, since a part of a secret is not recognised.
func (o Options) clean(text string) string {
	text = strings.ToValidUTF8(text, "")
	if len(o.Key) >= leastKey {
		begins := regexp.QuoteMeta(o.Key[:min(len(o.Key), shownOfKey)])
		text = regexp.MustCompile(begins+"[^\\s\"'`,;&<>()]*").ReplaceAllLiteralString(text, "[key]")
	}
	if o.Redact != nil {
		text = o.Redact(text)
	}
	// A terminal would obey control characters.
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

const (
	leastKey   = 4 // bytes; shorter texts are not secrets
	shownOfKey = 8 // bytes of its beginning that give a key away
)
