package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"memoir"
)

// callTimeout is the time limit of a call where none is configured.
const callTimeout = 10 * time.Minute

// wire is the form of one HTTP API.
type wire interface {
	// url is where calls go.
	url(base string) string
	// authorize puts the key into a header; an empty key adds nothing.
	authorize(h http.Header, key string)
	// body returns the fields of a call.
	body(c call) map[string]any
	// read takes what the model said from the JSON of an answer.
	read(data []byte, r *received) error
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

// received is what has arrived of an answer.
type received struct {
	text    string
	object  string // input of the tool that stands for the answer
	begun   bool   // the model was at work, so the call has a cost
	cut     bool   // the cap on the output was reached
	refused bool
	usage   *memoir.Usage // nil: not reported
}

// remote is a model behind an HTTP API.
type remote struct {
	spec   Spec
	o      Options
	api    wire
	client *http.Client
	plain  atomic.Bool // the server answers plain calls alone
}

var _ Model = (*remote)(nil)

// newRemote takes key and base URL from the options alone, never from the environment.
func newRemote(spec Spec, o Options, api wire) *remote {
	o.Key = strings.TrimSpace(o.Key)
	o.Timeout = cmp.Or(o.Timeout, callTimeout)
	return &remote{spec: spec, o: o, api: api, client: newHTTPClient()}
}

// Name is provider/model.
func (m *remote) Name() string { return m.spec.String() }

// Window is in tokens, as configured; 0: unknown.
func (m *remote) Window() int { return m.o.Window }

// Call asks, and where the server refuses the call's form, asks once more in the plain form.
// Such a refusal costs nothing, so the usage counts one call.
func (m *remote) Call(ctx context.Context, q Request) (Answer, error) {
	if q.Schema != nil && !json.Valid(q.Schema) {
		return Answer{}, &Error{Class: ClassInvalid, Model: m.Name(), Message: "the schema of the answer is not JSON"}
	}
	if err := ctx.Err(); err != nil {
		return Answer{}, &Error{Class: ClassTemporary, Model: m.Name(), Message: "the call was interrupted", Err: err}
	}
	limited, cancel := context.WithTimeout(ctx, m.o.Timeout)
	defer cancel()
	for plain := m.plain.Load(); ; plain = true {
		r, err := m.send(limited, m.api.body(call{Request: q, model: m.spec.Model, o: m.o, plain: plain}))
		if err == nil {
			if plain {
				m.plain.Store(true)
			}
			return m.answer(q, r), nil
		}
		var said *refusal
		if errors.As(err, &said) {
			if said.declined() {
				return Answer{Text: m.o.words(said.message), Stop: StopRefusal, Usage: memoir.Usage{Calls: 1}}, nil
			}
			if !plain && !r.begun && said.class() == ClassInvalid {
				continue
			}
		}
		return Answer{}, m.failed(ctx, limited, q, r, err)
	}
}

// send makes one request and reads its whole answer. What the server reported before an error is returned too.
func (m *remote) send(ctx context.Context, fields map[string]any) (*received, error) {
	r := &received{}
	body, err := json.Marshal(fields)
	if err != nil {
		return r, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.api.url(m.o.BaseURL), bytes.NewReader(body))
	if err != nil {
		return r, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "memoir")
	m.api.authorize(req.Header, m.o.Key)
	res, err := m.client.Do(req)
	if err != nil {
		return r, err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, maxBody))
	if res.StatusCode >= http.StatusMultipleChoices {
		return r, readRefusal(res.StatusCode, res.Header, data)
	}
	if err != nil {
		return r, err
	}
	if !json.Valid(data) {
		return r, fmt.Errorf("%w: no JSON: %s", errUnreadable, words(data))
	}
	if said := refusalIn(data); said != nil {
		return r, said
	}
	return r, m.api.read(data, r)
}

// errUnreadable is an answer that does not follow the API.
var errUnreadable = errors.New("the answer cannot be read")

// answer makes an Answer of what arrived.
func (m *remote) answer(q Request, r *received) Answer {
	a := Answer{Text: withoutThoughts(r.text), Stop: StopEnd, Usage: m.usage(q, r), Estimated: r.usage == nil}
	if r.object != "" && !r.refused {
		a.Text = r.object
	}
	switch {
	case r.refused:
		a.Stop = StopRefusal
	case r.cut:
		a.Stop = StopLength
	case strings.TrimSpace(a.Text) == "":
		a.Stop = StopEmpty
	}
	return a
}

// usage is what the server reported, else an estimate from the texts.
func (m *remote) usage(q Request, r *received) memoir.Usage {
	u := memoir.Usage{InputTokens: int64(q.tokens()), OutputTokens: int64(memoir.Tokens(r.text))}
	if r.usage != nil {
		u = *r.usage
	}
	u.Calls = 1
	u.Cost = m.o.Price.Cost(u)
	return u
}

// withoutThoughts removes the reasoning that some local servers leave in front of an answer.
func withoutThoughts(text string) string {
	if rest, ok := strings.CutPrefix(strings.TrimSpace(text), "<think>"); ok {
		if _, answer, ok := strings.Cut(rest, "</think>"); ok {
			return strings.TrimSpace(answer)
		}
	}
	return text
}
