package model

import (
	"bytes"
	"encoding/json"
	"strings"

	"memoir"
)

// pi is the agent pi, the leanest of all: its request holds what is asked and nothing else.
var pi = preset{
	name: "pi", program: "pi",
	newer: []string{"--no-mcp"}, // before, it had no servers
	invoke: func(q question, s scratch) (invocation, error) {
		return askPi(q, s, "--no-context-files", "--no-prompt-templates", "--no-mcp", "--no-approve")
	},
	read: readPi,
}

// omp is oh-my-pi. It has no switch against servers: those that are called memoir are
// disabled by name, a person's others are started, but not used.
var omp = preset{
	name: "omp", program: "omp",
	invoke: func(q question, s scratch) (invocation, error) {
		overlay, err := s.write("overlay.yml", "disabledExtensions: [\"mcp:memoir\"]\n")
		if err != nil {
			return invocation{}, err
		}
		return askPi(q, s, "--no-rules", "--no-lsp", "--no-title", "--config="+overlay)
	},
	read: readPi,
}

// askPi puts a question to pi or to its relative. Both take a file's name as system prompt.
func askPi(q question, s scratch, switches ...string) (invocation, error) {
	system, err := s.write("system.md", q.system())
	if err != nil {
		return invocation{}, err
	}
	args := append([]string{"-p", "--mode", "json", "--no-session", "--no-tools", "--no-extensions", "--no-skills",
		"--system-prompt", system}, switches...)
	args = append(args, flag("--model", q.model)...)
	if q.effort == "none" {
		q.effort = "off"
	}
	args = append(args, flag("--thinking", q.effort)...)
	return invocation{args: args, stdin: prompt(q.Request, false, true)}, nil
}

// readPi reads the events of pi and its relative: the last message of the assistant counts.
func readPi(out printed, _ scratch) (r reading) {
	found := false
	for event := range bytes.Lines(out.stdout) {
		var e struct {
			Type    string `json:"type"`
			Message struct {
				Role    string          `json:"role"`
				Content json.RawMessage `json:"content"`
				Stop    string          `json:"stopReason"`
				Error   string          `json:"errorMessage"`
				Usage   struct {
					Input      int64 `json:"input"`
					Output     int64 `json:"output"`
					CacheRead  int64 `json:"cacheRead"`
					CacheWrite int64 `json:"cacheWrite"`
					Cost       struct {
						Total float64 `json:"total"`
					} `json:"cost"`
				} `json:"usage"`
			} `json:"message"`
		}
		if json.Unmarshal(event, &e) != nil || e.Type != "message_end" || e.Message.Role != "assistant" {
			continue
		}
		m := e.Message
		found = true
		var blocks []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		_ = json.Unmarshal(m.Content, &blocks) // without a text there is none
		var text strings.Builder
		for _, b := range blocks {
			if b.Type == "text" {
				text.WriteString(b.Text)
			}
		}
		r.text, r.stop, r.objection = text.String(), "", ""
		switch m.Stop {
		case "length":
			r.stop = StopLength
		case "error", "aborted":
			r.objection = m.Error
			if r.objection == "" {
				r.objection = m.Stop
			}
		}
		r.usage = r.usage.Add(memoir.Usage{InputTokens: m.Usage.Input + m.Usage.CacheRead + m.Usage.CacheWrite,
			CachedTokens: m.Usage.CacheRead, OutputTokens: m.Usage.Output, Cost: m.Usage.Cost.Total})
	}
	if !found {
		return notResult(out.stdout)
	}
	return r
}
