package extract

import (
	"slices"
	"strings"

	"memoir"
)

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
func diffOf(it memoir.Item, args map[string]any) (string, bool) {
	if at := strings.Index(it.Input, "*** Begin Patch"); at >= 0 {
		return strings.TrimSpace(it.Input[:at] + "\n" + changedLines(it.Input[at:])), true
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
