package mockmodel

import (
	"encoding/json"
	"strings"
)

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
