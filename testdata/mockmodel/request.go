package mockmodel

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Roles of a message, whatever the wire format calls them. Results of tools
// belong to RoleTool.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
	RoleOther     = "other" // system, developer
)

// Request is what all formats have in common.
type Request struct {
	ID       int // unlike that of any other request
	Model    string
	Stream   bool
	Messages []Message // neighbours of the assistant's role are joined
	Tools    []Tool
}

// Message is one entry of the conversation that a request carries.
type Message struct {
	Role  string
	Text  string   // without what tools gave
	Given string   // what tools gave; agents put in what a person types meanwhile
	Calls []string // names of the tools that an assistant's message calls
}

// Tool is a tool that a request offers.
type Tool struct {
	Name      string
	Namespace string
	Custom    bool   // takes text, not JSON
	Schema    Schema // of its parameters
}

// Schema is the part of a JSON schema that choosing arguments takes.
type Schema struct {
	Type       any               `json:"type"` // a string or a list of them
	Enum       []any             `json:"enum"`
	Properties map[string]Schema `json:"properties"`
	Required   []string          `json:"required"`
}

func (s Schema) is(kind string) bool {
	switch t := s.Type.(type) {
	case string:
		return strings.EqualFold(t, kind)
	case []any:
		for _, one := range t {
			if one == kind {
				return true
			}
		}
	}
	return false
}

// add appends a message, joined to the one before if both are the assistant's.
func (r *Request) add(m Message) {
	if n := len(r.Messages); n > 0 && m.Role == RoleAssistant && r.Messages[n-1].Role == RoleAssistant {
		last := &r.Messages[n-1]
		last.Text += m.Text
		last.Calls = append(last.Calls, m.Calls...)
		return
	}
	r.Messages = append(r.Messages, m)
}

// messageID names the reply to a request.
func messageID(r Request) string { return fmt.Sprintf("mock_%06d", r.ID) }

// content is the text of a message: a string, or blocks some of which hold text.
type content string

// UnmarshalJSON takes a string, or the texts of blocks, a line each; anything else is no text,
// and no error.
func (c *content) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = content(text)
		return nil
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &blocks); err != nil {
		return nil // something without text, such as null
	}
	var all []string
	for _, block := range blocks {
		if block.Text != "" {
			all = append(all, block.Text)
		}
	}
	*c = content(strings.Join(all, "\n"))
	return nil
}

func role(name string) string {
	switch name {
	case "user", "assistant", "tool":
		return name
	case "model":
		return RoleAssistant
	}
	return RoleOther
}

// compact is a value as JSON; text stays as it is.
func compact(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	var b strings.Builder
	writeJSON(&b, v)
	return b.String()
}
