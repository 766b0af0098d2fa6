package integrate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// eolOf is how lines of a text end.
func eolOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// withLines is a text with lines put in at a position, where a line begins or the text ends.
func withLines(text []byte, at int, lines string) []byte {
	if at > 0 && text[at-1] != '\n' {
		lines = "\n" + lines
	}
	return slices.Concat(text[:at], []byte(strings.ReplaceAll(lines, "\n", eolOf(text))), text[at:])
}

func parseTOML(text []byte) (value any, err error) {
	err = toml.Unmarshal(text, &value)
	return value, err
}

// insertTOML adds an entry as a table at the end.
func insertTOML(text []byte, e Entry, _ int) ([]byte, error) {
	keys, err := toml.Marshal(e.Value)
	table := "[" + strings.Join(e.At, ".") + "]\n" + string(keys)
	if len(text) > 0 {
		table = "\n" + table
	}
	return withLines(text, len(text), table), err
}

// removeTOML removes a table and those below it, from their headers to their last keys.
func removeTOML(text []byte, at []string, _ int) ([]byte, error) {
	var name []string
	for _, key := range at {
		name = append(name, `["']?`+regexp.QuoteMeta(key)+`["']?`)
	}
	header := regexp.MustCompile(`^\s*\[\s*` + strings.Join(name, `\s*\.\s*`) + `\s*[\].]`)
	empty := []byte(eolOf(text) + eolOf(text))
	var out, behind []byte // behind is what follows the last key
	inside := false
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimSpace(line)
		switch {
		case header.Match(line):
			out, behind, inside = append(out, behind...), nil, true
			if bytes.HasSuffix(out, empty) { // the line that was put before it
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
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err = decoder.Decode(&value); errors.Is(err, io.EOF) { // comments alone
		return nil, nil
	}
	if err == nil && decoder.Decode(new(any)) == nil {
		err = errors.New("something follows the first document")
	}
	return value, err
}

// yamlAt finds the key and the value at keys that are there; neither in an empty document.
func yamlAt(text []byte, at []string) (key, value *yaml.Node, err error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) == 0 {
		return nil, &document, err
	}
	value = document.Content[0]
	for _, name := range at {
		i := 0
		for i < len(value.Content) && value.Content[i].Value != name {
			i += 2
		}
		if value.Kind != yaml.MappingNode || i >= len(value.Content) {
			return nil, nil, fmt.Errorf("%s is written in a form that is not edited", name)
		}
		key, value = value.Content[i], value.Content[i+1]
	}
	return key, value, nil
}

// insertYAML adds an entry, whose value is written as JSON, as the first one of its section, or sets a switch.
func insertYAML(text []byte, e Entry, there int) ([]byte, error) {
	key, in, err := yamlAt(text, e.At[:there])
	if err != nil {
		return nil, err
	}
	switch flow := in.Style&yaml.FlowStyle != 0 && in.Kind == yaml.MappingNode; {
	case there == len(e.At):
		at := lineStart(text, in.Line) + in.Column - 1
		return slices.Concat(text[:at], marshal(e.Value, "", ""), text[at+len(in.Value):]), nil
	case flow:
		at, member := lineStart(text, in.Line)+in.Column, marshal(nest(e, there), "", "")
		if member = member[1 : len(member)-1]; len(in.Content) > 0 {
			member = append(member, ", "...)
		}
		return slices.Concat(text[:at], member, text[at:]), nil
	}
	indent, at := 0, len(text)
	if there > 0 {
		indent, at = key.Column+1, lineStart(text, key.Line+1)
	}
	if there > 0 && len(in.Content) > 0 {
		indent = in.Content[0].Column - 1
	}
	lines := ""
	for i, name := range e.At[there:] {
		lines += "\n" + strings.Repeat(" ", indent+2*i) + name + ":"
	}
	return withLines(text, at, lines[1:]+" "+string(marshal(e.Value, "", ""))+"\n"), nil
}

// removeYAML removes the lines of a key and its value.
func removeYAML(text []byte, at []string, _ int) ([]byte, error) {
	key, value, err := yamlAt(text, at)
	if err != nil {
		return nil, err
	}
	end := key.Line
	var last func(n *yaml.Node)
	last = func(n *yaml.Node) {
		end = max(end, n.Line)
		for _, inner := range n.Content {
			last(inner)
		}
	}
	last(value)
	return slices.Concat(text[:lineStart(text, key.Line)], text[lineStart(text, end+1):]), nil
}

// lineStart is the position of a line, counted from 1.
func lineStart(text []byte, line int) int {
	lines := bytes.SplitAfter(text, []byte("\n"))
	return len(bytes.Join(lines[:min(line-1, len(lines))], nil))
}
