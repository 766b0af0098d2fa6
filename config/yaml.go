package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/xrash/smetrics"
	"go.yaml.in/yaml/v3"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/lazyregexp"
	"memoir/internal/yamledit"
)

// MaxFileSize bounds a configuration file, in bytes.
const MaxFileSize = 1 << 20

// entry is a name with its value in a file.
type entry struct {
	path []string // the keys that lead to it; untrusted text until it is known
	file string
	line int
	node *yaml.Node
}

// The settings that are not in the table.
const (
	nameProjects  = "projects"
	nameProviders = "providers"
)

func (e entry) name() string { return strings.Join(e.path, ".") }

// provider returns the name of the section of a provider's setting, else "".
func (e entry) provider() string {
	if len(e.path) != 3 || e.path[0] != nameProviders {
		return ""
	}
	return nameProviders + "." + e.path[1]
}

// errorf returns a configuration error that begins with the entry's place and name.
func (e entry) errorf(hint, format string, args ...any) error {
	name := strings.Trim(strconv.Quote(cmp.Or(e.name(), "the file")), `"`)
	return memoir.Errorf(memoir.CodeConfig, hint, "%s: %s %w", e.origin(), name, fmt.Errorf(format, args...))
}

func (e entry) unknown() error {
	return e.errorf(e.near(fmt.Sprintf("remove line %d", e.line)), "is an unknown setting")
}

// near returns the hint for an unknown name: the nearest known name, or otherwise.
func (e entry) near(otherwise string) string {
	name, known := e.name(), append(names(definitions), nameProjects, nameProviders)
	if e.path[0] == nameProviders && len(e.path) == 3 {
		name, known = e.path[2], names(providerFields)
		otherwise = "a key is never in a file: name a variable with keyEnv; set one of " + strings.Join(known, ", ")
	}
	if best, ok := Nearest(name, known); ok {
		return "did you mean " + best + "?"
	}
	return otherwise
}

func (e entry) origin() string { return fmt.Sprintf("%s:%d", e.file, e.line) }

// readFile reads a file of at most MaxFileSize. Nil without an error means that the file does not exist,
// or that its path cannot exist: a directory may come from a transcript. A repository's file may be a link.
func readFile(path string) ([]byte, error) {
	data, err := disk.ReadFile(path, MaxFileSize)
	for _, none := range []error{fs.ErrNotExist, syscall.ENAMETOOLONG, syscall.ENOTDIR, syscall.EINVAL} {
		if errors.Is(err, none) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeConfig, "make it a readable file", "cannot read settings: %w", err)
	}
	return data, nil
}

