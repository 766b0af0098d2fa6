package extract

import (
	"strings"

	"github.com/tidwall/gjson"
)

// argument returns the file that a tool's arguments name.
func argument(input string) string {
	if !isObject(input) {
		return ""
	}
	for _, key := range []string{"file_path", "path", "filePath", "absolute_path", "filename", "notebook_path", "target_file"} {
		if p := textOf(input, key); p != "" {
			return p
		}
	}
	return ""
}

// isObject reports whether a text looks like a JSON object; gjson takes the rest as
// far as it goes.
func isObject(input string) bool { return strings.HasPrefix(strings.TrimLeft(input, " \t\r\n"), "{") }

// textOf returns the string under a key of a JSON object, else nothing. A key that
// is not in the text need not be looked for in its structure.
func textOf(object, key string) string {
	if !strings.Contains(object, `"`+key+`"`) {
		return ""
	}
	if v := gjson.Get(object, key); v.Type == gjson.String {
		return v.Str
	}
	return ""
}

// A change is what an edit took from a file and put in. Of a whole file that is
// written only the new text is known.
type change struct{ path, before, after string }

// changesOf reads what a call of an editing tool or a patch changes; the path is
// empty where the arguments name none.
func changesOf(input string) []change {
	if strings.Contains(input, patchStart) {
		return patchChanges(input)
	}
	if !isObject(input) {
		return nil
	}
	before, after := replaced(input)
	if edits := gjson.Get(input, "edits"); edits.IsArray() {
		var old, fresh strings.Builder
		edits.ForEach(func(_, one gjson.Result) bool {
			o, f := replaced(one.Raw)
			old.WriteString("\n" + o)
			fresh.WriteString("\n" + f)
			return true
		})
		before, after = before+old.String(), after+fresh.String()
	}
	return []change{{argument(input), before, after}}
}

// replaced returns the text that one edit takes away and the text that it puts there.
func replaced(args string) (before, after string) {
	get := func(keys ...string) string {
		for _, k := range keys {
			if s := textOf(args, k); s != "" {
				return s
			}
		}
		return ""
	}
	return get("old_string", "oldText", "old_str", "oldString"), get("new_string", "newText", "new_str", "newString", "content", "file_text", "insert_text")
}

// patchChanges reads the lines that a patch in the form of apply_patch takes out
// and puts in, by file.
func patchChanges(input string) []change {
	if strings.Count(input, "\n") < strings.Count(input, `\n`) { // it stands in a string
		input = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`).Replace(input)
	}
	var out []change
	var before, after strings.Builder
	flush := func() {
		if n := len(out); n > 0 {
			out[n-1].before, out[n-1].after = before.String(), after.String()
		}
		before.Reset()
		after.Reset()
	}
	for line := range strings.Lines(input) {
		if rest, ok := strings.CutPrefix(line, "*** "); ok {
			for _, verb := range []string{"Update File: ", "Add File: "} {
				if p, ok := strings.CutPrefix(rest, verb); ok {
					flush()
					out = append(out, change{path: strings.TrimSpace(p)})
				}
			}
			continue
		}
		if len(out) == 0 {
			continue
		}
		switch line[0] {
		case '-':
			before.WriteString(line[1:])
		case '+':
			after.WriteString(line[1:])
		}
	}
	flush()
	return out
}

// patched returns the files that a patch in the form of apply_patch changes,
// wherever it stands in a tool's arguments.
func patched(input string) []string {
	if !strings.Contains(input, patchStart) {
		return nil
	}
	var out []string
	rest := input
	for {
		i := strings.Index(rest, "*** ")
		if i < 0 {
			return out
		}
		rest = rest[i+4:]
		for _, verb := range []string{"Update File: ", "Add File: ", "Delete File: "} {
			if p, ok := strings.CutPrefix(rest, verb); ok {
				if end := strings.IndexAny(p, "\r\n\\\"`"); end >= 0 {
					p = p[:end]
				}
				if p = strings.TrimSpace(p); p != "" {
					out = append(out, p)
				}
			}
		}
	}
}

// patchedAway reads the files that a patch removes or renames.
func patchedAway(input string) []deletion {
	var out []deletion
	last := ""
	for part := range strings.SplitSeq(input, "*** ") {
		if end := strings.IndexAny(part, "\r\n\\\""); end >= 0 {
			part = part[:end]
		}
		if p, ok := strings.CutPrefix(part, "Delete File: "); ok {
			out = append(out, deletion{from: strings.TrimSpace(p)})
		} else if p, ok := strings.CutPrefix(part, "Update File: "); ok {
			last = strings.TrimSpace(p)
		} else if p, ok := strings.CutPrefix(part, "Move to: "); ok && last != "" {
			out = append(out, deletion{last, strings.TrimSpace(p)})
		}
	}
	return out
}
