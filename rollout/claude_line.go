package rollout

import "time"

// claudeLine is an entry with its envelope decoded and its message raw.
type claudeLine struct {
	kind, subtype  string
	uuid, parent   string
	session, agent string
	time           []byte // raw
	cwd, gitBranch string
	entrypoint     string
	promptSource   string
	sidechain      bool
	meta           bool // put there by the agent
	compact        bool // a summary of what was compacted
	transcriptOnly bool
	apiError       bool
	plan           bool   // carries planContent
	speaker        string // what kind of origin it says it has
	untyped        bool   // the agent's host, another session or a schedule put the text there
	fork           []byte
	asked          string // id of the session that the answer was first given in
	message        []byte
	content        []byte // of a system line or a queue operation
	operation      string
	attachment     []byte
	answer         []byte // the structured copy of a tool's result
	raw            []byte
}

func parseClaudeLine(raw []byte) claudeLine {
	l := claudeLine{raw: raw}
	each(raw, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			l.kind = word(value)
		case "subtype":
			l.subtype = text(value)
		case "uuid":
			l.uuid = text(value)
		case "parentUuid":
			if s := text(value); s != "" {
				l.parent = s
			}
		case "logicalParentUuid":
			if l.parent == "" {
				l.parent = text(value)
			}
		case "sessionId":
			l.session = text(value)
		case "agentId":
			l.agent = text(value)
		case "timestamp":
			l.time = value
		case "cwd":
			l.cwd = text(value)
		case "gitBranch":
			l.gitBranch = text(value)
		case "entrypoint":
			l.entrypoint = text(value)
		case "promptSource":
			l.promptSource = text(value)
		case "isSidechain":
			l.sidechain = isTrue(value)
		case "isMeta":
			l.meta = isTrue(value)
		case "isCompactSummary":
			l.compact = isTrue(value)
		case "isVisibleInTranscriptOnly":
			l.transcriptOnly = isTrue(value)
		case "isApiErrorMessage":
			l.apiError = isTrue(value)
		case "planContent":
			l.plan = isString(value)
		case "origin":
			l.speaker = getText(value, "kind")
		case "textNotTyped", "handedOff", "isVirtual":
			l.untyped = l.untyped || isTrue(value)
		case "wakeupSource", "scheduledTaskId":
			l.untyped = l.untyped || text(value) != ""
		case "toolUseResult":
			l.answer = value
		case "forkedFrom":
			l.fork = value
		case "requestSessionId":
			l.asked = text(value)
		case "message":
			l.message = value
		case "content":
			l.content = value
		case "operation":
			l.operation = text(value)
		case "attachment":
			l.attachment = value
		}
		return true
	})
	return l
}

func (l *claudeLine) at() time.Time { return instant(l.time) }

// branch is the git branch, "" where the directory is on none.
func (l *claudeLine) branch() string {
	if l.gitBranch == "HEAD" {
		return ""
	}
	return l.gitBranch
}

// forkedFrom is the id of the session that a line says it was copied from, "" if it
// says nothing.
func (l *claudeLine) forkedFrom() string {
	if of := getText(l.fork, "sessionId"); of != "" || l.asked == l.session {
		return of
	}
	return l.asked
}

// spoken joins the texts of a user line that holds no tool result; ok is false
// for other lines.
func (l *claudeLine) spoken() (string, bool) {
	if l.kind != "user" {
		return "", false
	}
	content := get(l.message, "content")
	if isString(content) {
		return text(content), true
	}
	result := false
	elements(content, func(block []byte) bool {
		result = word(get(block, "type")) == "tool_result"
		return !result
	})
	if result || !isArray(content) {
		return "", false
	}
	return contentText(content), true
}

// byPerson reports whether an origin is a person's; old versions give none.
func byPerson(kind string) bool {
	switch kind {
	case "", "human", "person", "unclassified", "voice-call":
		return true
	}
	return false
}

// injected reports whether no person wrote the text of a user line, whatever it is.
func (l *claudeLine) injected() bool {
	return l.meta || l.transcriptOnly || l.untyped || l.promptSource == "system" || !byPerson(l.speaker)
}

// queuedCommand is the prompt of an attachment that was typed while the agent
// was busy; shell says that it is a command that the person runs.
func (l *claudeLine) queuedCommand() (prompt string, shell, ok bool) {
	if l.kind != "attachment" || getText(l.attachment, "type") != "queued_command" {
		return "", false, false
	}
	for _, mark := range []string{"isMeta", "textNotTyped", "handedOff"} {
		if isTrue(get(l.attachment, mark)) {
			return "", false, false
		}
	}
	mode := getText(l.attachment, "commandMode")
	if mode != "" && mode != "prompt" && mode != "bash" || !byPerson(getText(l.attachment, "origin", "kind")) {
		return "", false, false
	}
	return contentText(get(l.attachment, "prompt")), mode == "bash", true
}

// claudeLog are the types of lines that are no part of the conversation: what the
// agent notes for itself and for its own interface.
var claudeLog = map[string]bool{
	"agent-color": true, "agent-name": true, "agent-setting": true, "ai-title": true, "api-request": true,
	"api-request-blob": true, "api-request-resumed": true, "api-request-shape": true, "artifact-autoreact-ledger": true,
	"artifact-comment-monitor": true, "atis-latch": true, "attribution-snapshot": true, "bridge-session": true,
	"content-replacement": true, "continued-in": true, "cost-state": true, "custom-title": true, "data-flow-incomplete": true,
	"data-flow-records": true, "derived-from": true, "dev-mods": true, "ended-by-model": true, "file-history-delta": true,
	"file-history-snapshot": true, "fork-context-ref": true, "frame-link": true, "history-suppression": true,
	"hybrid-organization": true, "isolation-latch": true, "last-prompt": true, "memory-mode": true, "mode": true,
	"observer-ref": true, "permission-mode": true, "pr-link": true, "progress": true, "relocated": true, "repl-mode": true,
	"resume-head-vouch": true, "session-owner": true, "speculation-accept": true, "summary": true, "tag": true,
	"task-summary": true, "tools-used": true, "worktree-state": true,
}
