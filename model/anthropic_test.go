package model

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"memoir"
	"memoir/model/modeltest"
)

var anthropicSpec = Spec{Provider: "anthropic", Model: "claude-sonnet-4-6"}

// slugSchema is one that no field of a Go type stands for.
var slugSchema = json.RawMessage(`{"type":"object","properties":{"slug":{"type":"string","maxLength":40}},"required":["slug"],"additionalProperties":false}`)

// anthropicOf opens a model on a server.
func anthropicOf(t *testing.T, s *modeltest.Server, o Options) Model {
	t.Helper()
	o.API, o.BaseURL = APIAnthropic, s.URL
	m, err := Open(anthropicSpec, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// anthropicSent decodes what the server was asked in a call.
func anthropicSent(t *testing.T, s *modeltest.Server, n int) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(s.Calls()[n].Body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// errorOf is the error of a call that must fail.
func errorOf(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}
	return e
}

func TestAnthropicIsAskedInItsOwnWords(t *testing.T) {
	t.Parallel()
	temperature := 0.0
	object := map[string]any{}
	if err := json.Unmarshal(slugSchema, &object); err != nil {
		t.Fatal(err)
	}
	text := func(role, text string) any {
		return map[string]any{"role": role, "content": []any{map[string]any{"type": "text", "text": text}}}
	}
	tools := []any{map[string]any{
		"name": "extraction", "input_schema": object,
		"description": "Takes the answer. Call it once, with the whole answer, instead of writing it.",
	}}
	for name, test := range map[string]struct {
		options Options
		request Request
		want    map[string]any
	}{
		"free text": {request: Request{Input: "in"}, want: map[string]any{
			"model": "claude-sonnet-4-6", "max_tokens": 8192.0, "messages": []any{text("user", "in")},
		}},
		"a system part, which is cached": {request: Request{System: "sys", Input: "in"}, want: map[string]any{
			"model": "claude-sonnet-4-6", "max_tokens": 8192.0, "messages": []any{text("user", "in")},
			"system": []any{map[string]any{"type": "text", "text": "sys", "cache_control": map[string]any{"type": "ephemeral"}}},
		}},
		"answers that were refused": {
			request: Request{Input: "in", Earlier: []Exchange{{"one", "no"}, {"", "nothing"}}},
			want: map[string]any{
				"model": "claude-sonnet-4-6", "max_tokens": 8192.0, "messages": []any{
					text("user", "in"), text("assistant", "one"), text("user", "no"), text("assistant", "(no answer)"), text("user", "nothing"),
				},
			}},
		"a schema, with an effort and no thinking": {
			options: Options{MaxOutput: 900, Effort: "high", Temperature: &temperature},
			request: Request{Input: "in", Schema: slugSchema, SchemaName: "extraction"},
			want: map[string]any{
				"model": "claude-sonnet-4-6", "max_tokens": 900.0, "messages": []any{text("user", "in")}, "temperature": 0.0,
				"output_config": map[string]any{"effort": "high"}, "tools": tools,
				"tool_choice": map[string]any{"type": "tool", "name": "extraction", "disable_parallel_tool_use": true},
			}},
		"the cap of the request goes before that of the options": {
			options: Options{MaxOutput: 900},
			request: Request{Input: "in", MaxOutput: 1000},
			want:    map[string]any{"model": "claude-sonnet-4-6", "max_tokens": 1000.0, "messages": []any{text("user", "in")}},
		},
		"an effort below the lowest": {
			options: Options{Effort: "none"},
			request: Request{Input: "in"},
			want: map[string]any{
				"model": "claude-sonnet-4-6", "max_tokens": 8192.0, "messages": []any{text("user", "in")},
				"output_config": map[string]any{"effort": "low"},
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.Anthropic(t, modeltest.Script(modeltest.Step{Text: `{"slug":"a"}`}))
			test.options.API, test.options.BaseURL = APIAnthropic, s.URL
			m, err := Open(anthropicSpec, test.options)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Call(t.Context(), test.request); err != nil {
				t.Fatal(err)
			}
			test.want["stream"] = true
			if diff := cmp.Diff(test.want, anthropicSent(t, s, 0)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnthropicAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		step   modeltest.Step
		schema json.RawMessage
		text   string
		stop   Stop
	}{
		"free text":                 {step: modeltest.Step{Text: "häppy"}, text: "häppy", stop: StopEnd},
		"a tool that is called":     {step: modeltest.Step{Text: `{"slug": "größe <b>"}`}, schema: slugSchema, text: `{"slug":"größe <b>"}`, stop: StopEnd},
		"text in place of the tool": {step: modeltest.Step{Text: "Here: {slug"}, schema: slugSchema, text: "Here: {slug", stop: StopEnd},
		"cut by the cap":            {step: modeltest.Step{Text: "hal", Stop: "length"}, text: "hal", stop: StopLength},
		"cut before a word":         {step: modeltest.Step{Stop: "length"}, stop: StopLength},
		"cut by the window":         {step: modeltest.Step{Text: "hal", Stop: "model_context_window_exceeded"}, text: "hal", stop: StopLength},
		"refused":                   {step: modeltest.Step{Stop: "refusal"}, stop: StopRefusal},
		"refused in words":          {step: modeltest.Step{Text: "I will not", Stop: "refusal"}, schema: slugSchema, text: "I will not", stop: StopRefusal},
		"nothing":                   {schema: slugSchema, stop: StopEmpty},
		"blanks":                    {step: modeltest.Step{Text: " \n"}, text: " \n", stop: StopEmpty},
		"a stop of another kind":    {step: modeltest.Step{Text: "x", Stop: "pause_turn"}, text: "x", stop: StopEnd},
	} {
		for _, way := range []string{"at once", "streamed"} {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				s := modeltest.Anthropic(t, modeltest.Script(test.step))
				m := anthropicOf(t, s, Options{})
				m.(*remote).plain.Store(way == "at once")
				answer, err := m.Call(t.Context(), Request{Input: "in", Schema: test.schema})
				if err != nil {
					t.Fatal(err)
				}
				text := answer.Text
				if json.Valid([]byte(text)) {
					text = strings.ReplaceAll(strings.ReplaceAll(text, `": "`, `":"`), `\u003c`, "<")
					text = strings.ReplaceAll(text, `\u003e`, ">")
				}
				if text != test.text || answer.Stop != test.stop {
					t.Errorf("got %q, %s; want %q, %s", text, answer.Stop, test.text, test.stop)
				}
				if streamed := anthropicSent(t, s, 0)["stream"] == true; streamed != (way == "streamed") {
					t.Errorf("streamed: %v", streamed)
				}
				if diff := cmp.Diff(s.Used(), answer.Usage); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestAnthropicCountsAllInputAndWhatOfItWasCached(t *testing.T) {
	t.Parallel()
	used := memoir.Usage{InputTokens: 1500, CachedTokens: 1000, OutputTokens: 1}
	m := anthropicOf(t, modeltest.Anthropic(t, modeltest.Script(modeltest.Step{Text: "x", Usage: used})), Options{Price: Price{Input: 3, Cached: 0.3, Output: 15}})
	answer, err := m.Call(t.Context(), Request{System: "rules", Input: "in"})
	used.Calls, used.Cost = 1, (500*3+1000*0.3+15)/1e6
	if err != nil || answer.Usage != used {
		t.Errorf("got %+v, %v", answer.Usage, err)
	}
}

func TestAnthropicErrorsAreClassified(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		step    modeltest.Step
		class   Class
		status  int
		after   time.Duration
		message string
	}{
		"limited":                {modeltest.Step{Status: 429, RetryAfter: "7", Message: "slow down"}, ClassLimited, 429, 7 * time.Second, "slow down"},
		"limited for a while":    {modeltest.Step{Status: 429, RetryAfter: "0.25"}, ClassLimited, 429, 250 * time.Millisecond, "rate_limit_error"},
		"overloaded":             {modeltest.Step{Status: 529, Message: "Overloaded"}, ClassLimited, 529, 0, "Overloaded"},
		"overloaded, by a proxy": {modeltest.Step{Status: 503, Code: "overloaded_error"}, ClassLimited, 503, 0, "overloaded_error"},
		"failed":                 {modeltest.Step{Status: 500, Message: "Internal"}, ClassTemporary, 500, 0, "Internal"},
		"a bad gateway":          {modeltest.Step{Status: 502, Raw: "<h1>Bad\n gateway</h1>"}, ClassTemporary, 502, 0, "a web page instead of JSON"},
		"an unknown key":         {modeltest.Step{Status: 401, Message: "invalid x-api-key"}, ClassDenied, 401, 0, "invalid x-api-key"},
		"forbidden":              {modeltest.Step{Status: 403}, ClassDenied, 403, 0, "permission_error"},
		"no credit": {modeltest.Step{Status: 400, Message: "Your credit balance is too low to access the Anthropic API."},
			ClassDenied, 400, 0, "Your credit balance is too low to access the Anthropic API."},
		"no such model": {modeltest.Step{Status: 404, Message: "model: claude-9"}, ClassMissing, 404, 0, "model: claude-9"},
		"beyond the window": {modeltest.Step{Status: 400, Message: "prompt is too long: 205000 tokens > 200000 maximum"},
			ClassTooLong, 400, 0, "prompt is too long: 205000 tokens > 200000 maximum"},
		"beyond the window with the output": {modeltest.Step{Status: 400, Message: "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"},
			ClassTooLong, 400, 0, "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"},
		"too large":          {modeltest.Step{Status: 413}, ClassTooLong, 413, 0, "request_too_large"},
		"invalid":            {modeltest.Step{Status: 400, Message: "max_tokens: 100000 > 64000"}, ClassInvalid, 400, 0, "max_tokens: 100000 > 64000"},
		"about a context":    {modeltest.Step{Status: 400, Message: "context_management: Extra inputs are not permitted"}, ClassInvalid, 400, 0, "context_management: Extra inputs are not permitted"},
		"long words":         {modeltest.Step{Status: 400, Message: strings.Repeat("ä", 400)}, ClassInvalid, 400, 0, strings.Repeat("ä", 248) + "…"},
		"cut in mid-body":    {modeltest.Step{Reset: true}, ClassTemporary, 0, 0, "the connection broke: unexpected EOF"},
		"half an answer":     {modeltest.Step{Raw: `{"id":"msg`}, ClassTemporary, 0, 0, `the answer cannot be read: no JSON: {"id":"msg`},
		"another server":     {modeltest.Step{Raw: "<html>"}, ClassTemporary, 0, 0, "the answer cannot be read: no JSON: a web page instead of JSON"},
		"another server too": {modeltest.Step{Raw: `{"ok":true}`}, ClassTemporary, 0, 0, "the answer cannot be read: it is not a message of this API"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.Anthropic(t, modeltest.Script(test.step))
			m := anthropicOf(t, s, Options{})
			_, err := m.Call(t.Context(), Request{Input: "in"})
			e := errorOf(t, err)
			want := Error{Class: test.class, Model: "anthropic/claude-sonnet-4-6", Status: test.status, RetryAfter: test.after, Message: test.message, Usage: memoir.Usage{Calls: 1}, Err: e.Err}
			e.Estimated, e.Usage.InputTokens = false, 0 // have tests of their own
			if diff := cmp.Diff(want, *e, cmp.Comparer(func(a, b error) bool { return a == b })); diff != "" {
				t.Error(diff)
			}
			if n := len(s.Calls()); n != 1 && test.class != ClassInvalid {
				t.Errorf("%d calls were made", n)
			}
		})
	}
}

func TestAnthropicStreamsThatFail(t *testing.T) {
	t.Parallel()
	begun := "event: message_start\ndata: " + `{"type":"message_start","message":{"type":"message","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":3,"output_tokens":1}}}` + "\n\n"
	for name, test := range map[string]struct {
		step   modeltest.Step
		class  Class
		status int
		usage  memoir.Usage
	}{
		"limited":               {modeltest.Step{Status: 429}, ClassLimited, 429, memoir.Usage{Calls: 1}},
		"overloaded on the way": {modeltest.Step{Code: "overloaded_error", Usage: memoir.Usage{InputTokens: 20, CachedTokens: 5}}, ClassLimited, 529, memoir.Usage{Calls: 1, InputTokens: 20, CachedTokens: 5, OutputTokens: 1}},
		"failed on the way":     {modeltest.Step{Code: "api_error", Usage: memoir.Usage{InputTokens: 20}}, ClassTemporary, 500, memoir.Usage{Calls: 1, InputTokens: 20, OutputTokens: 1}},
		"a type nobody knows":   {modeltest.Step{Code: "odd_error", Usage: memoir.Usage{InputTokens: 20}}, ClassTemporary, 0, memoir.Usage{Calls: 1, InputTokens: 20, OutputTokens: 1}},
		"broken off":            {modeltest.Step{Raw: begun}, ClassTemporary, 0, memoir.Usage{Calls: 1, InputTokens: 8, CachedTokens: 3, OutputTokens: 1}},
		"cut":                   {modeltest.Step{Reset: true}, ClassTemporary, 0, memoir.Usage{Calls: 1, InputTokens: 1}},
		"no stream at all":      {modeltest.Step{Raw: "<html>"}, ClassTemporary, 0, memoir.Usage{Calls: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.Anthropic(t, modeltest.Script(test.step))
			_, err := anthropicOf(t, s, Options{}).Call(t.Context(), Request{Input: "in", MaxOutput: 50000})
			e := errorOf(t, err)
			if e.Class != test.class || e.Status != test.status || e.Usage != test.usage {
				t.Errorf("got %s, %d, %+v", e.Class, e.Status, e.Usage)
			}
		})
	}
}

func TestAnthropicModelThatMayNotBeForcedIsAskedInWords(t *testing.T) {
	t.Parallel()
	s := modeltest.Anthropic(t, modeltest.Script(modeltest.Step{Text: `{"slug":"a"}`, NoSchema: true}))
	m := anthropicOf(t, s, Options{})
	for range 2 {
		answer, err := m.Call(t.Context(), Request{Input: "in", Schema: slugSchema})
		if err != nil || answer.Text != `{"slug":"a"}` || answer.Usage.Calls != 1 {
			t.Fatalf("got %+v, %v", answer, err)
		}
	}
	for n, call := range s.Calls() {
		choice, system := gjson.GetBytes(call.Body, "tool_choice").Exists(), gjson.GetBytes(call.Body, "system.0.text").Str
		if choice != (n == 0) || strings.Contains(system, string(slugSchema)) != (n > 0) {
			t.Errorf("call %d: %s", n, call.Body)
		}
	}
}

func TestAnthropicTakesKeyAndServerFromTheOptionsAlone(t *testing.T) {
	key := "sk-ant-" + rand.Text()
	other := modeltest.Anthropic(t, modeltest.Script(modeltest.Step{Text: "x"}))
	t.Setenv("ANTHROPIC_BASE_URL", other.URL)
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-"+rand.Text())
	t.Setenv("ANTHROPIC_AUTH_TOKEN", rand.Text())
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Theirs: yes")
	s := modeltest.Anthropic(t, modeltest.Script(modeltest.Step{Text: "x"}))
	for n, o := range []Options{{Key: key, BaseURL: s.URL}, {BaseURL: s.URL + "/v1/"}} {
		o.API = APIAnthropic
		m, err := Open(anthropicSpec, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Call(t.Context(), Request{Input: "in"}); err != nil {
			t.Fatal(err)
		}
		header := s.Calls()[n].Header
		if got := header.Get("X-Api-Key"); got != o.Key {
			t.Errorf("got the key %q, want %q", got, o.Key)
		}
		if header.Get("Authorization") != "" || header.Get("X-Theirs") != "" {
			t.Errorf("the environment was read: %v", header)
		}
	}
	if len(other.Calls()) > 0 {
		t.Error("the environment's server was called")
	}
}

func TestAnthropicKeyIsNoPartOfAnError(t *testing.T) {
	t.Parallel()
	key := "sk-ant-" + rand.Text()
	for name, step := range map[string]modeltest.Step{
		"in the message":     {Status: 401, Message: "the key " + key + " is unknown"},
		"where it is cut":    {Status: 401, Message: strings.Repeat("x", maxMessage-10) + key},
		"in a page":          {Status: 403, Raw: "<b>" + key + "</b>"},
		"in a stream":        {Code: "authentication_error", Message: key},
		"in what is no JSON": {Raw: "<b>" + key},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.Anthropic(t, modeltest.Script(step))
			m := anthropicOf(t, s, Options{Key: key})
			for _, capped := range []int{100, 30000} {
				_, err := m.Call(t.Context(), Request{Input: "in", MaxOutput: capped})
				for e := err; e != nil; e = errors.Unwrap(e) {
					if strings.Contains(e.Error(), key[:12]) {
						t.Errorf("the error tells the key: %s", strings.ReplaceAll(e.Error(), key[:12], "KEY"))
					}
				}
				if len(errorOf(t, err).Message) > maxMessage {
					t.Error("the message is too long")
				}
			}
		})
	}
}

func TestAnthropicIsNotOpenedWithWhatCannotBeCalled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"no API": {Options{}, `provider anthropic has the unknown API ""`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(anthropicSpec, test.options)
			if memoir.CodeOf(err) != memoir.CodeConfig || err.Error() != test.want || memoir.HintOf(err) == "" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAnthropicSchemaThatIsNoJSONIsNotSent(t *testing.T) {
	t.Parallel()
	s := modeltest.Anthropic(t, modeltest.Script(modeltest.Step{Text: "x"}))
	_, err := anthropicOf(t, s, Options{}).Call(t.Context(), Request{Input: "in", Schema: json.RawMessage("{")})
	if e := errorOf(t, err); e.Class != ClassInvalid || e.Usage.Calls != 0 || len(s.Calls()) != 0 {
		t.Errorf("got %s: %v", e.Class, e)
	}
}
