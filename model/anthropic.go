package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"memoir"
)

const (
	// anthropicTimeout is the limit of a call where none is set.
	anthropicTimeout = 10 * time.Minute
	// anthropicOutput is the cap on an answer where none is set: this API demands one.
	anthropicOutput = 8192
	// anthropicStreamed is the cap from which an answer is streamed. One that is not may
	// take too long for what stands between us and the server: the API's limit is ten
	// minutes, or 21,333 tokens.
	anthropicStreamed = 16000
)

var _ Model = (*anthropicModel)(nil)

// anthropicModel speaks Anthropic's Messages API.
type anthropicModel struct {
	spec    Spec
	options Options
	timeout time.Duration
	client  anthropic.MessageService
	// unforced is set once the server has refused to be told which tool to call, as
	// it does for models that always think. From then on the model is only offered it.
	unforced atomic.Bool
	limits   limits
}

// openAnthropic returns a model that takes key and base URL from the options alone:
// neither the environment nor a profile of this machine is looked at.
func openAnthropic(spec Spec, o Options) (Model, error) {
	o.Key = strings.TrimSpace(o.Key)
	if err := checkKey(spec, o.Key); err != nil {
		return nil, err
	}
	timeout := cmp.Or(o.Timeout, anthropicTimeout)
	settings := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(), // else the environment decides
		option.WithHTTPClient(newHTTPClient()),
		option.WithMiddleware(anthropicAnswered, untold),
		option.WithMaxRetries(0),
		option.WithRequestTimeout(timeout),
	}
	if o.BaseURL != "" {
		if err := checkBaseURL(spec, o.BaseURL); err != nil {
			return nil, err
		}
		// The SDK adds the version, which others write as part of the base URL.
		base := strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")
		settings = append(settings, option.WithBaseURL(base))
	}
	if o.Key != "" {
		settings = append(settings, option.WithAPIKey(o.Key))
	}
	return &anthropicModel{
		spec: spec, options: o, timeout: timeout,
		client: anthropic.NewClient(settings...).Messages,
	}, nil
}

// Name is provider/model.
func (m *anthropicModel) Name() string { return m.spec.String() }

// Window is in tokens: the smaller of what was configured and what the server said when it
// refused a call; 0: unknown.
func (m *anthropicModel) Window() int { return m.limits.windowOf(m.options.Window) }

// Call sends one request; a second one if the first was refused for forcing a tool.
func (m *anthropicModel) Call(ctx context.Context, q Request) (Answer, error) {
	if q.Schema != nil && !json.Valid(q.Schema) {
		return Answer{}, &Error{Class: ClassInvalid, Model: m.Name(), Message: "the schema of the answer is no JSON"}
	}
	if m.limits.hopeless(q, m.options, anthropicOutput) {
		return Answer{}, noMoreOutput(m.Name(), m.limits.most())
	}
	var used memoir.Usage
	lowered := false
	for {
		params := m.params(q, !m.unforced.Load())
		answer, err := m.send(ctx, params)
		used = used.Add(answer.Usage)
		answer.Usage = used
		if err == nil {
			return answer, nil
		}
		if refusesForce(err, params) {
			m.unforced.Store(true)
			continue
		}
		told := length{limit: err.Limit, asked: err.Asked, output: err.Output}
		most := 0
		if err.Class == ClassInvalid {
			most = capIn("", err.Message)
		}
		if !lowered && m.limits.refit(&q, m.options, anthropicOutput, int(params.MaxTokens), told, most) {
			lowered = true
			continue
		}
		err.Usage = used
		return Answer{}, err
	}
}

// send makes one request. The usage of the answer is told of failures too.
func (m *anthropicModel) send(ctx context.Context, params anthropic.MessageNewParams) (Answer, *Error) {
	if ctx.Err() != nil {
		return Answer{}, m.interrupted(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	var s sending
	limited = s.watch(limited)
	var message *anthropic.Message
	var err error
	if params.MaxTokens >= anthropicStreamed {
		message, err = m.stream(limited, params)
	} else {
		message, err = m.client.New(limited, params)
	}
	answer := Answer{Usage: m.usage(message)}
	switch {
	case err == nil && message != nil && message.Type == "message":
		answer.Text = anthropicText(message)
		answer.Stop = anthropicStop(message.StopReason, answer.Text)
		return answer, nil
	case limited.Err() != nil:
		e := m.interrupted(ctx)
		e.Untold = s.begun.Load() && answer.Usage.InputTokens+answer.Usage.OutputTokens == 0
		return answer, e
	case err == nil:
		return answer, &Error{Class: ClassMissing, Model: m.Name(), Message: "the server's answer is no message of this API"}
	}
	failure := m.failure(err)
	if failure.Class == ClassUnreachable {
		answer.Usage = memoir.Usage{}
	}
	return answer, failure
}

var errBrokenOff = errors.New("the answer broke off before its end")

// stream asks for an answer in pieces and puts them together. What is known of
// it comes back with an error too.
func (m *anthropicModel) stream(ctx context.Context, params anthropic.MessageNewParams) (*anthropic.Message, error) {
	events := m.client.NewStreaming(ctx, params)
	defer func() { _ = events.Close() }()
	var message anthropic.Message
	whole := false
	for events.Next() {
		event := events.Current()
		if err := message.Accumulate(event); err != nil {
			return &message, err
		}
		whole = whole || event.Type == "message_stop"
	}
	if err := events.Err(); err != nil {
		return &message, err
	}
	if !whole {
		return &message, errBrokenOff
	}
	return &message, nil
}

// usage counts all input, whether it was read from the cache, written to it or neither.
func (m *anthropicModel) usage(message *anthropic.Message) memoir.Usage {
	used := memoir.Usage{Calls: 1}
	if message != nil {
		u := message.Usage
		used.InputTokens = u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens
		used.CachedTokens = u.CacheReadInputTokens
		used.OutputTokens = u.OutputTokens
		used.Cost = m.options.Price.Cost(used)
	}
	return used
}

// anthropicText is what a message says: the input of the tool that stands for the answer,
// else its text. A model that is only offered the tool may write the answer instead.
func anthropicText(message *anthropic.Message) string {
	var text strings.Builder
	for _, block := range message.Content {
		switch block.Type {
		case "tool_use":
			if len(block.Input) > 0 && json.Valid(block.Input) {
				return string(block.Input)
			}
		case "text":
			text.WriteString(block.Text)
		}
	}
	return text.String()
}

// anthropicStop says why a message ended.
func anthropicStop(reason anthropic.StopReason, text string) Stop {
	switch {
	case reason == anthropic.StopReasonRefusal:
		return StopRefusal
	case reason == anthropic.StopReasonMaxTokens, reason == anthropic.StopReasonModelContextWindowExceeded:
		return StopLength
	case strings.TrimSpace(text) == "":
		return StopEmpty
	}
	return StopEnd
}
