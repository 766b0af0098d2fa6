package rollout

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

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
	logical := "" // stands where parentUuid says nothing
	each(raw, func(key, value []byte) bool {
		if field := l.textField(key); field != nil {
			*field = text(value)
			return true
		}
		if field := l.flagField(key); field != nil {
			*field = isTrue(value)
			return true
		}
		if field := l.rawField(key); field != nil {
			*field = value
			return true
		}
		switch string(key) {
		case "type":
			l.kind = text(value)
		case "parentUuid":
			l.parent = cmp.Or(text(value), l.parent)
		case "logicalParentUuid":
			logical = text(value)
		case "planContent":
			l.plan = isString(value)
		case "origin":
			l.speaker = getText(value, "kind")
		case "textNotTyped", "handedOff", "isVirtual":
			l.untyped = l.untyped || isTrue(value)
		case "wakeupSource", "scheduledTaskId":
			l.untyped = l.untyped || text(value) != ""
		}
		return true
	})
	l.parent = cmp.Or(l.parent, logical)
	return l
}

// textField is the field for the string at a key, nil if there is none.
func (l *claudeLine) textField(key []byte) *string {
	switch string(key) {
	case "subtype":
		return &l.subtype
	case "uuid":
		return &l.uuid
	case "sessionId":
		return &l.session
	case "agentId":
		return &l.agent
	case "cwd":
		return &l.cwd
	case "gitBranch":
		return &l.gitBranch
	case "entrypoint":
		return &l.entrypoint
	case "promptSource":
		return &l.promptSource
	case "requestSessionId":
		return &l.asked
	case "operation":
		return &l.operation
	}
	return nil
}

// flagField is the field for the boolean at a key, nil if there is none.
func (l *claudeLine) flagField(key []byte) *bool {
	switch string(key) {
	case "isSidechain":
		return &l.sidechain
	case "isMeta":
		return &l.meta
	case "isCompactSummary":
		return &l.compact
	case "isVisibleInTranscriptOnly":
		return &l.transcriptOnly
	case "isApiErrorMessage":
		return &l.apiError
	}
	return nil
}

