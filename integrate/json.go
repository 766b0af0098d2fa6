package integrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// tree is a parsed JSON text. The parser gives positions, and the text is changed there and nowhere else.
type tree struct {
	text []byte
	root hujson.Value
	unit string // of indentation
	eol  string
}

func parseTree(text []byte) (*tree, error) {
	t := &tree{text: text, unit: "  ", eol: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		t.eol = "\r\n"
	}
	for line := range bytes.Lines(text) {
		if indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]; len(indent) > 0 && len(bytes.TrimSpace(line)) > 0 {
			t.unit = string(indent)
			break
		}
	}
	var err error
	t.root, err = hujson.Parse(bytes.Clone(text))
	return t, err
}

// step is a value on the way to an entry, with its place in the value before.
type step struct {
	value *hujson.Value
	index int
}

// walk follows a path as far as it is there.
func (t *tree) walk(at []string) []step {
	steps := []step{{value: &t.root}}
	for _, key := range at {
		object, ok := steps[len(steps)-1].value.Value.(*hujson.Object)
		if !ok {
			break
		}
		i := slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool {
			return m.Name.Value.(hujson.Literal).String() == key
		})
		if i < 0 {
			break
		}
		steps = append(steps, step{&object.Members[i].Value, i})
	}
	return steps
}

// putJSON adds an entry, or puts it in the place of an earlier one.
func putJSON(text []byte, e Entry) ([]splice, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		t := &tree{unit: "  ", eol: "\n"}
		value := nest(e, 0)
		return []splice{{At: 0, Old: string(text), New: t.render(value, "") + t.eol}}, nil
	}
	t, err := parseTree(text)
	if err != nil {
		return nil, err
	}
	steps := t.walk(e.At)
	last := steps[len(steps)-1].value
	missing := e.At[len(steps)-1:]
	switch {
	case len(missing) > 0:
		if last.Value.Kind() != '{' {
			return nil, notThat(e.At[:len(steps)-1], "an object")
		}
		value := nest(e, len(steps))
		return t.insert(last, missing[0], value), nil
	case !e.List:
		if !isOurs(decoded(last), e) {
			return nil, foreign(e)
		}
		return t.replace(last, e), nil
	}
	list, ok := last.Value.(*hujson.Array)
	if !ok {
		return nil, notThat(e.At, "a list")
	}
	i := slices.IndexFunc(list.Elements, func(v hujson.Value) bool { return isOurs(decoded(&v), e) })
	if i < 0 {
		return t.insert(last, "", e.Value), nil
	}
	if handlers(decoded(&list.Elements[i])) > 1 {
		return nil, shared(e)
	}
	return t.replace(&list.Elements[i], e), nil
}

func notThat(at []string, what string) error {
	name := strings.Join(at, ".")
	if name == "" {
		name = "the file"
	}
	return fmt.Errorf("%s is not %s", name, what)
}

// nest is the value of an entry in the sections that lead to it, from the given one.
func nest(e Entry, from int) json.RawMessage {
	value := e.Value
	if e.List {
		value = slices.Concat([]byte("["), value, []byte("]"))
	}
	for _, key := range slices.Backward(e.At[from:]) {
		name, _ := json.Marshal(key)
		value = slices.Concat([]byte("{"), name, []byte(":"), value, []byte("}"))
	}
	return value
}

func decoded(v *hujson.Value) any {
	clone := v.Clone()
	clone.Standardize()
	value, _ := fromJSON(clone.Pack())
	return value
}

// replace puts an entry in the place of a value, unless that is the same.
func (t *tree) replace(v *hujson.Value, e Entry) []splice {
	if there, err := json.Marshal(decoded(v)); err == nil {
		if value, err := fromJSON(e.Value); err == nil {
			if wanted, _ := json.Marshal(value); bytes.Equal(there, wanted) {
				return nil
			}
		}
	}
	indent := t.indentAt(v.StartOffset)
	return []splice{{v.StartOffset, string(t.text[v.StartOffset:v.EndOffset]), t.render(e.Value, indent)}}
}

// render writes a compact value with the indentation of its line.
func (t *tree) render(value json.RawMessage, indent string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, value, indent, t.unit); err != nil {
		return string(value)
	}
	return strings.ReplaceAll(b.String(), "\n", t.eol)
}

