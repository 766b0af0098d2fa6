// Package yamledit changes single values in the text of a YAML file. Comments, order and layout stay. It
// does not check its result: the caller must parse it and compare it with the wanted one. Read Set first.
package yamledit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

var errForm = errors.New("is written in a form that is not edited")

// Set sets the value at the keys to value, which is YAML on one line. In the file, keys may be joined by dots.
// A new entry goes below a comment "# KEY: …" in its section, else to the beginning of the section; a new
// section goes to the end.
func Set(text []byte, at []string, value string) ([]byte, error) {
	p, err := find(text, at)
	if err != nil {
		return nil, err
	}
	switch rest := at[p.found:]; {
	case len(rest) == 0:
		return p.replace(text, value)
	case flow(p.value):
		in, member := offset(text, p.value)+1, value
		for i, name := range slices.Backward(rest) {
			if member = name + ": " + member; i > 0 {
				member = "{" + member + "}"
			}
		}
		if len(p.value.Content) > 0 {
			member += ", "
		}
		return splice(text, in, in, member), nil
	default:
		return p.insert(text, rest, value), nil
	}
}

// Delete removes a key with its value, and the sections around it if they contain nothing else, not even a comment.
// Sections of the first keep keys stay. A missing key is an error.
func Delete(text []byte, at []string, keep int) ([]byte, error) {
	p, err := find(text, at)
	for p.found == len(at) && p.around != nil && p.around.found > keep && p.around.bare(text) {
		p, at = *p.around, at[:p.around.found]
	}
	switch {
	case err != nil:
		return nil, err
	case p.found < len(at):
		return nil, fmt.Errorf("%s is not there", strings.Join(at, "."))
	case !flow(p.in):
		return splice(text, lineStart(text, p.key.Line), lineStart(text, last(p.value, p.key.Line)+1), ""), nil
	}
	from, to := offset(text, p.key), p.end(text)
	if rest := bytes.TrimLeft(text[to:], " "); bytes.HasPrefix(rest, []byte(",")) {
		to = len(text) - len(bytes.TrimLeft(rest[1:], " "))
	} else {
		from = len(bytes.TrimRight(text[:from], ", "))
	}
	return splice(text, from, to, ""), nil
}

// bare reports whether a section contains one entry and no comment of its own: no "#" in its lines above the entry and
// in the next line below.
func (p place) bare(text []byte) bool {
	if len(p.value.Content) != 2 {
		return false
	}
	entry, end := max(p.value.Content[0].Line, p.key.Line+1), last(p.value, p.key.Line)+1
	own := text[lineStart(text, p.key.Line):lineStart(text, entry)]
	below := text[lineStart(text, end):lineStart(text, end+1)]
	return !bytes.ContainsRune(own, '#') && !bytes.ContainsRune(below, '#')
}

// place is the deepest entry of a file that keys lead to.
type place struct {
	in, key, value *yaml.Node // the entry and the section that contains it; key is nil if no key exists
	found          int        // number of keys that lead to it
	around         *place     // the place of that section
}

// Parse returns the document of a file, the zero node if it has only comments.
func Parse(text []byte) (document yaml.Node, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err = decoder.Decode(&document); err == nil && decoder.Decode(new(yaml.Node)) != io.EOF {
		err = errors.New("it has more than one document")
	}
	if err == io.EOF {
		err = nil
	}
	return document, err
}

func find(text []byte, at []string) (p place, err error) {
	document, err := Parse(text)
	if err != nil {
		return p, err
	}
	p.value = &document
	if len(document.Content) > 0 {
		p.value = document.Content[0]
	}
	for p.found < len(at) {
		key, value, n := member(p.value, at[p.found:])
		if n == 0 {
			break
		}
		outer := p
		p = place{p.value, key, value, p.found + n, &outer}
	}
	section := p.value.IsZero() || p.value.Tag == "!!null" || p.value.Kind == yaml.MappingNode
	if p.found < len(at) && !section {
		return p, fmt.Errorf("%s %w", at[max(p.found-1, 0)], errForm)
	}
	return p, nil
}

// member finds the entry of a section for the first keys, and returns how many keys it takes.
func member(in *yaml.Node, at []string) (key, value *yaml.Node, n int) {
	if in.Kind != yaml.MappingNode {
		return nil, nil, 0
	}
	for i := 0; i+1 < len(in.Content); i += 2 {
		for n := range at {
			if in.Content[i].Value == strings.Join(at[:n+1], ".") {
				return in.Content[i], in.Content[i+1], n + 1
			}
		}
	}
	return nil, nil, 0
}

