package mockmodel

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

const (
	prompt = "Why does the lantern fail?"
	shell  = "echo wick; exit 3"
)

var lantern = Script{
	{Prompt: prompt, Steps: []Step{
		{Text: "I look.", Shell: shell},
		{Text: "I write.", Write: &File{Path: "/w/NOTES.md", Content: "one\ntwo\n"}},
		{Text: "The wick is missing."},
	}},
	{Prompt: "And the oil?", Steps: []Step{{Text: "It is full."}}},
}

func start(t *testing.T, script Script) *Server {
	t.Helper()
	s, err := Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func post(t *testing.T, s *Server, path, body string) (status int, kind, answer string) {
	t.Helper()
	resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(b)
}

// data splits a stream of events into the JSON of each.
func data(t *testing.T, stream string) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(stream) {
		if event, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && event != "[DONE]" {
			if !gjson.Valid(event) {
				t.Fatalf("an event that is not JSON: %s", event)
			}
			out = append(out, event)
		}
	}
	return out
}

// each format: a request after n steps of the first turn, how text and calls are
// put in the answer.
var formats = []struct {
	name    string
	request func(prompt string, steps int, stream bool) (path, body string)
	text    func(answer string) string
	call    func(answer string) (name, input string)
	// joined puts a stream's events together to what the answer in one piece is.
	joined func(events []string) string
}{
	{
		name: "Anthropic Messages",
		request: func(prompt string, steps int, stream bool) (string, string) {
			messages := []object{{"role": "user", "content": []object{{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": prompt}}}}
			for range steps {
				messages = append(messages,
					object{"role": "assistant", "content": []object{{"type": "text", "text": "…"}, {"type": "tool_use", "id": "t", "name": "Bash", "input": object{}}}},
					object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "t", "content": "done"}}})
			}
			return "/v1/messages", asJSON(object{"model": "m", "stream": stream, "messages": messages, "tools": []object{
				{"name": "Bash", "input_schema": schemaOf("command", "description")},
				{"name": "Write", "input_schema": schemaOf("file_path", "content")}}})
		},
		text: func(a string) string { return gjson.Get(a, `content.#(type=="text").text`).String() },
		call: func(a string) (string, string) {
			c := gjson.Get(a, `content.#(type=="tool_use")`)
			return c.Get("name").String(), c.Get("input").Raw
		},
		joined: func(events []string) string {
			var blocks []object
			for _, e := range events {
				switch gjson.Get(e, "type").String() {
				case "content_block_start":
					blocks = append(blocks, gjson.Get(e, "content_block").Value().(object))
				case "content_block_delta":
					last := blocks[len(blocks)-1]
					if text := gjson.Get(e, "delta.text"); text.Exists() {
						last["text"] = text.String()
					} else {
						last["input"] = json.RawMessage(gjson.Get(e, "delta.partial_json").String())
					}
				}
			}
			return asJSON(object{"content": blocks})
		},
	},
	{
		name: "OpenAI Responses",
		request: func(prompt string, steps int, stream bool) (string, string) {
			input := []object{{"type": "message", "role": "developer", "content": []object{{"type": "input_text", "text": "rules"}}},
				{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": prompt}}}}
			for range steps {
				input = append(input, object{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": "…"}}},
					object{"type": "function_call", "name": "exec_command", "call_id": "c", "arguments": "{}"},
					object{"type": "function_call_output", "call_id": "c", "output": "done"})
			}
			return "/responses", asJSON(object{"model": "m", "stream": stream, "input": input, "tools": []object{
				{"type": "web_search"},
				{"type": "function", "name": "exec_command", "parameters": schemaOf("cmd")},
				{"type": "custom", "name": "apply_patch"}}})
		},
		text: func(a string) string { return gjson.Get(a, `output.#(type=="message").content.0.text`).String() },
		call: func(a string) (string, string) {
			if c := gjson.Get(a, `output.#(type=="custom_tool_call")`); c.Exists() {
				return c.Get("name").String(), c.Get("input").String()
			}
			c := gjson.Get(a, `output.#(type=="function_call")`)
			return c.Get("name").String(), c.Get("arguments").String()
		},
		joined: func(events []string) string {
			var items []any
			for _, e := range events {
				if gjson.Get(e, "type").String() == "response.output_item.done" {
					items = append(items, gjson.Get(e, "item").Value())
				}
			}
			return asJSON(object{"output": items})
		},
	},
	{
		name: "OpenAI Chat Completions",
		request: func(prompt string, steps int, stream bool) (string, string) {
			messages := []object{{"role": "system", "content": "rules"}, {"role": "user", "content": prompt}}
			for range steps {
				messages = append(messages, object{"role": "assistant", "content": nil, "tool_calls": []object{{"function": object{"name": "bash"}}}},
					object{"role": "tool", "content": "done"})
			}
			return "/v1/chat/completions", asJSON(object{"model": "m", "stream": stream, "messages": messages, "tools": []object{
				{"function": object{"name": "bash", "parameters": schemaOf("command")}},
				{"function": object{"name": "write", "parameters": schemaOf("filePath", "content")}}}})
		},
		text: func(a string) string { return gjson.Get(a, "choices.0.message.content").String() },
		call: func(a string) (string, string) {
			f := gjson.Get(a, "choices.0.message.tool_calls.0.function")
			return f.Get("name").String(), f.Get("arguments").String()
		},
		joined: func(events []string) string {
			message := object{"content": ""}
			for _, e := range events {
				delta := gjson.Get(e, "choices.0.delta")
				message["content"] = message["content"].(string) + delta.Get("content").String()
				if calls := delta.Get("tool_calls"); calls.Exists() {
					message["tool_calls"] = calls.Value()
				}
			}
			return asJSON(object{"choices": []object{{"message": message}}})
		},
	},
	{
		name: "Gemini",
		request: func(prompt string, steps int, stream bool) (string, string) {
			contents := []object{{"role": "user", "parts": []object{{"text": "<session_context>"}, {"text": prompt}}}}
			for range steps {
				contents = append(contents, object{"role": "model", "parts": []object{{"text": "…"}, {"functionCall": object{"name": "run_shell_command"}}}},
					object{"role": "user", "parts": []object{{"functionResponse": object{"name": "run_shell_command"}}}})
			}
			method := ":generateContent"
			if stream {
				method = ":streamGenerateContent"
			}
			return "/v1beta/models/gemini-2.5-flash" + method, asJSON(object{"contents": contents, "tools": []object{{"functionDeclarations": []object{
				{"name": "run_shell_command", "parametersJsonSchema": schemaOf("command")},
				{"name": "write_file", "parameters": schemaOf("file_path", "content")}}}}})
		},
		text: func(a string) string { return gjson.Get(a, "candidates.0.content.parts.0.text").String() },
		call: func(a string) (string, string) {
			c := gjson.Get(a, "candidates.0.content.parts.1.functionCall")
			return c.Get("name").String(), c.Get("args").Raw
		},
		joined: func(events []string) string { return events[0] },
	},
}

func schemaOf(required ...string) object {
	properties := object{}
	for _, name := range required {
		properties[name] = object{"type": "string"}
	}
	return object{"type": "object", "properties": properties, "required": required}
}

func asJSON(v any) string {
	var b bytes.Buffer
	writeJSON(&b, v)
	return b.String()
}

func TestEveryFormatPlaysTheScript(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, lantern)
			for step, want := range []struct{ text, tool string }{
				{"I look.", shell}, {"I write.", "NOTES.md"}, {"The wick is missing.", ""}, {SideAnswer, ""},
			} {
				var answers []string
				for _, stream := range []bool{false, true} {
					path, body := f.request(prompt, step, stream)
					status, kind, answer := post(t, s, path, body)
					if status != http.StatusOK || stream != strings.HasPrefix(kind, "text/event-stream") {
						t.Fatalf("step %d: status %d, %s: %s", step, status, kind, answer)
					}
					if stream {
						answer = f.joined(data(t, answer))
					}
					answers = append(answers, answer)
				}
				for i, answer := range answers {
					name, input := f.call(answer)
					if got := f.text(answer); got != want.text {
						t.Errorf("step %d, answer %d: text %q, want %q", step, i, got, want.text)
					}
					if (name != "") != (want.tool != "") || !strings.Contains(input, want.tool) {
						t.Errorf("step %d, answer %d: calls %q with %s, want %q in it", step, i, name, input, want.tool)
					}
				}
			}
			path, body := f.request("And the oil?", 0, true)
			if _, _, answer := post(t, s, path, body); f.text(f.joined(data(t, answer))) != "It is full." {
				t.Errorf("another prompt is answered with %s", answer)
			}
		})
	}
}

