package mockmodel

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"memoir/model/modeltest"
)

type object = map[string]any

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

func start(t *testing.T) *modeltest.Server {
	t.Helper()
	s := Start(lantern)
	t.Cleanup(s.Close)
	return s
}

func post(t *testing.T, s *modeltest.Server, path, body string) (status int, kind, answer string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
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

// paths are where an answer, or the events of a stream, have their text and their calls.
type paths struct{ text, name, input string }

// at puts together what an answer has at a path.
func at(answer, path string) (found string) {
	events := []string{answer}
	if strings.Contains(answer, "data: ") {
		events = strings.Split(answer, "data: ")
	}
	for _, event := range events {
		for _, value := range gjson.Get(event, path).Array() {
			found += value.String()
		}
	}
	return found
}

// each format: a request after n steps of the first turn, and where its answers have what.
var formats = []struct {
	name          string
	request       func(prompt string, steps int, stream bool) (path string, body object)
	whole, stream paths
}{
	{
		name: "Anthropic Messages",
		request: func(prompt string, steps int, stream bool) (string, object) {
			messages := []object{{"role": "user", "content": []object{{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": prompt}}}}
			for range steps {
				messages = append(messages,
					object{"role": "assistant", "content": []object{{"type": "text", "text": "…"}, {"type": "tool_use", "id": "t", "name": "Bash", "input": object{}}}},
					object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "t", "content": "done"}}})
			}
			return "/v1/messages", object{"model": "m", "max_tokens": 9, "stream": stream, "messages": messages, "tools": []object{
				{"name": "Bash", "input_schema": schemaOf("command", "description")},
				{"name": "Write", "input_schema": schemaOf("file_path", "content")}}}
		},
		whole:  paths{"content.#.text", "content.#.name", "content.#.input"},
		stream: paths{"delta.text", "content_block.name", "delta.partial_json"},
	},
	{
		name: "OpenAI Responses",
		request: func(prompt string, steps int, stream bool) (string, object) {
			input := []object{{"type": "message", "role": "developer", "content": []object{{"type": "input_text", "text": "rules"}}},
				{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": prompt}}}}
			for range steps {
				input = append(input, object{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": "…"}}},
					object{"type": "function_call", "name": "exec_command", "call_id": "c", "arguments": "{}"},
					object{"type": "function_call_output", "call_id": "c", "output": "done"})
			}
			return "/responses", object{"model": "m", "stream": stream, "input": input, "tools": []object{
				{"type": "web_search"},
				{"type": "function", "name": "exec_command", "parameters": schemaOf("cmd")},
				{"type": "custom", "name": "apply_patch"}}}
		},
		whole:  paths{"output.#.content.0.text", "output.#.name", "output.#.[arguments,input]"},
		stream: paths{"item.content.0.text", "item.name", "[item.arguments,item.input]"},
	},
	{
		name: "OpenAI Chat Completions",
		request: func(prompt string, steps int, stream bool) (string, object) {
			messages := []object{{"role": "system", "content": "rules"}, {"role": "user", "content": prompt}}
			for range steps {
				messages = append(messages, object{"role": "assistant", "content": nil, "tool_calls": []object{{"function": object{"name": "bash"}}}},
					object{"role": "tool", "content": "done"})
			}
			return "/v1/chat/completions", object{"model": "m", "stream": stream, "messages": messages, "tools": []object{
				{"function": object{"name": "bash", "parameters": schemaOf("command")}},
				{"function": object{"name": "write", "parameters": schemaOf("filePath", "content")}}}}
		},
		whole: paths{"choices.0.message.content", "choices.0.message.tool_calls.#.function.name",
			"choices.0.message.tool_calls.#.function.arguments"},
		stream: paths{"choices.0.delta.content", "choices.0.delta.tool_calls.#.function.name",
			"choices.0.delta.tool_calls.#.function.arguments"},
	},
	{
		name: "Gemini",
		request: func(prompt string, steps int, stream bool) (string, object) {
			contents := []object{{"role": "user", "parts": []object{{"text": "<session_context>"}, {"text": prompt}}}}
			for range steps {
				contents = append(contents, object{"role": "model", "parts": []object{{"text": "…"}, {"functionCall": object{"name": "run_shell_command"}}}},
					object{"role": "user", "parts": []object{{"functionResponse": object{"name": "run_shell_command"}}}})
			}
			method := map[bool]string{false: ":generateContent", true: ":streamGenerateContent"}[stream]
			return "/v1beta/models/gemini-2.5-flash" + method, object{"contents": contents, "tools": []object{{"functionDeclarations": []object{
				{"name": "run_shell_command", "parametersJsonSchema": schemaOf("command")},
				{"name": "write_file", "parameters": schemaOf("file_path", "content")}}}}}
		},
		whole:  paths{"candidates.0.content.parts.#.text", "candidates.0.content.parts.#.functionCall.name", "candidates.0.content.parts.#.functionCall.args"},
		stream: paths{"candidates.0.content.parts.#.text", "candidates.0.content.parts.#.functionCall.name", "candidates.0.content.parts.#.functionCall.args"},
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
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestEveryFormatPlaysTheScript(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			ids := map[string]bool{}
			for step, want := range []struct{ text, tool string }{
				{"I look.", shell}, {"I write.", "NOTES.md"}, {"The wick is missing.", ""}, {SideAnswer, ""},
			} {
				for stream, p := range map[bool]paths{false: f.whole, true: f.stream} {
					path, body := f.request(prompt, step, stream)
					status, kind, answer := post(t, s, path, asJSON(body))
					if status != http.StatusOK || stream != strings.HasPrefix(kind, "text/event-stream") {
						t.Fatalf("step %d: status %d, %s: %s", step, status, kind, answer)
					}
					if got := at(answer, p.text); got != want.text {
						t.Errorf("step %d, stream %t: text %q, want %q", step, stream, got, want.text)
					}
					if name, input := at(answer, p.name), at(answer, p.input); (name != "") != (want.tool != "") || !strings.Contains(input, want.tool) {
						t.Errorf("step %d, stream %t: calls %q with %s, want %q in it", step, stream, name, input, want.tool)
					}
					ids[at(answer, "[id,responseId,message.id,response.id]")] = true
				}
			}
			if len(ids) != 8 {
				t.Errorf("8 answers have the ids %v", ids)
			}
			path, body := f.request("And the oil?", 0, false)
			if _, _, answer := post(t, s, path, asJSON(body)); at(answer, f.whole.text) != "It is full." {
				t.Errorf("another prompt is answered with %s", answer)
			}
		})
	}
}

func TestWhatIsAskedBesideIsAnswered(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, c := range []struct {
		path   string
		status int
		get    string
		want   string
	}{
		{"/v1/messages/count_tokens", http.StatusOK, "input_tokens", "100"},
		{"/v1beta/models/m:countTokens", http.StatusOK, "totalTokens", "100"},
		{"/v1/models", http.StatusOK, "data.0.id", Model},
		{"/telemetry", http.StatusNotFound, "error.message", "the mock model has no such path"},
		{"/v1/responses", http.StatusBadRequest, "error.type", "invalid_request_error"}, // the body is no request
	} {
		status, _, answer := post(t, s, c.path, "{")
		if got := gjson.Get(answer, c.get).String(); status != c.status || got != c.want {
			t.Errorf("%s: %d %s", c.path, status, answer)
		}
	}
}
