package entry

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// MaxPatch bounds a patch, in bytes.
const MaxPatch = 1 << 20

// op changes lines of a text, which are counted from 1.
type op struct {
	Op      string  `json:"op"`      // insert before the line, or at the end; update it; remove it
	Line    int     `json:"line"`    // as the operations before it left the text
	Content *string `json:"content"` // may be several lines; none when removing
}

// Apply applies a patch, {"ops": [{"op": "insert", "line": 3, "content": "…"}, …]}, to a text: all of its operations
// in order, or none. The error of a patch that cannot be applied, or of a result of more than most bytes, has the
// code memoir.CodeUsage.
func Apply(text string, patch []byte, most int) (string, error) {
	var p struct {
		Ops []op `json:"ops"`
	}
	in := json.NewDecoder(bytes.NewReader(patch))
	in.DisallowUnknownFields()
	err := in.Decode(&p)
	if err == nil && in.More() {
		err = errors.New("something follows it")
	}
	if err != nil {
		return "", usage(`{"ops": [{"op": "insert", "line": 3, "content": "…"}]}`, "the patch is not valid: %v", err)
	}
	if len(p.Ops) == 0 {
		return "", usage("", "the patch has no operations")
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, o := range p.Ops {
		var content []string
		if o.Content != nil {
			content = strings.Split(strings.TrimSuffix(*o.Content, "\n"), "\n")
		}
		last := len(lines)
		if o.Op == "insert" {
			last++
		}
		switch at := o.Line - 1; {
		case o.Line < 1 || o.Line > last:
			return "", usage("lines are counted from 1, after the operations before", "operation %d: line %d of %d", i+1, o.Line,
				last)
		case o.Op == "insert" && content != nil:
			lines = slices.Insert(lines, at, content...)
		case o.Op == "update" && content != nil:
			lines = slices.Replace(lines, at, at+1, content...)
		case o.Op == "remove" && content == nil:
			lines = slices.Delete(lines, at, at+1)
		default:
			return "", usage("insert, update or remove", "operation %d: %q cannot be done", i+1, cut(o.Op))
		}
	}
	out := strings.Join(lines, "\n") + "\n"
	if len(out) > most {
		return "", usage("remove lines, or raise memories.maxMemorySize", "the memory would have %d bytes, and may have %d",
			len(out), most)
	}
	return out, nil
}