// parseYAML lists the settings of a file in its order. Sections may be nested or joined by dots.
// Unknown and repeated names are errors, but are listed, too.
func parseYAML(file string, data []byte) ([]entry, error) {
	document, err := yamledit.Parse(data)
	if err != nil {
		if line := faultyLine(data); line > 0 {
			file = fmt.Sprintf("%s:%d", file, line)
		}
		return nil, memoir.Errorf(memoir.CodeConfig, "check indentation, colons and quotes", "%s: not valid YAML: %s",
			file, yamlPlace.ReplaceAllString(err.Error(), ""))
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	entries, err := entry{file: file, line: 1, node: document.Content[0]}.settings()
	lines := make(map[string]int)
	for _, e := range entries {
		if first, ok := lines[e.name()]; ok {
			err = cmp.Or(err, e.errorf("keep one of them", "is set twice, first in line %d", first))
		}
		lines[e.name()] = e.line
	}
	return entries, err
}

// yamlPlace is how an error of the library begins. Its line may be one before or after that of the fault.
var yamlPlace = lazyregexp.New(`^yaml: (line \d+: )?`)

var wordsOnly = lazyregexp.New("^\\s*[^-\\s:#{}\\[\\]\"'][^:#{}\\[\\]\"']*$") // a line that lacks its colon

// faultyLine returns the line from which on a text is not YAML: no number of lines after it makes it valid. Without a
// colon, a line and the one below it are one value, so the line above is at fault. 0: the text is too long to find it.
func faultyLine(data []byte) (line int) {
	const most = 4 << 20 // bytes that are parsed
	lines := bytes.SplitAfter(data, []byte("\n"))
	end, parsed := 0, 0
	for i, text := range lines {
		end += len(text)
		if parsed += end; parsed > most {
			return 0
		}
		if _, err := yamledit.Parse(data[:end]); err == nil {
			line = i + 1
		}
	}
	if item := bytes.HasPrefix(bytes.TrimSpace(lines[line]), []byte("-")); line == 0 || item ||
		!wordsOnly.MatchString(string(lines[line-1])) {
		line++
	}
	return line
}

// settings lists the settings of a section and of the sections in it, and the unknown names there.
func (e entry) settings() (out []entry, err error) {
	node := e.node
	switch {
	case isNull(node):
		return nil, nil
	case node.Kind != yaml.MappingNode:
		e.line = node.Line
		return nil, e.errorf("write it as name: value", "must be a section")
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		sub := entry{append(slices.Clone(e.path), key.Value), e.file, key.Line, node.Content[i+1]}
		if key.Kind != yaml.ScalarNode || key.Value == "" {
			return nil, e.errorf("write it as name: value", "has a name that is not a string")
		}
		if _, known := find(sub.path); known {
			out = append(out, sub)
			continue
		}
		// Only the error of an unknown name looks for the nearest known one, since hooks read this file at each call.
		if !sub.isSection() {
			out, err = append(out, sub), cmp.Or(err, sub.unknown())
			continue
		}
		more, wrong := sub.settings()
		out, err = append(out, more...), cmp.Or(err, wrong)
	}
	return out, err
}

// isSection reports whether the name is that of a section: of settings in the table, of all
// projects, of all providers or of one of them.
func (e entry) isSection() bool {
	return len(e.path) == 1 && e.path[0] == nameProjects || len(e.path) < 3 && e.path[0] == nameProviders ||
		slices.ContainsFunc(definitions, func(d definition) bool { return strings.HasPrefix(d.name, e.name()+".") })
}

// values returns the value of a setting, or the elements of a list; no value is "". A list may be
// a single text, and a command a text of words. No shell parses the words, so shell syntax is refused.
func (e entry) values(d definition) ([]string, error) {
	node := e.node
	switch {
	case d.list == nil && isNull(node):
		return []string{""}, nil
	case d.list == nil && node.Kind != yaml.ScalarNode:
		return nil, e.errorf("write it as name: value", "must be a single value")
	case d.list == nil:
		return []string{node.Value}, nil
	}
	elements := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		elements = node.Content
	}
	var out []string
	for _, element := range elements {
		if element.Kind != yaml.ScalarNode || element.ShortTag() != "!!str" {
			e.line = element.Line
			return nil, e.errorf("write each on its own line after a dash, in quotes if needed", "must be a list of strings")
		}
		out = append(out, element.Value)
	}
	if d.words && node.Kind == yaml.ScalarNode {
		if strings.ContainsAny(out[0], "\"'`\\$|&;<>(){}*?") {
			return nil, e.errorf("write it as a list: [program, argument]",
				"uses shell syntax, and no shell is started")
		}
		out = strings.Fields(out[0])
	}
	return out, nil
}

func isNull(node *yaml.Node) bool {
	return node.Kind == 0 || node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

const listsAll = "`memoir config` lists every setting, `memoir help config` those of a provider"

// Nearest returns the known name that is nearest to a misspelt one; false if none is near.
// It ignores case, dashes, underscores, a missing section and what follows a whole name.
func Nearest(name string, known []string) (string, bool) {
	const longName = 200 // bytes; unknown names may have any length
	fold := func(name string) string {
		return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name[:min(len(name), longName)]))
	}
	best, bestDistance := "", min(max(3, len(name)/4+1), len(name)/2+1)
	for _, k := range known {
		distance := smetrics.WagnerFischer(fold(name), fold(k), 1, 1, 1)
		if strings.HasPrefix(name, k+"-") || // --all-projects
			fold(k[strings.LastIndexByte(k, '.')+1:]) == fold(name[strings.LastIndexByte(name, '.')+1:]) {
			distance = min(distance, 1)
		}
		if distance < bestDistance && len(k) > 1 {
			best, bestDistance = k, distance
		}
	}
	return best, best != ""
}
