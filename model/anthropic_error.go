package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
)

// anthropicOverloaded is the status with which this API says that all of it is busy.
const anthropicOverloaded = 529

// anthropicStatus is the status that belongs to a type of error: one that comes in the
// middle of a stream has none.
var anthropicStatus = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"billing_error":         http.StatusPaymentRequired,
	"permission_error":      http.StatusForbidden,
	"not_found_error":       http.StatusNotFound,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"timeout_error":         http.StatusGatewayTimeout,
	"api_error":             http.StatusInternalServerError,
	"overloaded_error":      anthropicOverloaded,
}

// failure puts an error of the SDK in our words. The SDK's own is not kept: it
// holds the request, and with it the key.
func (m *anthropicModel) failure(err error) *Error {
	var told *anthropic.Error
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &told):
		return m.refused(told)
	case errors.As(err, &syntax), strings.Contains(err.Error(), "error parsing response json"):
		return &Error{Class: ClassTemporary, Model: m.Name(), Message: "the server's answer is no JSON"}
	}
	return m.unanswered(err)
}

// refused is the failure of a call that the server answered with an error.
func (m *anthropicModel) refused(told *anthropic.Error) *Error {
	var body struct {
		Error struct{ Type, Message string }
	}
	text := told.RawJSON()
	if json.Unmarshal([]byte(text), &body) == nil {
		text = cmp.Or(body.Error.Message, body.Error.Type, text)
	}
	e := &Error{Model: m.Name(), Status: told.StatusCode, Message: m.options.plain(text)}
	if told.StatusCode < http.StatusBadRequest {
		e.Status = anthropicStatus[body.Error.Type]
	}
	if told.Response != nil {
		e.RetryAfter = retryAfter(told.Response.Header, time.Now())
	}
	e.Class = anthropicClass(e.Status, body.Error.Type, strings.ToLower(text))
	e.detail("", text, length{})
	return e
}

// anthropicClass classifies an error by its status, its type and its words in lower case.
// Where the words decide, they are those of the API: it answers 400 both to a prompt
// beyond the window and to an account without credit.
func anthropicClass(status int, kind, words string) Class {
	switch {
	case kind == "overloaded_error", kind == "rate_limit_error", status == http.StatusTooManyRequests, status == anthropicOverloaded:
		return ClassLimited
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired,
		strings.Contains(words, "credit balance is too low"):
		return ClassDenied
	case status == http.StatusNotFound:
		return ClassMissing
	case status == http.StatusRequestEntityTooLarge, anthropicTooLong(words):
		return ClassTooLong
	case status == 0, status >= http.StatusInternalServerError, status == http.StatusRequestTimeout, status == http.StatusConflict:
		return ClassTemporary
	}
	return ClassInvalid
}

// anthropicTooLong reports whether an error, in lower case, says that the prompt, with the cap on
// the output, is beyond the model's window.
func anthropicTooLong(words string) bool {
	for _, said := range []string{"prompt is too long", "context limit", "context length", "context window", "context_length"} {
		if strings.Contains(words, said) {
			return true
		}
	}
	return false
}
