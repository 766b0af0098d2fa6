package integrate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/internal/yamledit"
)

// syntax reads and edits files of one format.
type syntax struct {
	name  string
	parse func(text []byte) (any, error)
	// insert adds an entry, in a list at its place. The first there keys exist in the file.
	insert func(text []byte, e Entry, there int) ([]byte, error)
	// remove removes the value at the keys, or its element i if i is not negative.
	remove func(text []byte, at []string, i int) ([]byte, error)
}

func syntaxOf(path string) syntax {
	switch filepath.Ext(path) {
	case ".toml":
		return syntax{"TOML", parseTOML, insertTOML, removeTOML}
	case ".yaml", ".yml":
		return syntax{"YAML", parseYAML, func(text []byte, e Entry, _ int) ([]byte, error) {
			return yamledit.Set(text, e.At, string(marshal(e.Value, "", ""))) // the value as JSON
		}, func(text []byte, at []string, _ int) ([]byte, error) { return yamledit.Delete(text, at, len(at)) }}
	}
	return syntax{"JSON", parseJSON, insertJSON, removeJSON} // with comments and trailing commas
}

// Entry is one value of memoir in a file.
type Entry struct {
	What  string   `json:"what"`           // for people, such as "SessionStart hook"
	At    []string `json:"at"`             // the keys that lead to it
	List  bool     `json:"list,omitempty"` // it is an element of the list at At
	Value any      `json:"value"`          // as plain returns it
	Keep  int      `json:"keep,omitempty"` // the number of keys that existed before it
	place int      // index of an element that existed before, from 1, since agents number hooks; 0: last
}

type object = map[string]any

// plain returns a value as a JSON decoder does, so that values of all syntaxes can be compared.
func plain(v any) (value any, err error) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	return value, err
}

// bom is the byte order mark of UTF-8, which the parsers do not accept.
const bom = "\xef\xbb\xbf"

// parser matches the name of a parser before its message.
var parser = lazyregexp.New(`^(hujson|toml|yaml): `)

// read decodes a file; nil if it is empty.
func (s syntax) read(content []byte) (value any, err error) {
	text := bytes.TrimPrefix(content, []byte(bom))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	if value, err = s.parse(text); err == nil {
		value, err = plain(value)
	}
	if err != nil {
		return nil, fmt.Errorf("not valid %s: %s", s.name, parser.ReplaceAllString(err.Error(), ""))
	}
	return value, nil
}

// edit changes a file. It is an error if the result differs from the wanted value, except for empty sections along
// the keys.
func (s syntax) edit(content []byte, at []string, wanted any, change func([]byte) ([]byte, error)) ([]byte, error) {
	text := bytes.TrimPrefix(content, []byte(bom))
	after, err := change(text)
	if err != nil {
		return nil, err
	}
	if value, err := s.read(after); err != nil || !reflect.DeepEqual(pruned(wanted, at), pruned(value, at)) {
		return nil, fmt.Errorf("%s cannot be changed without changing something else", strings.Join(at, "."))
	}
	return slices.Concat(content[:len(content)-len(text)], after), nil
}

// put adds an entry, or replaces memoir's earlier one, and returns the splices; none if nothing is to change. It sets
// the entry's keys to those of the file, and Keep.
func (s syntax) put(content []byte, e *Entry) (out []byte, splices []splice, err error) {
	file, err := s.read(content)
	if err != nil {
		return nil, nil, err
	}
	if joined := []string{strings.Join(e.At, ".")}; len(e.At) > 1 {
		if _, found := lookup(file, joined); found == 1 {
			e.At = joined
		}
	}
	there, found := lookup(file, e.At)
	e.Keep = found
	if i := e.find(there); i >= 0 {
		if list, ok := there.([]any); ok {
			there, e.place = list[i], i+1
		}
		if reflect.DeepEqual(there, e.Value) {
			return content, nil, nil
		}
		if out, err = s.take(content, *e); err != nil {
			return nil, nil, err
		}
		splices, content = difference(content, out), out
		if file, err = s.read(content); err != nil {
			return nil, nil, err
		}
		there, found = lookup(file, e.At)
	}
	wanted := e.Value
	if list, _ := there.([]any); e.List {
		wanted = slices.Insert(slices.Clone(list), e.index(len(list)), e.Value)
	} else if _, isSwitch := e.Value.(bool); found == len(e.At) && !isSwitch {
		return nil, nil, memoir.Errorf(memoir.CodeInvalid, "remove or rename it, then install again",
			"%s already exists and is not memoir's", strings.Join(e.At, "."))
	}
	out, err = s.edit(content, e.At, set(file, e.At, wanted), func(text []byte) ([]byte, error) {
		return s.insert(text, *e, found)
	})
	return out, append(splices, difference(content, out)...), err
}