// rawField is the field for the value at a key that is read when it is needed, nil if
// there is none.
func (l *claudeLine) rawField(key []byte) *[]byte {
	switch string(key) {
	case "timestamp":
		return &l.time
	case "toolUseResult":
		return &l.answer
	case "forkedFrom":
		return &l.fork
	case "message":
		return &l.message
	case "content":
		return &l.content
	case "attachment":
		return &l.attachment
	}
	return nil
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
		result = getText(block, "type") == "tool_result"
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

// claudeEnvelopes are the elements that Claude Code puts before, or instead of,
// what the user typed.
var claudeEnvelopes = []string{
	"ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics", "local-command-caveat",
	"local-command-stdout", "local-command-stderr", "task-notification", "teammate-message", "user-prompt-submit-hook",
	"session-start-hook", "post-tool-use-hook", "pre-tool-use-hook", "fork-boilerplate", "background-task-output",
	"agent-notification", "channel", "tick", "hook-output", "cross-session-message", "remote-review", "uploaded_files",
	"other-user", "slack-messages", "webhook-payload", "artifact-room-event", "coordinator-task", "skills-discovered",
}

// claudeInjected begin texts that Claude Code or a hook wrote under the user's role.
var claudeInjected = []string{
	"Caveat: The messages below were generated by the user while running local commands",
	"Operation stopped by hook:", "[Request interrupted", "Base directory for this skill:",
	"[SYSTEM NOTIFICATION", "[Tool call ", "Your tool call was malformed", "<command-stdout>",
	"[Image: source:", "[Image: original",
}

// interrupted are the notes that stand before what a person typed when they stopped
// the agent, or alone.
var interrupted = []string{"[Request interrupted by user]", "[Request interrupted by user for tool use]"}

// hookFeedback begins what a hook says: "Stop hook feedback:" and its kin.
var hookFeedback = lazyregexp.New(`^[A-Z]\w+(?::\w+)? hook ` +
	`(?:feedback|error|blocking error|additional context|success|stopped continuation)\b`)

// plainCommand is a command that was recorded as it was typed.
var plainCommand = lazyregexp.New(`^/[a-z][\w:.-]*(?: [^\n]*)?$`)

const continuedSession = "This session is being continued from a previous conversation"

// splitClaudeUser takes what Claude Code added off a text of the user's role:
// own is what the person typed, "" if nothing; stripped counts what was taken off.
func splitClaudeUser(full string) (origin memoir.Origin, own string, stripped int) {
	own = stripOwn(full)
	if strings.Contains(own, "<system-reminder>") {
		before := own
		if own = removeReminders(own); own != before {
			stripped++
		}
	}
	own, n := cutElements(own, claudeEnvelopes)
	stripped += n
	own = strings.TrimSpace(own)
	for _, note := range interrupted {
		if rest, ok := strings.CutPrefix(own, note+"\n"); ok {
			own, stripped = strings.TrimSpace(rest), stripped+1
		}
	}
	if said, ok := strings.CutPrefix(own, "The user sent a new message while you were working:\n"); ok {
		own, _, _ = strings.Cut(said, "\n\nIMPORTANT: After completing your current task")
		own = strings.TrimSpace(own)
		stripped++
	}
	if command, ok := slashCommand(own); ok {
		return memoir.OriginSlashCommand, command, stripped
	}
	if note, ok := element(own, "user-memory-input"); ok && strings.HasPrefix(own, "<user-memory-input>") {
		return memoir.OriginTyped, strings.TrimSpace(note), stripped
	}
	switch {
	case own == "":
		return memoir.OriginInjected, "", stripped
	case strings.HasPrefix(own, continuedSession):
		return memoir.OriginCompactionSummary, own, stripped
	case hasAnyPrefix(own, claudeInjected) || hookFeedback.MatchString(own):
		return memoir.OriginInjected, "", stripped
	case strings.HasPrefix(own, "Implement the following plan:"):
		return memoir.OriginPlanHandover, own, stripped
	case plainCommand.MatchString(own):
		return memoir.OriginSlashCommand, own, stripped
	}
	return memoir.OriginTyped, own, stripped
}

// isPlainClaude reports whether a block holds nothing but a person's words.
func isPlainClaude(s string) bool {
	origin, _, stripped := splitClaudeUser(s)
	return origin == memoir.OriginTyped && stripped == 0 && !strings.HasPrefix(strings.TrimSpace(s), "<bash-")
}

// slashCommand reads the elements that stand for a command: "/name arguments".
func slashCommand(s string) (string, bool) {
	if !strings.HasPrefix(s, "<command-") {
		return "", false
	}
	name, ok := element(s, "command-name")
	if !ok {
		return "", false
	}
	name = "/" + strings.TrimPrefix(strings.TrimSpace(name), "/")
	if arguments, _ := element(s, "command-args"); strings.TrimSpace(arguments) != "" {
		name += " " + strings.TrimSpace(arguments)
	}
	return name, true
}

// A large output of a tool stands in a file of its own, and the result holds its
// beginning: what matters of a long output is often its end.

// maxPersisted is how large such a file may be, in bytes.
const maxPersisted = 2 << 20

// savedTo finds the path in the words around an output's beginning.
var savedTo = lazyregexp.New(`(?m)^Output (?:too large|exceeded the) [^\n]*saved to: ([^\n]+)$`)

// persisted replaces the beginning of a large output by the file that has all of it. The
// path is the transcript's word and is not followed: only its last element counts, for
// a file in the session's own directory of results, which no link leads out of.
func (r *claudeReader) persisted(s string) string {
	if r.session == "" || !strings.HasPrefix(strings.TrimSpace(s), "<persisted-output>") {
		return s
	}
	note := savedTo.FindStringSubmatch(s)
	if note == nil {
		return s
	}
	file := strings.ReplaceAll(strings.TrimSpace(note[1]), `\`, "/")
	name := file[strings.LastIndexByte(file, '/')+1:]
	own := stem(r.session) + "/tool-results/" + name
	root, err := os.OpenRoot(filepath.Dir(r.session))
	if err != nil {
		return s
	}
	defer root.Close()
	if !strings.HasSuffix(file, "/"+own) {
		return s
	}
	whole, err := readBelow(root, own, maxPersisted)
	if err != nil || len(whole) == 0 || len(whole) > maxPersisted {
		return s
	}
	if strings.HasSuffix(name, ".json") && isArray(whole) && gjson.ValidBytes(whole) {
		return contentText(whole)
	}
	return strings.ToValidUTF8(string(whole), "\uFFFD")
}
