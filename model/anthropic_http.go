package model

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"memoir"
)

var (
	// errRedirect refuses a redirect: it would take the key and the text to another
	// server than the one that was configured.
	errRedirect = errors.New("the server sends calls to another address")
	// errOtherServer is an answer that is neither JSON nor a stream of events.
	errOtherServer = errors.New("the server's answer is no JSON: another kind of server, or another path")
)

// anthropicHTTP is the client for a server: it follows no redirect.
func anthropicHTTP() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect }}
}

// anthropicAnswered looks at a response before the SDK does. It bounds the body.
func anthropicAnswered(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	res, err := next(r)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode < http.StatusBadRequest && kind != "application/json" && kind != "text/event-stream" {
		_ = res.Body.Close()
		return nil, errOtherServer
	}
	res.Body = http.MaxBytesReader(nil, res.Body, maxBody)
	return res, nil
}

// checkAnthropic refuses a key and a base URL with which no request can be made. It
// repeats neither: both may hold a secret.
func checkAnthropic(spec Spec, o Options) error {
	if strings.ContainsFunc(o.Key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return memoir.Errorf(memoir.CodeConfig, "check the provider's keyEnv or keyCommand",
			"the key of provider %s contains spaces or control characters", spec.Provider)
	}
	if o.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return memoir.Errorf(memoir.CodeConfig, "write it as https://host",
			"the baseURL of provider %s is no URL of http or https", spec.Provider)
	}
	return nil
}

// interrupted is the failure of a call that ended because its context did, or its time limit.
func (m *anthropicModel) interrupted(ctx context.Context) *Error {
	e := &Error{Class: ClassTemporary, Model: m.Name(), Message: "the call was given up", Err: ctx.Err()}
	if e.Err == nil {
		// No cause: it would look like a deadline of the caller's.
		e.Message = fmt.Sprintf("no answer within %s", m.timeout)
	}
	return e
}

// unanswered is the failure of a call to which no whole answer came.
func (m *anthropicModel) unanswered(err error) *Error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err // the outer error quotes the URL, which may hold a secret
	}
	e := &Error{Class: ClassTemporary, Model: m.Name(), Message: m.words(err.Error()), Err: err}
	var operation *net.OpError
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errRedirect), errors.Is(err, errOtherServer):
		e.Class = ClassMissing
	case errors.As(err, &name), errors.As(err, &certificate), errors.Is(err, http.ErrSchemeMismatch),
		errors.As(err, &operation) && (operation.Op == "dial" || operation.Op == "proxyconnect"):
		e.Class = ClassUnreachable
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "the connection broke in the middle of the answer"
	}
	return e
}

// words makes of foreign words what may be told: on one line, without the key or
// what shows of it, at most maxMessage bytes. The key goes before the text is cut: half a key is not found.
func (m *anthropicModel) words(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	// Any word will do as a key for a local server; a short one is part of others.
	if len(m.options.Key) >= shownOfKey {
		text = maskKey(text, m.options.Key)
	}
	return short(text)
}
