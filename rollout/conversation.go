package rollout

import (
	"encoding/json"
	"path/filepath"
	"time"

	"memoir"
)

// Conversation reads what applications that keep no transcripts hand over, message by message: files in memoir's
// own home, of the form of pi's first version, with a mark in the header. Whoever writes one calls Begin, then Said.
type Conversation struct{ Pi }

// Source is memoir.SourceConversation.
func (Conversation) Source() memoir.Source { return memoir.SourceConversation }

// Roots are the directories of conversations in the folders of memoir's projects.
func (Conversation) Roots(env Env) (roots []Root) {
	if env.Memoir != "" {
		dirs, _ := filepath.Glob(filepath.Join(env.Memoir, "projects", "*", "conversations")) // the pattern is valid
		for _, dir := range dirs {
			roots = append(roots, Root{dir, isJSONL})
		}
	}
	return roots
}

// Recognises looks for the mark in the header.
func (Conversation) Recognises(_ string, head [][]byte) bool {
	return getText(piHeader(head), "by") == "memoir"
}

// conversationTime is how the records have a time.
const conversationTime = "2006-01-02T15:04:05.000Z"

// Begin is the first line of a conversation about the project in the directory cwd.
func (Conversation) Begin(id, cwd string, at time.Time) string {
	return line(map[string]any{"type": "session", "by": "memoir", "id": id, "cwd": cwd,
		"timestamp": at.UTC().Format(conversationTime)})
}

// Said is the line of a message. The role is user, assistant, or system, which is kept and not read.
func (Conversation) Said(role, text, source string, at time.Time) string {
	return line(map[string]any{"type": "message", "timestamp": at.UTC().Format(conversationTime), "source": source,
		"message": map[string]any{"role": role, "content": text, "stopReason": "stop"}})
}

func line(record map[string]any) string {
	text, _ := json.Marshal(record) // of strings: does not fail
	return string(text) + "\n"
}
