package mockmodel

import (
	"encoding/json"
	"io"
	"net/http"
)

// chat is OpenAI's Chat Completions.
type chat struct{}

func (chat) decode(_ string, body []byte) (Request, error) {
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role      string  `json:"role"`
			Content   content `json:"content"`
			ToolCalls []struct {
				Function struct {
					Name string `json:"name"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string `json:"name"`
				Parameters Schema `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{Model: in.Model, Stream: in.Stream}
	for _, m := range in.Messages {
		out := Message{Role: role(m.Role), Text: string(m.Content)}
		if out.Role == RoleTool {
			out.Text, out.Given = "", out.Text
		}
		for _, c := range m.ToolCalls {
			out.Calls = append(out.Calls, c.Function.Name)
		}
		req.add(out)
	}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, Tool{Name: t.Function.Name, Schema: t.Function.Parameters})
	}
	return req, nil
}

func (chat) write(w http.ResponseWriter, req Request, reply Reply) {
	finish := "stop"
	message := object{"role": "assistant", "content": reply.Text}
	var calls []object
	for i, c := range reply.Calls {
		finish = "tool_calls"
		calls = append(calls, object{"index": i, "id": c.ID, "type": "function",
			"function": object{"name": c.Name, "arguments": compact(c.Input)}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	usage := object{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
	answer := func(kind string, choices ...object) object {
		return object{"id": "chatcmpl-mock", "object": kind, "created": 1767225600, "model": req.Model, "choices": choices}
	}
	if !req.Stream {
		out := answer("chat.completion", object{"index": 0, "message": message, "finish_reason": finish})
		out["usage"] = usage
		w.Header().Set("Content-Type", "application/json")
		writeJSON(w, out)
		return
	}
	e := stream(w)
	const chunk = "chat.completion.chunk"
	e.send("", answer(chunk, object{"index": 0, "delta": object{"role": "assistant", "content": ""}, "finish_reason": nil}))
	e.send("", answer(chunk, object{"index": 0, "delta": object{"content": reply.Text}, "finish_reason": nil}))
	if calls != nil {
		e.send("", answer(chunk, object{"index": 0, "delta": object{"tool_calls": calls}, "finish_reason": nil}))
	}
	last := answer(chunk, object{"index": 0, "delta": object{}, "finish_reason": finish})
	last["usage"] = usage
	e.send("", last)
	io.WriteString(w, "data: [DONE]\n\n")
}
