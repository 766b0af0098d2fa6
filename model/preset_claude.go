package model

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"memoir"
)

// claude is Claude Code, with a subscription or a key. It reads no settings, thus no
// hooks and no memory; it keeps no session.
var claude = preset{
	name: "claude", program: "claude",
	invoke: func(q question, s scratch) (invocation, error) {
		system, err := s.write("system.md", q.system())
		if err != nil {
			return invocation{}, err
		}
		args := []string{"-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--setting-sources", "",
			"--disable-slash-commands", "--no-session-persistence", "--system-prompt-file", system}
		args = append(args, flag("--model", q.model)...)
		args = append(args, flag("--json-schema", string(q.Schema))...)
		switch q.effort {
		case "none", "minimal":
			args = append(args, "--effort", "low") // it has nothing less
		default:
			args = append(args, flag("--effort", q.effort)...)
		}
		env := []string{"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"CLAUDE_CODE_MAX_RETRIES=1"} // who calls tries again, and waits for longer
		if q.MaxOutput > 0 {
			env = append(env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS="+strconv.Itoa(q.MaxOutput))
		}
		return invocation{args: args, env: env, stdin: prompt(q.Request, false, false)}, nil
	},
	read: func(out printed, _ scratch) reading {
		var result struct {
			Type       string          `json:"type"`
			Subtype    string          `json:"subtype"`
			IsError    bool            `json:"is_error"`
			Result     string          `json:"result"`
			Structured json.RawMessage `json:"structured_output"`
			StopReason string          `json:"stop_reason"`
			Cost       float64         `json:"total_cost_usd"`
			Errors     []string        `json:"errors"`
			Usage      struct {
				Input   int64 `json:"input_tokens"`
				Created int64 `json:"cache_creation_input_tokens"`
				Read    int64 `json:"cache_read_input_tokens"`
				Output  int64 `json:"output_tokens"`
			} `json:"usage"`
		}
		if err := json.Unmarshal(out.stdout, &result); err != nil || result.Type != "result" {
			return notResult(out.stdout)
		}
		r := reading{text: result.Result, usage: memoir.Usage{Cost: result.Cost, CachedTokens: result.Usage.Read,
			InputTokens: result.Usage.Input + result.Usage.Created + result.Usage.Read, OutputTokens: result.Usage.Output}}
		if len(result.Structured) > 0 && string(result.Structured) != "null" {
			r.text = string(result.Structured)
		}
		switch result.StopReason {
		case "max_tokens":
			r.stop = StopLength
		case "refusal":
			r.stop = StopRefusal
		}
		if result.IsError {
			r.objection = cmp.Or(result.Result, strings.Join(result.Errors, "; "), result.Subtype, "failed")
		}
		return r
	},
}

// notResult is what is told of an output that is not in the form that was asked for.
func notResult(stdout []byte) reading {
	text := tail(string(stdout))
	if text == "" {
		return reading{} // what it wrote to stderr says more, or it had nothing to say
	}
	return reading{objection: "it printed no result in the form that was asked for: " + text}
}
