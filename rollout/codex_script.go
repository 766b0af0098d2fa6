package rollout

import (
	"strings"

	"memoir/internal/lazyregexp"
)

// codexScript reads a "code mode" call: JavaScript that calls tools. A script whose
// calls are all of one tool, with literal arguments, is given as those calls; any other
// as it stands, under the tool's name "exec". Calls of update_plan beside others are
// passed over. Nothing is evaluated.
func codexScript(js string) (tool, input string) {
	calls, ok := scriptCalls(js)
	if !ok || len(calls) == 0 {
		return "exec", js
	}
	var inputs []string
	together := scriptWorkdir(js) != ""
	for _, c := range calls {
		if c.tool != calls[0].tool {
			return "exec", js
		}
		one := ""
		switch c.tool {
		case "exec_command", "shell_command", "shell":
			if one = c.arg.field("cmd"); one == "" {
				one = c.arg.field("command")
			}
			if dir := c.arg.field("workdir"); one != "" && dir != "" && !together {
				one = inWorkdir(dir, one)
			}
		case "apply_patch":
			one = c.arg.text
		case "exec": // which a script cannot call
		default:
			if len(calls) == 1 {
				one = c.written
			}
		}
		if one == "" {
			return "exec", js
		}
		inputs = append(inputs, one)
	}
	return calls[0].tool, strings.Join(inputs, "\n")
}

// inWorkdir puts the directory that a call names in front of its command line.
func inWorkdir(dir, line string) string {
	if strings.ContainsAny(dir, " \t'\"$&;()") {
		dir = "'" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
	}
	if strings.ContainsAny(line, "#\n") { // a bracket at the end might be part of a comment or a here-document
		line += "\n"
	}
	return "(cd " + dir + " && " + line + ")"
}

// scriptArgument is a field of the object literal that a call's input is.
func scriptArgument(input, key string) string {
	p := scriptParser{js: input, tokens: scriptToken.FindAllStringIndex(input, -1)}
	value, _ := p.literal(0)
	return value.field(key)
}

// scriptWorkdir is the directory that every command of a script names, "" if they differ.
func scriptWorkdir(js string) string {
	if !strings.Contains(js, "workdir") {
		return ""
	}
	calls, _ := scriptCalls(js)
	dir, first := "", true
	for _, c := range calls {
		if c.tool != "exec_command" {
			continue
		}
		if !first && c.arg.field("workdir") != dir {
			return ""
		}
		dir, first = c.arg.field("workdir"), false
	}
	return dir
}

// callsOnlyCommands reports whether a script names no tools but those that run commands.
func callsOnlyCommands(js string) bool {
	for _, m := range scriptTool.FindAllStringSubmatch(js, -1) {
		switch m[1] {
		case "exec_command", "write_stdin", "update_plan":
		default:
			return false
		}
	}
	return true
}

var (
	scriptTool = lazyregexp.New(`\btools\.(\w+)\(`)

	// scriptToken matches a comment, a string, a word, or one other character.
	scriptToken = lazyregexp.New("//[^\n]*|(?s:/\\*.*?\\*/)|String\\.raw`[^`]*`" +
		`|"(?:[^"\\\n]|\\(?s:.))*"|'(?:[^'\\\n]|\\(?s:.))*'|` + "`(?s:[^`\\\\]|\\\\.)*`" + `|[\w$.-]+|[^\s]`)
	// scriptEscapes are those that JSON does not have and that are not decoded.
	scriptEscapes = lazyregexp.New(`\\(?:\\|u\{|[0-9v])`)
	scriptHex     = lazyregexp.New(`\\(\\|x[0-9a-fA-F]{2}|\n)`)
)

// scriptCall is a call of a tool in a script.
type scriptCall struct {
	tool    string
	arg     scriptValue
	written string // the argument as it stands in the script
}

// scriptValue is the value of a literal: a text, which numbers and words have too, or
// the fields of an object. The elements of an array are not kept.
type scriptValue struct {
	text   string
	fields map[string]scriptValue
}

func (v scriptValue) field(name string) string { return v.fields[name].text }

