package mockmodel

import (
	"fmt"
	"strings"
)

// Script is a conversation: what the model does after each prompt.
type Script []Turn

// Turn is what follows a prompt. Prompts must not contain each other.
type Turn struct {
	Prompt string
	Steps  []Step // the last one has no tool
	Bare   bool   // it is a question to a model: no tools need be offered
}

// Step is one reply of the model.
type Step struct {
	Text  string // said before the tool call; the answer if there is none
	Shell string // a command line to run
	Write *File  // a file to write
	Agent string // a task for a sub-agent; a turn of its own has it as prompt
}

// File is what a step writes.
type File struct{ Path, Content string }

// Reply is what the model answers.
type Reply struct {
	Text  string
	Calls []ToolCall
}

// ToolCall is a call in a reply. ID is unique in its conversation.
type ToolCall struct {
	ID   string
	Name string
	// Input is the arguments, of a custom tool a string.
	Input any
	// Custom says that the tool takes text instead of JSON.
	Custom bool
	// Namespace is that of a tool offered inside one.
	Namespace string
}

// SideAnswer is what the model says to requests outside the script.
const SideAnswer = "Lantern notes"

// next decides the reply to a request: the prompt it holds last says which turn
// it is, the replies since then which step. A request that offers no shell is
// for a title or a summary, whatever it quotes.
func (s Script) next(req Request) (reply Reply, scripted bool) {
	turn, at := s.turnOf(req.Messages)
	if _, shell := choose(req.Tools, shellTools); turn == nil || !shell && !turn.Bare {
		return Reply{Text: SideAnswer}, false
	}
	done := 0
	for _, m := range req.Messages[at+1:] {
		switch {
		case m.Role == RoleAssistant && len(m.Calls) > 0:
			done++
		case m.Role == RoleAssistant, m.Text != "" && m.Role != RoleOther && !strings.HasPrefix(m.Text, "<"):
			// The turn is answered, or somebody asks for something else, such as
			// a summary. What agents put in themselves they mark up.
			return Reply{Text: SideAnswer}, false
		}
	}
	if done >= len(turn.Steps) {
		return Reply{Text: SideAnswer}, false
	}
	step := turn.Steps[done]
	reply = Reply{Text: step.Text}
	call, ok := step.call(req.Tools, fmt.Sprintf("call_%06d", req.ID))
	if ok {
		reply.Calls = []ToolCall{call}
	}
	return reply, true
}

// turnOf finds the turn whose prompt stands last in the conversation, and the
// message it stands in.
func (s Script) turnOf(messages []Message) (*Turn, int) {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role != RoleUser && messages[i].Role != RoleTool {
			continue
		}
		text := messages[i].Text + "\n" + messages[i].Given
		best, pos := -1, -1
		for k := range s {
			if at := strings.LastIndex(text, s[k].Prompt); at > pos {
				best, pos = k, at
			}
		}
		if best >= 0 {
			return &s[best], i
		}
	}
	return nil, 0
}
