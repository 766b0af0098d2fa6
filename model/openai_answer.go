package model

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"memoir"
)

// heard is what came of an answer so far.
type heard struct {
	text    string
	asked   bool // the request went to a server
	begun   bool // the model was at work: what it cost is owed
	refused bool
	cut     bool          // by the cap on the output
	ended   bool          // the server said that this is all
	usage   *memoir.Usage // nil: not told
}

// once sends a call and reads the answer. What was heard before an error counts.
func (m *openAI) once(ctx context.Context, a asked) (heard, error) {
	var res *http.Response
	opts := []option.RequestOption{option.WithResponseBodyInto(&res)}
	if a.stream {
		opts = append(opts, option.WithJSONSet("stream", true), option.WithHeader("Accept", "text/event-stream, application/json"))
	}
	err := m.api.post(ctx, a, opts...)
	if res == nil {
		if err == nil {
			err = errors.New("no answer")
		}
		return heard{}, err
	}
	defer func() { _ = res.Body.Close() }()
	// The SDK's own error is passed by: it holds less than the body, and is none
	// where the body is not as it expects.
	if res.StatusCode >= 300 {
		body, _ := io.ReadAll(res.Body)
		return heard{}, readRefusal(res.StatusCode, res.Header, body)
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/event-stream" {
		return m.listen(res)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return heard{begun: true}, err
	}
	if !json.Valid(body) {
		return heard{}, &unreadable{"no JSON: " + words(body)}
	}
	return m.api.whole(body)
}

// listen reads a stream to its end.
func (m *openAI) listen(res *http.Response) (heard, error) {
	var h heard
	events := ssestream.NewDecoder(res)
	for events.Next() {
		data := events.Event().Data
		h.begun = true
		if strings.HasPrefix(string(data), "[DONE]") {
			h.ended = true
			break
		}
		if !json.Valid(data) { // the SDK's types would take what there is
			return h, &unreadable{"an event of the stream is no JSON: " + words(data)}
		}
		if err := m.api.event(data, &h); err != nil {
			return h, err
		}
	}
	if err := events.Err(); err != nil && !h.ended {
		return h, err
	}
	if !h.ended {
		return h, &unreadable{"the answer broke off"}
	}
	return h, nil
}

// unreadable is an answer that is none.
type unreadable struct{ why string }

// Error says why it is none.
func (u *unreadable) Error() string { return u.why }

// answer makes an answer of what was heard.
func (m *openAI) answer(q Request, h heard) Answer {
	a := Answer{Text: h.text, Stop: StopEnd, Usage: m.usage(q, h), Estimated: h.usage == nil}
	switch {
	case h.refused:
		a.Stop = StopRefusal
	case h.cut:
		a.Stop = StopLength
	case strings.TrimSpace(h.text) == "":
		a.Stop = StopEmpty
	}
	return a
}

// usage is what the server told, else what the texts come to.
func (m *openAI) usage(q Request, h heard) memoir.Usage {
	var u memoir.Usage
	if h.usage != nil {
		u = *h.usage
	} else {
		in := memoir.Tokens(q.System) + memoir.Tokens(q.Input)
		for _, e := range q.Earlier {
			in += memoir.Tokens(e.Answer) + memoir.Tokens(e.Objection)
		}
		u.InputTokens, u.OutputTokens = int64(in), int64(memoir.Tokens(h.text))
	}
	u.Calls = 1
	u.Cost = m.o.Price.Cost(u)
	return u
}