func TestEveryReplyHasItsOwnNames(t *testing.T) {
	t.Parallel()
	s := start(t, lantern)
	var ids []string
	for range 2 {
		path, body := formats[0].request(prompt, 0, false)
		_, _, answer := post(t, s, path, body)
		ids = append(ids, gjson.Get(answer, "id").String(), gjson.Get(answer, "content.1.id").String())
	}
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 4 {
		t.Errorf("%d different ids, want 4: %v", n, ids)
	}
}

func TestWhatIsAskedBesideIsAnswered(t *testing.T) {
	t.Parallel()
	s := start(t, lantern)
	for _, c := range []struct {
		path   string
		status int
		get    string
		want   string
	}{
		{"/v1/messages/count_tokens", http.StatusOK, "input_tokens", "100"},
		{"/v1beta/models/m:countTokens", http.StatusOK, "totalTokens", "100"},
		{"/v1/models", http.StatusOK, "data.0.id", Model},
		{"/telemetry", http.StatusNotFound, "error.message", "the mock model has no /telemetry"},
		{"/v1/responses", http.StatusBadRequest, "error.type", "invalid_request_error"}, // the body is no request
	} {
		status, _, answer := post(t, s, c.path, "{")
		if got := gjson.Get(answer, c.get).String(); status != c.status || got != c.want {
			t.Errorf("%s: %d %s", c.path, status, answer)
		}
	}
	for _, call := range s.Calls() {
		if !call.Side {
			t.Errorf("%s counts as a step", call.Path)
		}
	}
}
