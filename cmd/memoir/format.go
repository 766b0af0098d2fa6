package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The forms in which agents take context from a start hook. None is understood
// by all: Codex rejects unknown fields, Copilot and Cursor drop nested ones.
const (
	formPlain  = "plain"
	formNested = "nested" // {"hookSpecificOutput": {"hookEventName", "additionalContext"}}
	formFlat   = "flat"   // {"additionalContext"}
	formSnake  = "snake"  // {"additional_context"}
)

// agentForms is the form that each agent takes.
var agentForms = map[string]string{
	"claude": formNested, "codex": formNested, "gemini": formNested, "qwen": formNested,
	"copilot": formFlat,
	"cursor":  formSnake,
	"plain":   formPlain, "pi": formPlain, "omp": formPlain, "opencode": formPlain,
}

// silence is what an agent takes for having nothing to say, where that is not
// nothing: Gemini CLI shows standard error instead of an empty output.
var silence = map[string]string{"gemini": "{}\n"}

// agents lists the names that --agent and --format take.
func agents() string {
	var names []string
	for name := range agentForms {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// caller finds the agent that runs the hook. Its input goes before the
// environment, which a session may have inherited from another agent. Without a
// hook's input a person is asking, or a script: plain.
func caller(in hookInput, isHook bool, getenv func(string) string) string {
	switch {
	case !isHook:
		return "plain"
	case in.CursorVersion != "" || in.Conversation != "":
		return "cursor"
	case in.SessionCamel != "" || getenv("COPILOT_CLI") == "1" && in.Event == "":
		return "copilot"
	case in.Event == "":
		return "plain"
	case getenv("GEMINI_SESSION_ID") != "":
		return "gemini"
	case getenv("QWEN_CODE_SESSION_ID") != "":
		return "qwen"
	}
	return "claude" // Codex sets nothing, and takes the same
}

// hookOutput wraps a context in the form that an agent takes.
func hookOutput(agent, event, context string) (string, error) {
	var v any
	switch agentForms[agent] {
	case formNested:
		type output struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		}
		if event == "" {
			event = "SessionStart"
		}
		v = struct {
			Output output `json:"hookSpecificOutput"`
		}{output{event, context}}
	case formFlat:
		v = struct {
			Context string `json:"additionalContext"`
		}{context}
	case formSnake:
		v = struct {
			Context string `json:"additional_context"`
		}{context}
	default:
		return context, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return b.String(), nil
}
