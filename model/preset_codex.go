package model

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"

	"memoir"
)

// codex is Codex CLI. It leaves out the person's config.toml, and with it servers, hooks
// and the choice of a model, but keeps their login; it keeps no session. A part of its
// own system prompt and of its tools cannot be left out: some 30 KB a call.
var codex = preset{
	name: "codex", program: "codex",
	invoke: func(q question, s scratch) (invocation, error) {
		system, err := s.write("system.md", q.system())
		if err != nil {
			return invocation{}, err
		}
		args := []string{"exec", "--ephemeral", "--json", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules",
			"-s", "read-only", "-C", s.work, "-o", filepath.Join(s.files, lastMessage),
			"-c", "model_instructions_file=" + object(system), "-c", `web_search="disabled"`, "-c", "project_doc_max_bytes=0"}
		for _, feature := range []string{"hooks", "shell_tool", "apps", "plugins", "multi_agent", "memories"} {
			args = append(args, "--disable", feature)
		}
		strict := isStrict(q.Schema)
		if strict {
			path, err := s.write("schema.json", string(q.Schema))
			if err != nil {
				return invocation{}, err
			}
			args = append(args, "--output-schema", path)
		}
		args = append(args, flag("-m", q.model)...)
		if q.effort != "" {
			args = append(args, "-c", "model_reasoning_effort="+object(q.effort))
		}
		return invocation{args: append(args, "-"), stdin: prompt(q.Request, false, !strict)}, nil
	},
	read: func(out printed, s scratch) (r reading) {
		for event := range bytes.Lines(out.stdout) {
			var e struct {
				Type    string `json:"type"`
				Message string `json:"message"`
				Error   struct {
					Message string `json:"message"`
				} `json:"error"`
				Item struct {
					Type string `json:"type"`
					Text string `json:"text"`
				} `json:"item"`
				Usage struct {
					Input  int64 `json:"input_tokens"`
					Cached int64 `json:"cached_input_tokens"`
					Output int64 `json:"output_tokens"`
				} `json:"usage"`
			}
			if json.Unmarshal(event, &e) != nil {
				continue
			}
			switch e.Type {
			case "item.completed":
				if e.Item.Type == "agent_message" {
					r.text = e.Item.Text
				}
			case "turn.completed": // what went wrong before it was overcome
				r.objection = ""
				r.usage = r.usage.Add(memoir.Usage{InputTokens: e.Usage.Input, CachedTokens: e.Usage.Cached, OutputTokens: e.Usage.Output})
			case "turn.failed":
				r.objection = e.Error.Message
			case "error":
				r.objection = e.Message
			}
		}
		if last, err := os.ReadFile(filepath.Join(s.files, lastMessage)); err == nil && len(last) > 0 && len(last) <= maxAnswer {
			r.text = string(last)
		}
		if r.text == "" && r.objection == "" && r.usage == (memoir.Usage{}) {
			return notResult(out.stdout)
		}
		return r
	},
}

// lastMessage is the file that Codex writes its answer to.
const lastMessage = "answer.txt"

// isStrict reports whether OpenAI's strict mode takes a schema: each object names all
// of its properties as required and allows no others.
func isStrict(schema json.RawMessage) bool {
	var s map[string]json.RawMessage
	return json.Unmarshal(schema, &s) == nil && strictNode(s)
}

func strictNode(s map[string]json.RawMessage) bool {
	for _, name := range []string{"$defs", "definitions"} {
		var all map[string]json.RawMessage
		if json.Unmarshal(s[name], &all) == nil && !strictAll(all) {
			return false
		}
	}
	if raw, ok := s["properties"]; ok {
		var properties map[string]json.RawMessage
		var required []string
		if json.Unmarshal(raw, &properties) != nil || json.Unmarshal(s["required"], &required) != nil ||
			len(required) != len(properties) || string(s["additionalProperties"]) != "false" {
			return false
		}
		return strictAll(properties)
	}
	if items, ok := s["items"]; ok {
		return isStrict(items)
	}
	var kind string
	return json.Unmarshal(s["type"], &kind) != nil || kind != "object"
}

func strictAll(schemas map[string]json.RawMessage) bool {
	for _, one := range schemas {
		if !isStrict(one) {
			return false
		}
	}
	return true
}
