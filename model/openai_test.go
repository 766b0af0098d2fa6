package model

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"memoir"
	"memoir/model/modeltest"
)

type reply = func(n int, c modeltest.Call) modeltest.Step

// bothWays runs a test with answers in a stream and in one piece.
func bothWays(t *testing.T, test func(t *testing.T, open func(r reply, o Options) (*remote, *modeltest.Server))) {
	for _, way := range []string{"stream", "whole"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			test(t, func(r reply, o Options) (*remote, *modeltest.Server) {
				s := modeltest.OpenAIChat(t, r)
				o.API, o.BaseURL = APIChat, s.URL+"/v1"
				m := openModel(t, o)
				m.plain.Store(way == "whole")
				return m, s
			})
		})
	}
}

func openModel(t *testing.T, o Options) *remote {
	t.Helper()
	m, err := Open(Spec{Provider: "local", Model: "vendor/m-1"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*remote)
}

func step(s modeltest.Step) reply { return modeltest.Script(s) }

const schema = `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}},"required":["z","a"],"additionalProperties":false}`

func TestOpenAIIsAskedAsItsAPISays(t *testing.T) {
	t.Parallel()
	half := 0.5
	full := Options{Key: "k-123456", Effort: "low", Temperature: &half, MaxOutput: 900}
	question := Request{
		System: "You <read>.", Input: "Read this.",
		Earlier: []Exchange{{Answer: "no", Objection: "Again."}, {Answer: " ", Objection: "Once more."}},
		Schema:  json.RawMessage(schema), SchemaName: "note",
	}
	for name, c := range map[string]struct {
		o    Options
		q    Request
		want string
	}{
		"all of it": {full, question, `{
			"messages":[{"content":"You <read>.","role":"system"},{"content":"Read this.","role":"user"},
				{"content":"no","role":"assistant"},{"content":"Again.","role":"user"},
				{"content":"(no answer)","role":"assistant"},{"content":"Once more.","role":"user"}],
			"model":"vendor/m-1","temperature":0.5,"reasoning_effort":"low","stream_options":{"include_usage":true},
			"response_format":{"json_schema":{"name":"note","strict":true,"schema":` + schema + `},"type":"json_schema"},
			"max_tokens":900,"stream":true}`},
		"nothing set": {Options{}, Request{Input: "Read."}, `{
			"messages":[{"content":"Read.","role":"user"}],"model":"vendor/m-1","stream_options":{"include_usage":true},"stream":true}`},
		"a call's own cap goes before the configured": {Options{MaxOutput: 5}, Request{Input: "Read.", MaxOutput: 7}, `{
			"max_tokens":7,"messages":[{"content":"Read.","role":"user"}],"model":"vendor/m-1","stream_options":{"include_usage":true},"stream":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.OpenAIChat(t, step(modeltest.Step{Text: "{}"}))
			c.o.API, c.o.BaseURL = APIChat, s.URL+"/v1/"
			if _, err := openModel(t, c.o).Call(t.Context(), c.q); err != nil {
				t.Fatal(err)
			}
			call := s.Calls()[0]
			var got, want any
			if err := json.Unmarshal(call.Body, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if c.q.Schema != nil && !strings.Contains(string(call.Body), schema) {
				t.Errorf("the schema's fields are in another order: %s", call.Body)
			}
			if call.Path != "/v1/chat/completions" {
				t.Errorf("got path %s", call.Path)
			}
		})
	}
}

func TestOpenAITakesNothingFromTheEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "sk-of-the-environment", "OPENAI_ADMIN_KEY": "sk-of-the-environment", "OPENAI_ORG_ID": "org-1",
		"OPENAI_PROJECT_ID": "proj-1", "OPENAI_BASE_URL": "http://127.0.0.1:1/", "OPENAI_CUSTOM_HEADERS": "X-Own: 1",
	} {
		t.Setenv(name, value)
	}
	for key, want := range map[string][]string{"": nil, " k-123456\n": {"Bearer k-123456"}} {
		s := modeltest.OpenAIChat(t, step(modeltest.Step{Text: "yes"}))
		if _, err := openModel(t, Options{API: APIChat, BaseURL: s.URL, Key: key}).Call(t.Context(), Request{Input: "?"}); err != nil {
			t.Fatal(err)
		}
		header := s.Calls()[0].Header
		if got := header["Authorization"]; !cmp.Equal(got, want) {
			t.Errorf("with key %q: got Authorization %q, want %q", key, got, want)
		}
		for name := range header {
			switch name {
			case "Authorization", "Accept", "Accept-Encoding", "Content-Length", "Content-Type", "User-Agent":
			default:
				t.Errorf("it sends header %s: %s", name, header.Get(name))
			}
		}
		if got := header.Get("User-Agent"); got != "memoir" {
			t.Errorf("got User-Agent %q", got)
		}
	}
}

func TestOpenAIAnswers(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, open func(reply, Options) (*remote, *modeltest.Server)) {
		used := memoir.Usage{InputTokens: 1000, CachedTokens: 600, OutputTokens: 50}
		steps := []modeltest.Step{
			{Text: "Grüße, \"quoted\"\n<b>&amp;", Usage: used},
			{Text: "half of i", Stop: "length", Usage: used},
			{Text: "", Stop: "length", Usage: used},
			{Text: "I will not.", Stop: "refusal", Usage: used},
			{Text: "so far", Stop: "filter", Usage: used},
			{Text: "", Usage: used},
			{Text: " \n", Usage: used},
			{Text: "<think>\nWhat is it? {}\n</think>\n\n{\"a\":1}", Usage: used},
			{Text: "a < b <think>", Usage: used},
		}
		want := []Answer{
			{Text: "Grüße, \"quoted\"\n<b>&amp;", Stop: StopEnd},
			{Text: "half of i", Stop: StopLength},
			{Text: "", Stop: StopLength},
			{Text: "I will not.", Stop: StopRefusal},
			{Text: "so far", Stop: StopRefusal},
			{Text: "", Stop: StopEmpty},
			{Text: " \n", Stop: StopEmpty},
			{Text: "{\"a\":1}", Stop: StopEnd},
			{Text: "a < b <think>", Stop: StopEnd},
		}
		m, s := open(modeltest.Script(steps...), Options{Window: 8192, Price: Price{Input: 2, Cached: 0.5, Output: 10}})
		if m.Name() != "local/vendor/m-1" || m.Window() != 8192 {
			t.Errorf("got %s with a window of %d", m.Name(), m.Window())
		}
		var sum memoir.Usage
		for i := range steps {
			got, err := m.Call(t.Context(), Request{Input: "?"})
			if err != nil {
				t.Fatal(err)
			}
			want[i].Usage = memoir.Usage{Calls: 1, InputTokens: 1000, CachedTokens: 600, OutputTokens: 50, Cost: (400*2 + 600*0.5 + 50*10) / 1e6}
			if diff := cmp.Diff(want[i], got); diff != "" {
				t.Errorf("step %d (-want +got):\n%s", i, diff)
			}
			got.Usage.Cost = 0
			sum = sum.Add(got.Usage)
		}
		if sum != s.Used() {
			t.Errorf("counted %+v, the server %+v", sum, s.Used())
		}
	})
}

func TestOpenAIUsageThatIsNotToldIsEstimated(t *testing.T) {
	t.Parallel()
	q := Request{System: "12345678", Input: "1234", Earlier: []Exchange{{Answer: "1234", Objection: "12345"}}}
	want := memoir.Usage{Calls: 1, InputTokens: 2 + 1 + 1 + 2, OutputTokens: 2, Cost: 8e-6}
	for name, raw := range map[string]string{
		"chat":          `{"choices":[{"index":0,"message":{"role":"assistant","content":"12345678"},"finish_reason":"stop"}]}`,
		"chat, null":    `{"choices":[{"message":{"content":"12345678"}}],"usage":null}`,
		"chat, zeros":   `{"choices":[{"message":{"content":"12345678"}}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`,
		"chat, stream":  "data: {\"choices\":[{\"delta\":{\"content\":\"12345678\"}}]}\n\n: keep-alive\n\ndata: [DONE]\n\n",
		"chat, no done": "data: {\"choices\":[{\"delta\":{\"content\":\"12345678\"},\"finish_reason\":\"stop\"}]}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.OpenAIChat(t, step(modeltest.Step{Raw: raw}))
			got, err := openModel(t, Options{API: APIChat, BaseURL: s.URL, Price: Price{Input: 1, Output: 1}}).Call(t.Context(), q)
			if diff := cmp.Diff(Answer{Text: "12345678", Stop: StopEnd, Usage: want, Estimated: true}, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestAServerThatRefusesTheFormOfACallIsAskedPlainly(t *testing.T) {
	t.Parallel()
	q := Request{System: "Be brief.", Input: "?", Schema: json.RawMessage(schema), SchemaName: "note"}
	for name, status := range map[string]int{"400": 400, "422": 422, "501": 501} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step {
				if gjson.GetBytes(c.Body, "response_format").Exists() {
					return modeltest.Step{Status: status, Message: "Unknown parameter"}
				}
				return modeltest.Step{Text: "{}"}
			})
			m := openModel(t, Options{API: APIChat, BaseURL: s.URL, MaxOutput: 50})
			for range 2 {
				got, err := m.Call(t.Context(), q)
				if err != nil || got.Text != "{}" || got.Usage.Calls != 1 {
					t.Fatalf("got %+v, %v", got, err)
				}
			}
			calls := s.Calls()
			if len(calls) != 3 {
				t.Fatalf("got %d calls", len(calls))
			}
			for _, call := range calls[1:] {
				system := gjson.GetBytes(call.Body, "messages.0.content").Str
				if gjson.GetBytes(call.Body, "stream").Exists() || gjson.GetBytes(call.Body, "max_tokens").Int() != 50 ||
					!strings.HasPrefix(system, "Be brief.") || !strings.Contains(system, schema) {
					t.Errorf("asked %s", call.Body)
				}
			}
		})
	}
	t.Run("what it refuses in any form is an error", func(t *testing.T) {
		t.Parallel()
		s := modeltest.OpenAIChat(t, step(modeltest.Step{Status: 400, Message: "Unsupported parameter: 'temperature'"}))
		m := openModel(t, Options{API: APIChat, BaseURL: s.URL})
		e := fail(t, m)
		if e.Class != ClassInvalid || len(s.Calls()) != 2 || m.plain.Load() || !strings.Contains(e.Hint(), "providers.local") {
			t.Errorf("got %+v after %d calls; %s", e, len(s.Calls()), e.Hint())
		}
	})
}

func TestOpenAICallsAtTheSameTimeLearnTogether(t *testing.T) {
	t.Parallel()
	s := modeltest.OpenAIChat(t, step(modeltest.Step{NoSchema: true, Text: "{}"}))
	m := openModel(t, Options{API: APIChat, BaseURL: s.URL})
	q := Request{Input: "?", Schema: json.RawMessage(schema)}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if _, err := m.Call(context.Background(), q); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	before := len(s.Calls())
	if _, err := m.Call(t.Context(), q); err != nil || len(s.Calls()) != before+1 || !m.plain.Load() {
		t.Errorf("got %v, %d calls more", err, len(s.Calls())-before)
	}
}

func TestTheCapIsNamedAsTheServerLikelyDoes(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		openAIBase:                                  "max_completion_tokens",
		"https://eu.api.openai.com/v1":              "max_completion_tokens",
		"https://x.openai.azure.com/openai/v1":      "max_completion_tokens",
		"http://localhost:11434/v1":                 "max_tokens",
		"https://openrouter.ai/api/v1":              "max_tokens",
		"https://notopenai.com/v1":                  "max_tokens",
		"http://api.openai.com.example.org:8080/v1": "max_tokens",
	} {
		if got := (chatAPI{base}).limit(); got != want {
			t.Errorf("%s: got %s, want %s", base, got, want)
		}
	}
}
