package model

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"unicode"

	"memoir"
)

const (
	// maxBody bounds, in bytes, what is read of one answer: hundreds of times the
	// longest that a model gives.
	maxBody = 64 << 20
	// maxRedirects is how often a server may redirect a call to itself.
	maxRedirects = 3
	// idleConnections is how many connections to a server are kept, so that a run's
	// workers need no new handshake for each call.
	idleConnections = 16
)

// errTooMuch is an answer beyond maxBody.
var errTooMuch = errors.New("the answer does not end")

// newHTTPClient returns a client that follows no redirect to another server: the key and
// the text of a session go only where the user said.
func newHTTPClient() *http.Client {
	client := &http.Client{CheckRedirect: sameServer}
	if transport, ok := http.DefaultTransport.(*http.Transport); ok {
		transport = transport.Clone()
		transport.MaxIdleConnsPerHost = idleConnections
		client.Transport = transport
	}
	return client
}

// sameServer follows a redirect within a server that repeats the whole request, and
// returns any other as the answer.
func sameServer(r *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > maxRedirects || r.Method != first.Method || r.URL.Scheme != first.URL.Scheme ||
		r.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// traced sets sent once a connection to the server exists: from then on the server may
// have the request.
func traced(ctx context.Context, sent *atomic.Bool) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) },
	})
}

// boundedBody fails with errTooMuch once more than left bytes were read.
type boundedBody struct {
	io.Reader
	left int64
}

// Read reads from the body.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooMuch
	}
	return n, err
}

// events yields the data of each server-sent event. Comments and other fields are skipped.
func events(stream io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		reader := bufio.NewReader(stream)
		var data []byte
		for {
			line, err := reader.ReadBytes('\n')
			line = bytes.TrimRight(line, "\r\n")
			if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				if len(data) > 0 {
					data = append(data, '\n')
				}
				data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
			}
			if (len(line) == 0 || err == io.EOF) && len(data) > 0 {
				if !yield(data, nil) {
					return
				}
				data = nil
			}
			if err != nil {
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
		}
	}
}

// checkKey fails with memoir.CodeConfig if a key cannot be sent in a header. The error
// does not repeat the key.
func checkKey(spec Spec, key string) error {
	if strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return memoir.Errorf(memoir.CodeConfig, "check the provider's keyEnv or keyCommand",
			"the key of provider %s contains spaces or control characters", spec.Provider)
	}
	return nil
}

// checkBaseURL fails with memoir.CodeConfig unless text is an HTTP URL. The error does
// not repeat it, since it may hold a password.
func checkBaseURL(spec Spec, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || strings.ContainsAny(text, " \t\n") {
		return memoir.Errorf(memoir.CodeConfig, "write it as https://host/v1",
			"the baseURL of provider %s is not an http or https URL", spec.Provider)
	}
	return nil
}

// failed makes an *Error of what went wrong. sent says whether a server may have the request.
func (m *remote) failed(ctx, limited context.Context, q Request, r *received, err error, sent bool) error {
	e := &Error{Model: m.Name(), Class: ClassTemporary, Err: err}
	switch {
	case r.begun:
		e.Usage, e.Estimated = m.usage(q, r), r.usage == nil
	case sent:
		e.Usage = memoir.Usage{Calls: 1}
	}
	var said *refusal
	var bad *unreadable
	var unsent *url.Error
	switch {
	case ctx.Err() != nil:
		e.Err, e.Message, e.Untold = ctx.Err(), "the call was interrupted", sent && !r.begun
	case limited.Err() != nil:
		e.timedOut(m.o.Timeout)
		e.Untold = sent && !r.begun
	case errors.As(err, &said):
		e.Class, e.Status, e.RetryAfter, e.Message = said.class(), said.status, said.retryAfter, said.message
		e.blame(said.param, said.message)
		e.Err = nil
	case errors.As(err, &bad), errors.Is(err, errTooMuch):
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