// indentAt is the white space with which the line of a position begins.
func (t *tree) indentAt(at int) string {
	line := t.text[bytes.LastIndexByte(t.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// insert adds a member, or an element if it has no name, as the last one of a value.
func (t *tree) insert(in *hujson.Value, name string, value json.RawMessage) []splice {
	label := ""
	if name != "" {
		quoted, _ := json.Marshal(name)
		label = string(quoted) + ": "
	}
	first, last := ends(in)
	open := in.StartOffset + 1
	if last == nil {
		indent := t.indentAt(in.StartOffset)
		text := t.eol + indent + t.unit + label + t.render(value, indent+t.unit)
		if !bytes.Contains(t.text[open:in.EndOffset], []byte("\n")) {
			text += t.eol + indent
		}
		return []splice{{At: open, New: text}}
	}
	if !bytes.Contains(t.text[open:first], []byte("\n")) { // all in one line
		if last.AfterExtra != nil {
			return []splice{{At: last.EndOffset + len(last.AfterExtra) + 1, New: " " + label + string(value) + ","}}
		}
		return []splice{{At: last.EndOffset, New: ", " + label + string(value)}}
	}
	indent := t.indentAt(first)
	text := t.eol + indent + label + t.render(value, indent)
	if last.AfterExtra != nil { // a trailing comma
		return []splice{{At: t.lineEnd(last.EndOffset + len(last.AfterExtra) + 1), New: text + ","}}
	}
	end := t.lineEnd(last.EndOffset)
	if end == last.EndOffset {
		return []splice{{At: end, New: "," + text}}
	}
	return []splice{{At: last.EndOffset, New: ","}, {At: end + 1, New: text}}
}

// lineEnd is the end of a comment that follows a position in its line, else the position.
func (t *tree) lineEnd(at int) int {
	rest := t.text[at:]
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	line = bytes.TrimRight(line, " \t\r")
	switch comment := bytes.TrimLeft(line, " \t"); {
	case bytes.HasPrefix(comment, []byte("//")):
		return at + len(line)
	case bytes.HasPrefix(comment, []byte("/*")) && bytes.Index(comment, []byte("*/")) == len(comment)-2:
		return at + len(line)
	}
	return at
}

// ends are where the first child of an object or a list begins, and the value of the last one.
func ends(v *hujson.Value) (first int, last *hujson.Value) {
	switch v := v.Value.(type) {
	case *hujson.Object:
		if n := len(v.Members); n > 0 {
			return v.Members[0].Name.StartOffset, &v.Members[n-1].Value
		}
	case *hujson.Array:
		if n := len(v.Elements); n > 0 {
			return v.Elements[0].StartOffset, &v.Elements[n-1]
		}
	}
	return 0, nil
}

// takeJSON removes an entry.
func takeJSON(text []byte, e Entry, keep int) ([]splice, error) {
	t, err := parseTree(text)
	if err != nil {
		return nil, err
	}
	steps := t.walk(e.At)
	if len(steps) <= len(e.At) {
		return nil, nil
	}
	target := steps[len(steps)-1].value
	if e.List {
		list, ok := target.Value.(*hujson.Array)
		if !ok {
			return nil, nil
		}
		i := slices.IndexFunc(list.Elements, func(v hujson.Value) bool { return isOurs(decoded(&v), e) })
		if i < 0 {
			return nil, nil
		}
		if handlers(decoded(&list.Elements[i])) > 1 {
			return nil, shared(e)
		}
		steps = append(steps, step{&list.Elements[i], i})
	} else if !isOurs(decoded(target), e) {
		return nil, nil
	}
	// What would be empty goes as well.
	at := len(steps) - 1
	for at-1 > keep && size(steps[at-1].value) == 1 {
		at--
	}
	return t.cut(steps[at-1].value, steps[at].index), nil
}

func size(v *hujson.Value) int {
	switch v := v.Value.(type) {
	case *hujson.Object:
		return len(v.Members)
	case *hujson.Array:
		return len(v.Elements)
	}
	return 0
}

// cut removes a child with its line and one comma.
func (t *tree) cut(in *hujson.Value, i int) []splice {
	child := func(i int) (start int, value *hujson.Value) {
		if object, ok := in.Value.(*hujson.Object); ok {
			return object.Members[i].Name.StartOffset, &object.Members[i].Value
		}
		value = &in.Value.(*hujson.Array).Elements[i]
		return value.StartOffset, value
	}
	start, value := child(i)
	end := value.EndOffset
	var splices []splice
	if i+1 < size(in) || value.AfterExtra != nil {
		end += len(value.AfterExtra) + 1
	}
	for start > 0 && (t.text[start-1] == ' ' || t.text[start-1] == '\t') {
		start--
	}
	switch {
	case start > 1 && string(t.text[start-2:start]) == "\r\n":
		start -= 2
	case start > 0 && t.text[start-1] == '\n':
		start--
	}
	splices = append(splices, splice{At: start, Old: string(t.text[start:end])})
	if i+1 == size(in) && i > 0 && value.AfterExtra == nil {
		_, previous := child(i - 1)
		splices = append(splices, splice{At: previous.EndOffset + len(previous.AfterExtra), Old: ","})
	}
	return splices
}
