package integrate

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"memoir/internal/yamledit"
)

// eolOf returns the line ending of a text.
func eolOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// withLines inserts lines at a position where a line begins or the text ends.
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
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err = decoder.Decode(&value); errors.Is(err, io.EOF) { // comments alone
		return nil, nil
	}
	if err == nil && decoder.Decode(new(any)) == nil {
		err = errors.New("something follows the first document")
	}
	return value, err
}

// insertYAML adds an entry with its value as JSON, or sets a switch.
func insertYAML(text []byte, e Entry, _ int) ([]byte, error) {
	return yamledit.Set(text, e.At, string(marshal(e.Value, "", "")))
}

func removeYAML(text []byte, at []string, _ int) ([]byte, error) {
	return yamledit.Delete(text, at, len(at))
}
