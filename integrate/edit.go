package integrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"memoir"
	"memoir/internal/lazyregexp"
)

// form is the syntax of a file.
type form string

// The forms.
const (
	formJSON form = "json" // with comments and trailing commas
	formTOML form = "toml"
	formYAML form = "yaml"
	formOwn  form = "own" // a file that is memoir's as a whole
)

// Entry is one value that memoir keeps in a file.
type Entry struct {
	What  string          `json:"what"`           // for people, such as "start hook"
	At    []string        `json:"at"`             // the keys that lead to it
	List  bool            `json:"list,omitempty"` // it is an element of the list there
	Value json.RawMessage `json:"value"`          // compact
}

// splice replaces a piece of a file by another.
type splice struct {
	At  int    `json:"at"` // in bytes
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
}

// apply makes the splices one after the other.
func applySplices(content []byte, splices []splice) []byte {
	for _, s := range splices {
		content = slices.Concat(content[:s.At], []byte(s.New), content[s.At+len(s.Old):])
	}
	return content
}

// undoSplices takes splices back. It is false unless each stands where it was made.
func undoSplices(content []byte, splices []splice) ([]byte, bool) {
	for _, s := range slices.Backward(splices) {
		if s.At > len(content) || !bytes.HasPrefix(content[s.At:], []byte(s.New)) {
			return nil, false
		}
		content = slices.Concat(content[:s.At], []byte(s.Old), content[s.At+len(s.New):])
	}
	return append([]byte{}, content...), true
}

// bom is the mark of UTF-8 that some editors write at the beginning of a file. No parser here takes it.
const bom = "\xef\xbb\xbf"

// put returns the splices that give content an entry; none if it is there as wanted.
func put(f form, content []byte, e Entry) ([]splice, error) {
	return onText(content, func(text []byte) (splices []splice, err error) {
		before, err := decode(f, text)
		if err != nil {
			return nil, err
		}
		if joined := strings.Join(e.At, "."); f == formYAML && depth(before, []string{joined}) == 1 {
			e.At = []string{joined}
		}
		switch f {
		case formJSON:
			splices, err = putJSON(text, e)
		case formTOML:
			splices, err = putTOML(text, e)
		case formYAML:
			splices, err = putYAML(text, e, before)
		}
		if err != nil || len(splices) == 0 {
			return nil, err
		}
		after, err := decode(f, applySplices(slices.Clone(text), splices))
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(with(before, e), after) {
			return nil, fmt.Errorf("%s cannot be added without changing something else", strings.Join(e.At, "."))
		}
		return splices, nil
	})
}

// take returns the splices that remove an entry, and the lists and sections around it that it leaves
// empty, down to the first keep of its keys.
func take(f form, content []byte, e Entry, keep int) ([]splice, error) {
	return onText(content, func(text []byte) (splices []splice, err error) {
		before, err := decode(f, text)
		if err != nil {
			return nil, err
		}
		switch f {
		case formJSON:
			splices, err = takeJSON(text, e, keep)
		case formTOML:
			splices, err = takeTOML(text, e)
		case formYAML:
			splices, err = takeYAML(text, e, keep)
		}
		if err != nil || len(splices) == 0 {
			return nil, err
		}
		after, err := decode(f, applySplices(slices.Clone(text), splices))
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(pruned(without(before, e), e.At), pruned(after, e.At)) {
			return nil, fmt.Errorf("%s cannot be removed without changing something else", strings.Join(e.At, "."))
		}
		return splices, nil
	})
}

// onText calls edit with the text behind a byte order mark.
func onText(content []byte, edit func([]byte) ([]splice, error)) ([]splice, error) {
	text := bytes.TrimPrefix(content, []byte(bom))
	splices, err := edit(text)
	for i := range splices {
		splices[i].At += len(content) - len(text)
	}
	return splices, err
}

