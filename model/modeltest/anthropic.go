package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"memoir"
)

// Anthropic serves Anthropic's Messages API at URL/v1/messages. It refuses what the
// API refuses: no cap on the output, an empty text, thinking or a temperature that
// does not go with the rest. A forced tool is called if a step's text is a JSON
// object; any other text is written instead, as models do now and then. The parts of
// a prompt that are marked for the cache are written to it once and read from then
// on; unlike the API's, no part is too short for it.
//
// A step with a Code and no Status fails in the middle of a stream.
func Anthropic(t testing.TB, reply func(n int, c Call) Step) *Server {
	t.Helper()
	a := &anthropicFormat{cached: map[string]bool{}}
	return serve(t, a.answer, reply)
}

// anthropicFormat is one server's prompt cache.
type anthropicFormat struct {
	mu     sync.Mutex
	cached map[string]bool
}

type anthropicRequest struct {
	Model     string `json:"model"`
	MaxTokens *int   `json:"max_tokens"`
	System    []struct {
		Text         string `json:"text"`
		CacheControl *struct {
			Type string `json:"type"`
		} `json:"cache_control"`
	} `json:"system"`
	Messages []struct {
		Role    string `json:"role"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string `json:"name"`
		InputSchema struct {
			Type string `json:"type"`
		} `json:"input_schema"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	Thinking struct {
		Type         string `json:"type"`
		BudgetTokens int    `json:"budget_tokens"`
	} `json:"thinking"`
	Temperature *float64 `json:"temperature"`
	Stream      bool     `json:"stream"`
}

// forced reports whether the model must call a tool.
func (q anthropicRequest) forced() bool {
	return q.ToolChoice.Type == "tool" || q.ToolChoice.Type == "any"
}

// wrong says what the API would refuse, or "".
func (q anthropicRequest) wrong() string {
	switch {
	case q.Model == "":
		return "model: Field required"
	case q.MaxTokens == nil:
		return "max_tokens: Field required"
	case *q.MaxTokens < 1:
		return "max_tokens: Input should be greater than or equal to 1"
	case len(q.Messages) == 0:
		return "messages: at least one message is required"
	case q.Messages[len(q.Messages)-1].Role != "user":
		return "This model does not support assistant message prefill. The conversation must end with a user message."
	case q.Thinking.Type == "enabled" && q.forced():
		return "Thinking may not be enabled when tool_choice forces tool use."
	case q.Thinking.Type == "enabled" && q.Thinking.BudgetTokens < 1024:
		return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
	case q.Thinking.Type == "enabled" && q.Thinking.BudgetTokens >= *q.MaxTokens:
		return "`max_tokens` must be greater than `thinking.budget_tokens`."
	case q.Thinking.Type == "enabled" && q.Temperature != nil && *q.Temperature != 1:
		return "`temperature` may only be set to 1 when thinking is enabled."
	}
	for _, s := range q.System {
		if s.Text == "" {
			return "system: text content blocks must be non-empty"
		}
	}
	for i, m := range q.Messages {
		for _, block := range m.Content {
			if block.Type == "text" && strings.TrimSpace(block.Text) == "" {
				return fmt.Sprintf("messages.%d: text content blocks must be non-empty", i)
			}
		}
	}
	named := q.ToolChoice.Type != "tool"
	for i, tool := range q.Tools {
		if tool.InputSchema.Type != "object" {
			return fmt.Sprintf("tools.%d.custom.input_schema.type: Input should be 'object'", i)
		}
		named = named || tool.Name == q.ToolChoice.Name
	}
	if !named {
		return fmt.Sprintf("Tool '%s' not found in provided tools", q.ToolChoice.Name)
	}
	return ""
}

func (a *anthropicFormat) answer(w http.ResponseWriter, c Call, s Step) memoir.Usage {
	var q anthropicRequest
	switch {
	case c.Path != "/v1/messages":
		return anthropicError(w, http.StatusNotFound, "not_found_error", "Not found")
	case s.Status >= http.StatusBadRequest && s.Raw == "":
		return anthropicError(w, s.Status, s.Code, s.Message)
	case s.Raw != "":
		kind := "text/html; charset=utf-8"
		switch {
		case strings.HasPrefix(s.Raw, "{"):
			kind = "application/json"
		case strings.HasPrefix(s.Raw, "event:"):
			kind = "text/event-stream; charset=utf-8"
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(max(s.Status, http.StatusOK))
		_, _ = fmt.Fprint(w, s.Raw)
		return memoir.Usage{}
	case c.Header.Get("anthropic-version") == "":
		return anthropicError(w, http.StatusBadRequest, "", "anthropic-version: header is required")
	}
	if err := json.Unmarshal(c.Body, &q); err != nil {
		return anthropicError(w, http.StatusBadRequest, "", "The request body is not valid JSON: "+err.Error())
	}
	if wrong := q.wrong(); wrong != "" {
		return anthropicError(w, http.StatusBadRequest, "", wrong)
	}
	if s.NoSchema && q.forced() {
		return anthropicError(
			w,
			http.StatusBadRequest,
			"",
			"tool_choice: forced tool use is not supported for this model.",
		)
	}
	if s.Code != "" && !q.Stream {
		return anthropicError(w, 0, s.Code, s.Message)
	}
	used, written := a.usage(q, c, s)
	block, stop := anthropicContent(q, s)
	message := map[string]any{
		"id": "msg_fake", "type": "message", "role": "assistant", "model": q.Model, "content": []any{},
		"stop_reason": stop, "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens":                used.InputTokens - used.CachedTokens - written,
			"cache_read_input_tokens":     used.CachedTokens,
			"cache_creation_input_tokens": written,
			"output_tokens":               used.OutputTokens,
			"service_tier":                "standard",
		},
	}
	if q.Stream {
		return anthropicStream(w, message, block, s, used)
	}
	if block != nil {
		message["content"] = []any{block}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(message)
	return used
}

// usage counts a call, and how many tokens of it were written to the cache.
func (a *anthropicFormat) usage(q anthropicRequest, c Call, s Step) (used memoir.Usage, written int64) {
	used = tokens(c, s)
	if s.Usage.InputTokens+s.Usage.OutputTokens > 0 {
		return used, 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	prefix := q.Model
	for _, part := range q.System {
		prefix += "\x00" + part.Text
		if part.CacheControl == nil || part.CacheControl.Type != "ephemeral" {
			continue
		}
		n := int64(memoir.Tokens(part.Text))
		if a.cached[prefix] {
			used.CachedTokens += n
		} else {
			written += n
		}
		a.cached[prefix] = true
	}
	return used, written
}

// anthropicContent is the block that a step answers with, nil if it says nothing,
// and why it ends.
func anthropicContent(q anthropicRequest, s Step) (block map[string]any, stop string) {
	stop = "end_turn"
	var object map[string]json.RawMessage
	switch {
	case s.Text == "":
	case len(q.Tools) > 0 && json.Unmarshal([]byte(s.Text), &object) == nil:
		stop = "tool_use"
		block = map[string]any{
			"type":  "tool_use",
			"id":    "toolu_fake",
			"name":  q.Tools[0].Name,
			"input": json.RawMessage(s.Text),
		}
	default:
		block = map[string]any{"type": "text", "text": s.Text}
	}
	switch s.Stop {
	case "length":
		stop = "max_tokens"
	case "refusal", "filter":
		stop = "refusal"
	case "":
	default:
		stop = s.Stop
	}
	return block, stop
}

// anthropicStream sends a message in pieces.
func anthropicStream(w http.ResponseWriter, message, block map[string]any, s Step, used memoir.Usage) memoir.Usage {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		data, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
		_ = http.NewResponseController(w).Flush()
	}
	stop, usage := message["stop_reason"], message["usage"].(map[string]any)
	message["stop_reason"] = nil
	usage["output_tokens"] = 1
	send("message_start", map[string]any{"message": message})
	send("ping", map[string]any{})
	if s.Code != "" {
		send("error", map[string]any{"error": map[string]any{"type": s.Code, "message": s.Message}})
		used.OutputTokens = 1
		return used
	}
	if block != nil {
		kind, field, text := "text_delta", "text", s.Text
		if block["type"] == "tool_use" {
			kind, field, block["input"] = "input_json_delta", "partial_json", map[string]any{}
		} else {
			block["text"] = ""
		}
		send("content_block_start", map[string]any{"index": 0, "content_block": block})
		half := len(text) / 2
		for !utf8.RuneStart(text[half]) { // a piece of a character is none
			half--
		}
		for _, piece := range []string{text[:half], text[half:]} {
			send("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": kind, field: piece}})
		}
		send("content_block_stop", map[string]any{"index": 0})
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": used.OutputTokens},
	})
	send("message_stop", map[string]any{})
	return used
}

// anthropicErrors are the types of errors, with the status that each comes with.
var anthropicErrors = []struct {
	status int
	kind   string
}{
	{400, "invalid_request_error"}, {401, "authentication_error"}, {402, "billing_error"}, {403, "permission_error"},
	{404, "not_found_error"}, {413, "request_too_large"}, {429, "rate_limit_error"}, {500, "api_error"},
	{504, "timeout_error"}, {529, "overloaded_error"},
}

// anthropicError answers with an error; status or kind may be left out.
func anthropicError(w http.ResponseWriter, status int, kind, message string) memoir.Usage {
	for _, e := range anthropicErrors {
		if kind == "" && e.status == status {
			kind = e.kind
		}
		if status == 0 && e.kind == kind {
			status = e.status
		}
	}
	if kind == "" {
		kind = "api_error"
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_fake")
	w.WriteHeader(max(status, http.StatusBadRequest))
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_fake",
	})
	return memoir.Usage{}
}
