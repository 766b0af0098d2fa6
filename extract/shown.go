package extract

import (
	"bytes"
	"encoding/json"
	"slices"
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
func fitShown(items []memoir.Item, tokens int) shown {
	s := shown{items: items, text: render(items)}
	if tokens <= 0 || memoir.Tokens(s.text) <= tokens {
		return s
	}
	cost := 0
	for _, it := range items {
		cost += Cost(it)
	}
	goal := float64(cost)
	for range maxFits {
		goal *= float64(tokens) / float64(memoir.Tokens(s.text)) * 0.99
		s.items, s.omitted = choose(items, max(int(goal), 1))
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

// What the diff of a file begins with, as in the patches that Codex applies.
const (
	addFile    = "*** Add File: "
	updateFile = "*** Update File: "
	deleteFile = "*** Delete File: "
)

// isDiff reports whether a call's input is what diffOf makes of an edit.
func isDiff(input string) bool {
	return strings.Contains(input, addFile) || strings.Contains(input, updateFile) || strings.Contains(input, deleteFile)
}

// diffOf writes an edit as the lines that it changed, under the file's path.
func diffOf(it memoir.Item) (string, bool) {
	if at := strings.Index(it.Input, "*** Begin Patch"); at >= 0 {
		return strings.TrimSpace(it.Input[:at] + "\n" + changedLines(it.Input[at:])), true
	}
	var args map[string]any
	if it.Shell() || !strings.HasPrefix(it.Input, "{") || json.Unmarshal([]byte(it.Input), &args) != nil {
		return "", false
	}
	path := firstText(args, "file_path", "path", "filePath", "file", "notebook_path")
	if path == "" {
		return "", false
	}
	if content := firstText(args, "content", "file_text", "contents", "new_source"); content != "" {
		return addFile + path + "\n" + signed("+", linesOf(content)), true
	}
	edits := []any{args}
	if many, ok := args["edits"].([]any); ok {
		edits = many
	}
	var b strings.Builder
	b.WriteString(updateFile + path)
	found := false
	for _, one := range edits {
		edit, _ := one.(map[string]any)
		before := firstText(edit, "old_string", "oldText", "oldString", "old_str")
		after := firstText(edit, "new_string", "newText", "newString", "new_str")
		if before == "" && after == "" {
			continue
		}
		found = true
		b.WriteString("\n@@\n" + lineDiff(before, after))
	}
	return b.String(), found
}

// firstText is the first of some arguments that is a text.
func firstText(args map[string]any, names ...string) string {
	for _, name := range names {
		if text, ok := args[name].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// changedLines leaves the lines around a change out of a patch.
func changedLines(patch string) string {
	var kept []string
	for _, line := range strings.Split(patch, "\n") {
		if line == "*** Begin Patch" || line == "*** End Patch" || line == "" || line[0] == ' ' {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// linesOf are the lines of a text; an empty one has none.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// lineDiff is the lines of two texts that the other one does not have, in order.
func lineDiff(before, after string) string {
	old, fresh := linesOf(before), linesOf(after)
	has := func(lines []string) map[string]bool {
		set := make(map[string]bool, len(lines))
		for _, l := range lines {
			set[strings.TrimSpace(l)] = true
		}
		return set
	}
	without := func(lines []string, other map[string]bool) []string {
		return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return other[strings.TrimSpace(l)] })
	}
	gone, added := without(old, has(fresh)), without(fresh, has(old))
	return strings.Trim(signed("-", gone)+"\n"+signed("+", added), "\n")
}

func signed(sign string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return sign + strings.Join(lines, "\n"+sign)
}
