package rollout

import (
	"encoding/json"
	"path/filepath"
	"time"

	"memoir"
)

// Conversation reads the messages of applications without transcripts. memoir stores them in its home, in the format
// of pi's first version with a mark in the header. A file is written with Begin, then Said for each message.
type Conversation struct{ Pi }

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

// conversationTime is the layout of times in records.
const conversationTime = "2006-01-02T15:04:05.000Z"

// Begin returns the first line of a conversation about the project in the directory cwd.
func (Conversation) Begin(id, cwd string, at time.Time) string {
	return line(map[string]any{"type": "session", "by": "memoir", "id": id, "cwd": cwd,
		"timestamp": at.UTC().Format(conversationTime)})
}

// Said returns the line of a message. The role is user, assistant or system; Read ignores messages of system.
func (Conversation) Said(role, text, source string, at time.Time) string {
	return line(map[string]any{"type": "message", "timestamp": at.UTC().Format(conversationTime), "source": source,
		"message": map[string]any{"role": role, "content": text, "stopReason": "stop"}})
}

func line(record map[string]any) string {
	text, _ := json.Marshal(record) // strings always marshal
	return string(text) + "\n"
}
