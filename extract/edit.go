package extract

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
)

// A fileEdit is a change of a file by a tool.
type fileEdit struct {
	path    string
	content string // all of a file that was written
	diff    string // the changed lines, under the file's path, as in the patches that Codex applies
}

// What the diff of a file begins with.
const (
	addFile    = "*** Add File: "
	updateFile = "*** Update File: "
	deleteFile = "*** Delete File: "
)

// isDiff reports whether a call's input is the diff of an edit.
func isDiff(input string) bool {
	return strings.Contains(input, addFile) || strings.Contains(input, updateFile) || strings.Contains(input, deleteFile)
}

// editOf reads a call that edits a file by its arguments, or by a patch, which names files itself.
func editOf(it *memoir.Item) (e fileEdit, ok bool) {
	if patch := patchIn(it.Input); patch != "" {
		return fileEdit{diff: changedLines(patch)}, true
	}
	if it.Shell() || !strings.HasPrefix(it.Input, "{") || !gjson.Valid(it.Input) {
		return e, false
	}
	args := gjson.Parse(it.Input)
	e.path = firstText(args, "file_path", "path", "filePath", "absolute_path", "file", "notebook_path")
	if e.path == "" {
		return e, false
	}
	if e.content = firstText(args, "content", "file_text", "contents", "new_source"); e.content != "" {
		e.diff = addFile + e.path + "\n" + signed("+", strings.Split(e.content, "\n"))
		return e, true
	}
	e.diff = updateFile + e.path
	for _, one := range append(args.Get("edits").Array(), args) {
		before := firstText(one, "old_string", "oldText", "oldString", "old_str")
		after := firstText(one, "new_string", "newText", "newString", "new_str")
		if before != "" || after != "" {
			e.diff, ok = e.diff+"\n@@\n"+lineDiff(before, after), true
		}
	}
	return e, ok
}

// firstText is the first of some arguments that is a text.
func firstText(args gjson.Result, names ...string) string {
	for _, name := range names {
		if text := args.Get(name); text.Type == gjson.String && text.Str != "" {
			return text.Str
		}
	}
	return ""
}

// patchIn is the patch of a call, as it stands or in one of its arguments; empty if there is none.
func patchIn(input string) string {
	if !strings.Contains(input, "*** Begin Patch") {
		return ""
	}
	patch := input
	if strings.HasPrefix(input, "{") {
		gjson.Parse(input).ForEach(func(_, arg gjson.Result) bool {
			if strings.Contains(arg.Str, "*** Begin Patch") {
				patch = arg.Str
			}
			return true
		})
	}
	return patch
}

// changedLines leaves the lines around a change out of a patch.
func changedLines(patch string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(patch, "\n"), func(line string) bool {
		return line == "" || line[0] == ' ' || line == "*** Begin Patch" || line == "*** End Patch"
	}), "\n")
}

// lineDiff is the lines of two texts that the other one does not have, in order.
func lineDiff(before, after string) string {
	old, fresh := strings.Split(before, "\n"), strings.Split(after, "\n")
	return strings.Trim(signed("-", without(old, fresh))+"\n"+signed("+", without(fresh, old)), "\n")
}

func without(lines, others []string) []string {
	known := map[string]bool{"": true}
	for _, line := range others {
		known[strings.TrimSpace(line)] = true
	}
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return known[strings.TrimSpace(line)] })
}

func signed(sign string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return sign + strings.Join(lines, "\n"+sign)
}