// take removes an entry, and the list and sections around it if they are then empty and did not exist before it.
func (s syntax) take(content []byte, e Entry) ([]byte, error) {
	file, err := s.read(content)
	if err != nil {
		return nil, err
	}
	there, _ := lookup(file, e.At)
	i := e.find(there)
	if i < 0 {
		return content, nil
	}
	at, rest := e.At, any(nil)
	if list, ok := there.([]any); ok && e.List {
		group, _ := list[i].(object)
		if hooks, _ := group["hooks"].([]any); len(hooks) > 1 {
			return nil, memoir.Errorf(memoir.CodeInvalid,
				"move memoir's hook to its own group or remove it, then run the command again",
				"a group of %s contains memoir's hook and others", strings.Join(at, "."))
		}
		if len(list) > 1 || len(at) <= e.Keep {
			rest = slices.Delete(slices.Clone(list), i, i+1)
		}
	}
	for n := len(at) - 1; rest == nil && n > e.Keep; n-- {
		if section, _ := lookup(file, at[:n]); len(section.(object)) > 1 {
			break
		}
		at = at[:n]
	}
	if rest == nil {
		i = -1
	}
	return s.edit(content, at, set(file, at, rest), func(text []byte) ([]byte, error) { return s.remove(text, at, i) })
}

// find returns the index of an entry in the list at its keys, 0 if the value there is the entry, -1 if it is
// missing. An entry that an earlier version or a person made counts.
func (e Entry) find(there any) int {
	is := func(v any) bool { return reflect.DeepEqual(v, e.Value) || isOurs(v) }
	if list, ok := there.([]any); ok && e.List {
		same := slices.IndexFunc(list, func(v any) bool { return reflect.DeepEqual(v, e.Value) })
		return cmp.Or(same+1, slices.IndexFunc(list, is)+1) - 1
	}
	if !e.List && is(there) {
		return 0
	}
	return -1
}

func (e Entry) index(n int) int {
	if e.place == 0 {
		return n
	}
	return min(e.place-1, n)
}

type splice struct {
	At  int    `json:"at"` // in bytes
	Old []byte `json:"old,omitempty"`
	New []byte `json:"new,omitempty"`
}

// difference returns the splices that turn one text into another. They do not contain the text between insertions.
func difference(before, after []byte) []splice {
	at, end, most := 0, 0, min(len(before), len(after))
	for at < most && before[at] == after[at] {
		at++
	}
	for end < most-at && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	gone, come := before[at:len(before)-end], after[at:len(after)-end]
	if i := bytes.Index(come, gone); i >= 0 && len(gone) > 0 {
		return []splice{{At: at, New: come[:i]}, {At: at + i + len(gone), New: come[i+len(gone):]}}
	}
	return []splice{{at, gone, come}}
}

// undoSplices undoes splices. It returns false if one of them is not at its place.
func undoSplices(content []byte, splices []splice) ([]byte, bool) {
	for _, s := range slices.Backward(splices) {
		if s.At > len(content) || !bytes.HasPrefix(content[s.At:], s.New) {
			return nil, false
		}
		content = slices.Concat(content[:s.At], s.Old, content[s.At+len(s.New):])
	}
	return append([]byte{}, content...), true
}