// scriptCalls finds every tools.name(…) outside strings and comments, in order. ok is
// false if an argument is neither a literal nor a name that const binds to one.
func scriptCalls(js string) (calls []scriptCall, ok bool) {
	p := scriptParser{js: js, tokens: scriptToken.FindAllStringIndex(js, -1)}
	p.names, p.seen = map[string]scriptValue{}, map[string]bool{}
	for p.at < len(p.tokens) {
		word := p.next()
		switch name, isTool := strings.CutPrefix(word, "tools."); {
		case strings.ContainsAny(word, "\"'`") && len(word) == 1: // a string that does not end
			return calls, false
		case word == "const":
			p.bind()
		case isTool && name != "":
			c := scriptCall{tool: name}
			if p.next() != "(" {
				return calls, false
			}
			from := p.at
			if c.arg, ok = p.literal(0); !ok {
				return calls, false
			}
			c.written = strings.TrimSpace(js[p.tokens[from][0]:p.tokens[p.at-1][1]])
			if p.next() != ")" {
				return calls, false
			}
			calls = append(calls, c)
		}
	}
	var work []scriptCall
	for _, c := range calls {
		if c.tool != "update_plan" {
			work = append(work, c)
		}
	}
	if len(work) > 0 {
		calls = work
	}
	return calls, true
}

// scriptParser reads the tokens of a script.
type scriptParser struct {
	js     string
	tokens [][]int
	at     int                    // index of the next token
	names  map[string]scriptValue // what const binds to a literal
	seen   map[string]bool        // the names that const bound to anything
}

// next is the next token other than a comment, "" at the end.
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

// bind reads NAME = LITERAL. A name that is bound twice, in two blocks, has no value.
func (p *scriptParser) bind() {
	from := p.at
	name, equals := p.next(), p.next()
	value, ok := p.literal(0)
	end := p.at
	if next := p.next(); next != "" && next != ";" { // the line may end instead, unless the value goes on
		between := p.js[p.tokens[end-1][1]:p.tokens[p.at-1][0]]
		ok = ok && strings.Contains(between, "\n") && !strings.Contains("+.,([?`", next[:1])
	}
	p.at = from
	if ok && equals == "=" && !p.seen[name] {
		p.names[name] = value
		p.at = end
	} else {
		delete(p.names, name)
	}
	p.seen[name] = true
}

const maxScriptDepth = 64

// literal reads a string, number, word, array, object, or a name that is bound to one.
func (p *scriptParser) literal(depth int) (value scriptValue, ok bool) {
	token := p.next()
	switch {
	case token == "" || depth > maxScriptDepth:
		return value, false
	case token == "{":
		return p.object(depth)
	case token == "[":
		for p.peek() != "]" {
			if _, ok := p.literal(depth + 1); !ok || p.peek() != "," && p.peek() != "]" {
				return value, false
			}
			p.skip(",")
		}
		p.next()
		return value, true
	case strings.ContainsAny(token[:1], "\"'`") || strings.HasPrefix(token, "String.raw`"):
		value.text, ok = scriptString(token)
		return value, ok
	}
	if value, ok = p.names[token]; ok {
		return value, true
	}
	plain := token == "true" || token == "false" || token == "null" || strings.IndexByte("-.0123456789", token[0]) >= 0
	return scriptValue{text: token}, plain
}

// object reads the rest of {key: literal, "key": literal, key}.
func (p *scriptParser) object(depth int) (value scriptValue, ok bool) {
	value.fields = map[string]scriptValue{}
	for p.peek() != "}" {
		key := p.next()
		field, ok := p.names[key]
		if p.peek() == ":" {
			p.next()
			field, ok = p.literal(depth + 1)
		}
		if !ok || p.peek() != "," && p.peek() != "}" {
			return value, false
		}
		p.skip(",")
		value.fields[strings.Trim(key, `"'`)] = field
	}
	p.next()
	return value, true
}

func (p *scriptParser) peek() string {
	at := p.at
	token := p.next()
	p.at = at
	return token
}

func (p *scriptParser) skip(token string) {
	if p.peek() == token {
		p.next()
	}
}

// scriptString decodes a string literal. ok is false for a template that fills in
// values and for escapes that are rarely used.
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
	inner = scriptHex.ReplaceAllStringFunc(inner, func(escape string) string {
		switch escape[1] {
		case 'x':
			return `\u00` + escape[2:]
		case '\n': // the line goes on
			return ""
		}
		return escape
	})
	return text([]byte(`"` + inner + `"`)), true
}
