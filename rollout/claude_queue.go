package rollout

import "strings"

type queuedPrompt struct {
	text   string
	taken  int  // index of the operation that took it, -1
	since  int  // lines of the conversation before it
	waited bool // the agent was busy when it was typed
	sent   bool
	popped bool // taken back into the prompt to be edited
}

// operation follows the queue of prompts typed while the agent was busy. Headless
// runs put every prompt through it.
func (s *claudePlanner) operation(at int, l claudeLine) {
	content := strings.TrimSpace(text(l.content))
	switch l.operation {
	case "enqueue":
		if len(s.queue) < 10000 && content != "" {
			s.queue = append(s.queue, &queuedPrompt{text: content, taken: -1, since: s.lines, waited: s.busy})
		}
	case "dequeue", "remove":
		var next *queuedPrompt
		for _, q := range s.queue {
			if q.taken >= 0 || q.popped {
				continue
			}
			if q.text == content {
				next = q
				break
			}
			if next == nil {
				next = q
			}
		}
		if next != nil {
			next.taken, next.waited = at, next.waited || s.lines > next.since
		}
	case "popAll":
		for _, q := range s.queue {
			if q.taken < 0 {
				q.popped = true
			}
		}
	}
}

// send matches a line of the conversation with the prompts that were queued
// before it, of which several may have been sent as one, and reports whether one
// of them had to wait.
func (s *claudePlanner) send(spoken string) (waited bool) {
	if len(s.queue) == 0 {
		return false
	}
	spoken = strings.TrimSpace(spoken)
	if command, ok := slashCommand(spoken); ok {
		spoken = command
	}
	for _, q := range s.queue {
		if q.sent {
			continue
		}
		whole := q.text == spoken
		if whole || strings.Contains("\n"+spoken+"\n", "\n"+q.text+"\n") {
			q.sent = true
			waited = waited || q.waited || q.taken < 0 && s.lines > q.since
		}
		if whole {
			break
		}
	}
	return waited
}

// settleQueue finds the queued prompts that appear nowhere else. Those taken back
// were never said, and a command of the agent's own interface leaves its trace
// elsewhere.
func (s *claudePlanner) settleQueue() {
	for _, q := range s.queue {
		if q.sent || q.popped || strings.HasPrefix(q.text, "/") || strings.HasPrefix(q.text, "<") {
			continue
		}
		if q.taken >= 0 {
			s.late[q.taken] = append(s.late[q.taken], q.text)
		} else {
			s.atEnd = append(s.atEnd, q.text)
		}
	}
}
