package rollout

import (
	"cmp"
	"strings"
)

// mail gives what another agent of the same task wrote to this one, as what a tool put
// out: nobody's words but that agent's. What this one wrote is in its calls already.
// Newer versions have the message among the response items, older ones as a record of its
// own, and what is encrypted has nothing to read (Codex, InterAgentCommunication).
func (r *codexReader) mail(author, recipient, text string) {
	text = strings.TrimSpace(withoutEnvelope(text))
	h := textHash(author + "\x00" + recipient + "\x00" + text)
	switch {
	case author == cmp.Or(r.self, rootAgent):
	case text == "" || h == r.mailed:
		r.e.injected()
	default:
		r.mailed = h
		r.e.lone("agent_message", author, outcome{output: text}, r.w)
	}
}

// rootAgent is the name of the agent that a person talks to, in all messages of a task.
const rootAgent = "/root"

// withoutEnvelope is a message without the lines that say again who wrote it to whom.
func withoutEnvelope(text string) string {
	if head, payload, ok := strings.Cut(text, "\nPayload:\n"); ok && strings.HasPrefix(head, "Message Type: ") && strings.Count(head, "\n") <= 3 {
		return payload
	}
	return text
}
