package entry

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/memory"
)

// MaxPatch bounds a patch, in bytes.
const MaxPatch = 1 << 20

// op changes lines of a text, which are counted from 1.
type op struct {
	Op      string  `json:"op"`      // insert before the line, or at the end; update it; remove it
	Line    int     `json:"line"`    // as the operations before it left the text
	Content *string `json:"content"` // may be several lines; none when removing
}

// Patch is a text that is to be changed.
type Patch struct {
	Text   string
	Most   int // bytes of the result
	Author memoir.Author
	Cite   string // citation of the session that lines of other authors than the user were written from; empty: unknown
	// Own reports whether a line is one that a person wrote: only the user changes those.
	Own func(line string) bool
}

// Apply applies a patch, {"ops": [{"op": "insert", "line": 3, "content": "…"}, …]}: all of its operations in
// order, or none. What others than the user write is marked as not confirmed. The error of a patch that cannot be
// applied has the code memoir.CodeUsage, and that of a result that is too large memoir.CodeInvalid.
func (t Patch) Apply(patch []byte) (string, error) {
	var p struct {
		Ops []op `json:"ops"`
	}
	in := json.NewDecoder(bytes.NewReader(patch))
	in.DisallowUnknownFields()
	err := in.Decode(&p)
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		err = errors.New("it must be an object with ops, each with op, line and content")
	}
	if err == nil && in.More() {
		err = errors.New("text follows the JSON object")
	}
	if err != nil {
		return "", usage(`{"ops": [{"op": "insert", "line": 3, "content": "…"}]}`, "the patch is not valid: %v", err)
	}
	if len(p.Ops) == 0 {
		return "", usage("", "the patch has no operations")
	}
	lines := strings.Split(strings.TrimSuffix(t.Text, "\n"), "\n")
	for i, o := range p.Ops {
		content, err := t.content(o)
		if err != nil {
			return "", memoir.Errorf(memoir.CodeOf(err), memoir.HintOf(err), "operation %d: %w", i+1, err)
		}
		last := len(lines)
		if o.Op == "insert" {
			last++
		}
		switch at := o.Line - 1; {
		case o.Line < 1 || o.Line > last:
			return "", usage("count lines after the preceding operations", "operation %d: no line %d; %s takes 1 to %d",
				i+1, o.Line, cut(o.Op), last)
		case o.Op != "insert" && t.Author != memoir.AuthorUser && t.Own(lines[at]):
			return "", usage("add a line that says otherwise, or ask the user to change it",
				"operation %d: a person wrote line %d", i+1, o.Line)
		case o.Op == "insert":
			lines = slices.Insert(lines, at, content...)
		case o.Op == "update":
			lines = slices.Replace(lines, at, at+1, content...)
		case o.Op == "remove":
			lines = slices.Delete(lines, at, at+1)
		default:
			return "", usage("use insert, update or remove", "operation %d: unknown operation %q", i+1, cut(o.Op))
		}
	}
	out := strings.Join(lines, "\n") + "\n"
	if len(out) > t.Most {
		return "", memoir.Errorf(memoir.CodeInvalid, "remove lines, or raise memories.maxMemorySize",
			"the memory would have %d bytes, more than %d", len(out), t.Most)
	}
	return out, nil
}

// content returns the lines of an operation in the form that consolidations keep; nil: none.
func (t Patch) content(o op) ([]string, error) {
	if o.Content == nil && o.Op != "insert" && o.Op != "update" {
		return nil, nil
	}
	if o.Content == nil {
		return nil, usage("", "%s needs content", o.Op)
	}
	if o.Op == "remove" {
		return nil, usage("", "remove takes no content")
	}
	bad := func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\t\r", r) }
	if strings.ContainsFunc(*o.Content, bad) {
		return nil, usage("leave it out", "the patch has a control character")
	}
	return t.signed(strings.Split(strings.TrimSuffix(memory.Neutralise(*o.Content), "\n"), "\n")), nil
}

// fenceMarks matches the marks of a code fence, wherever they are: a list or a quotation may have a fence.
var fenceMarks = lazyregexp.New("(?:```|~~~)[`~]*")

// signed marks lines that the user did not write as not confirmed. A new heading becomes a plain line: sessions would
// get it, unmarked, above the lines of others. So does a fence, which its mark would keep from closing.
func (t Patch) signed(lines []string) []string {
	if t.Author == memoir.AuthorUser {
		return lines
	}
	for i, line := range lines {
		line = strings.TrimRight(fenceMarks.ReplaceAllString(line, ""), " \t")
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			if slices.Contains(strings.Split(t.Text, "\n"), line) {
				continue
			}
			line = strings.TrimLeft(line, " \t#")
		}
		if line = strings.TrimSuffix(line, memoir.Unconfirmed); line != "" {
			if !strings.Contains(line, t.Cite) {
				line += " " + t.Cite
			}
			line += memoir.Unconfirmed
		}
		lines[i] = line
	}
	return lines
}

// sections are the headings of a memory that a patch creates, each with a description of its content.
var sections = [][2]string{
	{"User", "Who the user is and how they like to work. Say why: what they stated, and when."},
	{"Feedback", "What the user corrected or confirmed. Say why: the incident, or the preference behind the rule."},
	{"Project", "What is true of the project and cannot be read in its files. Say why it is so."},
	{"Reference", "Where to look: documents, dashboards, people. Say why one would look there."},
}

// Template is the MEMORY.md to which the first patch of a project applies.
func Template(name string) string {
	var b strings.Builder
	b.WriteString("# " + name + ": project memory\n\nWritten down at once; runs add what sessions teach.\n")
	for _, s := range sections {
		b.WriteString("\n## " + s[0] + "\n\n*" + s[1] + "*\n")
	}
	return b.String()
}
