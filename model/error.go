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

// Class says what a failed call means for the next one.
type Class string

// The classes.
const (
	ClassTemporary   Class = "temporary"   // 5xx, a time-out, a connection that broke: try again
	ClassLimited     Class = "limited"     // 429 or 529: try again later
	ClassUnreachable Class = "unreachable" // nobody answers there, or the command does not start
	ClassTooLong     Class = "too_long"    // more than the model's window: ask with less
	ClassDenied      Class = "denied"      // 401 or 403: the key
	ClassMissing     Class = "missing"     // 404: the model's name or the base URL
	ClassInvalid     Class = "invalid"     // 400: the request
	ClassProgram     Class = "program"     // an external command failed

	// classDeclined is a filter's refusal of what was asked, which is an answer: StopRefusal.
	classDeclined Class = "declined"
)

// Error is a call that failed. It never holds a key, a header or the request.
type Error struct {
	Class      Class
	Model      string        // provider/model
	Program    string        // of APIExec: what was started; else empty
	Status     int           // of HTTP, or the exit status of a command; 0 if there is none
	RetryAfter time.Duration // what the server asked for; 0 if nothing
	Message    string        // the server's words, at most 500 bytes: foreign text

	Usage     memoir.Usage // what the call cost all the same
	Estimated bool         // as in Answer
	// Untold is true if a time limit, an interrupt or a broken connection ended the call
	// before any usage was reported: Usage has no tokens then.
	Untold bool
	// TimedOut is the model's time limit, if that is what ended the call; else 0.
	TimedOut time.Duration
	Err      error // the cause; may be nil
}

// Error says which model failed and how.
func (e *Error) Error() string {
	switch {
	case e.Status > 0 && e.Message != "":
		return fmt.Sprintf("%s answered with status %d: %s", e.Model, e.Status, e.Message)
	case e.Status > 0:
		return fmt.Sprintf("%s answered with status %d", e.Model, e.Status)
	case e.Message != "":
		return e.Model + ": " + e.Message
	}
	return fmt.Sprintf("%s: %s", e.Model, e.Class)
}

// timedOut makes e a call that the model's time limit ended. It has no cause: that
// would look like a deadline of the caller's. The last words of a program stay.
func (e *Error) timedOut(limit time.Duration) {
	said := ""
	if e.Program != "" && e.Message != "" {
		said = ": " + e.Message
	}
	e.Class, e.Err, e.TimedOut = ClassTemporary, nil, limit
	e.Message = fmt.Sprintf("no answer within %s; a slow model needs a larger timeoutSeconds%s", limit, said)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint says what a person can do about it; empty if nothing but waiting.
func (e *Error) Hint() string {
	switch {
	case e.TimedOut > 0:
		return "if the model is slow, set a larger timeoutSeconds"
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
		return "set window of " + e.settings() + " to what the model takes, or lower memories.phase1InputTokenLimit"
	case ClassInvalid:
		return "change what the message names in " + e.settings() + ", or the provider's api"
	}
	return ""
}

// settings names where a model is configured.
func (e *Error) settings() string {
	provider, _, _ := strings.Cut(e.Model, "/")
	return "providers." + provider
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

// What servers and agents say where no status says enough.
var (
	noCredit = lazyregexp.New(`(?i)insufficient_quota|billing_(hard_limit_reached|not_active)|access_terminated|` +
		`credit balance is too low`)
	tooLong = lazyregexp.New(`(?i)context[ _-]?(length|window|size|limit)|too many (input |prompt )?tokens|` +
		`(prompt|input|request|message|conversation|text|string)s?( is| are)? too (long|large)|input token count|` +
		`tokens must be reduced|reduce the length of|exceeds the (context|model)`)
)

// classes tell by the words of a server or an agent what a failure means. The first match
// counts, since a limit is often reported together with a status that says less.
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

// classOfWords returns the class of a failure by what is said of it.
func classOfWords(text string) (Class, bool) {
	for _, c := range classes {
		if c.form.MatchString(text) {
			return c.class, true
		}
	}
	return "", false
}

// maxMessage bounds, in bytes, what is told of a failure in foreign words.
const maxMessage = 500

// words makes one short line of foreign text: the beginning of what a server says, the end of
// what a program says. It is cut at a blank: nobody would know what is left of a secret.
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

// clean makes one line of foreign text, without the key and other secrets. These go before the
// text is cut: half a secret is not recognised.
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
	leastKey   = 4 // bytes; what is shorter is no secret
	shownOfKey = 8 // bytes of its beginning that give a key away
)
