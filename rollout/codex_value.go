package rollout

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"memoir/internal/lazyregexp"
)

// scriptValues works out those expressions of a script that are plain constants:
// string literals, their concatenation, names bound to them once, and arrays of
// them. Nothing is run. What it may produce is bounded by the script's own length,
// so that a script of doubling names costs nothing.
type scriptValues struct {
	js       string
	budget   int // steps and bytes that may still be spent
	searches int // passes over the whole script that may still be made
}

func newScriptValues(js string) *scriptValues {
	return &scriptValues{js: js, budget: 2*len(js) + 100, searches: 50}
}

// text is the value of an expression that is a constant string.
func (v *scriptValues) text(expr string) (string, bool) {
	out, ok := v.value(expr, 0)
	if ok && len(out) > len(v.js) {
		return "", false
	}
	return out, ok
}

const maxScriptDepth = 8

func (v *scriptValues) value(expr string, depth int) (string, bool) {
	expr = strings.TrimSpace(expr)
	if v.budget--; v.budget < 0 || depth > maxScriptDepth || expr == "" {
		return "", false
	}
	if end := scriptEnd(expr, 0, "+"); end >= 0 {
		return v.sum(expr, depth)
	}
	switch {
	case strings.HasPrefix(expr, "String.raw`"):
		raw := expr[len("String.raw`"):]
		if i := strings.IndexByte(raw, '`'); i != len(raw)-1 || strings.Contains(raw, "${") {
			return "", false
		}
		return v.spend(raw[:len(raw)-1], true)
	case strings.IndexByte("\"'`", expr[0]) >= 0:
		return v.literal(expr, depth)
	case expr[0] == '[':
		return v.joined(expr, depth)
	case isName(expr):
		bound, ok := v.binding(expr)
		if !ok {
			return "", false
		}
		return v.value(bound, depth+1)
	}
	return "", false
}

// sum is the value of "a" + "b" + ….
func (v *scriptValues) sum(expr string, depth int) (string, bool) {
	var out strings.Builder
	for i := 0; i <= len(expr); {
		end := scriptEnd(expr, i, "+")
		if end < 0 {
			end = len(expr)
		} else if expr[end] != '+' {
			return "", false
		}
		part, ok := v.value(expr[i:end], depth+1)
		if !ok {
			return "", false
		}
		out.WriteString(part)
		i = end + 1
	}
	return v.spend(out.String(), true)
}

func (v *scriptValues) spend(s string, ok bool) (string, bool) {
	v.budget -= len(s)
	return s, ok && v.budget >= 0
}

// joined is the value of ["a", "b"].join("\n").
func (v *scriptValues) joined(expr string, depth int) (string, bool) {
	end := scriptEnd(expr, 1, "")
	if end < 0 {
		return "", false
	}
	call, ok := strings.CutPrefix(strings.TrimSpace(expr[end+1:]), ".join(")
	if !ok || !strings.HasSuffix(call, ")") {
		return "", false
	}
	separator, ok := v.value(call[:len(call)-1], depth+1)
	if !ok {
		return "", false
	}
	parts, ok := v.elements(expr[:end+1], depth)
	if !ok {
		return "", false
	}
	if len(parts)*len(separator) > v.budget {
		return "", false
	}
	return v.spend(strings.Join(parts, separator), true)
}

// elements are the strings of an array literal.
func (v *scriptValues) elements(array string, depth int) (parts []string, ok bool) {
	for i := 1; i < len(array); {
		end := scriptEnd(array, i, ",")
		if end < 0 {
			return nil, false
		}
		if one := strings.TrimSpace(array[i:end]); one != "" {
			part, ok := v.value(one, depth+1)
			if !ok {
				return nil, false
			}
			parts = append(parts, part)
		}
		if array[end] != ',' {
			return parts, end == len(array)-1
		}
		i = end + 1
	}
	return nil, false
}

// binding is the expression that the script binds to a name, if it does so once.
func (v *scriptValues) binding(name string) (expr string, ok bool) {
	if v.searches--; v.searches < 0 {
		return "", false
	}
	found := 0
	scriptWalk(v.js, func(i int) (int, bool) {
		if i > 0 && (isWordByte(v.js[i-1]) || v.js[i-1] == '.') || !strings.HasPrefix(v.js[i:], name) {
			return i + 1, true
		}
		j := scriptBlankEnd(v.js, i+len(name))
		if j+1 >= len(v.js) || v.js[j] != '=' || v.js[j+1] == '=' || v.js[j+1] == '>' {
			return i + len(name), true
		}
		found++
		if declared := strings.TrimRight(v.js[:i], " \t"); !strings.HasSuffix(declared, "const") &&
			!strings.HasSuffix(declared, "let") && !strings.HasSuffix(declared, "var") {
			found++
		}
		from := scriptBlankEnd(v.js, j+1)
		expr = v.js[from:statementEnd(v.js, from)]
		return j + 1, true
	})
	return expr, found == 1
}

// statementEnd is where a declaration's value ends: at a semicolon, a comma, or
// the end of a line that does not go on.
func statementEnd(js string, from int) int {
	for i := from; ; {
		end := scriptEnd(js, i, ";,\n")
		switch {
		case end < 0:
			return len(js)
		case js[end] != '\n':
			return end
		}
		before := strings.TrimRight(js[from:end], " \t\r")
		next := scriptBlankEnd(js, end)
		if strings.HasSuffix(before, "+") || next < len(js) && (js[next] == '+' || js[next] == '.') {
			i = next
			continue
		}
		return end
	}
}

