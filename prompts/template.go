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

	literal     = `"{{"`                       // the name of a tag that stands for the two braces themselves
	openLiteral = openTag + literal + closeTag // as it is written
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
	text = strings.TrimPrefix(text, "\ufeff") // which editors put there, and a model would be sent
	if strings.TrimSpace(text) == "" {
		return template{}, memoir.Errorf(memoir.CodeConfig,
			"write the prompt, or remove the file to have the program's own", "prompt %s is empty", file)
	}
	if line, part := unclosed(text); line > 0 {
		return template{}, memoir.Errorf(memoir.CodeConfig,
			"close each "+openTag+" with "+closeTag+"; "+openLiteral+" stands for two braces that open no variable",
			"prompt %s, line %d: %q is not closed", file, line, part)
	}
	parsed, err := fasttemplate.NewTemplate(text, openTag, closeTag)
	if err != nil {
		return template{}, memoir.Errorf(memoir.CodeConfig, "close each "+openTag+" with "+closeTag,
			"prompt %s is no template", file)
	}
	used := make(map[string]bool)
	_, err = parsed.ExecuteFunc(io.Discard, func(_ io.Writer, tag string) (int, error) {
		if tag = strings.TrimSpace(tag); tag == literal {
			return 0, nil
		}
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

// unclosed finds a tag that does not end on its line: the line's number and the
// beginning of what was left open; 0 if all end.
func unclosed(text string) (line int, part string) {
	for l := range strings.Lines(text) {
		line++
		rest := l
		for {
			at := strings.Index(rest, openTag)
			if at < 0 {
				break
			}
			tag := rest[at:]
			end := strings.Index(tag, closeTag)
			if end < 0 {
				return line, cutTag(tag)
			}
			rest = tag[end+len(closeTag):]
		}
	}
	return 0, ""
}

// cutTag is as much of a tag as tells where it stands.
func cutTag(tag string) string {
	const most = 40
	if tag = strings.TrimSpace(tag); len(tag) > most {
		tag = strings.ToValidUTF8(tag[:most], "") + "…"
	}
	return tag
}

// render fills in the values. A value is inserted as it is and never looked
// through for variables.
func (t template) render(values map[string]string) (string, error) {
	text, err := t.parsed.ExecuteFuncStringWithErr(func(w io.Writer, tag string) (int, error) {
		tag = strings.TrimSpace(tag)
		if tag == literal {
			return io.WriteString(w, openTag)
		}
		value, ok := values[tag]
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
