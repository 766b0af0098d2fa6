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

var openAIs = map[API]func(testing.TB, reply) *modeltest.Server{
	APIChat:      modeltest.OpenAIChat,
	APIResponses: modeltest.OpenAIResponses,
}

// inBoth runs a test for both APIs, each with answers in a stream and in one piece.
func inBoth(t *testing.T, test func(t *testing.T, open func(r reply, o Options) (*remote, *modeltest.Server))) {
	for api, serve := range openAIs {
		for _, way := range []string{"stream", "whole"} {
			t.Run(string(api)+"/"+way, func(t *testing.T) {
				t.Parallel()
				test(t, func(r reply, o Options) (*remote, *modeltest.Server) {
					s := serve(t, r)
					o.API, o.BaseURL = api, s.URL+"/v1"
					m := openModel(t, o)
					if way == "whole" {
						m.refused["stream"] = true
					}
					return m, s
				})
			})
		}
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

func TestOpenAIIsAskedAsItsAPIsSay(t *testing.T) {
	t.Parallel()
	half := 0.5
	full := Options{Key: "k-123456", Effort: "low", Temperature: &half, MaxOutput: 900}
	question := Request{
		System: "You <read>.", Input: "Read this.",
		Earlier: []Exchange{{Answer: "no", Objection: "Again."}, {Answer: " ", Objection: "Once more."}},
		Schema:  json.RawMessage(schema), SchemaName: "note",
	}
	for name, c := range map[string]struct {
		api  API
		o    Options
		q    Request
		want string
	}{
		"chat, all of it": {APIChat, full, question, `{
			"messages":[{"content":"You <read>.","role":"system"},{"content":"Read this.","role":"user"},
				{"content":"no","role":"assistant"},{"content":"Again.","role":"user"},
				{"content":"(no answer)","role":"assistant"},{"content":"Once more.","role":"user"}],
			"model":"vendor/m-1","temperature":0.5,"reasoning_effort":"low","stream_options":{"include_usage":true},
			"response_format":{"json_schema":{"name":"note","strict":true,"schema":` + schema + `},"type":"json_schema"},
			"max_tokens":900,"stream":true}`},
		"chat, nothing set": {APIChat, Options{}, Request{Input: "Read."}, `{
			"messages":[{"content":"Read.","role":"user"}],"model":"vendor/m-1","stream_options":{"include_usage":true},"stream":true}`},
		"responses, all of it": {APIResponses, full, question, `{
			"instructions":"You <read>.","max_output_tokens":900,"store":false,"temperature":0.5,
			"input":[{"content":"Read this.","role":"user"},
				{"content":"no","role":"assistant"},{"content":"Again.","role":"user"},
				{"content":"(no answer)","role":"assistant"},{"content":"Once more.","role":"user"}],
			"model":"vendor/m-1","reasoning":{"effort":"low"},
			"text":{"format":{"name":"note","strict":true,"type":"json_schema","schema":` + schema + `}},"stream":true}`},
		"responses, nothing set": {APIResponses, Options{}, Request{Input: "Read."}, `{
			"store":false,"input":[{"content":"Read.","role":"user"}],"model":"vendor/m-1","stream":true}`},
		"a call's own cap goes before the configured": {APIResponses, Options{MaxOutput: 5}, Request{Input: "Read.", MaxOutput: 7}, `{
			"max_output_tokens":7,"store":false,"input":[{"content":"Read.","role":"user"}],"model":"vendor/m-1","stream":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openAIs[c.api](t, step(modeltest.Step{Text: "{}"}))
			c.o.API, c.o.BaseURL = c.api, s.URL+"/v1/"
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
			if path := map[API]string{APIChat: "/v1/chat/completions", APIResponses: "/v1/responses"}[c.api]; call.Path != path {
				t.Errorf("got path %s, want %s", call.Path, path)
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
	for api, serve := range openAIs {
		for key, want := range map[string][]string{"": nil, " k-123456\n": {"Bearer k-123456"}} {
			s := serve(t, step(modeltest.Step{Text: "yes"}))
			if _, err := openModel(t, Options{API: api, BaseURL: s.URL, Key: key}).Call(t.Context(), Request{Input: "?"}); err != nil {
				t.Fatal(err)
			}
			header := s.Calls()[0].Header
			if got := header["Authorization"]; !cmp.Equal(got, want) {
				t.Errorf("%s with key %q: got Authorization %q, want %q", api, key, got, want)
			}
			for name := range header {
				switch name {
				case "Authorization", "Accept", "Accept-Encoding", "Content-Length", "Content-Type", "User-Agent":
				default:
					t.Errorf("%s sends header %s: %s", api, name, header.Get(name))
				}
			}
			if got := header.Get("User-Agent"); got != "memoir" {
				t.Errorf("got User-Agent %q", got)
			}
		}
	}
}

func TestOpenAIAnswers(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, open func(reply, Options) (*remote, *modeltest.Server)) {
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
		"chat":                `{"choices":[{"index":0,"message":{"role":"assistant","content":"12345678"},"finish_reason":"stop"}]}`,
		"chat, null":          `{"choices":[{"message":{"content":"12345678"}}],"usage":null}`,
		"chat, zeros":         `{"choices":[{"message":{"content":"12345678"}}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`,
		"chat, stream":        "data: {\"choices\":[{\"delta\":{\"content\":\"12345678\"}}]}\n\n: keep-alive\n\ndata: [DONE]\n\n",
		"chat, no done":       "data: {\"choices\":[{\"delta\":{\"content\":\"12345678\"},\"finish_reason\":\"stop\"}]}\n\n",
		"responses":           `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"12345678"}]}]}`,
		"responses, thoughts": `{"output":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"Hm."}]},{"type":"message","content":[{"type":"output_text","text":"12345678"}]}]}`,
		"responses, stream": "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"12345678\"}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := APIChat
			if strings.HasPrefix(name, "responses") {
				api = APIResponses
			}
			s := openAIs[api](t, step(modeltest.Step{Raw: raw}))
			got, err := openModel(t, Options{API: api, BaseURL: s.URL, Price: Price{Input: 1, Output: 1}}).Call(t.Context(), q)
			if diff := cmp.Diff(Answer{Text: "12345678", Stop: StopEnd, Usage: want, Estimated: true}, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// refusing is a server that knows none of some parameters, and names one of them at a time.
func refusing(status int, message string, params ...string) reply {
	return func(_ int, c modeltest.Call) modeltest.Step {
		for _, p := range params {
			path, value, _ := strings.Cut(p, "=")
			if got := gjson.GetBytes(c.Body, path); got.Exists() && (value == "" || got.String() == value) {
				name := strings.TrimSuffix(path, ".type")
				body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": strings.ReplaceAll(message, "%", name), "type": "invalid_request_error"}})
				return modeltest.Step{Status: status, Raw: string(body)}
			}
		}
		return modeltest.Step{Text: "{}"}
	}
}

func TestOpenAILeavesOutWhatAServerRefuses(t *testing.T) {
	t.Parallel()
	q := Request{System: "Be brief.", Input: "?", Schema: json.RawMessage(schema), SchemaName: "note"}
	for name, c := range map[string]struct {
		api     API
		refuse  reply
		refused int    // calls before the first answer
		path    string // into the body of the answered calls
		want    string // what is there; "" nothing
	}{
		"chat, schema":        {APIChat, step(modeltest.Step{NoSchema: true, Text: "{}"}), 1, "response_format", ""},
		"responses, schema":   {APIResponses, step(modeltest.Step{NoSchema: true, Text: "{}"}), 1, "text", ""},
		"chat, json_schema":   {APIChat, refusing(400, "This model does not support json_schema", "response_format.type=json_schema"), 1, "response_format", ""},
		"chat, grammar":       {APIChat, refusing(400, "failed to parse grammar", "response_format.type=json_schema"), 1, "response_format", ""},
		"chat, grammar, 500":  {APIChat, refusing(500, "Failed to initialize samplers", "response_format.type=json_schema"), 1, "response_format", ""},
		"chat, max_tokens":    {APIChat, refusing(400, "Unsupported parameter: '%' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens"), 1, "max_completion_tokens", "50"},
		"chat, stream usage":  {APIChat, refusing(400, "Unknown parameter: '%'.", "stream_options"), 1, "stream_options", ""},
		"chat, stream":        {APIChat, refusing(400, "Your organization must be verified to stream this model.", "stream"), 1, "stream", ""},
		"responses, stream":   {APIResponses, refusing(400, "streaming is not available", "stream"), 1, "stream", ""},
		"responses, store":    {APIResponses, refusing(400, "Unknown parameter: '%'.", "store"), 1, "store", ""},
		"chat, several":       {APIChat, refusing(422, "unknown: %", "max_tokens", "stream_options", "response_format.type"), 3, "max_completion_tokens", "50"},
		"chat, nothing":       {APIChat, step(modeltest.Step{Text: "{}"}), 0, "max_tokens", "50"},
		"chat, other content": {APIChat, refusing(501, "% is not implemented", "response_format.type=json_schema"), 1, "response_format", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openAIs[c.api](t, c.refuse)
			m := openModel(t, Options{API: c.api, BaseURL: s.URL, MaxOutput: 50})
			for range 2 {
				got, err := m.Call(t.Context(), q)
				if err != nil || got.Text != "{}" || got.Usage.Calls != 1 {
					t.Fatalf("got %+v, %v", got, err)
				}
			}
			calls := s.Calls()
			if len(calls) != c.refused+2 {
				t.Fatalf("got %d calls, want %d", len(calls), c.refused+2)
			}
			for _, call := range calls[c.refused:] {
				if got := gjson.GetBytes(call.Body, c.path).String(); got != c.want {
					t.Errorf("got %s %q, want %q", c.path, got, c.want)
				}
				format := gjson.GetBytes(call.Body, "response_format.type").Str + gjson.GetBytes(call.Body, "text.format.type").Str
				system := gjson.GetBytes(call.Body, "messages.0.content").Str + gjson.GetBytes(call.Body, "instructions").Str
				if told := strings.Contains(system, schema); told == (format == "json_schema") || !strings.HasPrefix(system, "Be brief.") {
					t.Errorf("with the format %q the system part is %q", format, system)
				}
			}
		})
	}
}

func TestOpenAIKeepsWhatARefusalIsNotAbout(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"about nothing that was sent": "Unsupported parameter: 'temperature'",
		"about the question":          "messages: at least one is required",
		"part of a word":              "the upstream restored nothing",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.OpenAIChat(t, step(modeltest.Step{Status: 400, Message: message}))
			_, err := openModel(t, Options{API: APIChat, BaseURL: s.URL}).Call(t.Context(), Request{Input: "?"})
			if class, _ := ClassOf(err); class != ClassInvalid || len(s.Calls()) != 1 {
				t.Errorf("got %v after %d calls", err, len(s.Calls()))
			}
		})
	}
	t.Run("a refusal that leaving out does not mend", func(t *testing.T) {
		t.Parallel()
		s := modeltest.OpenAIChat(t, step(modeltest.Step{Status: 400, Message: "the stream of your thinking is bad"}))
		m := openModel(t, Options{API: APIChat, BaseURL: s.URL, Effort: "low"})
		_, err := m.Call(t.Context(), Request{Input: "?"})
		if class, _ := ClassOf(err); class != ClassInvalid || len(m.refused) > 0 {
			t.Errorf("got %v and learned %v", err, m.refused)
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
	if _, err := m.Call(t.Context(), q); err != nil || len(s.Calls()) != before+1 || !m.refused["response_format"] {
		t.Errorf("got %v, %d calls more, %v", err, len(s.Calls())-before, m.refused)
	}
}

func TestOpenAIRefusesABaseURLThatIsNone(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"localhost:11434", "ftp://host/v1", "http://", "http://user:geheim@ho st/", "/v1", "http://h/ v1"} {
		_, err := Open(Spec{Provider: "local", Model: "m"}, Options{API: APIChat, BaseURL: base})
		if memoir.CodeOf(err) != memoir.CodeConfig || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: got %v", base, err)
		}
	}
	for _, api := range []API{APIChat, APIResponses} {
		if _, err := Open(Spec{Provider: "openai", Model: "m"}, Options{API: api}); err != nil {
			t.Errorf("%s without a base URL: %v", api, err)
		}
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
		if got := (chatAPI{base}).limit(call{}, 1).name; got != want {
			t.Errorf("%s: got %s, want %s", base, got, want)
		}
	}
}
