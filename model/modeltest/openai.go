package modeltest

import (
	"fmt"
	"net/http"
	"strings"
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

type object = map[string]any

func chat(w http.ResponseWriter, c Call, s Step) memoir.Usage {
	body := gjson.ParseBytes(c.Body)
	switch {
	case s.Raw != "":
		writeRaw(w, s)
	case !strings.HasSuffix(c.Path, "/chat/completions"):
		writeJSON(w, http.StatusNotFound, chatError("", "Unknown request URL: POST "+c.Path))
	case s.Status >= http.StatusBadRequest:
		writeJSON(w, s.Status, chatError(s.Code, s.Message))
	case s.NoSchema && body.Get("response_format.type").Str == "json_schema":
		writeJSON(w, http.StatusBadRequest, chatError("",
			"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."))
	case body.Get("stream").Bool():
		return chatStream(w, c, s, body.Get("stream_options.include_usage").Bool())
	case s.Code != "":
		writeJSON(w, http.StatusOK, chatError(s.Code, s.Message))
	default:
		u := tokens(c, s)
		message := object{"role": "assistant", "content": s.Text, "refusal": nil}
		if s.Stop == "refusal" {
			message["content"], message["refusal"] = nil, s.Text
		}
		writeJSON(w, http.StatusOK, object{"object": "chat.completion", "usage": chatUsage(u),
			"choices": []any{object{"index": 0, "message": message, "finish_reason": chatFinish(s.Stop)}}})
		return u
	}
	return memoir.Usage{}
}

func chatStream(w http.ResponseWriter, c Call, s Step, usage bool) memoir.Usage {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta object, finish any) {
		writeEvent(w, "", object{"object": "chat.completion.chunk", "usage": nil,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	send(object{"role": "assistant", "content": "", "refusal": nil}, nil)
	kind := "content"
	if s.Stop == "refusal" {
		kind = "refusal"
	}
	for _, piece := range pieces(s.Text) {
		send(object{kind: piece}, nil)
	}
	if s.Code != "" {
		writeEvent(w, "", chatError(s.Code, s.Message))
		return memoir.Usage{}
	}
	send(object{}, chatFinish(s.Stop))
	u := tokens(c, s)
	if usage {
		writeEvent(w, "", object{"object": "chat.completion.chunk", "choices": []any{}, "usage": chatUsage(u)})
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	return u
}

func chatUsage(u memoir.Usage) object {
	return object{"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens,
		"prompt_tokens_details": object{"cached_tokens": u.CachedTokens}}
}

// chatError is the body of an error.
func chatError(code, message string) object {
	e := object{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	if code == "insufficient_quota" {
		e["type"] = code
	}
	return object{"error": e}
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
