package model

import (
	"bytes"
	"cmp"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"memoir/internal/lazyregexp"
)

func readRefusal(status int, header http.Header, body []byte) *Error {
	e := refusalIn(status, body)
	if e == nil {
		message := words(body)
		e = &Error{Class: classOf(status, "", "", message), Status: status, Message: message}
	}
	if wait := retryAfter(header, time.Now()); wait > 0 {
		e.RetryAfter = wait
	}
	if 300 <= status && status < 400 {
		e.Message = "it redirects to another address"
		if to, err := url.Parse(header.Get("Location")); err == nil && to.Host != "" {
			e.Message += ", at " + to.Host
		}
	}
	return e
}

// refusalIn returns the error in a body of JSON, nil if it has none. An error is an
// object or a text below "error" (OpenAI, Ollama), in a list (Gemini), the body
// itself (vLLM), or "detail" (FastAPI). The status is that of HTTP, 0 for an answer.
func refusalIn(status int, body []byte) *Error {
	if !gjson.ValidBytes(body) {
		return nil
	}
	root := gjson.ParseBytes(body)
	if root.IsArray() {
		root = root.Get("0")
	}
	found, isText := root.Get("error"), root.Get("message").Type == gjson.String
	switch {
	case found.IsObject():
	case found.Type == gjson.String && found.Str != "":
	case root.Get("detail").Exists():
		found = root.Get("detail")
	case root.IsObject() && (root.Get("type").Str == "error" || isText && !root.Get("choices").Exists()):
		found = root
	default:
		return nil
	}
	code, kind, message := found.Get("code").String(), found.Get("type").String(), found.Get("message").String()
	if n := found.Get("code").Int(); 400 <= n && n < 600 {
		status, code = cmp.Or(status, int(n)), ""
	}
	// A router's own message says only that the provider behind it failed.
	if raw := found.Get("metadata.raw").String(); raw != "" {
		message += ": " + raw
	}
	message = cmp.Or(message, kind, found.String())
	e := &Error{Class: classOf(status, code, kind, message), Status: status, Message: message}
	for _, detail := range found.Get("details").Array() { // Gemini's, for what others say in a header
		if wait, err := time.ParseDuration(detail.Get("retryDelay").String()); err == nil && wait > 0 {
			e.RetryAfter = min(wait, maxRetryAfter)
		}
	}
	return e
}

var title = lazyregexp.New(`(?is)<title[^>]*>(.*?)</title>`)

// words returns the message of a body that is not JSON: the title of a page.
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
	// tooLarge is a call that alone exceeds the limit per minute: waiting does not help.
	tooLarge = lazyregexp.New(`(?i)request too large|tokens must be reduced`)
	declined = lazyregexp.New(`^(content_filter|content_policy_violation|invalid_prompt)$`)
)

// classOf returns the class of a refusal. A code is for example context_length_exceeded, a kind
// invalid_request_error. A status on which servers agree counts more than words.
func classOf(status int, code, kind, message string) Class {
	words := strings.Join([]string{code, kind, message}, " ")
	switch {
	case (status == 0 || status == 400) && (declined.MatchString(code) || declined.MatchString(kind)):
		return classDeclined
	case noCredit.MatchString(words):
		return ClassDenied
	case status == 413, status == 429 && tooLarge.MatchString(words):
		return ClassTooLong
	case status == 429, status == 529, kind == "overloaded_error":
		return ClassLimited
	case status == 401, status == 402, status == 403:
		return ClassDenied
	case status == 404, status == 405, 300 <= status && status < 400:
		return ClassMissing
	case status == 500 && tooLong.MatchString(words):
		return ClassTooLong
	case status == 408, status == 409, status == 425, status >= 500 && status != 501:
		return ClassTemporary
	}
	class, ok := classOfWords(words)
	switch {
	case ok:
		return class
	case status == 0:
		return ClassTemporary
	}
	return ClassInvalid
}

// maxRetryAfter bounds the wait that a server may ask for.
const maxRetryAfter = 24 * time.Hour

// retryAfter returns the wait that a server asks for, in milliseconds, in seconds, or until a date.
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
