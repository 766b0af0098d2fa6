package integrate

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"memoir"
)

// eolOf is how lines of a text end.
func eolOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// appended is the splice that adds lines at the end of a text, after an empty line if gap says so.
func appended(text []byte, lines string, gap bool) splice {
	eol := eolOf(text)
	lines = strings.ReplaceAll(lines, "\n", eol)
	if len(text) > 0 && gap {
		lines = eol + lines
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		lines = eol + lines
	}
	return splice{At: len(text), New: lines}
}

// putTOML adds an entry as a table at the end, or puts it in the place of an earlier one.
func putTOML(text []byte, e Entry) ([]splice, error) {
	before, err := decode(formTOML, text)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("[" + strings.Join(e.At, ".") + "]\n")
	gjson.ParseBytes(e.Value).ForEach(func(key, value gjson.Result) bool {
		b.WriteString(key.Str + " = " + value.Raw + "\n") // texts of JSON are texts of TOML
		return true
	})
	there, ok := lookup(before, e.At)
	if !ok {
		return []splice{appended(text, b.String(), true)}, nil
	}
	if value, err := fromJSON(e.Value); err == nil && reflect.DeepEqual(there, value) {
		return nil, nil
	}
	tables := tablesOf(text, e.At)
	switch {
	case !isOurs(there, e):
		return nil, foreign(e)
	case len(tables) != 1:
		return nil, memoir.Errorf(memoir.CodeInvalid, "remove it by hand, then install again",
			"%s is an entry of memoir's in a form that install does not change", strings.Join(e.At, "."))
	}
	start, end := tables[0][0], tables[0][1]
	return []splice{{start, string(text[start:end]), strings.ReplaceAll(b.String(), "\n", eolOf(text))}}, nil
}

// tablesOf are the places of a table and of those below it, from their headers to their last keys.
func tablesOf(text []byte, at []string) (places [][2]int) {
	var name []string
	for _, key := range at {
		name = append(name, `["']?`+regexp.QuoteMeta(key)+`["']?`)
	}
	header := regexp.MustCompile(`^\s*\[\s*` + strings.Join(name, `\s*\.\s*`) + `\s*[\].]`)
	inside, pos := false, 0
	for line := range bytes.Lines(text) {
		next := pos + len(line)
		trimmed := bytes.TrimSpace(line)
		switch {
		case header.Match(line):
			places, inside = append(places, [2]int{pos, next}), true
		case bytes.HasPrefix(trimmed, []byte("[")):
			inside = false
		case inside && len(trimmed) > 0 && trimmed[0] != '#':
			places[len(places)-1][1] = next
		}
		pos = next
	}
	return places
}

// takeTOML removes a table and those below it.
func takeTOML(text []byte, e Entry) (splices []splice, err error) {
	before, err := decode(formTOML, text)
	if err != nil {
		return nil, err
	}
	if there, ok := lookup(before, e.At); !ok || !isOurs(there, e) {
		return nil, nil
	}
	for _, place := range slices.Backward(tablesOf(text, e.At)) {
		start, eol := place[0], eolOf(text)
		if empty := []byte(eol + eol); bytes.HasSuffix(text[:start], empty) { // the line that was put before it
			start -= len(eol)
		}
		splices = append(splices, splice{At: start, Old: string(text[start:place[1]])})
	}
	return splices, nil
}

// yamlSteps follows a path in a document as far as it is there: the key and value nodes on the way, the
// root first.
func yamlSteps(text []byte, at []string) (steps [][2]*yaml.Node, err error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) == 0 {
		return nil, err
	}
	steps = [][2]*yaml.Node{{nil, document.Content[0]}}
	for _, key := range at {
		in := steps[len(steps)-1][1]
		i := 0
		for ; in.Kind == yaml.MappingNode && i < len(in.Content) && in.Content[i].Value != key; i += 2 {
		}
		if in.Kind != yaml.MappingNode || i == len(in.Content) {
			break
		}
		steps = append(steps, [2]*yaml.Node{in.Content[i], in.Content[i+1]})
	}
	return steps, nil
}

