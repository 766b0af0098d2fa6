package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
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
	// whole adds an answer that came in one piece, event one event of a stream.
	whole(data []byte, r *received) error
	event(data []byte, r *received) error
}

// call is what a wire makes a body of.
type call struct {
	Request
	model string
	o     Options
	// plain leaves out what not every server takes: the form of the answer, which the system
	// prompt then asks for, and the stream.
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
	text    strings.Builder
	object  strings.Builder // input of the tool that stands for the answer
	tool    string          // index of that tool's block in a stream
	begun   bool            // the model was at work, so the call has a cost
	ended   bool            // the server marked the end
	cut     bool            // the cap on the output was reached
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

// send makes one request and reads its answer. What arrived before an error is returned too.
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
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "memoir")
	m.api.authorize(req.Header, m.o.Key)
	res, err := m.client.Do(req)
	if err != nil {
		return r, err
	}
	defer func() { _ = res.Body.Close() }()
	stream := http.MaxBytesReader(nil, res.Body, maxBody)
	if res.StatusCode >= http.StatusMultipleChoices {
		data, _ := io.ReadAll(stream)
		return r, readRefusal(res.StatusCode, res.Header, data)
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/event-stream" {
		return r, m.listen(stream, r)
	}
	data, err := io.ReadAll(stream)
	if err != nil {
		r.begun = true
		return r, err
	}
	if !json.Valid(data) {
		return r, fmt.Errorf("%w: no JSON: %s", errUnreadable, words(data))
	}
	return r, m.api.whole(data, r)
}

// listen reads a stream of events to its end.
func (m *remote) listen(stream io.Reader, r *received) error {
	for data, err := range events(stream) {
		if err != nil {
			if r.ended {
				return nil
			}
			return err
		}
		r.begun = true
		if strings.HasPrefix(string(data), "[DONE]") {
			r.ended = true
			return nil
		}
		if !json.Valid(data) {
			return fmt.Errorf("%w: an event of the stream is not JSON: %s", errUnreadable, words(data))
		}
		if said := refusalIn(data); said != nil {
			return said
		}
		if err := m.api.event(data, r); err != nil {
			return err
		}
	}
	if !r.ended {
		return fmt.Errorf("%w: the answer broke off", errUnreadable)
	}
	return nil
}

// errUnreadable is an answer that does not follow the API.
var errUnreadable = errors.New("the answer cannot be read")

// answer makes an Answer of what arrived.
func (m *remote) answer(q Request, r *received) Answer {
	a := Answer{Text: withoutThoughts(r.text.String()), Stop: StopEnd, Usage: m.usage(q, r), Estimated: r.usage == nil}
	if object := r.object.String(); json.Valid([]byte(object)) && !r.refused {
		a.Text = object
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
	u := memoir.Usage{InputTokens: int64(q.tokens()), OutputTokens: int64(memoir.Tokens(r.text.String()))}
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
