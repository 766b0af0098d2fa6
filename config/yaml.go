package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"memoir"
	"memoir/internal/lazyregexp"

	"go.yaml.in/yaml/v3"
)

// maxFileSize bounds a configuration file, in bytes.
const maxFileSize = 1 << 20

// entry is one setting as a file gives it.
type entry struct {
	name string // of a definition, or one of the names below
	file string
	line int
	node *yaml.Node
}

// The settings that are not in the table.
const (
	nameProjects  = "projects"
	nameProviders = "providers"
	nameModels    = "models"
	nameProject   = "project"
)

// errorf makes a configuration error that begins with the entry's place and name.
func (e entry) errorf(hint, format string, args ...any) error {
	return memoir.Errorf(memoir.CodeConfig, hint, e.origin()+": "+e.name+" "+format, args...)
}

func (e entry) origin() string { return fmt.Sprintf("%s:%d", e.file, e.line) }

// impossible reports an error that says that nothing can stand at a path, as with
// a directory's name that a transcript made up.
func impossible(err error) bool {
	return errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EINVAL)
}

// readFile reads a regular file within the size limit; nil without an error is a
// file that does not exist. A repository may make its file a link to anything,
// so what is not a regular file is never opened.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || impossible(err) {
		return nil, nil
	}
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeConfig, "allow your user to look there", "cannot read settings: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, memoir.Errorf(memoir.CodeConfig, "", "cannot read settings: %s is not a file", path)
	}
	if info.Size() > maxFileSize {
		return nil, memoir.Errorf(
			memoir.CodeConfig,
			"",
			"cannot read settings: %s is larger than %d bytes",
			path,
			maxFileSize,
		)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeConfig, "make it readable", "cannot read settings: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize))
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeConfig, "", "cannot read settings: %w", err)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// parseYAML lists the settings of a file in the order in which they stand there.
// Sections may be nested or joined by dots. Unknown and repeated names are errors.
func parseYAML(file string, data []byte) ([]entry, error) {
	var document yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, syntaxError(file, err)
	}
	var more yaml.Node
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, memoir.Errorf(memoir.CodeConfig, "keep one", "%s:%d: a second YAML document", file, more.Line)
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(file, err)
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	p := parser{file: file, lines: make(map[string]int)}
	if err := p.section("", 1, document.Content[0]); err != nil {
		return nil, err
	}
	return p.entries, nil
}

type parser struct {
	file    string
	entries []entry
	lines   map[string]int // where each name was first seen
}

// section reads a mapping whose names begin with prefix.
func (p *parser) section(prefix string, line int, node *yaml.Node) error {
	node = resolve(node)
	if isNull(node) {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		what := "the file"
		if prefix != "" {
			what = strings.TrimSuffix(prefix, ".")
		}
		return memoir.Errorf(
			memoir.CodeConfig,
			"write it as name: value",
			"%s:%d: %s must be a section of settings, not %s",
			p.file,
			line,
			what,
			describe(node),
		)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := resolve(node.Content[i]), node.Content[i+1]
		line := node.Content[i].Line
		if key.Kind != yaml.ScalarNode {
			return memoir.Errorf(
				memoir.CodeConfig,
				"write it as name: value",
				"%s:%d: a setting's name must be a text, not %s",
				p.file,
				line,
				describe(key),
			)
		}
		name := prefix + key.Value
		if first, ok := p.lines[name]; ok {
			return memoir.Errorf(memoir.CodeConfig, "keep one of them", "%s:%d: %s is set twice, first in line %d",
				p.file, line, name, first)
		}
		p.lines[name] = line
		_, known := definition(name)
		switch {
		case known || slices.Contains([]string{nameProjects, nameProviders, nameModels, nameProject}, name):
			p.entries = append(p.entries, entry{name: name, file: p.file, line: line, node: value})
		case isSection(name):
			if err := p.section(name+".", line, value); err != nil {
				return err
			}
		default:
			known := append(names(), nameProjects, nameProviders, nameModels)
			return memoir.Errorf(memoir.CodeConfig, didYouMean(name, known), "%s:%d: unknown setting %s",
				p.file, line, printable(name))
		}
	}
	return nil
}

// isSection reports whether settings begin with this name and a dot.
func isSection(name string) bool {
	return slices.ContainsFunc(Definitions, func(d Definition) bool { return strings.HasPrefix(d.Name, name+".") })
}

// text returns the entry's value for Definition.set, once its YAML type fits the
// setting's kind: a quoted number is a text, and "yes" is one too.
func (e entry) text(d Definition) (string, error) {
	node := resolve(e.node)
	tag := node.ShortTag()
	switch {
	case isNull(node) && d.Kind == Text && d.Default == "":
		return "", nil
	case isNull(node):
		return "", e.errorf("remove the line for its default, "+d.Default, "has no value")
	case node.Kind != yaml.ScalarNode,
		d.Kind == Bool && tag != "!!bool",
		d.Kind == Int && tag != "!!int" && tag != "!!float",
		d.Kind == Float && tag != "!!int" && tag != "!!float",
		d.Kind == Text && tag != "!!str":
		return "", e.errorf(d.Doc, "must be %s, not %s", d.Kind, describe(node))
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
		if element.Kind != yaml.ScalarNode || element.ShortTag() != "!!str" || strings.TrimSpace(element.Value) == "" {
			return nil, e.errorf(
				"write each on its own line after a dash",
				"must be a list of texts, not %s",
				describe(element),
			)
		}
		out = append(out, element.Value)
	}
	return out, nil
}

// resolve follows aliases. YAML allows an alias into its own ancestor, so the
// callers' recursion must end by depth and not by the tree.
func resolve(node *yaml.Node) *yaml.Node {
	for range 100 {
		if node.Kind != yaml.AliasNode || node.Alias == nil {
			break
		}
		node = node.Alias
	}
	return node
}

func isNull(node *yaml.Node) bool {
	return node.Kind == 0 || node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

// describe names a value in an error.
func describe(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.MappingNode:
		return "a section"
	case isNull(node):
		return "nothing"
	case node.ShortTag() == "!!str":
		return "the text " + printable(node.Value)
	}
	return printable(node.Value)
}

// maxQuoted bounds foreign text, in bytes, that an error quotes.
const maxQuoted = 400

// printable quotes foreign text for an error: whole, since nobody can tell by its beginning
// that it is a secret, or of a longer one only how long it is.
func printable(text string) string {
	if len(text) > maxQuoted {
		return fmt.Sprintf("(%d bytes)", len(text))
	}
	return fmt.Sprintf("%q", text)
}

var yamlLine = lazyregexp.New(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// syntaxError turns the YAML library's message into one that begins with the place.
func syntaxError(file string, err error) error {
	place, message := file, err.Error()
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		if message = m[2]; m[1] != "" {
			place += ":" + m[1]
		}
	}
	return memoir.Errorf(
		memoir.CodeConfig,
		"check indentation, colons and quotes",
		"%s: not valid YAML: %s",
		place,
		message,
	)
}
