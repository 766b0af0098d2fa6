package rollout

import (
	"path/filepath"
	"strings"

	"memoir"
)

// Qwen reads the sessions of Qwen Code, which grew out of Gemini CLI: one file a
// session, one line a record, linked by parentUuid like Claude Code's, with the
// messages of Gemini's API in them. See qwen_read.go.
type Qwen struct{}

var _ Agent = Qwen{}

// Source is memoir.SourceQwen.
func (Qwen) Source() memoir.Source { return memoir.SourceQwen }

// Roots are the projects below ~/.qwen ($QWEN_HOME), and below $QWEN_RUNTIME_DIR or
// what the settings put in its place.
func (Qwen) Roots(env Env) []Root {
	home := env.home(".qwen")
	if set := env.get("QWEN_HOME"); set != "" {
		home = env.expand(set)
	}
	var roots []Root
	if home != "" {
		roots = append(roots, Root{filepath.Join(home, "projects"), isQwenSession})
	}
	other := env.get("QWEN_RUNTIME_DIR")
	if other == "" && home != "" {
		other = getText(smallJSON(filepath.Join(home, "settings.json")), "advanced", "runtimeOutputDir")
	}
	// A relative one lies in whatever directory the agent ran in.
	if other = env.expand(other); filepath.IsAbs(other) {
		roots = append(roots, Root{filepath.Join(other, "projects"), isQwenSession})
	}
	return roots
}

// isQwenSession knows <project>/chats/<id>.jsonl, its archive, and the transcripts of
// sub-agents.
func isQwenSession(path string) bool {
	return isJSONL(path) && !strings.HasSuffix(path, ".ledger.jsonl") &&
		(strings.Contains(path, "/chats/") || strings.Contains(path, "/subagents/"))
}

// Recognises looks for Claude Code's envelope around a message of Gemini's API, or
// for records that only Qwen Code writes.
func (Qwen) Recognises(_ string, head [][]byte) bool {
	for _, raw := range head[:min(len(head), 20)] {
		if !isString(get(raw, "uuid")) || !isString(get(raw, "sessionId")) {
			continue
		}
		switch word(get(raw, "type")) {
		case "tool_result":
			return true
		case "user", "assistant":
			if isArray(get(raw, "message", "parts")) {
				return true
			}
		case "system":
			if isObject(get(raw, "systemPayload")) {
				return true
			}
		}
	}
	return false
}

// Head takes the title that was given last. A session that the client's schedule
// started is nobody's; a sub-agent's lines bear its parent's session id.
func (Qwen) Head(h *Head, path string, head, tail [][]byte) {
	agent, sidechain := "", strings.Contains(filepath.ToSlash(path), "/subagents/")
	for i, raw := range append(head[:len(head):len(head)], tail...) {
		if h.ID == "" {
			h.ID = getText(raw, "sessionId")
		}
		if i < len(head) {
			if t := instant(get(raw, "timestamp")); h.CreatedAt.IsZero() {
				h.CreatedAt = t
			}
			if h.CWD == "" {
				h.CWD, h.Branch = getText(raw, "cwd"), getText(raw, "gitBranch")
			}
			if from := getText(raw, "forkedFrom", "sessionId"); h.ParentID == "" && legalID.MatchString(from) {
				h.ParentID = from
			}
			if agent == "" {
				agent = getText(raw, "agentId")
			}
			sidechain = sidechain || isTrue(get(raw, "isSidechain"))
		}
		payload := get(raw, "systemPayload")
		switch word(get(raw, "subtype")) {
		case "custom_title":
			h.Title = getText(payload, "customTitle")
		case "parent_session":
			if id := getText(payload, "parentSessionId"); legalID.MatchString(id) {
				h.ParentID = id
			}
		case "session_source":
			if getText(payload, "sourceType") == "scheduled_task" {
				h.Kind = memoir.KindAutomation
			}
		}
	}
	h.UpdatedAt = latest(tail, "timestamp")
	if !sidechain {
		return
	}
	h.Kind = memoir.KindSubagent
	if legalID.MatchString(h.ID) {
		h.ParentID = h.ID
	}
	if h.ID = stem(path); agent != "" {
		h.ID = "agent-" + agent
	}
}

// grow leaves it to those who read the whole file to say who drives the session, and
// what it is called whose name was taken away.
func (Qwen) grow(h *Head, _ string, tail [][]byte) bool {
	if h.CWD == "" {
		return false
	}
	for _, raw := range tail {
		switch word(get(raw, "subtype")) {
		case "custom_title":
			if h.Title = getText(raw, "systemPayload", "customTitle"); h.Title == "" {
				return false
			}
		case "parent_session", "session_source":
			return false
		}
	}
	h.said(tail)
	return true
}
