package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"memoir"
	"memoir/model/modeltest"
)

type reply = func(n int, c modeltest.Call) modeltest.Step

// wires are the formats in which models are called over HTTP.
var wires = map[string]struct {
	api    API
	path   string
	system string // where a body has its system prompt
	forced string // what a body has only if the form of the answer is demanded
}{
	"chat":      {APIChat, "/v1/chat/completions", "messages.0.content", "response_format"},
	"anthropic": {APIAnthropic, "/v1/messages", "system.0.text", "tool_choice"},
}

// bothWires runs a test in each format.
func bothWires(t *testing.T, test func(t *testing.T, wire string)) {
	t.Helper()
	for wire := range wires {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			test(t, wire)
		})
	}
}

// serve opens a model on a server that replies in a format.
func serve(t *testing.T, wire string, r reply, o Options) (Model, *modeltest.Server) {
	t.Helper()
	s := modeltest.Serve(t, r)
	o.API, o.BaseURL = wires[wire].api, s.URL+"/v1"
	return openModel(t, o), s
}

func openModel(t *testing.T, o Options) Model {
	t.Helper()
	m, err := Open(Spec{Provider: "local", Model: "vendor/m-1"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func step(s modeltest.Step) reply { return modeltest.Script(s) }

// errorOf is the error of a call that must fail.
func errorOf(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}
	if len(e.Message) > maxMessage || !utf8.ValidString(e.Message) {
		t.Errorf("got a message of %d bytes: %q", len(e.Message), e.Message)
	}
	return e
}

// fail calls once and returns the *Error that must come of it.
func fail(t *testing.T, m Model) *Error {
	t.Helper()
	_, err := m.Call(t.Context(), Request{Input: "12345678"})
	e := errorOf(t, err)
	if e.Model != "local/vendor/m-1" {
		t.Errorf("got model %q", e.Model)
	}
	return e
}

// schema has its fields in an order that is not the alphabet's.
const schema = `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}},"required":["z","a"],"additionalProperties":false}`

func TestACallIsWrittenAsItsAPISays(t *testing.T) {
	t.Parallel()
	half := 0.5
	full := Options{Key: "k-123456", Effort: "low", Temperature: &half, MaxOutput: 900}
	question := Request{
		System: "You <read>.", Input: "Read this.",
		Earlier: []Exchange{{Answer: "no", Objection: "Again."}, {Answer: " ", Objection: "Once more."}},
		Schema:  json.RawMessage(schema),
	}
	block := func(text string) string { return `[{"type":"text","text":"` + text + `"}]` }
	read := `"model":"vendor/m-1","messages":[{"content":"Read.","role":"user"}]`
	readBlock := `"model":"vendor/m-1","messages":[{"content":` + block("Read.") + `,"role":"user"}]`
	for name, c := range map[string]struct {
		o    Options
		q    Request
		want map[string]string
	}{
		"all of it": {full, question, map[string]string{
			"chat": `{"messages":[{"content":"You <read>.","role":"system"},{"content":"Read this.","role":"user"},
				{"content":"no","role":"assistant"},{"content":"Again.","role":"user"},
				{"content":"(no answer)","role":"assistant"},{"content":"Once more.","role":"user"}],
				"model":"vendor/m-1","temperature":0.5,"reasoning_effort":"low","max_tokens":900,
				"response_format":{"json_schema":{"name":"answer","strict":true,"schema":` + schema + `},"type":"json_schema"}}`,
			"anthropic": `{"system":[{"type":"text","text":"You <read>.","cache_control":{"type":"ephemeral"}}],
				"messages":[{"content":` + block("Read this.") + `,"role":"user"},
				{"content":` + block("no") + `,"role":"assistant"},{"content":` + block("Again.") + `,"role":"user"},
				{"content":` + block("(no answer)") + `,"role":"assistant"},{"content":` + block("Once more.") + `,"role":"user"}],
				"model":"vendor/m-1","temperature":0.5,"output_config":{"effort":"low"},"max_tokens":900,
				"tools":[{"name":"answer","input_schema":` + schema + `,
				"description":"Takes the answer. Call it once, with the whole answer, instead of writing it."}],
				"tool_choice":{"type":"tool","name":"answer","disable_parallel_tool_use":true}}`,
		}},
		"nothing set": {Options{}, Request{Input: "Read."}, map[string]string{
			"chat": `{` + read + `}`, "anthropic": `{"max_tokens":8192,` + readBlock + `}`,
		}},
		"a call's own cap goes before the configured": {Options{MaxOutput: 5}, Request{Input: "Read.", MaxOutput: 7}, map[string]string{
			"chat": `{"max_tokens":7,` + read + `}`, "anthropic": `{"max_tokens":7,` + readBlock + `}`,
		}},
		"an effort below the lowest": {Options{Effort: "none"}, Request{Input: "Read."}, map[string]string{
			"chat":      `{"reasoning_effort":"none",` + read + `}`,
			"anthropic": `{"max_tokens":8192,"output_config":{"effort":"low"},` + readBlock + `}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bothWires(t, func(t *testing.T, wire string) {
				m, s := serve(t, wire, step(modeltest.Step{Text: "{}"}), c.o)
				if _, err := m.Call(t.Context(), c.q); err != nil {
					t.Fatal(err)
				}
				call := s.Calls()[0]
				if diff := cmp.Diff(gjson.Parse(c.want[wire]).Value(), gjson.ParseBytes(call.Body).Value()); diff != "" {
					t.Errorf("body (-want +got):\n%s", diff)
				}
				if c.q.Schema != nil && !strings.Contains(string(call.Body), schema) {
					t.Errorf("the schema's fields are in another order: %s", call.Body)
				}
				if call.Path != wires[wire].path {
					t.Errorf("got path %s", call.Path)
				}
			})
		})
	}
}

func TestAKeyIsSentInItsHeaderAlone(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-the-environment")
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-the-environment")
	for wire, header := range map[string][2]string{"chat": {"Authorization", "Bearer k-123456"}, "anthropic": {"X-Api-Key", "k-123456"}} {
		for _, key := range []string{"", " k-123456\n"} {
			m, s := serve(t, wire, step(modeltest.Step{Text: "yes"}), Options{Key: key})
			if _, err := m.Call(t.Context(), Request{Input: "?"}); err != nil {
				t.Fatal(err)
			}
			call := s.Calls()[0]
			if got := call.Header.Get(header[0]); got != header[1] && key != "" || got != "" && key == "" {
				t.Errorf("%s with key %q: %q", wire, key, got)
			}
			call.Header.Del(header[0])
			if rest := fmt.Sprint(call.Header, string(call.Body)); strings.Contains(rest, "sk-") || strings.Contains(rest, "k-123456") {
				t.Errorf("%s with key %q: a key elsewhere: %s", wire, key, rest)
			}
		}
	}
}

func TestAnswersAreReadWithWhatTheyCost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step modeltest.Step
		wire string // the only one; empty: both
		text string // empty: the step's
		stop Stop
	}{
		"free text":                 {step: modeltest.Step{Text: "Grüße, \"quoted\"\n<b>&amp;"}, stop: StopEnd},
		"an object":                 {step: modeltest.Step{Text: `{"z":"größe"}`}, stop: StopEnd},
		"text in place of a tool":   {step: modeltest.Step{Text: "Here: {slug"}, stop: StopEnd},
		"cut by the cap":            {step: modeltest.Step{Text: "half of i", Stop: "length"}, stop: StopLength},
		"cut before a word":         {step: modeltest.Step{Stop: "length"}, stop: StopLength},
		"cut by the window":         {step: modeltest.Step{Text: "hal", Stop: "model_context_window_exceeded"}, wire: "anthropic", stop: StopLength},
		"refused":                   {step: modeltest.Step{Stop: "refusal"}, wire: "anthropic", stop: StopRefusal},
		"refused in words":          {step: modeltest.Step{Text: "I will not.", Stop: "refusal"}, stop: StopRefusal},
		"stopped by a filter":       {step: modeltest.Step{Text: "so far", Stop: "filter"}, stop: StopRefusal},
		"nothing":                   {step: modeltest.Step{}, stop: StopEmpty},
		"blanks":                    {step: modeltest.Step{Text: " \n"}, stop: StopEmpty},
		"a stop of another kind":    {step: modeltest.Step{Text: "x", Stop: "pause_turn"}, stop: StopEnd},
		"thoughts before an answer": {step: modeltest.Step{Text: "<think>\nWhat is it? {}\n</think>\n\n{\"a\":1}"}, text: `{"a":1}`, stop: StopEnd},
		"no thoughts":               {step: modeltest.Step{Text: "a < b <think>"}, stop: StopEnd},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bothWires(t, func(t *testing.T, wire string) {
				if c.wire != "" && c.wire != wire {
					return
				}
				says := c.step
				says.Usage = memoir.Usage{InputTokens: 1000, CachedTokens: 600, OutputTokens: 50}
				m, s := serve(t, wire, step(says), Options{Window: 8192, Price: Price{Input: 2, Cached: 0.5, Output: 10}})
				if m.Name() != "local/vendor/m-1" || m.Window() != 8192 {
					t.Errorf("got %s with a window of %d", m.Name(), m.Window())
				}
				got, err := m.Call(t.Context(), Request{Input: "?", Schema: json.RawMessage(schema)})
				want := Answer{Text: c.text, Stop: c.stop, Usage: s.Used()}
				if c.text == "" {
					want.Text = strings.TrimSpace(c.step.Text)
				}
				want.Usage.Cost = (400*2 + 600*0.5 + 50*10) / 1e6
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}

func TestUsageThatIsNotToldIsEstimated(t *testing.T) {
	t.Parallel()
	q := Request{System: "12345678", Input: "1234", Earlier: []Exchange{{Answer: "1234", Objection: "12345"}}}
	want := memoir.Usage{Calls: 1, InputTokens: int64(memoir.Tokens(prompt(q, true, true))), OutputTokens: 2}
	want.Cost = float64(want.InputTokens+2) / 1e6
	for _, c := range []struct{ wire, raw string }{
		{"chat", `{"choices":[{"index":0,"message":{"role":"assistant","content":"12345678"},"finish_reason":"stop"}]}`},
		{"chat", `{"choices":[{"message":{"content":"12345678"}}],"usage":null}`},
		{"chat", `{"choices":[{"message":{"content":"12345678"}}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`},
		{"anthropic", `{"type":"message","content":[{"type":"text","text":"12345678"}],"stop_reason":"end_turn"}`},
	} {
		m, _ := serve(t, c.wire, step(modeltest.Step{Raw: c.raw}), Options{Price: Price{Input: 1, Output: 1}})
		got, err := m.Call(t.Context(), q)
		if diff := cmp.Diff(Answer{Text: "12345678", Stop: StopEnd, Usage: want, Estimated: true}, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.raw, err, diff)
		}
	}
}

func TestAServerThatRefusesTheFormOfACallIsAskedPlainly(t *testing.T) {
	t.Parallel()
	q := Request{System: "Be brief.", Input: "?", Schema: json.RawMessage(schema)}
	bothWires(t, func(t *testing.T, wire string) {
		for _, status := range []int{400, 422, 501} {
			m, s := serve(t, wire, func(_ int, c modeltest.Call) modeltest.Step {
				if gjson.GetBytes(c.Body, wires[wire].forced).Exists() {
					return modeltest.Step{Status: status, Message: "Unknown parameter"}
				}
				return modeltest.Step{Text: "{}"}
			}, Options{MaxOutput: 50})
			for range 2 {
				got, err := m.Call(t.Context(), q)
				if err != nil || got.Text != "{}" || got.Usage.Calls != 1 {
					t.Fatalf("%d: got %+v, %v", status, got, err)
				}
			}
			calls := s.Calls()
			if len(calls) != 3 {
				t.Fatalf("%d: got %d calls", status, len(calls))
			}
			for _, call := range calls[1:] {
				system := gjson.GetBytes(call.Body, wires[wire].system).Str
				if gjson.GetBytes(call.Body, "max_tokens").Int() != 50 ||
					!strings.HasPrefix(system, "Be brief.") || !strings.Contains(system, schema) {
					t.Errorf("%d: asked %s", status, call.Body)
				}
			}
		}
		m, s := serve(t, wire, step(modeltest.Step{Status: 400, Message: "Unsupported parameter: 'temperature'"}), Options{})
		if e := fail(t, m); e.Class != ClassInvalid || len(s.Calls()) != 2 || m.(*opened).caller.(*remote).plain.Load() || !strings.Contains(e.Hint(), "providers.local") {
			t.Errorf("refused in any form: got %+v after %d calls; %s", e, len(s.Calls()), e.Hint())
		}
	})
}

func TestCallsAtTheSameTimeLearnTogether(t *testing.T) {
	t.Parallel()
	m, s := serve(t, "chat", step(modeltest.Step{NoSchema: true, Text: "{}"}), Options{})
	q := Request{Input: "?", Schema: json.RawMessage(schema)}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, err := m.Call(t.Context(), q); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	before := len(s.Calls())
	if _, err := m.Call(t.Context(), q); err != nil || len(s.Calls()) != before+1 || !m.(*opened).caller.(*remote).plain.Load() {
		t.Errorf("got %v, %d calls more", err, len(s.Calls())-before)
	}
}

func TestTheCapIsNamedAsTheServerLikelyDoes(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		providers["openai"].baseURL:                 "max_completion_tokens",
		"https://eu.api.openai.com/v1":              "max_completion_tokens",
		"https://x.openai.azure.com/openai/v1":      "max_completion_tokens",
		"http://localhost:11434/v1":                 "max_tokens",
		"https://openrouter.ai/api/v1":              "max_tokens",
		"https://notopenai.com/v1":                  "max_tokens",
		"http://api.openai.com.example.org:8080/v1": "max_tokens",
	} {
		if got := limitName(base); got != want {
			t.Errorf("%s: got %s, want %s", base, got, want)
		}
	}
}
