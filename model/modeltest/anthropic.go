package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"memoir"
)

// Anthropic serves Anthropic's Messages API at URL/v1/messages. It refuses what the
// API refuses: no cap on the output, an empty text. A forced tool is called if a step's
// text is a JSON object; any other text is written instead, as models do now and then.
//
// A step with a Code and no Status fails in the middle of a stream.
func Anthropic(t testing.TB, reply func(n int, c Call) Step) *Server {
	t.Helper()
	return serve(t, anthropic, reply)
}

func anthropic(w http.ResponseWriter, c Call, s Step) memoir.Usage {
	body := gjson.ParseBytes(c.Body)
	wrong := anthropicWrong(c, body)
	switch {
	case c.Path != "/v1/messages":
		return anthropicError(w, http.StatusNotFound, "not_found_error", "Not found")
	case s.Raw != "":
		writeRaw(w, s)
		return memoir.Usage{}
	case s.Status >= http.StatusBadRequest:
		return anthropicError(w, s.Status, s.Code, s.Message)
	case wrong != "":
		return anthropicError(w, http.StatusBadRequest, "", wrong)
	case s.NoSchema && body.Get("tool_choice").Exists():
		return anthropicError(w, http.StatusBadRequest, "", "tool_choice: forced tool use is not supported for this model.")
	case s.Code != "" && !body.Get("stream").Bool():
		return anthropicError(w, 0, s.Code, s.Message)
	}
	used := tokens(c, s)
	block, stop := anthropicContent(body.Get("tools.0.name").Str, s)
	message := object{
		"type": "message", "role": "assistant", "content": []any{}, "stop_reason": stop,
		"usage": object{
			"input_tokens":                used.InputTokens - used.CachedTokens,
			"cache_read_input_tokens":     used.CachedTokens,
			"cache_creation_input_tokens": 0,
			"output_tokens":               used.OutputTokens,
		},
	}
	if body.Get("stream").Bool() {
		return anthropicStream(w, message, block, s, used)
	}
	if block != nil {
		message["content"] = []any{block}
	}
	writeJSON(w, http.StatusOK, message)
	return used
}

// anthropicWrong says what the API would refuse, or "".
func anthropicWrong(c Call, body gjson.Result) string {
	switch {
	case c.Header.Get("anthropic-version") == "":
		return "anthropic-version: header is required"
	case body.Get("model").Str == "":
		return "model: Field required"
	case body.Get("max_tokens").Int() < 1:
		return "max_tokens: Field required"
	case body.Get("messages.0.role").Str != "user":
		return "messages: the first must be the user's"
	}
	for i, m := range body.Get("messages").Array() {
		if strings.TrimSpace(m.Get("content.0.text").Str) == "" {
			return fmt.Sprintf("messages.%d: text content blocks must be non-empty", i)
		}
	}
	if name := body.Get("tool_choice.name"); name.Exists() && name.Str != body.Get("tools.0.name").Str {
		return fmt.Sprintf("Tool '%s' not found in provided tools", name.Str)
	}
	return ""
}

// anthropicContent is the block that a step answers with, nil if it says nothing,
// and why it ends.
func anthropicContent(tool string, s Step) (block object, stop string) {
	stop = "end_turn"
	var input map[string]json.RawMessage
	switch {
	case s.Text == "":
	case tool != "" && json.Unmarshal([]byte(s.Text), &input) == nil:
		stop = "tool_use"
		block = object{"type": "tool_use", "id": "toolu_fake", "name": tool, "input": json.RawMessage(s.Text)}
	default:
		block = object{"type": "text", "text": s.Text}
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
func anthropicStream(w http.ResponseWriter, message, block object, s Step, used memoir.Usage) memoir.Usage {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	send := func(kind string, fields object) {
		fields["type"] = kind
		writeEvent(w, kind, fields)
	}
	stop := message["stop_reason"]
	message["stop_reason"] = nil
	message["usage"].(object)["output_tokens"] = 1
	send("message_start", object{"message": message})
	send("ping", object{})
	if s.Code != "" {
		send("error", object{"error": object{"type": s.Code, "message": s.Message}})
		used.OutputTokens = 1
		return used
	}
	if block != nil {
		kind, field := "text_delta", "text"
		if block["type"] == "tool_use" {
			kind, field, block["input"] = "input_json_delta", "partial_json", object{}
		} else {
			block["text"] = ""
		}
		send("content_block_start", object{"index": 0, "content_block": block})
		for _, piece := range pieces(s.Text) {
			send("content_block_delta", object{"index": 0, "delta": object{"type": kind, field: piece}})
		}
		send("content_block_stop", object{"index": 0})
	}
	send("message_delta", object{"delta": object{"stop_reason": stop}, "usage": object{"output_tokens": used.OutputTokens}})
	send("message_stop", object{})
	return used
}

// anthropicErrors are the types of errors, with the status that each comes with.
var anthropicErrors = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
	404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error",
	504: "timeout_error", 529: "overloaded_error",
}

// anthropicError answers with an error; status or kind may be left out.
func anthropicError(w http.ResponseWriter, status int, kind, message string) memoir.Usage {
	if kind == "" {
		kind = anthropicErrors[status]
	}
	for its, k := range anthropicErrors {
		if status == 0 && k == kind {
			status = its
		}
	}
	writeJSON(w, max(status, http.StatusBadRequest),
		object{"type": "error", "error": object{"type": kind, "message": message}})
	return memoir.Usage{}
}
