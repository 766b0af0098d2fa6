package model

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"memoir"
)

const (
	// maxBody bounds, in bytes, the body of one answer: several times the longest answer of a model. A run reads as many
	// bodies at a time as it makes calls.
	maxBody = 2 << 20
	// idleConnections is the number of idle connections per server, so that a run's workers
	// don't need a new handshake for each call.
	idleConnections = 16
	// schemaName is the name of a schema for APIs that require one.
	schemaName = "answer"
)

type wire interface {
	// path returns the path of calls below a base URL.
	path(base string) string
	// authorize puts the key into a header; an empty key adds nothing.
	authorize(h http.Header, key string)
	// body returns the fields of a call.
	body(c call) map[string]any
	// read returns the answer in a JSON body.
	read(data []byte, r *received) *Error
}

// call is the data of a request body.
type call struct {
	Request
	model string
	o     Options
	// plain leaves out the schema, which not every server accepts; the system prompt then has it in words.
	plain bool
}

// maxOutput returns the cap on the answer in tokens; usual is the default.
func (c call) maxOutput(usual int) int {
	n := cmp.Or(c.MaxOutput, c.o.MaxOutput, usual)
	if c.MaxOutput == 0 && n > 0 {
		n = max(n, c.Output)
	}
	return n
}

// system returns the system prompt, with the schema in words in a plain call.
func (c call) system() string {
	if c.Schema == nil || !c.plain {
		return c.System
	}
	return strings.TrimSpace(c.System +
		"\n\nAnswer with one JSON object and nothing else. It follows this JSON schema:\n" + string(c.Schema))
}

type remote struct {
	model  string
	o      Options
	api    wire
	client *http.Client
	plain  atomic.Bool // the server accepts only plain calls
}

// newRemote reads key and base URL from the options only, never from the environment. It does not
// follow redirects: the key and the text of a session go only to the configured server.
func newRemote(spec Spec, o Options, api wire) *remote {
	transport := http.DefaultTransport.(*http.Transport).Clone() // it always is one
	transport.MaxIdleConnsPerHost = idleConnections
	client := &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &remote{model: spec.Model, o: o, api: api, client: client}
}

// call makes a request and, if the server rejects its form, a second one in the plain form. The
// usage counts one call, since a rejected request is free.
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
		return r, &Error{Class: ClassTemporary, Message: "the connection broke: " + err.Error(), Unreported: true, Err: err}
	case !json.Valid(data):
		return r, unreadable("no JSON: " + words(data))
	}
	if e := refusalIn(0, data); e != nil {
		return r, e
	}
	e = m.api.read(data, &r)
	return r, e
}

func unreadable(why string) *Error {
	return &Error{Class: ClassTemporary, Message: "the answer cannot be read: " + why}
}

// unsent returns the *Error of a request without a response.
func unsent(err error) *Error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // the outer error has the URL, which may hold a password
	}
	if unreachable(err) {
		return &Error{Class: ClassUnreachable, Message: err.Error(), Err: err}
	}
	return &Error{Class: ClassTemporary, Message: err.Error(), Unreported: true, Err: err}
}

// unreachable reports whether a call failed before it reached a server of the API: an unknown
// name, no connection, or another kind of server.
func unreachable(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &dns) || errors.As(err, &certificate) || errors.As(err, &record) ||
		errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") ||
		strings.Contains(err.Error(), "HTTP response to HTTPS client")
}

// RetryPolicy is the number of attempts of a call and the waits between them.
type RetryPolicy struct {
	Attempts int           // calls at most, the first included; below 1 is 1
	Base     time.Duration // the longest wait before the second call; doubled for each further one
	MaxWait  time.Duration // the longest wait before any call
	// Sleep waits, or returns the context's error as soon as it is done; nil: the function Sleep.
	Sleep func(ctx context.Context, d time.Duration) error
	// Random returns a number in [0, 1); nil: rand.Float64. Both functions must be safe for concurrent use.
	Random func() float64
}

var _ Model = (*retrying)(nil)

type retrying struct {
	Model
	policy RetryPolicy
}

// Retrying returns a model that repeats the calls of m that fail with an Error for which Again is true. It waits for
// the time that the server asks for, plus a random time below a bound that doubles with each call, so that callers do
// not retry together. If the server asks for more than MaxWait, the call fails without a wait.
//
// The usage of the answer, or of the error, is the sum over all calls, including failed
// ones. The end of the context ends a wait at once.
func Retrying(m Model, p RetryPolicy) Model {
	if p.Sleep == nil {
		p.Sleep = Sleep
	}
	if p.Random == nil {
		p.Random = rand.Float64
	}
	return &retrying{Model: m, policy: p}
}

// Call makes calls until one succeeds, a retry is useless or the attempts are used up.
func (r *retrying) Call(ctx context.Context, q Request) (Answer, error) {
	var used memoir.Usage
	for attempt := 1; ; attempt++ {
		answer, err := r.Model.Call(ctx, q)
		if err == nil {
			answer.Usage = used.Add(answer.Usage)
			return answer, nil
		}
		failed, ok := errors.AsType[*Error](err)
		if !ok {
			return Answer{}, err
		}
		used = used.Add(failed.Usage)
		sum := *failed // the model's own error may be shared
		sum.Usage = used
		if !failed.Again() || attempt >= r.policy.Attempts || ctx.Err() != nil {
			return Answer{}, &sum
		}
		if failed.RetryAfter > r.policy.MaxWait {
			sum.Message = fmt.Sprintf("the server asks to wait for %s, longer than %s: %s",
				failed.RetryAfter, r.policy.MaxWait, failed.Message)
			return Answer{}, &sum
		}
		if err := r.policy.Sleep(ctx, r.policy.wait(attempt, failed.RetryAfter)); err != nil {
			sum.Err = errors.Join(err, failed.Err)
			return Answer{}, &sum
		}
	}
}

// wait returns the wait after a failed attempt, numbered from 1. It is at least the server's RetryAfter.
func (p RetryPolicy) wait(attempt int, asked time.Duration) time.Duration {
	bound := min(p.Base<<min(attempt-1, 16), p.MaxWait)
	jitter := time.Duration(p.Random() * float64(bound))
	return asked + min(jitter, p.MaxWait-asked)
}

// Sleep waits for d, or returns the context's error as soon as it is done.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
