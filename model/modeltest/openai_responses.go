package modeltest

import (
	"net/http"
	"testing"

	"github.com/tidwall/gjson"

	"memoir"
)

// OpenAIResponses starts a server of OpenAI's Responses at any path that ends in
// /responses. A call that asks for a stream gets one. A step with a Code and no Status
// fails as servers do that have begun to answer: with a response that failed.
func OpenAIResponses(t testing.TB, reply func(n int, c Call) Step) *Server {
	t.Helper()
	return serve(t, response, reply)
}

func response(w http.ResponseWriter, c Call, s Step) memoir.Usage {
	if openAI(w, c, s, "/responses", "text.format") {
		return memoir.Usage{}
	}
	u := tokens(c, s)
	body := responseBody(c, s, u)
	if streams(c) {
		responseStream(w, c, s, body)
	} else {
		writeJSON(w, http.StatusOK, body)
	}
	if s.Code != "" {
		return memoir.Usage{}
	}
	return u
}

// responseBody is the whole response: its state, what it holds and what it cost.
func responseBody(c Call, s Step, u memoir.Usage) map[string]any {
	body := map[string]any{
		"id": "resp_1", "object": "response", "created_at": 1700000000, "model": gjson.GetBytes(c.Body, "model").Str,
		"status": "completed", "error": nil, "incomplete_details": nil,
		"output": []any{
			map[string]any{"type": "reasoning", "id": "rs_1", "summary": []any{}},
			responseMessage(s, "completed"),
		},
		"usage": used(u, "input_tokens", "output_tokens"),
	}
	switch {
	case s.Code != "":
		body["status"], body["output"], body["usage"] = "failed", []any{}, nil
		body["error"] = map[string]any{"code": s.Code, "message": s.Message}
	case s.Stop == "length":
		body["status"], body["incomplete_details"] = "incomplete", map[string]any{"reason": "max_output_tokens"}
	case s.Stop == "filter":
		body["status"], body["incomplete_details"] = "incomplete", map[string]any{"reason": "content_filter"}
	}
	return body
}

func responseMessage(s Step, status string) map[string]any {
	return map[string]any{
		"type": "message", "id": "msg_1", "role": "assistant", "status": status,
		"content": []any{responsePart(s, s.Text)},
	}
}

func responsePart(s Step, text string) map[string]any {
	if s.Stop == "refusal" {
		return map[string]any{"type": "refusal", "refusal": text}
	}
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

func responseStream(w http.ResponseWriter, c Call, s Step, whole map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	n := 0
	send := func(name string, body map[string]any) {
		body["type"], body["sequence_number"] = name, n
		n++
		writeEvent(w, name, body)
	}
	begun := responseBody(c, Step{}, memoir.Usage{})
	begun["status"], begun["output"], begun["usage"] = "in_progress", []any{}, nil
	send("response.created", map[string]any{"response": begun})
	send("response.in_progress", map[string]any{"response": begun})
	kind, field := "output_text", "text"
	if s.Stop == "refusal" {
		kind, field = "refusal", "refusal"
	}
	at := func(fields map[string]any) map[string]any {
		fields["item_id"], fields["output_index"], fields["content_index"] = "msg_1", 1, 0
		return fields
	}
	open := responseMessage(s, "in_progress")
	open["content"] = []any{}
	send("response.output_item.added", map[string]any{"output_index": 1, "item": open})
	send("response.content_part.added", at(map[string]any{"part": responsePart(s, "")}))
	for _, piece := range pieces(s.Text) {
		send("response."+kind+".delta", at(map[string]any{"delta": piece}))
	}
	if s.Code != "" {
		send("response.failed", map[string]any{"response": whole})
		return
	}
	send("response."+kind+".done", at(map[string]any{field: s.Text}))
	send("response.content_part.done", at(map[string]any{"part": responsePart(s, s.Text)}))
	send("response.output_item.done", map[string]any{"output_index": 1, "item": responseMessage(s, "completed")})
	name := "response.completed"
	if whole["status"] == "incomplete" {
		name = "response.incomplete"
	}
	send(name, map[string]any{"response": whole})
}
