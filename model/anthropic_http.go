package model

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
)

var (
	// errRedirect is a redirect that is not followed.
	errRedirect = errors.New("the server sends calls to another address")
	// errOtherServer is an answer that is neither JSON nor a stream of events.
	errOtherServer = errors.New("the server's answer is no JSON: another kind of server, or another path")
)

// anthropicAnswered looks at a response before the SDK does, which would take any for an
// answer.
func anthropicAnswered(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	res, err := next(r)
	if err != nil {
		return nil, err
	}
	if 300 <= res.StatusCode && res.StatusCode < 400 {
		_ = res.Body.Close()
		return nil, errRedirect
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode < http.StatusBadRequest && kind != "application/json" && kind != "text/event-stream" {
		_ = res.Body.Close()
		return nil, errOtherServer
	}
	return res, nil
}

// interrupted is the failure of a call that ended because its context did, or its time limit.
func (m *anthropicModel) interrupted(ctx context.Context) *Error {
	e := &Error{Class: ClassTemporary, Model: m.Name(), Message: "the call was given up", Err: ctx.Err()}
	if e.Err == nil {
		e.timedOut(m.timeout)
	}
	return e
}

// unanswered is the failure of a call to which no whole answer came.
func (m *anthropicModel) unanswered(err error) *Error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err // the outer error quotes the URL, which may hold a secret
	}
	e := &Error{Class: ClassTemporary, Model: m.Name(), Message: m.options.plain(err.Error()), Err: err}
	switch {
	case errors.Is(err, errRedirect), errors.Is(err, errOtherServer):
		e.Class = ClassMissing
	case unreachable(err):
		e.Class = ClassUnreachable
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "the connection broke in the middle of the answer"
	}
	return e
}
