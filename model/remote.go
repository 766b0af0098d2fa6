package model

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"memoir"
)

const (
	// maxBody bounds, in bytes, what is read of one answer: hundreds of times the
	// longest that a model gives.
	maxBody = 64 << 20
	// idleConnections is how many connections to a server are kept, so that a run's
	// workers need no new handshake for each call.
	idleConnections = 16
	// schemaName is what a form of an answer is called, where an API wants a name.
	schemaName = "answer"
)

// wire is the form of one HTTP API.
type wire interface {
	// path is where calls go, below a base URL.
	path(base string) string
	// authorize puts the key into a header; an empty key adds nothing.
	authorize(h http.Header, key string)
	// body returns the fields of a call.
	body(c call) map[string]any
	// read takes what the model said from the JSON of an answer.
	read(data []byte, r *received) *Error
}

// call is what a wire makes a body of.
type call struct {
	Request
	model string
	o     Options
	// plain leaves out what not every server takes: the form of the answer, which the system
	// prompt then asks for.
	plain bool
}

// maxOutput is the cap on the answer in tokens; usual where nobody set one.
func (c call) maxOutput(usual int) int {
	n := cmp.Or(c.MaxOutput, c.o.MaxOutput, usual)
	if c.MaxOutput == 0 && n > 0 {
		n = max(n, c.Output)
	}
	return n
}

// system is the system prompt, with the schema in words in a plain call.
func (c call) system() string {
	if c.Schema == nil || !c.plain {
		return c.System
	}
	return strings.TrimSpace(c.System +
		"\n\nAnswer with one JSON object and nothing else. It follows this JSON schema:\n" + string(c.Schema))
}

// remote is a model behind an HTTP API.
type remote struct {
	model  string
	o      Options
	api    wire
	client *http.Client
	plain  atomic.Bool // the server answers plain calls alone
}

// newRemote takes key and base URL from the options alone, never from the environment. It
// follows no redirect: the key and the text of a session go only where the user said.
func newRemote(spec Spec, o Options, api wire) *remote {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if transport, ok := http.DefaultTransport.(*http.Transport); ok {
		transport = transport.Clone()
		transport.MaxIdleConnsPerHost = idleConnections
		client.Transport = transport
	}
	return &remote{model: spec.Model, o: o, api: api, client: client}
}

// call asks, and where the server refuses the call's form, asks once more in the plain form.
// Such a refusal costs nothing, so the usage counts one call.
func (m *remote) call(ctx context.Context, q Request) (received, *Error) {
	for plain := m.plain.Load(); ; plain = true {
		r, e := m.send(ctx, m.api.body(call{Request: q, model: m.model, o: m.o, plain: plain}))
		switch {
		case e == nil:
			if plain {
				m.plain.Store(true)
			}
			return r, nil
		case e.Class == classDeclined:
			return received{text: m.o.words(e.Message, false), stop: StopRefusal, usage: new(memoir.Usage)}, nil
		case plain || r.begun || e.Class != ClassInvalid:
			return r, e
		}
	}
}

// send makes one request and reads its whole answer.
func (m *remote) send(ctx context.Context, fields map[string]any) (r received, e *Error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return r, &Error{Class: ClassInvalid, Message: err.Error(), Err: err}
	}
	at := strings.TrimRight(m.o.BaseURL, "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at+m.api.path(at), bytes.NewReader(body))
	if err != nil {
		return r, unsent(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "memoir")
	m.api.authorize(req.Header, m.o.Key)
	res, err := m.client.Do(req)
	if err != nil {
		return r, unsent(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, maxBody))
	var endless *http.MaxBytesError
	switch {
	case res.StatusCode >= http.StatusMultipleChoices:
		return r, readRefusal(res.StatusCode, res.Header, data)
	case errors.As(err, &endless):
		return r, unreadable(err.Error())
	case err != nil:
		return r, &Error{Class: ClassTemporary, Message: "the connection broke: " + err.Error(), Untold: true, Err: err}
	case !json.Valid(data):
		return r, unreadable("no JSON: " + words(data))
	}
	if e := refusalIn(0, data); e != nil {
		return r, e
	}
	e = m.api.read(data, &r)
	return r, e
}

// unreadable is an answer that does not follow the API.
func unreadable(why string) *Error {
	return &Error{Class: ClassTemporary, Message: "the answer cannot be read: " + why}
}

// unsent makes an *Error of a request that got no response.
func unsent(err error) *Error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // the outer error has the URL, which may hold a password
	}
	if unreachable(err) {
		return &Error{Class: ClassUnreachable, Message: err.Error(), Err: err}
	}
	return &Error{Class: ClassTemporary, Message: err.Error(), Untold: true, Err: err}
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
