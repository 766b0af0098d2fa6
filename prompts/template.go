package prompts

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"memoir"

	"github.com/valyala/fasttemplate"
)

const (
	openTag  = "{{"
	closeTag = "}}"
)

// template is one prompt file, parsed, with the variables that it uses.
type template struct {
	file   string
	parsed *fasttemplate.Template
}

// parse checks that a prompt uses exactly its declared variables, each at least
// once: a variable that is missing loses input without a word, and one that is
// unknown would reach the model as it stands.
func parse(file, text string, variables []string) (template, error) {
	if strings.TrimSpace(text) == "" {
		return template{}, memoir.Errorf(memoir.CodeConfig, "", "prompt %s is empty", file)
	}
	parsed, err := fasttemplate.NewTemplate(text, openTag, closeTag)
	if err != nil {
		return template{}, memoir.Errorf(memoir.CodeConfig, "close each "+openTag+" with "+closeTag, "prompt %s: %w", file, err)
	}
	used := make(map[string]bool)
	_, err = parsed.ExecuteFunc(io.Discard, func(_ io.Writer, tag string) (int, error) {
		tag = strings.TrimSpace(tag)
		if !slices.Contains(variables, tag) {
			return 0, fmt.Errorf("unknown variable %s%.40s%s", openTag, tag, closeTag)
		}
		used[tag] = true
		return 0, nil
	})
	if err != nil {
		hint := "it has no variables"
		if len(variables) > 0 {
			hint = "its variables are " + strings.Join(variables, ", ")
		}
		return template{}, memoir.Errorf(memoir.CodeConfig, hint, "prompt %s: %w", file, err)
	}
	for _, v := range variables {
		if !used[v] {
			return template{}, memoir.Errorf(memoir.CodeConfig, "put it where its value belongs",
				"prompt %s: variable %s%s%s is missing", file, openTag, v, closeTag)
		}
	}
	return template{file: file, parsed: parsed}, nil
}

// render fills in the values. A value is inserted as it is and never looked
// through for variables.
func (t template) render(values map[string]string) (string, error) {
	text, err := t.parsed.ExecuteFuncStringWithErr(func(w io.Writer, tag string) (int, error) {
		value, ok := values[strings.TrimSpace(tag)]
		if !ok {
			return 0, fmt.Errorf("variable %s has no value", tag)
		}
		return io.WriteString(w, value)
	})
	if err != nil {
		return "", memoir.Errorf(memoir.CodeInternal, "", "render prompt %s: %w", t.file, err)
	}
	return text, nil
}
