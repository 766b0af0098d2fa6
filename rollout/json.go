package rollout

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// The functions here walk raw JSON without decoding it, since most of a large record is not used. They expect
// records that Reader has validated, and stop early on anything else.

// members returns the members of a JSON object. A key is without quotes and not unescaped; the value is raw.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		if isObject(object) {
			walk(object, yield)
		}
	}
}

func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		if isArray(array) {
			walk(array, func(_, value []byte) bool { return yield(value) })
		}
	}
}

// walk calls fn for each member of an object, or for each element of an array with a nil key.
func walk(raw []byte, fn func(key, value []byte) bool) {
	for i := 1; ; {
		for i < len(raw) && (isBlank(raw[i]) || raw[i] == ',') {
			i++
		}
		var key []byte
		if raw[0] == '{' {
			end := valueEnd(raw, i)
			if end-i < 2 || raw[i] != '"' {
				return
			}
			key = raw[i+1 : end-1]
			for i = end; i < len(raw) && (isBlank(raw[i]) || raw[i] == ':'); {
				i++
			}
		}
		end := valueEnd(raw, i)
		if end <= i || !fn(key, raw[i:end]) {
			return
		}
		i = end
	}
}

// get returns the raw value at a path of object keys, or nil.
func get(object []byte, path ...string) []byte {
next:
	for _, name := range path {
		for key, value := range members(object) {
			if string(key) == name {
				object = value
				continue next
			}
		}
		return nil
	}
	return object
}

// text decodes a raw JSON string; it returns "" for any other value.
func text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	s := unescape(raw[1 : len(raw)-1])
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}

// escapes are JSON's escapes of control characters, except \u.
var escapes = [256]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

// unescape decodes the inside of a JSON string, several times faster than the standard library. Most bytes that
// are read pass through it.
func unescape(raw []byte) string {
	i := bytes.IndexByte(raw, '\\')
	if i < 0 {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i >= 0 && i+1 < len(raw) {
		out = append(out, raw[:i]...)
		n, c := i+2, raw[i+1]
		switch {
		case c == 'u':
			for n = i; len(raw) >= n+6 && raw[n] == '\\' && raw[n+1] == 'u'; { // two may encode one character
				n += 6
			}
			var s string
			_ = json.Unmarshal(slices.Concat([]byte{'"'}, raw[i:n], []byte{'"'}), &s) // an invalid escape is dropped
			out, n = append(out, s...), max(n, i+2)
		case escapes[c] != 0:
			out = append(out, escapes[c])
		default: // a quote, a backslash or a slash
			out = append(out, c)
		}
		raw = raw[n:]
		// Escapes often follow each other (\n\t): check the next byte before searching.
		if i = 0; len(raw) == 0 || raw[0] != '\\' {
			i = bytes.IndexByte(raw, '\\')
		}
	}
	return string(append(out, raw...))
}

func getText(object []byte, path ...string) string { return text(get(object, path...)) }

// isString, isObject, isArray and isTrue report the type of a raw value.
func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
func isArray(raw []byte) bool  { return len(raw) > 0 && raw[0] == '[' }
func isTrue(raw []byte) bool   { return string(raw) == "true" }

// foreign reports whether a field says that a program acted: its value, of whatever form, is none of the words people.
// A field that is missing or empty says nothing.
func foreign(value []byte, people string) bool {
	return len(value) > 0 && string(value) != "null" && string(value) != `""` &&
		!slices.Contains(strings.Fields(people), text(value))
}

// integer decodes a whole number, as a JSON number or in a string.
func integer(raw []byte) (int64, bool) {
	raw = bytes.TrimSuffix(unquotedNumber(raw), []byte(".0"))
	if len(raw) == 0 || len(raw) > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil && raw[0] != '+'
}

// exitStatus decodes an exit status; nil if it is not a whole number.
func exitStatus(raw []byte) *int {
	if n, ok := integer(raw); ok {
		return new(int(n))
	}
	return nil
}

// unquotedNumber returns a raw value without the quotes of a string.
func unquotedNumber(raw []byte) []byte {
	if n := len(raw); n > 2 && n < 32 && raw[0] == '"' && raw[n-1] == '"' {
		return bytes.TrimSpace(raw[1 : n-1])
	}
	return raw
}

// compact removes the white space between the tokens of a raw value. A value longer than an item's text is cut instead.
func compact(raw []byte) string {
	var b bytes.Buffer
	if len(raw) > maxText || json.Compact(&b, raw) != nil {
		return source(raw)
	}
	return b.String()
}

// timeForms are the layouts of times in strings; times without a zone are in UTC.
var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"}

// instant decodes a time: one of timeForms in a string, or milliseconds since 1970. Numbers below 1e11, which as
// milliseconds would be before 1974, are seconds. It is zero for anything else, and for years after 9999.
func instant(raw []byte) time.Time {
	if isString(raw) {
		written := text(raw)
		for _, form := range timeForms {
			if t, err := time.Parse(form, written); err == nil {
				return t.UTC()
			}
		}
	}
	const leastMillis, mostMillis = 1e11, 253402300800_000 // to the year 9999
	ms, err := strconv.ParseFloat(string(unquotedNumber(raw)), 64)
	if err == nil && ms > 0 && ms < leastMillis {
		ms *= 1000
	}
	if err != nil || !(ms > 0 && ms < mostMillis) {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// stringEnd returns the index after the closing quote of the string at b[i].
func stringEnd(b []byte, i int) int {
	j := i + 1
	for j < len(b) {
		k := bytes.IndexByte(b[j:], '"')
		if k < 0 {
			break
		}
		j += k
		slashes := 0
		for p := j - 1; p > i && b[p] == '\\'; p-- {
			slashes++
		}
		j++
		if slashes%2 == 0 {
			return j
		}
	}
	return len(b)
}

// valueEnd returns the index after the value at b[i].
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = stringEnd(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(b)
	}
	for i < len(b) {
		if c := b[i]; c == ',' || c == '}' || c == ']' || isBlank(c) {
			break
		}
		i++
	}
	return i
}

// lastObject finds a complete record at the end of an incomplete line, whose writer crashed; nil if there is
// none.
func lastObject(line []byte) []byte {
	best := -1
	for _, opening := range []string{`{"timestamp":"`, `{"type":"`, `{"parentUuid":`, `{"uuid":"`} {
		best = max(best, bytes.LastIndex(line, []byte(opening)))
	}
	if best <= 0 || !gjson.ValidBytes(line[best:]) {
		return nil
	}
	return line[best:]
}
