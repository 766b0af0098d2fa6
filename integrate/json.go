package integrate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"memoir/internal/lazyregexp"
)

// parseTree parses JSON with comments and trailing commas. It adds a line break, without which a comment at the
// end would be an error; packed again, the tree is the text with that line break.
func parseTree(text []byte) (hujson.Value, error) {
	return hujson.Parse(append(bytes.Clone(text), '\n'))
}

func parseJSON(text []byte) (value any, err error) {
	tree, err := parseTree(text)
	if err != nil {
		return nil, err
	}
	tree.Standardize()
	err = json.Unmarshal(tree.Pack(), &value)
	return value, err
}

// children returns the values in an object or a list, with the white space and comments before each, and then those
// at the end.
func children(in *hujson.Value) (before []*hujson.Extra, values []*hujson.Value) {
	switch v := in.Value.(type) {
	case *hujson.Object:
		for i := range v.Members {
			before, values = append(before, &v.Members[i].Name.BeforeExtra), append(values, &v.Members[i].Value)
		}
		before = append(before, &v.AfterExtra)
	case *hujson.Array:
		for i := range v.Elements {
			before, values = append(before, &v.Elements[i].BeforeExtra), append(values, &v.Elements[i])
		}
		before = append(before, &v.AfterExtra)
	}
	return before, values
}

func section(tree *hujson.Value, at []string) *hujson.Value {
	return tree.Find(strings.Join(append([]string{""}, at...), "/"))
}

// restOfLine matches white space and comments up to the end of a line, with the whole of a comment that spans lines.
var restOfLine = lazyregexp.New(`^(?:[ \t]|//[^\r\n]*|(?s:/\*.*?\*/))*`)

func insertJSON(text []byte, e Entry, there int) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return append(marshal(nest(e, 0), "", "  "), '\n'), nil
	}
	tree, err := parseTree(text)
	if err != nil {
		return nil, err
	}
	in := section(&tree, e.At[:there])
	object, _ := in.Value.(*hujson.Object)
	list, _ := in.Value.(*hujson.Array)
	before, values := children(in)
	value, n := e.Value, len(values)
	i := n
	switch {
	case there < len(e.At) && object != nil:
		value = nest(e, there+1)
	case there == len(e.At) && list != nil:
		i = e.index(n)
	default:
		return nil, fmt.Errorf("%s must be %s", cmp.Or(strings.Join(e.At[:there], "."), "the content"),
			[]string{"an object", "a list"}[there/len(e.At)])
	}
	packed := marshal(value, "", "")
	lead, indent, lines := gap(text, before, i, indentAt(text, in.StartOffset))
	if lines {
		packed = bytes.ReplaceAll(marshal(value, indent, unitOf(text)), []byte("\n"), []byte(eolOf(text)))
	}
	child, err := hujson.Parse(packed)
	if i == n && n > 0 && values[n-1].AfterExtra != nil { // a trailing comma
		child.AfterExtra = hujson.Extra{}
	}
	if list != nil {
		child.BeforeExtra = lead
		list.Elements = slices.Insert(list.Elements, i, child)
	} else {
		child.BeforeExtra = hujson.Extra(" ")
		name := hujson.Value{BeforeExtra: lead, Value: hujson.String(e.At[there])}
		object.Members = append(object.Members, hujson.ObjectMember{Name: name, Value: child})
	}
	return bytes.TrimSuffix(tree.Pack(), []byte("\n")), err
}

// gap makes room for a child at i in the white space before the children of a value whose line is indented by outer.
// It returns the white space before the new child, and its indentation if children have lines of their own.
func gap(text []byte, before []*hujson.Extra, i int, outer string) (lead hujson.Extra, indent string, lines bool) {
	n, eol, next := len(before)-1, eolOf(text), before[i]
	// A comment that follows the child before it in its line stays there.
	comment, rest := *next, hujson.Extra(nil)
	if line := len(restOfLine.FindString(string(comment))); line < len(comment) {
		comment, rest = comment[:line], comment[line:]
	}
	broken, space := bytes.Contains(*before[0], []byte("\n")), " "
	if lines = n == 0 || rest != nil || broken; lines {
		indent = outer + unitOf(text)
		if n > 0 && broken {
			indent = indentAt(*before[0], len(*before[0]))
		}
		space = eol + indent
	}
	switch {
	case rest != nil:
	case i < n:
		comment, rest = nil, slices.Concat(hujson.Extra(" "), bytes.TrimLeft(comment, " \t"))
	case lines:
		rest = hujson.Extra(eol + outer)
	}
	*next = rest
	return slices.Concat(bytes.TrimRight(comment, " \t"), hujson.Extra(space)), indent, lines
}

func removeJSON(text []byte, at []string, i int) ([]byte, error) {
	tree, err := parseTree(text)
	if err != nil {
		return nil, err
	}
	in := section(&tree, at)
	if i < 0 {
		in = section(&tree, at[:len(at)-1])
		i = slices.IndexFunc(in.Value.(*hujson.Object).Members, func(m hujson.ObjectMember) bool {
			return m.Name.Value.(hujson.Literal).String() == at[len(at)-1]
		})
	}
	before, values := children(in)
	// The line of the child goes, and comments on the lines before and after it stay.
	own, next := *before[i], before[i+1]
	if line := bytes.LastIndexByte(own, '\n'); line >= 0 && len(bytes.TrimSpace(own[line:])) == 0 &&
		bytes.Contains(*next, []byte("\n")) {
		*next = append(bytes.TrimSuffix(own[:line], []byte("\r")), *next...)
	} else if len(bytes.TrimSpace(own)) > 0 {
		*next = append(own, *next...)
	}
	if last := len(values) - 1; i == last && i > 0 {
		if trailing := &values[i-1].AfterExtra; values[last].AfterExtra == nil {
			*next = append(*trailing, *next...)
			*trailing = nil
		} else if *trailing == nil {
			*trailing = hujson.Extra{}
		}
	}
	switch v := in.Value.(type) {
	case *hujson.Object:
		v.Members = slices.Delete(v.Members, i, i+1)
	case *hujson.Array:
		v.Elements = slices.Delete(v.Elements, i, i+1)
	}
	return bytes.TrimSuffix(tree.Pack(), []byte("\n")), nil
}

// nest returns the value of an entry within the sections that lead to it, from the given one on.
func nest(e Entry, from int) any {
	value := e.Value
	if e.List {
		value = []any{value}
	}
	for _, key := range slices.Backward(e.At[from:]) {
		value = map[string]any{key: value}
	}
	return value
}

// marshal returns a value as JSON without HTML escapes; on several lines if unit, the indentation, is not "".
func marshal(v any, indent, unit string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(indent, unit)
	_ = encoder.Encode(v) // texts, numbers, lists and objects cannot fail
	return bytes.TrimSpace(b.Bytes())
}

// indentAt returns the white space at the beginning of the line of a position.
func indentAt(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func unitOf(text []byte) string {
	for line := range bytes.Lines(text) {
		if indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]; len(indent) > 0 && len(bytes.TrimSpace(line)) > 0 {
			return string(indent)
		}
	}
	return "  "
}
