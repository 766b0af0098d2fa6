package mockmodel

import (
	"encoding/json"
	"net/http"
)

// anthropic is Anthropic's Messages.
type anthropic struct{}

func (anthropic) decode(_ string, body []byte) (Request, error) {
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string `json:"name"`
			InputSchema Schema `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{Model: in.Model, Stream: in.Stream}
	for _, m := range in.Messages {
		out := Message{Role: role(m.Role)}
		var text content
		_ = text.UnmarshalJSON(m.Content)
		out.Text = string(text)
		var blocks []struct {
			Type    string  `json:"type"`
			Name    string  `json:"name"`
			Content content `json:"content"`
		}
		_ = json.Unmarshal(m.Content, &blocks) // fails for a message that is a string
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				out.Calls = append(out.Calls, b.Name)
			case "tool_result":
				out.Role = RoleTool
				out.Given += string(b.Content) + "\n"
			}
		}
		req.add(out)
	}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, Tool{Name: t.Name, Schema: t.InputSchema})
	}
	return req, nil
}

func (anthropic) write(w http.ResponseWriter, req Request, reply Reply) {
	stop, blocks := "end_turn", []object{}
	if reply.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": reply.Text})
	}
	for _, c := range reply.Calls {
		stop = "tool_use"
		blocks = append(blocks, object{"type": "tool_use", "id": "toolu_" + c.ID, "name": c.Name, "input": c.Input})
	}
	usage := object{"input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
	message := object{"id": messageID(req), "type": "message", "role": "assistant", "model": req.Model,
		"content": blocks, "stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		writeJSON(w, message)
		return
	}
	e := stream(w)
	message["content"], message["stop_reason"] = []object{}, nil
	e.send("message_start", object{"type": "message_start", "message": message})
	for i, b := range blocks {
		var delta object
		start := object{}
		for k, v := range b {
			start[k] = v
		}
		if b["type"] == "text" {
			start["text"] = ""
			delta = object{"type": "text_delta", "text": b["text"]}
		} else {
			start["input"] = object{}
			delta = object{"type": "input_json_delta", "partial_json": compact(b["input"])}
		}
		e.send("content_block_start", object{"type": "content_block_start", "index": i, "content_block": start})
		e.send("content_block_delta", object{"type": "content_block_delta", "index": i, "delta": delta})
		e.send("content_block_stop", object{"type": "content_block_stop", "index": i})
	}
	e.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	e.send("message_stop", object{"type": "message_stop"})
}
