package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"memoir"

	"go.yaml.in/yaml/v3"
)

// maxFileSize bounds a configuration file, in bytes.
const maxFileSize = 1 << 20

// entry is a name with its value, as a file gives it.
type entry struct {
	name string // in full, sections joined by dots; foreign text until it is known
	key  string // the last part of name
	file string
	line int
	node *yaml.Node
}

// The settings that are not in the table.
const (
	nameProjects  = "projects"
	nameProviders = "providers"
	nameModels    = "models"
)

// nameFile stands for the name of what holds all settings.
const nameFile = "the file"

// errorf makes a configuration error that begins with the entry's place and name.
func (e entry) errorf(hint, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeConfig, hint, "%s: %s %w", e.origin(), strings.Trim(printable(e.name), `"`),
		fmt.Errorf(format, args...))
}

func (e entry) origin() string { return fmt.Sprintf("%s:%d", e.file, e.line) }

// readFile reads a regular file within the size limit; nil without an error is a file that
// does not exist, or whose directory a transcript made up. A repository may make its file a
// link to anything, so what is not a regular file is never opened.
func readFile(path string) ([]byte, error) {
	cannot := func(hint, format string, args ...any) ([]byte, error) {
		return nil, memoir.Errorf(memoir.CodeConfig, hint, "cannot read settings: "+format, args...)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, syscall.EINVAL):
		return nil, nil
	case err != nil:
		return cannot("allow your user to look there", "%w", err)
	case !info.Mode().IsRegular():
		return cannot("", "%s is not a file", path)
	case info.Size() > maxFileSize:
		return cannot("", "%s is larger than %d bytes", path, maxFileSize)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return cannot("make it readable", "%w", err)
	}
	return append([]byte{}, data...), nil
}

// parseYAML lists the settings of a file in the order in which they stand there.
// Sections may be nested or joined by dots. Unknown and repeated names are errors.
func parseYAML(file string, data []byte) ([]entry, error) {
	var document, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	err := decoder.Decode(&document)
	if err == io.EOF {
		return nil, nil
	}
	if err == nil {
		if err = decoder.Decode(&more); err == nil {
			return nil, memoir.Errorf(memoir.CodeConfig, "keep one", "%s:%d: a second YAML document", file, more.Line)
		}
	}
	if err != io.EOF {
		return nil, memoir.Errorf(memoir.CodeConfig, "check indentation, colons and quotes", "%s: not valid YAML: %s",
			file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	entries, err := entry{name: nameFile, file: file, line: 1, node: document.Content[0]}.settings()
	if err != nil {
		return nil, err
	}
	lines := make(map[string]int)
	for _, e := range entries {
		if first, ok := lines[e.name]; ok {
			return nil, e.errorf("keep one of them", "is set twice, first in line %d", first)
		}
		lines[e.name] = e.line
	}
	return entries, nil
}

// settings lists the settings of a section, and of the sections in it.
func (e entry) settings() ([]entry, error) {
	pairs, err := e.pairs()
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, sub := range pairs {
		_, known := definition(sub.name)
		switch {
		case known || slices.Contains([]string{nameProjects, nameProviders, nameModels}, sub.name):
			out = append(out, sub)
		case isSection(sub.name):
			more, err := sub.settings()
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		default:
			return nil, sub.errorf(didYouMean(sub.name, append(names(), nameProjects, nameProviders, nameModels)),
				"is an unknown setting")
		}
	}
	return out, nil
}

// isSection reports whether settings begin with this name and a dot.
func isSection(name string) bool {
	return slices.ContainsFunc(Definitions, func(d Definition) bool { return strings.HasPrefix(d.Name, name+".") })
}

// pairs lists the names and values of a section. No value is an empty one.
func (e entry) pairs() ([]entry, error) {
	node := resolve(e.node)
	if isNull(node) {
		return nil, nil
	}
	if node.Kind != yaml.MappingNode {
		return nil, e.errorf("write it as name: value", "must be a section")
	}
	var out []entry
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := resolve(node.Content[i])
		sub := entry{name: e.name, key: key.Value, file: e.file, line: node.Content[i].Line, node: node.Content[i+1]}
		if key.Kind != yaml.ScalarNode || key.Value == "" {
			return nil, sub.errorf("write it as name: value", "has a name that is not a text")
		}
		if slices.ContainsFunc(out, func(other entry) bool { return other.key == key.Value }) {
			return nil, sub.errorf("keep one of them", "names %s twice", printable(key.Value))
		}
		if sub.name += "." + key.Value; e.name == nameFile {
			sub.name = key.Value
		}
		out = append(out, sub)
	}
	return out, nil
}

// text returns the value of an entry that has one; none is "".
func (e entry) text() (string, error) {
	node := resolve(e.node)
	switch {
	case isNull(node):
		return "", nil
	case node.Kind != yaml.ScalarNode:
		return "", e.errorf("write it as name: value", "must be a single value")
	}
	return node.Value, nil
}

// list returns the elements of an entry that is a list of texts, or a single text.
func (e entry) list() ([]string, error) {
	node := resolve(e.node)
	elements := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		elements = node.Content
	}
	var out []string
	for _, element := range elements {
		element = resolve(element)
		if element.Kind != yaml.ScalarNode || element.ShortTag() != "!!str" {
			return nil, e.errorf("write each on its own line after a dash, quoted if it is none", "must be a list of texts")
		}
		out = append(out, element.Value)
	}
	return out, nil
}

// resolve follows an alias.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		return node.Alias
	}
	return node
}

func isNull(node *yaml.Node) bool {
	return node.Kind == 0 || node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

// maxQuoted bounds foreign text, in bytes, that an error quotes.
const maxQuoted = 400

// printable quotes foreign text for an error: whole, since nobody can tell by its beginning
// that it is a secret, or of a longer one only how long it is.
func printable(text string) string {
	if len(text) > maxQuoted {
		return fmt.Sprintf("(%d bytes)", len(text))
	}
	return strconv.Quote(text)
}
