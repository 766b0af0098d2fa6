package mockmodel

import (
	"encoding/json"
	"net/http"
)

// responses is OpenAI's Responses.
type responses struct{}

func (responses) decode(_ string, body []byte) (Request, error) {
	var in struct {
		Model  string          `json:"model"`
		Stream bool            `json:"stream"`
		Input  json.RawMessage `json:"input"`
		Tools  []responsesTool `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{Model: in.Model, Stream: in.Stream}
	var items []struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		Name    string          `json:"name"`
		Content content         `json:"content"`
		Tools   []responsesTool `json:"tools"`
	}
	var text string
	if json.Unmarshal(in.Input, &text) == nil {
		req.add(Message{Role: RoleUser, Text: text})
	} else if err := json.Unmarshal(in.Input, &items); err != nil {
		return Request{}, err
	}
	tools := in.Tools
	for _, it := range items {
		switch it.Type {
		case "message", "":
			req.add(Message{Role: role(it.Role), Text: string(it.Content)})
		case "function_call", "custom_tool_call", "local_shell_call":
			req.add(Message{Role: RoleAssistant, Calls: []string{it.Name}})
		case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
			req.add(Message{Role: RoleTool})
		case "additional_tools":
			tools = append(tools, it.Tools...)
		}
	}
	for _, t := range tools {
		req.Tools = append(req.Tools, t.tools("")...)
	}
	return req, nil
}

// responsesTool is a tool, or a namespace of tools.
type responsesTool struct {
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Parameters Schema          `json:"parameters"`
	Tools      []responsesTool `json:"tools"`
}

func (t responsesTool) tools(namespace string) []Tool {
	if t.Type == "namespace" {
		var out []Tool
		for _, inner := range t.Tools {
			out = append(out, inner.tools(t.Name)...)
		}
		return out
	}
	return []Tool{{Name: t.Name, Namespace: namespace, Custom: t.Type == "custom", Schema: t.Parameters}}
}

func (responses) write(w http.ResponseWriter, req Request, reply Reply) {
	var items []object
	id := messageID(req)
	if reply.Text != "" {
		items = append(items, object{"type": "message", "id": "msg_" + id, "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": reply.Text, "annotations": []object{}}}})
	}
	for _, c := range reply.Calls {
		item := object{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "status": "completed"}
		if c.Custom {
			item["type"], item["id"], item["input"] = "custom_tool_call", "ctc_"+c.ID, compact(c.Input)
		} else {
			item["arguments"] = compact(c.Input)
		}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
		items = append(items, item)
	}
	response := object{"id": "resp_" + id, "object": "response", "created_at": 1767225600, "status": "completed",
		"model": req.Model, "output": items, "error": nil, "incomplete_details": nil,
		"usage": object{"input_tokens": 100, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": 10, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 110}}
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		writeJSON(w, response)
		return
	}
	e := stream(w)
	number := 0
	send := func(kind string, members object) {
		members["type"], members["sequence_number"] = kind, number
		number++
		e.send(kind, members)
	}
	begun := object{}
	for k, v := range response {
		begun[k] = v
	}
	begun["status"], begun["output"], begun["usage"] = "in_progress", []object{}, nil
	send("response.created", object{"response": begun})
	for i, item := range items {
		started := object{}
		for k, v := range item {
			started[k] = v
		}
		started["status"] = "in_progress"
		switch item["type"] {
		case "message":
			started["content"] = []object{}
			send("response.output_item.added", object{"output_index": i, "item": started})
			send("response.content_part.added", object{"output_index": i, "item_id": item["id"], "content_index": 0,
				"part": object{"type": "output_text", "text": "", "annotations": []object{}}})
			send("response.output_text.delta", object{"output_index": i, "item_id": item["id"], "content_index": 0, "delta": reply.Text})
			send("response.output_text.done", object{"output_index": i, "item_id": item["id"], "content_index": 0, "text": reply.Text})
			send("response.content_part.done", object{"output_index": i, "item_id": item["id"], "content_index": 0,
				"part": object{"type": "output_text", "text": reply.Text, "annotations": []object{}}})
		case "function_call":
			started["arguments"] = ""
			send("response.output_item.added", object{"output_index": i, "item": started})
			send("response.function_call_arguments.delta", object{"output_index": i, "item_id": item["id"], "delta": item["arguments"]})
			send("response.function_call_arguments.done", object{"output_index": i, "item_id": item["id"], "arguments": item["arguments"]})
		default:
			started["input"] = ""
			send("response.output_item.added", object{"output_index": i, "item": started})
			send("response.custom_tool_call_input.delta", object{"output_index": i, "item_id": item["id"], "delta": item["input"]})
			send("response.custom_tool_call_input.done", object{"output_index": i, "item_id": item["id"], "input": item["input"]})
		}
		send("response.output_item.done", object{"output_index": i, "item": item})
	}
	send("response.completed", object{"response": response})
}