// putYAML adds an entry, or puts a scalar in the place of another.
func putYAML(text []byte, e Entry, before any) ([]splice, error) {
	steps, err := yamlSteps(text, e.At)
	if err != nil {
		return nil, err
	}
	there, ok := lookup(before, e.At)
	value, err := fromJSON(e.Value)
	switch {
	case err != nil || ok && reflect.DeepEqual(there, value):
		return nil, err
	case ok && steps[len(steps)-1][1].Kind == yaml.ScalarNode && steps[len(steps)-1][1].Tag != "!!null":
		node := steps[len(steps)-1][1]
		at := lineStart(text, node.Line) + node.Column - 1
		old, _, _ := strings.Cut(string(text[at:]), "\n")
		old = strings.TrimRight(strings.SplitN(old, " #", 2)[0], " \t\r")
		return []splice{{at, old, string(e.Value)}}, nil
	case ok && steps[len(steps)-1][1].Tag != "!!null":
		if !isOurs(there, e) {
			return nil, foreign(e)
		}
		splices, err := takeYAML(text, e, len(e.At)-1)
		if err != nil {
			return nil, err
		}
		text = applySplices(slices.Clone(text), splices)
		if before, err = decode(formYAML, text); err != nil {
			return nil, err
		}
		more, err := putYAML(text, e, before)
		return append(splices, more...), err
	case len(steps) <= 1:
		return []splice{appended(text, yamlText(e, 0, 0), false)}, nil
	}
	key, in := steps[len(steps)-1][0], steps[len(steps)-1][1]
	indent, line := key.Column+1, key.Line+1
	if in.Kind == yaml.MappingNode && in.Style&yaml.FlowStyle == 0 {
		indent, line = in.Content[0].Column-1, in.Content[0].Line
	} else if in.Tag != "!!null" {
		return nil, memoir.Errorf(memoir.CodeInvalid, "write it over several lines, without braces",
			"%s is not a section that something can be added to", strings.Join(e.At[:len(steps)-1], "."))
	}
	at := lineStart(text, line)
	lines := strings.ReplaceAll(yamlText(e, len(steps)-1, indent), "\n", eolOf(text))
	if at == len(text) && text[at-1] != '\n' {
		lines = eolOf(text) + lines
	}
	return []splice{{At: at, New: lines}}, nil
}

// yamlText is an entry in the sections that lead to it, from the given one.
func yamlText(e Entry, from, indent int) string {
	var node yaml.Node
	if err := yaml.Unmarshal(nest(e, from), &node); err != nil {
		return ""
	}
	var plain func(n *yaml.Node)
	plain = func(n *yaml.Node) {
		n.Style = 0
		for _, inner := range n.Content {
			plain(inner)
		}
	}
	plain(&node)
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(&node); err != nil {
		return ""
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.Repeat(" ", indent) + line)
	}
	return out.String()
}

// lineStart is the position of a line, counted from 1.
func lineStart(text []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			return len(text)
		}
		at += end + 1
	}
	return at
}

// takeYAML removes an entry with its lines, and what would be empty around it.
func takeYAML(text []byte, e Entry, keep int) ([]splice, error) {
	steps, err := yamlSteps(text, e.At)
	if err != nil || len(steps) <= len(e.At) {
		return nil, err
	}
	var value any
	if err := steps[len(steps)-1][1].Decode(&value); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	if value, err = fromJSON(raw); err != nil || !isOurs(value, e) {
		return nil, err
	}
	at := len(steps) - 1
	for at-1 > keep && len(steps[at-1][1].Content) == 2 {
		at--
	}
	end := 0
	var last func(n *yaml.Node)
	last = func(n *yaml.Node) {
		end = max(end, n.Line)
		for _, inner := range n.Content {
			last(inner)
		}
	}
	last(steps[at][0])
	last(steps[at][1])
	start, stop := lineStart(text, steps[at][0].Line), lineStart(text, end+1)
	return []splice{{At: start, Old: string(text[start:stop])}}, nil
}
