package model

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

const (
	// maxBody bounds, in bytes, what is read of one answer: hundreds of times the
	// longest that a model gives.
	maxBody = 64 << 20
	// idleConnections is how many connections to a server are kept, so that a run's
	// workers need no new handshake for each call.
	idleConnections = 16
)

// newHTTPClient returns a client that follows no redirect: the key and the text of a
// session go only where the user said.
func newHTTPClient() *http.Client {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if transport, ok := http.DefaultTransport.(*http.Transport); ok {
		transport = transport.Clone()
		transport.MaxIdleConnsPerHost = idleConnections
		client.Transport = transport
	}
	return client
}

// failed makes an *Error of what went wrong.
func (m *remote) failed(ctx, limited context.Context, q Request, r *received, err error) error {
	e := &Error{Model: m.Name(), Class: ClassTemporary, Err: err}
	if r.begun {
		e.Usage, e.Estimated = m.usage(q, r), r.usage == nil
	}
	var said *refusal
	var endless *http.MaxBytesError
	var unsent *url.Error
	switch {
	case ctx.Err() != nil:
		e.Err, e.Message, e.Untold = ctx.Err(), "the call was interrupted", true
	case limited.Err() != nil:
		e.timedOut(m.o.Timeout)
		e.Untold = true
	case errors.As(err, &said):
		e.Class, e.Status, e.RetryAfter, e.Message = said.class(), said.status, said.retryAfter, said.message
		e.Err = nil
	case errors.Is(err, errUnreadable), errors.As(err, &endless):
		// The outer error has the server's own words, which may hold the key.
		e.Message, e.Err = err.Error(), nil
	case errors.As(err, &unsent):
		// The outer error has the URL, which may hold a password.
		e.Err = unsent.Err
		e.Message = unsent.Err.Error()
		if e.Untold = !unreachable(unsent.Err); !e.Untold {
			e.Class = ClassUnreachable
		}
	default:
		e.Message, e.Untold = "the connection broke: "+err.Error(), true
	}
	e.Message = m.o.words(e.Message)
	if !r.begun && e.Class != ClassUnreachable {
		e.Usage.Calls = 1
	}
	return e
}

// unreachable reports whether a call failed before a server of the API saw it: no name,
// no connection, or another kind of server.
func unreachable(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &dns) || errors.As(err, &certificate) || errors.As(err, &record) ||
		errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") ||
		strings.Contains(err.Error(), "HTTP response to HTTPS client")
}
