package model

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"memoir/internal/lazyregexp"
)

// refusal is what a server said instead of an answer, in whichever of the forms
// that servers write it.
type refusal struct {
	status     int           // of HTTP, or the number that the body gives; 0: it failed after it had begun to answer
	code       string        // such as context_length_exceeded
	kind       string        // such as invalid_request_error
	param      string        // the parameter that it is about
	message    string        // foreign text, of any length
	retryAfter time.Duration // 0: not said
}

// Error is for errors.As: what is shown is an *Error.
func (r *refusal) Error() string {
	return fmt.Sprintf("refused with status %d", r.status)
}

// readRefusal reads an error response.
func readRefusal(status int, header http.Header, body []byte) *refusal {
	r := &refusal{}
	if found := refusalIn(body); found != nil {
		r = found
	} else {
		r.message = words(body)
	}
	r.status = status
	if wait := retryAfter(header, time.Now()); wait > 0 {
		r.retryAfter = wait
	}
	if 300 <= status && status < 400 {
		r.message = "it sends calls to another address"
		if to, err := url.Parse(header.Get("Location")); err == nil && to.Host != "" {
			r.message += ", at " + to.Host
		}
	}
	return r
}

// refusalIn finds the error in a body of JSON, nil if it holds none. An error is an
// object or a text below "error" (OpenAI, Ollama), in a list (Gemini), the body
// itself (vLLM), or "detail" (FastAPI).
func refusalIn(body []byte) *refusal {
	if !gjson.ValidBytes(body) {
		return nil
	}
	root := gjson.ParseBytes(body)
	if root.IsArray() {
		root = root.Get("0")
	}
	if !root.IsObject() {
		return nil
	}
	e := root.Get("error")
	switch {
	case e.IsObject():
	case e.Type == gjson.String && e.Str != "":
		return &refusal{message: e.Str, kind: root.Get("error_type").String()}
	case root.Get("object").Str == "error" || root.Get("type").Str == "error":
		e = root
	case root.Get("detail").Exists():
		return &refusal{message: root.Get("detail").String()}
	case root.Get("message").Type == gjson.String && !root.Get("choices").Exists() && !root.Get("output").Exists():
		e = root
	default:
		return nil
	}
	r := &refusal{
		code:    e.Get("code").String(),
		kind:    e.Get("type").String(),
		param:   e.Get("param").String(),
		message: e.Get("message").String(),
	}
	if n := e.Get("code").Int(); 400 <= n && n < 600 {
		r.status, r.code = int(n), ""
	} else if root.Get("type").Str == "error" {
		r.status = statusOf[r.kind]
	}
	// A router's own message says only that the provider behind it failed.
	if raw := e.Get("metadata.raw").String(); raw != "" {
		r.message += ": " + raw
	}
	if r.message == "" {
		r.message = cmp.Or(r.kind, e.Raw)
	}
	r.addDetails(e.Get("details").Array())
	return r
}

// addDetails reads Gemini's details, which hold what others say in a header.
func (r *refusal) addDetails(details []gjson.Result) {
	for _, detail := range details {
		if wait, err := time.ParseDuration(detail.Get("retryDelay").String()); err == nil && wait > 0 {
			r.retryAfter = min(wait, maxRetryAfter)
		}
		if r.code == "" {
			r.code = strings.ToLower(detail.Get("reason").String())
		}
	}
}

var title = lazyregexp.New(`(?is)<title[^>]*>(.*?)</title>`)

// words are what is told of a body that is no JSON: a page is its title.
func words(body []byte) string {
	text := bytes.TrimSpace(body)
	if !bytes.HasPrefix(text, []byte("<")) {
		return string(text[:min(len(text), 4*maxMessage)])
	}
	if found := title.FindStringSubmatch(string(text)); found != nil {
		return "a web page instead of JSON: " + html.UnescapeString(found[1])
	}
	return "a web page instead of JSON"
}

// statusOf is the status that belongs to Anthropic's kinds of errors: one in the middle of
// a stream has none.
var statusOf = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
	"timeout_error": 504, "overloaded_error": 529,
}

