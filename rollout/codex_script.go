package rollout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir/internal/lazyregexp"
)

// codexScript reads a "code mode" call: JavaScript that calls tools. If all calls are of one tool, with literal
// arguments, it returns these calls; otherwise the script as it is, with the tool "exec". Calls of update_plan
// beside others are ignored. Nothing is evaluated. workdir is the directory that all commands name.
func codexScript(js string) (tool, input, workdir string) {
	calls, ok := scriptCalls(js)
	dirs := map[string]bool{}
	for _, c := range calls {
		if c.tool == "exec_command" {
			dirs[getText(c.arg, "workdir")] = true
		}
	}
	if len(dirs) == 1 {
		workdir = slices.Collect(maps.Keys(dirs))[0]
	}
	if !ok || len(calls) == 0 {
		return "exec", js, workdir
	}
	var inputs []string
	for _, c := range calls {
		one := c.input(len(calls) == 1, workdir)
		if one == "" || c.tool != calls[0].tool {
			return "exec", js, workdir
		}
		inputs = append(inputs, one)
	}
	return calls[0].tool, strings.Join(inputs, "\n"), workdir
}

// scriptCall is a tool call in a script, with its argument as JSON.
type scriptCall struct {
	tool string
	arg  []byte
}

// input returns the input of the call: a command line, in its directory unless all calls name the same one; a
// patch; the argument of any other tool if it is the only call.
func (c scriptCall) input(alone bool, workdir string) string {
	switch c.tool {
	case "exec_command", "shell_command", "shell":
		line := cmp.Or(getText(c.arg, "cmd"), getText(c.arg, "command"))
		if dir := getText(c.arg, "workdir"); line != "" && dir != workdir {
			return inWorkdir(dir, line)
		}
		return line
	case "apply_patch":
		return text(c.arg)
	}
	if !alone || c.tool == "exec" { // a script cannot call exec
		return ""
	}
	return string(c.arg)
}

// inWorkdir adds the directory of a call to its command line.
func inWorkdir(dir, line string) string {
	if dir == "" {
		return line
	}
	if strings.ContainsAny(dir, " \t'\"$&;()") {
		dir = "'" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
	}
	if strings.ContainsAny(line, "#\n") { // a closing bracket could become part of a comment or here-document
		line += "\n"
	}
	return "(cd " + dir + " && " + line + ")"
}

var (
	// scriptToken matches a comment, a string, a word, or one other character.
	scriptToken = lazyregexp.New("//[^\n]*|(?s:/\\*.*?\\*/)|String\\.raw`[^`]*`" +
		`|"(?:[^"\\\n]|\\(?s:.))*"|'(?:[^'\\\n]|\\(?s:.))*'|` + "`(?s:[^`\\\\]|\\\\.)*`" + `|[\w$.-]+|[^\s]`)
	// scriptEscapes matches an escaped backslash and the escapes that JSON does not have.
	scriptEscapes = lazyregexp.New(`\\(?:\\|u\{|[0-9vx\n])`)
)

// scriptCalls finds every tools.name(…) outside strings and comments, in order. ok is false if an argument is
// neither a literal nor a const with a literal value.
func scriptCalls(js string) (calls []scriptCall, ok bool) {
	p := scriptParser{js: js, tokens: scriptToken.FindAllStringIndex(js, -1), names: map[string][]byte{},
		room: 2*len(js) + 64}
	for p.at < len(p.tokens) {
		word := p.next()
		switch name, isTool := strings.CutPrefix(word, "tools."); {
		case len(word) == 1 && strings.Contains("\"'`", word): // an unterminated string
			return calls, false
		case word == "const":
			p.bind()
		case isTool && name != "":
			if p.next() != "(" {
				return calls, false
			}
			arg := p.literal()
			if arg == nil || p.next() != ")" {
				return calls, false
			}
			calls = append(calls, scriptCall{name, arg})
		}
	}
	isPlan := func(c scriptCall) bool { return c.tool == "update_plan" }
	if others := slices.DeleteFunc(slices.Clone(calls), isPlan); len(others) > 0 {
		calls = others
	}
	return calls, true
}

