package model

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"memoir/internal/lazyregexp"
)

// refusal is what a server said instead of an answer, in whichever of the forms
// that servers write it.
type refusal struct {
	status     int           // of HTTP, or the number that the body gives; 0: neither says one
	code       string        // such as context_length_exceeded
	kind       string        // such as invalid_request_error
	message    string        // foreign text, of any length
	retryAfter time.Duration // 0: not said
}

// Error is for errors.As: what is shown is an *Error.
func (r *refusal) Error() string {
	return fmt.Sprintf("refused with status %d", r.status)
}

// readRefusal reads an error response.
func readRefusal(status int, header http.Header, body []byte) *refusal {
	r := refusalIn(body)
	if r == nil {
		r = &refusal{message: words(body)}
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
		return &refusal{message: e.Str}
	case root.Get("object").Str == "error" || root.Get("type").Str == "error":
		e = root
	case root.Get("detail").Exists():
		return &refusal{message: root.Get("detail").String()}
	case root.Get("message").Type == gjson.String && !root.Get("choices").Exists():
		e = root
	default:
		return nil
	}
	r := &refusal{code: e.Get("code").String(), kind: e.Get("type").String(), message: e.Get("message").String()}
	if n := e.Get("code").Int(); 400 <= n && n < 600 {
		r.status, r.code = int(n), ""
	}
	// A router's own message says only that the provider behind it failed.
	if raw := e.Get("metadata.raw").String(); raw != "" {
		r.message += ": " + raw
	}
	if r.message == "" {
		r.message = cmp.Or(r.kind, e.Raw)
	}
	for _, detail := range e.Get("details").Array() { // Gemini's, for what others say in a header
		if wait, err := time.ParseDuration(detail.Get("retryDelay").String()); err == nil && wait > 0 {
			r.retryAfter = min(wait, maxRetryAfter)
		}
	}
	return r
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

var (
	// tooLarge is a call that alone is more than what a minute allows: no waiting helps.
	tooLarge = lazyregexp.New(`(?i)request too large|tokens must be reduced`)
	declined = lazyregexp.New(`^(content_filter|content_policy_violation|invalid_prompt)$`)
)

// class says what a refusal means for the next call. The status goes before the words
// where servers agree on it.
func (r *refusal) class() Class {
	said := strings.Join([]string{r.code, r.kind, r.message}, " ")
	switch {
	case noCredit.MatchString(said):
		return ClassDenied
	case r.status == 413, r.status == 429 && tooLarge.MatchString(said):
		return ClassTooLong
	case r.status == 429, r.status == 529, r.kind == "overloaded_error":
		return ClassLimited
	case r.status == 401, r.status == 402, r.status == 403:
		return ClassDenied
	case r.status == 404, r.status == 405, 300 <= r.status && r.status < 400:
		return ClassMissing
	case r.status == 500 && tooLong.MatchString(said):
		return ClassTooLong
	case r.status == 408, r.status == 409, r.status == 425, r.status >= 500 && r.status != 501:
		return ClassTemporary
	}
	if class, ok := classOfWords(said); ok {
		return class
	}
	if r.status == 0 {
		return ClassTemporary
	}
	return ClassInvalid
}

// declined reports whether the refusal is a filter's, on what was asked.
func (r *refusal) declined() bool {
	return (r.status == 0 || r.status == 400) && (declined.MatchString(r.code) || declined.MatchString(r.kind))
}

// maxRetryAfter bounds what a server may ask for.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads how long a server asks to wait: milliseconds, seconds, or a date.
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
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
