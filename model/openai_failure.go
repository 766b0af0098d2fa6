package model

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"strings"
)

// failed makes an *Error of what went wrong.
func (m *openAI) failed(ctx, within context.Context, q Request, h heard, err error) error {
	e := &Error{Model: m.Name(), Class: ClassTemporary, Err: err}
	if h.begun {
		e.Usage, e.Estimated = m.usage(q, h), h.usage == nil
	}
	var r *refusal
	var u *unreadable
	var unsent *url.Error
	switch {
	case ctx.Err() != nil:
		e.Err, e.Message, e.Untold = ctx.Err(), "the call was given up", h.asked && !h.begun
	case within.Err() != nil:
		e.timedOut(m.o.Timeout)
		e.Untold = h.asked && !h.begun
	case errors.As(err, &r):
		e.Class, e.Status, e.RetryAfter, e.Message = r.class(), r.status, r.retryAfter, r.message
		e.detail(r.param, r.message, r.length)
		e.Err = nil
	case errors.As(err, &u), errors.Is(err, errTooMuch):
		e.Message = "the answer cannot be read: " + err.Error()
	case errors.As(err, &unsent):
		// The outer error has the URL, which may hold a password.
		e.Err = unsent.Err
		e.Message = unsent.Err.Error()
		if unreachable(unsent.Err) {
			e.Class = ClassUnreachable
		}
	default:
		e.Message = "the connection broke: " + err.Error()
	}
	e.Message = m.o.plain(e.Message)
	return e
}

// unreachable reports whether a call failed before a server of the API had seen it:
// no name, no connection, or somebody else behind it.
func unreachable(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &dns) || errors.As(err, &certificate) || errors.As(err, &record) ||
		errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") ||
		strings.Contains(err.Error(), "HTTP response to HTTPS client")
}
