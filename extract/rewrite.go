package extract

import (
	"encoding/json"
	"strings"
)

// argument returns the file that a tool's arguments name.
func argument(input string) string {
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(input), &args) != nil {
		return ""
	}
	for _, key := range []string{"file_path", "path", "filePath", "absolute_path", "filename", "notebook_path", "target_file"} {
		var p string
		if raw, ok := args[key]; ok && json.Unmarshal(raw, &p) == nil && p != "" {
			return p
		}
	}
	return ""
}

// A change is what an edit took from a file and put in. Of a whole file that is
// written only the new text is known.
type change struct{ path, before, after string }

// changesOf reads what a call of an editing tool or a patch changes; the path is
// empty where the arguments name none.
func changesOf(input string) []change {
	if strings.Contains(input, "*** Begin Patch") {
		return patchChanges(input)
	}
	if !strings.HasPrefix(strings.TrimSpace(input), "{") {
		return nil
	}
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(input), &args) != nil {
		return nil
	}
	before, after := replaced(args)
	var list []map[string]json.RawMessage
	if json.Unmarshal(args["edits"], &list) == nil {
		var old, fresh strings.Builder
		for _, one := range list {
			o, f := replaced(one)
			old.WriteString("\n" + o)
			fresh.WriteString("\n" + f)
		}
		before, after = before+old.String(), after+fresh.String()
	}
	return []change{{argument(input), before, after}}
}

// replaced returns the text that one edit takes away and the text that it puts there.
func replaced(args map[string]json.RawMessage) (before, after string) {
	get := func(keys ...string) (s string) {
		for _, k := range keys {
			if json.Unmarshal(args[k], &s) == nil && s != "" {
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
	if !strings.Contains(input, "*** Begin Patch") {
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