// loop is the list of strings that a name goes through in a loop over an array,
// ok only if the script has one such loop: [..].map(name => …), for (const name of …).
func (v *scriptValues) loop(name string) (items []string, ok bool) {
	if v.searches--; v.searches < 0 || !isName(name) {
		return nil, false
	}
	if m := scriptForOf.FindStringSubmatchIndex(v.js); m != nil && v.js[m[2]:m[3]] == name {
		return v.list(v.js[m[1]:])
	}
	for _, m := range scriptMap.FindAllStringSubmatchIndex(v.js, 20) {
		if v.js[m[2]:m[3]] != name {
			continue
		}
		if array, found := v.arrayBefore(m[0]); found {
			return v.list(array)
		}
	}
	return nil, false
}

var (
	scriptForOf = lazyregexp.New(`for\s*\(\s*(?:const|let|var)\s+([\w$]+)\s+of\s+`)
	scriptMap   = lazyregexp.New(`\s*\.(?:map|forEach)\(\s*(?:async\s*)?\(?\s*([\w$]+)\s*\)?\s*=>`)
)

// arrayBefore is the array literal, or the name, that ends at js[:end].
func (v *scriptValues) arrayBefore(end int) (string, bool) {
	if end == 0 {
		return "", false
	}
	if v.js[end-1] != ']' {
		from := end
		for from > 0 && isWordByte(v.js[from-1]) {
			from--
		}
		return v.js[from:end], from < end
	}
	array := ""
	scriptWalk(v.js, func(i int) (int, bool) {
		if v.js[i] != '[' {
			return i + 1, true
		}
		if v.searches--; scriptEnd(v.js, i+1, "") == end-1 {
			array = v.js[i:end]
		}
		return i + 1, array == "" && v.searches > 0
	})
	return array, array != ""
}

// list reads the array literal that an expression begins with or is a name of.
func (v *scriptValues) list(expr string) ([]string, bool) {
	expr = strings.TrimSpace(expr)
	n := 0
	for n < len(expr) && isWordByte(expr[n]) {
		n++
	}
	if n > 0 {
		bound, ok := v.binding(expr[:n])
		if !ok {
			return nil, false
		}
		expr = bound
	}
	if !strings.HasPrefix(expr, "[") {
		return nil, false
	}
	end := scriptEnd(expr, 1, "")
	if end < 0 {
		return nil, false
	}
	return v.elements(expr[:end+1], 0)
}

func isName(s string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) {
			return false
		}
	}
	return s != "" && (s[0] < '0' || s[0] > '9')
}

// literal decodes a string literal; in a template, names that are constants are
// filled in.
func (v *scriptValues) literal(s string, depth int) (string, bool) {
	end := scriptStringEnd(s, 0)
	if end < 0 || scriptBlankEnd(s, end) != len(s) {
		return "", false
	}
	quote, inner := s[0], s[1:end-1]
	var out strings.Builder
	for i := 0; i < len(inner); {
		switch {
		case inner[i] == '\\' && i+1 < len(inner):
			n := scriptEscape(&out, inner[i+1:])
			i += 1 + n
		case quote == '`' && strings.HasPrefix(inner[i:], "${"):
			end := strings.IndexByte(inner[i:], '}')
			if end < 0 || !isName(strings.TrimSpace(inner[i+2:i+end])) {
				return "", false
			}
			filled, ok := v.value(inner[i+2:i+end], depth+1)
			if !ok {
				return "", false
			}
			out.WriteString(filled)
			i += end + 1
		case quote == '`' && inner[i] == '\r':
			i++
		default:
			out.WriteByte(inner[i])
			i++
		}
	}
	return v.spend(out.String(), true)
}

// scriptEscape decodes what stands after a backslash and says how many bytes of it
// there were.
func scriptEscape(out *strings.Builder, s string) int {
	if i := strings.IndexByte("nrtbfv", s[0]); i >= 0 {
		out.WriteByte("\n\r\t\b\f\v"[i])
		return 1
	}
	switch s[0] {
	case '\n': // a line that goes on
		return 1
	case '0':
		writeScriptRune(out, 0)
		return 1
	case 'x':
		if len(s) >= 3 {
			if n, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
				writeScriptRune(out, rune(n))
				return 3
			}
		}
	case 'u':
		if r, n := scriptUnicode(s); n > 0 {
			if utf16.IsSurrogate(r) && strings.HasPrefix(s[n:], `\u`) {
				if low, m := scriptUnicode(s[n+1:]); m > 0 {
					r, n = utf16.DecodeRune(r, low), n+1+m
				}
			}
			writeScriptRune(out, r)
			return n
		}
	}
	_, n := utf8.DecodeRuneInString(s)
	out.WriteString(s[:n])
	return n
}

// writeScriptRune writes a character; NUL is replaced, as in all texts.
func writeScriptRune(out *strings.Builder, r rune) {
	if r == 0 {
		r = utf8.RuneError
	}
	out.WriteRune(r)
}

// scriptUnicode reads uXXXX or u{X…}.
func scriptUnicode(s string) (rune, int) {
	digits, n := "", 0
	if strings.HasPrefix(s, "u{") {
		end := strings.IndexByte(s, '}')
		if end < 0 || end > 8 {
			return 0, 0
		}
		digits, n = s[2:end], end+1
	} else if len(s) >= 5 {
		digits, n = s[1:5], 5
	}
	r, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || r > utf8.MaxRune {
		return 0, 0
	}
	return rune(r), n
}
