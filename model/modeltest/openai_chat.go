package modeltest

import (
	"net/http"
	"testing"

	"github.com/tidwall/gjson"

	"memoir"
)

// OpenAIChat starts a server of OpenAI's Chat Completions at any path that ends in
// /chat/completions. A call that asks for a stream gets one. A step with a Code and no
// Status fails as servers do that have begun to answer: with status 200.
func OpenAIChat(t testing.TB, reply func(n int, c Call) Step) *Server {
	t.Helper()
	return serve(t, chat, reply)
}

func chat(w http.ResponseWriter, c Call, s Step) memoir.Usage {
	if openAI(w, c, s, "/chat/completions", "response_format") {
		return memoir.Usage{}
	}
	if streams(c) {
		return chatStream(w, c, s)
	}
	if s.Code != "" {
		writeJSON(w, http.StatusOK, openAIError(0, s.Code, s.Message, ""))
		return memoir.Usage{}
	}
	message := map[string]any{"role": "assistant", "content": s.Text, "refusal": nil}
	if s.Stop == "refusal" {
		message["content"], message["refusal"] = nil, s.Text
	}
	u := tokens(c, s)
	body := chatBody(c, "chat.completion", map[string]any{
		"index": 0, "message": message, "finish_reason": chatFinish(s.Stop), "logprobs": nil,
	})
	body["usage"] = used(u, "prompt_tokens", "completion_tokens")
	writeJSON(w, http.StatusOK, body)
	return u
}

func chatStream(w http.ResponseWriter, c Call, s Step) memoir.Usage {
	w.Header().Set("Content-Type", "text/event-stream")
	usage := gjson.GetBytes(c.Body, "stream_options.include_usage").Bool()
	send := func(delta map[string]any, finish any) {
		body := chatBody(
			c,
			"chat.completion.chunk",
			map[string]any{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil},
		)
		if usage {
			body["usage"] = nil
		}
		writeEvent(w, "", body)
	}
	send(map[string]any{"role": "assistant", "content": "", "refusal": nil}, nil)
	kind := "content"
	if s.Stop == "refusal" {
		kind = "refusal"
	}
	for _, piece := range pieces(s.Text) {
		send(map[string]any{kind: piece}, nil)
	}
	if s.Code != "" {
		writeEvent(w, "", openAIError(0, s.Code, s.Message, ""))
		return memoir.Usage{}
	}
	send(map[string]any{}, chatFinish(s.Stop))
	u := tokens(c, s)
	if usage {
		body := chatBody(c, "chat.completion.chunk")
		body["usage"] = used(u, "prompt_tokens", "completion_tokens")
		writeEvent(w, "", body)
	}
	writeEvent(w, "", "[DONE]")
	return u
}

func chatBody(c Call, object string, choices ...any) map[string]any {
	if choices == nil {
		choices = []any{}
	}
	return map[string]any{
		"id": "chatcmpl-1", "object": object, "created": 1700000000,
		"model": gjson.GetBytes(c.Body, "model").Str, "choices": choices,
	}
}

func chatFinish(stop string) string {
	switch stop {
	case "length":
		return "length"
	case "filter":
		return "content_filter"
	}
	return "stop"
}