type scriptParser struct {
	js     string
	tokens [][]int
	at     int               // index of the next token
	names  map[string][]byte // values of const names; nil if not a literal
	room   int               // bytes left for literals
}

// next returns the next token other than a comment, "" at the end.
func (p *scriptParser) next() string {
	for p.at < len(p.tokens) {
		token := p.js[p.tokens[p.at][0]:p.tokens[p.at][1]]
		p.at++
		if !strings.HasPrefix(token, "//") && !strings.HasPrefix(token, "/*") {
			return token
		}
	}
	return ""
}

func (p *scriptParser) peek() string {
	at := p.at
	token := p.next()
	p.at = at
	return token
}

// bind reads NAME = LITERAL. A name that is bound twice, in two blocks, gets no value.
func (p *scriptParser) bind() {
	from := p.at
	name, equals := p.next(), p.next()
	value, end := p.literal(), p.at
	if next := p.next(); next != "" && next != ";" { // a line break also ends it, unless the value continues
		between := p.js[p.tokens[end-1][1]:p.tokens[p.at-1][0]]
		if !strings.Contains(between, "\n") || strings.Contains("+.,([?`", next[:1]) {
			value = nil
		}
	}
	if _, bound := p.names[name]; bound || equals != "=" {
		value = nil
	}
	p.names[name] = value
	if p.at = end; value == nil {
		p.at = from
	}
}

const maxScriptDepth = 64

// literal reads a value as JSON; nil if it is not a literal. The tokens are converted one by one, and the result
// is validated.
func (p *scriptParser) literal() []byte {
	var out, open []byte
	for {
		token := p.next()
		if token == "" || len(open) > maxScriptDepth || len(out) > p.room {
			return nil
		}
		switch {
		case token == "{" || token == "[":
			open = append(open, token[0])
			out = append(out, token...)
		case len(open) > 0 && (token == "}" || token == "]"):
			open = open[:len(open)-1]
			out = append(bytes.TrimSuffix(out, []byte(",")), token...)
		default:
			key := len(open) > 0 && open[len(open)-1] == '{' && (out[len(out)-1] == '{' || out[len(out)-1] == ',')
			out = append(out, p.plain(token, key)...)
		}
		if len(open) > 0 {
			continue
		}
		if p.room -= len(out); p.room < 0 || !gjson.ValidBytes(out) {
			return nil
		}
		return out
	}
}

// plain converts a token other than a bracket to JSON, or returns it as it is. key says that a member's name is
// expected.
func (p *scriptParser) plain(token string, key bool) []byte {
	value := p.names[token]
	switch {
	case strings.Contains("\"'`", token[:1]) || strings.HasPrefix(token, "String.raw`"):
		if decoded, ok := scriptString(token); ok {
			return jsonString(decoded)
		}
	case key && p.peek() == ":":
		return jsonString(token)
	case key && value != nil: // {name} is {name: name}
		return append(append(jsonString(token), ':'), value...)
	case value != nil:
		return value
	}
	return []byte(token)
}

// jsonString encodes a text as a JSON string without HTML escapes.
func jsonString(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // no string fails
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}

// scriptString decodes a string literal. ok is false for templates with values and for rare escapes.
func scriptString(token string) (decoded string, ok bool) {
	if raw, ok := strings.CutPrefix(token, "String.raw`"); ok {
		raw = strings.TrimSuffix(raw, "`")
		return raw, !strings.Contains(raw, "${") && !strings.HasSuffix(raw, `\`)
	}
	if len(token) < 2 {
		return "", false
	}
	inner := token[1 : len(token)-1]
	if token[0] == '`' && strings.Contains(strings.ReplaceAll(inner, `\${`, ""), "${") {
		return "", false
	}
	for _, escape := range scriptEscapes.FindAllString(inner, -1) {
		if escape != `\\` {
			return "", false
		}
	}
	return text([]byte(`"` + inner + `"`)), true
}