func (p place) replace(text []byte, value string) ([]byte, error) {
	colon := p.colon(text)
	switch {
	case p.value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return nil, fmt.Errorf("%s %w", p.key.Value, errForm)
	case p.value.Kind == yaml.ScalarNode && p.value.Value == "" && p.value.Tag == "!!null":
		return splice(text, colon, colon, " "+value), nil
	case p.value.Line == p.key.Line:
		return splice(text, offset(text, p.value), p.end(text), value), nil
	}
	text = splice(text, lineStart(text, p.key.Line+1), lineStart(text, last(p.value, p.key.Line)+1), "")
	return splice(text, colon, colon, " "+value), nil
}

// colon returns the position after the key and its colon.
func (p place) colon(text []byte) int {
	at := offset(text, p.key) + len(p.key.Value)
	return at + bytes.IndexByte(text[at:], ':') + 1
}

func (p place) insert(text []byte, rest []string, value string) []byte {
	indent, at := 0, len(text)
	if p.key != nil {
		indent, at = p.key.Column+1, lineStart(text, p.key.Line+1)
	}
	if p.key != nil && len(p.value.Content) > 0 {
		indent = p.value.Content[0].Column - 1
	}
	if len(rest) == 1 {
		at = p.belowComment(text, rest[0], at)
	}
	lines := ""
	for i, name := range rest {
		lines += strings.Repeat(" ", indent+2*i) + name + ":\n"
	}
	lines = strings.TrimSuffix(lines, "\n") + " " + value + "\n"
	if at > 0 && text[at-1] != '\n' {
		lines = "\n" + lines
	}
	if bytes.Contains(text, []byte("\r\n")) {
		lines = strings.ReplaceAll(lines, "\n", "\r\n")
	}
	return splice(text, at, at, lines)
}

// belowComment returns the position below a comment "# NAME: …" in the section, or otherwise.
func (p place) belowComment(text []byte, name string, otherwise int) int {
	comment := regexp.MustCompile(`^ *# *` + regexp.QuoteMeta(name) + `:`)
	from, outer := 0, -1
	if p.key != nil {
		from, outer = otherwise, p.key.Column-1
	}
	for line := range bytes.Lines(text[from:]) {
		from += len(line)
		bare := bytes.TrimLeft(line, " ")
		if comment.Match(line) && len(line)-len(bare) > outer {
			return from
		}
		if p.key != nil && len(bytes.TrimSpace(bare)) > 0 && bare[0] != '#' && len(line)-len(bare) <= outer {
			break // the section has ended
		}
	}
	return otherwise
}

// end returns the position after a value that begins on its key's line: a word, a quoted text, or brackets.
func (p place) end(text []byte) int {
	if p.value.Value == "" && p.value.Tag == "!!null" && p.value.Kind == yaml.ScalarNode {
		return p.colon(text)
	}
	at, depth := offset(text, p.value), 0
	stop := "\r\n"
	if flow(p.in) {
		stop += ",]}"
	}
	for i := at; i < len(text); i++ {
		switch c := text[i]; {
		case depth == 0 && i > at && (strings.IndexByte(stop, c) >= 0 || c == '#' && text[i-1] == ' '):
			return at + len(bytes.TrimRight(text[at:i], " "))
		case (c == '"' || c == '\'') && (i == at || strings.IndexByte("[{,: ", text[i-1]) >= 0):
			i = closing(text, i)
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
	}
	return at + len(bytes.TrimRight(text[at:], " "))
}

// closing returns the position of the quote that closes the one at a position.
func closing(text []byte, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[at] == '"' && text[i] == '\\':
			i++
		case text[i] == text[at]:
			return i
		}
	}
	return len(text)
}

// last returns the last line of a value, or least if that is greater.
func last(n *yaml.Node, least int) int {
	least = max(least, n.Line)
	for _, inner := range n.Content {
		least = last(inner, least)
	}
	return least
}

func flow(n *yaml.Node) bool { return n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 }

func splice(text []byte, from, to int, by string) []byte {
	return slices.Concat(text[:from], []byte(by), text[to:])
}

// offset returns the byte position of a node. Its column counts characters.
func offset(text []byte, n *yaml.Node) int {
	at := lineStart(text, n.Line)
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

// lineStart returns the position of a line; lines are counted from 1.
func lineStart(text []byte, line int) int {
	lines := bytes.SplitAfter(text, []byte("\n"))
	return len(bytes.Join(lines[:min(line-1, len(lines))], nil))
}
