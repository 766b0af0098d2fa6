package modeltest

import (
	"fmt"
	"maps"
	"net/http"

	"github.com/tidwall/gjson"

	"memoir"
)

// chat is OpenAI's Chat Completions. A step with a Code and no Status fails as some servers
// do: with status 200.
func chat(w http.ResponseWriter, c Call, s Step) memoir.Usage {
	body := gjson.ParseBytes(c.Body)
	switch {
	case s.NoSchema && body.Get("response_format.type").Str == "json_schema":
		writeJSON(w, http.StatusBadRequest, openAIError("",
			"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."))
		return memoir.Usage{}
	case s.Code != "":
		writeJSON(w, http.StatusOK, openAIError(s.Code, s.Message))
		return memoir.Usage{}
	}
	u := tokens(c, s)
	usage := object{"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens,
		"prompt_tokens_details": object{"cached_tokens": u.CachedTokens}, "total_tokens": u.InputTokens + u.OutputTokens}
	kind := "content"
	if s.Stop == "refusal" {
		kind = "refusal"
	}
	finish := map[string]string{"length": "length", "filter": "content_filter"}[s.Stop]
	if finish == "" {
		finish = "stop"
	}
	var calls []object
	for i, call := range s.Calls {
		finish = "tool_calls"
		calls = append(calls, object{"index": i, "id": call.ID, "type": "function",
			"function": object{"name": call.Name, "arguments": compact(call.Input)}})
	}
	answer := func(form string, choices ...any) object {
		return object{"id": "chatcmpl-" + c.id(), "object": form, "created": 1767225600, "model": body.Get("model").Str,
			"choices": choices}
	}
	if !body.Get("stream").Bool() {
		message := object{"role": "assistant", "content": nil, "refusal": nil}
		if message[kind] = s.Text; calls != nil {
			message["tool_calls"] = calls
		}
		out := answer("chat.completion", object{"index": 0, "message": message, "finish_reason": finish})
		out["usage"] = usage
		writeJSON(w, http.StatusOK, out)
		return u
	}
	send := func(delta object, finish any) {
		chunk := answer("chat.completion.chunk", object{"index": 0, "delta": delta, "finish_reason": finish})
		chunk["usage"] = nil
		writeEvent(w, "", chunk)
	}
	send(object{"role": "assistant", "content": "", "refusal": nil}, nil)
	send(object{kind: s.Text}, nil)
	if calls != nil {
		send(object{"tool_calls": calls}, nil)
	}
	send(object{}, finish)
	if body.Get("stream_options.include_usage").Bool() {
		last := answer("chat.completion.chunk")
		last["choices"], last["usage"] = []any{}, usage
		writeEvent(w, "", last)
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	return u
}

// openAIError is the body of an error.
func openAIError(code, message string) object {
	e := object{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	if code == "insufficient_quota" {
		e["type"] = code
	}
	return object{"error": e}
}

// responses is OpenAI's Responses.
func responses(w http.ResponseWriter, c Call, s Step) memoir.Usage {
	body, u := gjson.ParseBytes(c.Body), tokens(c, s)
	items := []object{}
	if s.Text != "" {
		items = append(items, object{"type": "message", "id": "msg_" + c.id(), "role": "assistant", "status": "completed",
			"content": []object{outputText(s.Text)}})
	}
	for _, call := range s.Calls {
		item := object{"type": "function_call", "id": "fc_" + call.ID, "call_id": call.ID, "name": call.Name,
			"status": "completed", "arguments": compact(call.Input)}
		if call.Custom {
			item["type"], item["input"] = "custom_tool_call", item["arguments"]
			delete(item, "arguments")
		}
		if call.Namespace != "" {
			item["namespace"] = call.Namespace
		}
		items = append(items, item)
	}
	response := object{"id": "resp_" + c.id(), "object": "response", "created_at": 1767225600, "status": "completed",
		"model": body.Get("model").Str, "output": items, "error": nil, "incomplete_details": nil,
		"usage": object{"input_tokens": u.InputTokens, "input_tokens_details": object{"cached_tokens": u.CachedTokens},
			"output_tokens": u.OutputTokens, "output_tokens_details": object{"reasoning_tokens": 0},
			"total_tokens": u.InputTokens + u.OutputTokens}}
	if !body.Get("stream").Bool() {
		writeJSON(w, http.StatusOK, response)
		return u
	}
	number := 0
	send := func(kind string, members object) {
		members["type"], members["sequence_number"] = kind, number
		number++
		writeEvent(w, kind, members)
	}
	begun := maps.Clone(response)
	begun["status"], begun["output"], begun["usage"] = "in_progress", []object{}, nil
	send("response.created", object{"response": begun})
	for i, item := range items {
		started := maps.Clone(item)
		started["status"] = "in_progress"
		at := func(members object) object {
			members["output_index"], members["item_id"], members["content_index"] = i, item["id"], 0
			return members
		}
		form, field := "response.function_call_arguments", "arguments"
		switch item["type"] {
		case "message":
			form, field = "response.output_text", "content"
		case "custom_tool_call":
			form, field = "response.custom_tool_call_input", "input"
		}
		whole, name := item[field], field
		if started[field] = ""; field == "content" {
			started[field], whole, name = []object{}, s.Text, "text"
		}
		send("response.output_item.added", object{"output_index": i, "item": started})
		if field == "content" {
			send("response.content_part.added", at(object{"part": outputText("")}))
		}
		send(form+".delta", at(object{"delta": whole}))
		send(form+".done", at(object{name: whole}))
		if field == "content" {
			send("response.content_part.done", at(object{"part": outputText(s.Text)}))
		}
		send("response.output_item.done", object{"output_index": i, "item": item})
	}
	send("response.completed", object{"response": response})
	return u
}

func outputText(text string) object {
	return object{"type": "output_text", "text": text, "annotations": []object{}}
}