// decode reads a file of a form; nil if it is empty. Forms are made equal: all values are those of JSON.
func decode(f form, text []byte) (value any, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	switch f {
	case formJSON:
		standard, err := hujson.Standardize(bytes.Clone(text))
		if err != nil {
			return nil, err
		}
		return fromJSON(standard)
	case formTOML:
		err = toml.Unmarshal(text, &value)
	case formYAML:
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		if err = decoder.Decode(&value); err == nil && decoder.Decode(new(any)) == nil {
			err = fmt.Errorf("something follows the first document")
		}
		if err != nil && err.Error() == "EOF" { // comments alone
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	text, err = json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return fromJSON(text)
}

func fromJSON(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return value, nil
}

// with is a decoded file with an entry in it.
func with(file any, e Entry) any {
	value, _ := fromJSON(e.Value)
	return set(file, e.At, func(there any) any {
		if !e.List {
			return value
		}
		list, _ := there.([]any)
		if i := slices.IndexFunc(list, func(v any) bool { return isOurs(v, e) }); i >= 0 {
			list = slices.Clone(list)
			list[i] = value
			return list
		}
		return append(slices.Clone(list), value)
	})
}

// without is a decoded file without an entry.
func without(file any, e Entry) any {
	return set(file, e.At, func(there any) any {
		list, ok := there.([]any)
		if !e.List || !ok {
			return nil
		}
		i := slices.IndexFunc(list, func(v any) bool { return isOurs(v, e) })
		if i < 0 {
			return list
		}
		return slices.Delete(slices.Clone(list), i, i+1)
	})
}

// set returns a value in which what stands at a path is changed; nil removes it.
func set(value any, at []string, change func(any) any) any {
	if len(at) == 0 {
		return change(value)
	}
	object, _ := value.(map[string]any)
	out := map[string]any{}
	for k, v := range object {
		out[k] = v
	}
	if v := set(out[at[0]], at[1:], change); v != nil {
		out[at[0]] = v
	} else {
		delete(out, at[0])
	}
	return out
}

// pruned is a value without what is empty on a path.
func pruned(value any, at []string) any {
	if len(at) > 0 {
		if object, ok := value.(map[string]any); ok {
			value = set(object, at[:1], func(v any) any { return pruned(v, at[1:]) })
		}
	}
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	if isObject && len(object) == 0 || isList && len(list) == 0 {
		return nil
	}
	return value
}

// lookup returns what stands at a path of a decoded file.
func lookup(value any, at []string) (any, bool) {
	for _, key := range at {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = object[key]; !ok {
			return nil, false
		}
	}
	return value, true
}

// depth is how many keys of a path a decoded file has.
func depth(value any, at []string) int {
	for i := range at {
		if _, ok := lookup(value, at[:i+1]); !ok {
			return i
		}
	}
	return len(at)
}

// ours matches the texts of a value, joined, that calls memoir in one of the ways in which install has
// it called, whatever its directory.
var ours = lazyregexp.New(`(^|[/\\\s'"])memoir(\.exe)?['"]?\s+(inject|mcp|run)(\s|$)`)

// isOurs reports whether a decoded value is an entry of memoir's, such as e or one that an earlier
// version or a person made.
func isOurs(value any, e Entry) bool {
	if same, err := fromJSON(e.Value); err == nil && reflect.DeepEqual(value, same) {
		return true
	}
	return ours.MatchString(strings.Join(texts(value), " "))
}

// handlers counts the commands in a value.
func handlers(value any) int {
	n := 0
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if key == "command" || key == "bash" {
				n++
			}
			n += handlers(inner)
		}
	case []any:
		for _, inner := range v {
			n += handlers(inner)
		}
	}
	return n
}

// texts lists the texts in a value in the order of programs and their arguments.
func texts(value any) (out []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, inner := range v {
			out = append(out, texts(inner)...)
		}
	case map[string]any:
		keys := []string{"command", "bash", "cmd", "args"}
		for key := range v {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys[4:])
		for _, key := range keys {
			out = append(out, texts(v[key])...)
		}
	}
	return out
}

// foreign is the error of an entry whose place somebody else's has.
func foreign(e Entry) error {
	return memoir.Errorf(memoir.CodeInvalid, "remove or rename it, then install again",
		"%s is there already and is not memoir's", strings.Join(e.At, "."))
}

// shared is the error of a group of hooks that holds memoir's beside others.
func shared(e Entry) error {
	return memoir.Errorf(memoir.CodeInvalid, "give memoir's hook a group of its own, or remove it, then call this again",
		"a group of %s holds a hook of memoir's beside others", strings.Join(e.At, "."))
}
