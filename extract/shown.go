package extract

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"memoir"
)

// shown is what a language model sees of a session.
type shown struct {
	items   []memoir.Item
	omitted int    // items that were left out for length
	text    string // the items as a JSON array
}

// shownItem is an item in the input of a language model. What does not change from one
// item to the next is said once.
type shownItem struct {
	N      int    `json:"n"`
	Kind   string `json:"kind"`
	Role   string `json:"role,omitempty"`
	Origin string `json:"origin,omitempty"`
	Final  bool   `json:"final,omitempty"`
	Day    string `json:"day,omitempty"`    // from here on
	CWD    string `json:"cwd,omitempty"`    // from here on
	Branch string `json:"branch,omitempty"` // from here on
	Text   string `json:"text,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Input  string `json:"input,omitempty"`
	Output string `json:"output,omitempty"`
	Exit   *int   `json:"exit,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// readable strips what no reader sees from the texts of items, since it may say
// something else than what one sees.
func readable(items []memoir.Item) []memoir.Item {
	out := make([]memoir.Item, len(items))
	for i, it := range items {
		it.Text, it.Input, it.Output = clean(it.Text), clean(it.Input), clean(it.Output)
		out[i] = it
	}
	return out
}

// maxFits is how often a session is fitted at most, until its rendering fits as well.
const maxFits = 5

// fitShown renders what a number of tokens holds of a session, all of it if that is 0.
// Fit counts texts, and JSON adds names and escapes to them, so the budget of
// the texts is lowered by what was added.
func fitShown(read []reading, tokens int) shown {
	var s shown
	s.items, _ = choose(read, 0)
	s.text = render(s.items)
	if tokens <= 0 || memoir.Tokens(s.text) <= tokens {
		return s
	}
	cost := 0
	for _, it := range s.items {
		cost += Cost(it)
	}
	goal := float64(cost)
	for range maxFits {
		goal *= float64(tokens) / float64(memoir.Tokens(s.text)) * 0.99
		s.items, s.omitted = choose(read, max(int(goal), 1))
		s.text = render(s.items)
		if memoir.Tokens(s.text) <= tokens {
			break
		}
		goal = min(goal, float64(tokens))
	}
	return s
}

// render writes items as JSON, one a line.
func render(items []memoir.Item) string {
	var b strings.Builder
	var r renderer
	b.WriteString("[\n")
	for i, it := range items {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString(r.line(it))
	}
	if len(items) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("]")
	return b.String()
}

// A renderer knows what was said already.
type renderer struct {
	day, cwd, branch string
	buffer           bytes.Buffer
}

// line is the next item as JSON.
func (r *renderer) line(it memoir.Item) string {
	one := shownItem{
		N: it.N, Kind: it.Kind, Final: it.Final, Text: it.Text,
		Tool: it.Tool, Input: it.Input, Output: it.Output, Exit: it.Exit, Failed: it.Failed,
		CWD: changed(&r.cwd, it.CWD), Branch: changed(&r.branch, it.Branch),
	}
	if it.Kind != memoir.ItemTool {
		one.Role, one.Origin = it.Role, string(it.Origin)
	}
	if !it.At.IsZero() {
		one.Day = changed(&r.day, it.At.UTC().Format(time.DateOnly))
	}
	r.buffer.Reset()
	encoder := json.NewEncoder(&r.buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(one); err != nil {
		panic(err) // strings and numbers have a JSON form
	}
	return strings.TrimSuffix(r.buffer.String(), "\n")
}

// changed returns a value if it is another than the last one, else nothing.
func changed(last *string, value string) string {
	if value == "" || value == *last {
		return ""
	}
	*last = value
	return value
}
