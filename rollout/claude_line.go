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
	plan           bool // carries planContent
	forkedFrom     []byte
	message        []byte
	content        []byte // of a system line or a queue operation
	operation      string
	attachment     []byte
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
		case "forkedFrom":
			l.forkedFrom = value
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

// queuedCommand is the prompt of an attachment that was typed while the agent
// was busy.
func (l *claudeLine) queuedCommand() (string, bool) {
	if l.kind != "attachment" || getText(l.attachment, "type") != "queued_command" {
		return "", false
	}
	if mode := getText(l.attachment, "commandMode"); mode != "" && mode != "prompt" || isTrue(get(l.attachment, "isMeta")) {
		return "", false
	}
	return contentText(get(l.attachment, "prompt")), true
}

// claudeLineage finds the lines that a resumed or forked session repeats.
var claudeLineage = &lineage{mark: claudeMark}

// claudeMark reads what a line says of where it comes from. A fork keeps the ids,
// or names the old one; lines of a session that was resumed under another id may
// bear the old id still.
func claudeMark(raw []byte) (m mark) {
	uuid, session, chain := "", "", false
	var fork []byte
	each(raw, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			switch word(value) {
			case "user", "assistant", "system", "attachment":
				chain = true
			}
		case "uuid":
			uuid = text(value)
		case "sessionId":
			session = text(value)
		case "timestamp":
			m.at = instant(value)
		case "forkedFrom":
			fork = value
		case "isSidechain":
			if isTrue(value) { // of a sub-agent's conversation, which no fork repeats
				uuid, chain = "", false
				return false
			}
		}
		return true
	})
	if !chain || uuid == "" {
		return mark{at: m.at}
	}
	m.id = textHash(uuid)
	if of := getText(fork, "messageUuid"); of != "" {
		m.of = textHash(of)
	}
	if m.origin = getText(fork, "sessionId"); m.origin == "" {
		m.origin = session
	}
	return m
}