// What servers say where their status is not enough.
var (
	tooLong = lazyregexp.New(`(?i)context[ _-]?(length|window|size|limit)|too many (input |prompt )?tokens|` +
		`(prompt|input|request|message|conversation|text)s?( is| are)? too (long|large)|input token count|` +
		`tokens must be reduced|reduce the length of|string_above_max_length`)
	// tooLarge is a call that alone is more than what a minute allows: no waiting helps.
	tooLarge    = lazyregexp.New(`(?i)request too large|tokens must be reduced`)
	noSuchModel = lazyregexp.New(`(?i)model_not_found|not a valid model|unexpected endpoint`)
	badKey      = lazyregexp.New(`(?i)invalid_api_key|api_key_invalid|api key not valid|incorrect api key`)
	lowCredit   = lazyregexp.New(`(?i)credit balance is too low`)
	noCredit    = lazyregexp.New(
		`^(insufficient_quota|billing_hard_limit_reached|billing_not_active|access_terminated)$`,
	)
	declined   = lazyregexp.New(`^(content_filter|content_policy_violation|invalid_prompt)$`)
	limited    = lazyregexp.New(`^(rate_limit|overloaded_error)`)
	badGrammar = lazyregexp.New(`(?i)(parse|parsing|initiali[sz]e|initiali[sz]ing|compile|compiling|invalid|empty) ` +
		`(the )?(grammar|samplers?)\b|grammar (is )?(invalid|empty)|json schema conversion failed`)
)

// class says what a refusal means for the next call. Codes and words go before the
// status, because servers agree less on the latter.
func (r *refusal) class() Class {
	said := r.code + " " + r.kind + " " + r.message
	switch r.status {
	case 0, 400, 413, 422, 500:
		if tooLong.MatchString(said) {
			return ClassTooLong
		}
	case 429:
		if tooLarge.MatchString(said) {
			return ClassTooLong
		}
	}
	switch {
	case noCredit.MatchString(r.code), noCredit.MatchString(r.kind), r.status == 400 && lowCredit.MatchString(said):
		return ClassDenied
	case r.status == 429 || r.status == 529 || limited.MatchString(r.code) || limited.MatchString(r.kind):
		return ClassLimited
	case r.status == 413:
		return ClassTooLong
	case r.status == 401, r.status == 402, r.status == 403, r.status < 500 && badKey.MatchString(said):
		return ClassDenied
	case r.status == 404, r.status == 405, r.status < 500 && noSuchModel.MatchString(said):
		return ClassMissing
	case 300 <= r.status && r.status < 400:
		return ClassMissing
	case r.status == 0, r.status == 408, r.status == 409, r.status == 425, r.status >= 500 && r.status != 501:
		return ClassTemporary
	}
	return ClassInvalid
}

// declined reports whether the refusal is a filter's, on what was asked.
func (r *refusal) declined() bool {
	return (r.status == 0 || r.status == 400) && (declined.MatchString(r.code) || declined.MatchString(r.kind))
}

// optional returns the optional field that a refusal is about: the one that the server
// names as its parameter, else in quotes, else as a word of its message. llama.cpp refuses
// a schema with status 500.
func (r *refusal) optional(fields []field) (string, bool) {
	grammar := badGrammar.MatchString(r.message) && (r.status == 400 || r.status == 500)
	if !grammar && (r.class() != ClassInvalid || r.status != 400 && r.status != 422 && r.status != 501) {
		return "", false
	}
	about := func(matches func(name string) bool) (string, bool) {
		for _, f := range fields {
			if slices.ContainsFunc(f.names, matches) {
				return f.name, true
			}
		}
		return "", false
	}
	if grammar {
		return about(func(name string) bool { return name == "grammar" })
	}
	if r.param != "" {
		if name, ok := about(func(name string) bool {
			return r.param == name || strings.HasPrefix(r.param, name+".")
		}); ok {
			return name, true
		}
	}
	for _, around := range []string{"[\"'`]", `\b`} {
		if name, ok := about(func(name string) bool {
			return regexp.MustCompile(`(?i)` + around + regexp.QuoteMeta(name) + around).MatchString(r.message)
		}); ok {
			return name, true
		}
	}
	return "", false
}

// maxRetryAfter bounds what a server may ask for.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads how long a server asks to wait: milliseconds, seconds, or a date,
// which is held against the server's own clock where it says what that shows.
func retryAfter(header http.Header, now time.Time) time.Duration {
	for _, h := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(strings.TrimSpace(header.Get(h.name)), 64); err == nil && n > 0 {
			return time.Duration(min(n*float64(h.unit), float64(maxRetryAfter)))
		}
	}
	at, err := http.ParseTime(header.Get("Retry-After"))
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
