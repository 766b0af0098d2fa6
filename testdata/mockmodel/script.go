package mockmodel

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"memoir/model/modeltest"
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
	Tool  string // the end of the name of a tool to call with Input
	Input map[string]any
}

// File is what a step writes.
type File struct{ Path, Content string }

// SideAnswer is what the model says to requests outside the script.
const SideAnswer = "Lantern notes"

// Model is the name that the mock answers to when an agent lists models.
const Model = "mock-1"

// Start serves a script on a free port of loopback until Close.
func Start(script Script) *modeltest.Server {
	return modeltest.Start(func(n int, c modeltest.Call) modeltest.Step {
		req, ok := decode(c.Path, gjson.ParseBytes(c.Body))
		switch {
		case !ok:
			return beside(c.Path)
		case !gjson.ValidBytes(c.Body):
			return modeltest.Step{Status: http.StatusBadRequest, Message: "the request is not JSON"}
		}
		return script.next(req, fmt.Sprintf("call_%06d", n))
	})
}

// beside answers what agents ask beside the conversation.
func beside(path string) modeltest.Step {
	switch {
	case strings.HasSuffix(path, "/messages/count_tokens"):
		return modeltest.Step{Raw: `{"input_tokens":100}`}
	case strings.HasSuffix(path, ":countTokens"):
		return modeltest.Step{Raw: `{"totalTokens":100}`}
	case strings.HasSuffix(path, "/models"):
		return modeltest.Step{Raw: `{"object":"list","data":[{"id":"` + Model + `","object":"model","type":"model",` +
			`"display_name":"` + Model + `","created":1,"created_at":"2026-01-01T00:00:00Z","owned_by":"mock"}],` +
			`"models":[],"has_more":false}`}
	}
	return modeltest.Step{Status: http.StatusNotFound, Raw: `{"error":{"message":"the mock model has no such path"}}`}
}

// next decides the reply to a request: the prompt it holds last says which turn
// it is, the replies since then which step. A request that offers no shell is
// for a title or a summary, whatever it quotes.
func (s Script) next(req Request, id string) modeltest.Step {
	beside := modeltest.Step{Text: SideAnswer}
	turn, at := s.turnOf(req.Messages)
	if _, shell := choose(req.Tools, shellTools); turn == nil || !shell && !turn.Bare {
		return beside
	}
	done := 0
	for _, m := range req.Messages[at+1:] {
		switch {
		case m.Role == RoleAssistant && len(m.Calls) > 0:
			done++
		case m.Role == RoleAssistant, m.Text != "" && m.Role != RoleOther && !strings.HasPrefix(m.Text, "<"):
			// The turn is answered, or somebody asks for something else, such as
			// a summary. What agents put in themselves they mark up.
			return beside
		}
	}
	if done >= len(turn.Steps) {
		return beside
	}
	step := turn.Steps[done]
	reply := modeltest.Step{Text: step.Text}
	if call, ok := step.call(req.Tools, id); ok {
		reply.Calls = []modeltest.ToolCall{call}
	} else if reply.Text == "" { // an empty answer is an error to some agents
		return beside
	}
	return reply
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