// set returns a decoded file with a value at a path; nil removes the value there.
func set(file any, at []string, value any) any {
	if len(at) == 0 {
		return value
	}
	section, _ := file.(object)
	out := maps.Clone(section)
	if out == nil {
		out = object{}
	}
	if out[at[0]] = set(out[at[0]], at[1:], value); out[at[0]] == nil {
		delete(out, at[0])
	}
	return out
}

// pruned returns a decoded file without empty values along a path.
func pruned(file any, at []string) any {
	if section, ok := file.(object); ok && len(at) > 0 {
		file = set(section, at[:1], pruned(section[at[0]], at[1:]))
	}
	if section, ok := file.(object); ok && len(section) == 0 {
		return nil
	}
	if list, ok := file.([]any); ok && len(list) == 0 {
		return nil
	}
	return file
}

// lookup returns the value at a path in a decoded file, and how many of the keys exist. The value is nil unless
// all of them do.
func lookup(file any, at []string) (value any, found int) {
	for i, key := range at {
		section, _ := file.(object)
		inner, ok := section[key]
		if !ok {
			return nil, i
		}
		file = inner
	}
	return file, len(at)
}

// ours matches the joined texts of a value that calls memoir as an entry of install does, whatever
// the program's directory.
var ours = lazyregexp.New(`(^|[/\\\s'"])memoir(\.exe)?['"]?\s+(inject|mcp|run)(\s|$)`)

// isOurs reports whether a decoded value calls memoir.
func isOurs(value any) bool { return ours.MatchString(strings.Join(texts(value), " ")) }

func texts(value any) (out []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, inner := range v {
			out = append(out, texts(inner)...)
		}
	case object:
		first := []string{"command", "bash", "cmd", "args"}
		others := slices.DeleteFunc(slices.Sorted(maps.Keys(v)), func(key string) bool { return slices.Contains(first, key) })
		for _, key := range append(first, others...) {
			out = append(out, texts(v[key])...)
		}
	}
	return out
}

func eolOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func parseTOML(text []byte) (value any, err error) {
	err = toml.Unmarshal(text, &value)
	return value, err
}

func insertTOML(text []byte, e Entry, _ int) ([]byte, error) {
	keys, err := toml.Marshal(e.Value)
	table := "[" + strings.Join(e.At, ".") + "]\n" + string(keys)
	if len(text) > 0 {
		table = "\n" + table
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		table = "\n" + table
	}
	return slices.Concat(text, []byte(strings.ReplaceAll(table, "\n", eolOf(text)))), err
}

// removeTOML removes a table and those below it, from their headers to their last keys.
func removeTOML(text []byte, at []string, _ int) ([]byte, error) {
	name := memoir.Map(at, func(key string) string { return `["']?` + regexp.QuoteMeta(key) + `["']?` })
	header := regexp.MustCompile(`^\s*\[\s*` + strings.Join(name, `\s*\.\s*`) + `\s*[\].]`)
	empty := []byte(eolOf(text) + eolOf(text))
	var out, behind []byte // behind has the lines after the last key
	inside := false
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimSpace(line)
		switch {
		case header.Match(line):
			out, behind, inside = append(out, behind...), nil, true
			if bytes.HasSuffix(out, empty) { // the empty line that insertTOML added before it
				out = out[:len(out)-len(empty)/2]
			}
		case !inside || bytes.HasPrefix(trimmed, []byte("[")):
			out, behind, inside = slices.Concat(out, behind, line), nil, false
		case len(trimmed) == 0 || trimmed[0] == '#':
			behind = append(behind, line...)
		default:
			behind = nil
		}
	}
	return append(out, behind...), nil
}

func parseYAML(text []byte) (value any, err error) {
	document, err := yamledit.Parse(text)
	if err == nil && !document.IsZero() {
		err = document.Decode(&value)
	}
	return value, err
}
