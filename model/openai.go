package model

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/openai/openai-go/v3/option"

	"memoir"
)

// openAIBase is where OpenAI itself is.
const openAIBase = "https://api.openai.com/v1"

// openAI is one model of a server that speaks one of OpenAI's APIs. Which of their
// parameters the server takes is found by asking: what it refuses by name is left
// out of the same call, and out of all later ones once an answer came without it.
type openAI struct {
	spec Spec
	o    Options
	api  openAIAPI

	mu    sync.Mutex
	knows dialect

	limits limits
	unread unread
}

// openAIAPI is one of the two APIs.
type openAIAPI interface {
	// ways says how features are asked for.
	ways() [features]ways
	// post sends a call. What comes back is for the caller to read.
	post(ctx context.Context, a asked, opts ...option.RequestOption) error
	// whole reads an answer in one piece.
	whole(body []byte) (heard, error)
	// event adds an event of a stream to what was heard.
	event(data []byte, h *heard) error
}

// asked is a request in a server's dialect.
type asked struct {
	Request
	model       string
	format      int // formatSchema and so on; without meaning where there is no schema
	max         int // tokens of the answer; 0: not said
	maxBy       int // the name by which the cap is said
	temperature *float64
	effort      string
	unstored    bool // say that nothing is to be kept
	stream      bool
	streamUsage bool
	used        []feature
}

// newOpenAI returns a model behind openai-responses or openai-chat. The services of
// the SDK are made one by one, since its client would read the environment.
func newOpenAI(spec Spec, o Options) (Model, error) {
	if o.BaseURL == "" {
		o.BaseURL = openAIBase
	}
	if err := checkBaseURL(spec, o.BaseURL); err != nil {
		return nil, err
	}
	o.Key = strings.TrimSpace(o.Key)
	if err := checkKey(spec, o.Key); err != nil {
		return nil, err
	}
	opts := []option.RequestOption{
		option.WithBaseURL(o.BaseURL),
		option.WithHTTPClient(newHTTPClient()),
		option.WithMaxRetries(0), // Retrying does that
		option.WithMiddleware(untold),
	}
	if o.Key != "" {
		opts = append(opts, option.WithAPIKey(o.Key))
	}
	m := &openAI{spec: spec, o: o}
	if o.API == APIResponses {
		m.api = newResponsesAPI(opts)
	} else {
		m.api = newChatAPI(o.BaseURL, opts)
	}
	return m, nil
}

// Name is provider/model.
func (m *openAI) Name() string { return m.spec.String() }

// Window is in tokens: the smaller of what was configured and what the server said when it
// refused a call; 0: unknown.
func (m *openAI) Window() int { return m.limits.windowOf(m.o.Window) }

// Call asks, and asks again without what the server refuses to be asked with. Such a
// refusal costs nothing, so that it is one call all the same.
func (m *openAI) Call(ctx context.Context, q Request) (Answer, error) {
	within := ctx
	if m.o.Timeout > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, m.o.Timeout)
		defer cancel()
	}
	m.mu.Lock()
	d := m.knows
	m.mu.Unlock()
	if m.limits.hopeless(q, m.o, 0) {
		return Answer{}, noMoreOutput(m.Name(), m.limits.most())
	}
	lowered := false
	for {
		a := m.ask(q, d)
		var s sending
		h, err := m.once(s.watch(within), a)
		h.asked = s.begun.Load()
		if err == nil {
			m.mu.Lock()
			m.knows = m.knows.join(d)
			m.mu.Unlock()
			m.unread.look(m.Name(), q, h.usage, m.o.Warn)
			return m.answer(q, h), nil
		}
		var r *refusal
		if !errors.As(err, &r) {
			return Answer{}, m.failed(ctx, within, q, h, err)
		}
		if r.declined() {
			return Answer{Text: m.o.plain(r.message), Stop: StopRefusal, Usage: memoir.Usage{Calls: 1}}, nil
		}
		most := capIn(r.param, r.message)
		if !lowered && m.limits.refit(&q, m.o, 0, a.max, r.lengthOf(), most) {
			lowered = true
			continue
		}
		f, ok := refusedIn(r, m.api.ways(), a.used)
		if !ok || f == featCap && most > 0 {
			return Answer{}, m.failed(ctx, within, q, h, err)
		}
		d[f]++
	}
}

// ask puts a request into a dialect.
func (m *openAI) ask(q Request, d dialect) asked {
	known := m.api.ways()
	a := asked{Request: q, model: m.spec.Model}
	use := func(f feature, wanted bool) bool {
		if !wanted || d[f] >= known[f].count {
			return false
		}
		a.used = append(a.used, f)
		return true
	}
	if a.SchemaName == "" {
		a.SchemaName = "answer"
	}
	a.format = d[featFormat]
	use(featFormat, q.Schema != nil)
	if q.Schema != nil && a.format != formatSchema {
		a.System = strings.TrimSpace(q.System + "\n\nAnswer with one JSON object and nothing else. It follows this JSON schema:\n" + string(q.Schema))
	}
	limit := m.limits.cap(q, m.o, 0)
	if use(featCap, limit > 0) {
		a.max, a.maxBy = limit, d[featCap]
	}
	if use(featTemperature, m.o.Temperature != nil) {
		a.temperature = m.o.Temperature
	}
	a.stream = d[featStream] < known[featStream].count
	a.streamUsage = use(featStreamUsage, a.stream)
	a.unstored = use(featStore, true)
	if use(featEffort, m.o.Effort != "") {
		a.effort = m.o.Effort
	}
	use(featStream, true)
	return a
}
