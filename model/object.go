package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kaptinlin/jsonrepair"
)

// Bounds on what is read of an answer. Within them the time grows with the length
// of the answer; beyond them the cheaper readings are left.
const (
	maxObject  = 4 << 20  // bytes of an answer
	maxStarts  = 16       // braces at which an object is looked for
	maxRepair  = 32 << 10 // bytes that are repaired: the library's time may grow with their square
	maxNesting = 64       // of what is repaired
	maxUnknown = 32       // fields that a mended object has and nobody asked for
)

// Object finds the JSON object of an answer and returns those of its fields that
// are asked for. What a model adds is passed over: code fences, words before and
// after, comments, unknown fields. What it breaks is mended as far as its meaning
// is clear, tried in this order:
//
//  1. the first balanced object that is JSON and has one of the fields;
//  2. the first object, balanced or cut, as jsonrepair mends it;
//  3. each field by itself: what stands between its name and the next one's.
//
// A field that the answer lacks is missing in the result; there is an error if
// it has none of them, or is larger than 4 MiB. Types are the caller's to check. The same
// text and fields give the same result, and fields are exact names of ASCII letters,
// digits and underscores. The error holds nothing of the text.
func Object(text string, fields []string) (map[string]json.RawMessage, error) {
	if len(text) > maxObject {
		return nil, fmt.Errorf("the answer has %d bytes, more than %d", len(text), maxObject)
	}
	text = unfenced(strings.ToValidUTF8(text, "\uFFFD"))
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the answer is empty")
	}
	if out := balancedObject(text, fields); out != nil {
		return out, nil
	}
	out, sound := repairedObject(text, fields)
	if !sound || len(out) < len(fields) {
		single := eachField(text, fields)
		if !sound || len(single) > len(out) {
			out, single = single, out
		}
		for field, value := range single {
			if _, ok := out[field]; !ok {
				out[field] = value
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the answer holds no JSON object with %s", strings.Join(fields, ", "))
	}
	return out, nil
}

// unfenced strips a code fence around a whole text, with the language it names.
func unfenced(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF"))
	for _, fence := range []string{"```", "~~~"} {
		rest, ok := strings.CutPrefix(text, fence)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, fence[:1])
		if line, after, ok := strings.Cut(rest, "\n"); ok && !strings.ContainsAny(line, "{[\"") {
			rest = after
		}
		rest = strings.TrimSpace(rest)
		return strings.TrimSpace(strings.TrimRight(rest, fence[:1]))
	}
	return text
}

// balancedObject returns the fields of the first balanced object that is JSON and
// has one of them; nil if there is none. A brace in the prose before it may begin no
// object, or one that is not meant.
func balancedObject(text string, fields []string) map[string]json.RawMessage {
	from := 0
	for range maxStarts {
		open := strings.IndexByte(text[from:], '{')
		if open < 0 {
			return nil
		}
		open += from
		from = open + 1
		end, balanced := closing(text[open:])
		if !balanced {
			continue
		}
		if out := known(decode(text[open:open+end]), fields); len(out) > 0 {
			return out
		}
	}
	return nil
}

// closing is the length of the value in brackets that a text begins with. Brackets in
// strings and comments do not count. It is false if the text ends before.
func closing(text string) (int, bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i += comment(text[i:])
		}
	}
	return len(text), false
}

// comment is how many bytes follow the slash that a text begins with, if that begins a comment.
func comment(text string) int {
	switch {
	case strings.HasPrefix(text, "//"):
		if end := strings.IndexByte(text, '\n'); end > 0 {
			return end
		}
		return len(text) - 1
	case strings.HasPrefix(text, "/*"):
		if end := strings.Index(text[2:], "*/"); end >= 0 {
			return end + 3
		}
		return len(text) - 1
	}
	return 0
}

// decode reads an object; nil if it is none.
func decode(object string) (all map[string]json.RawMessage) {
	if json.Unmarshal([]byte(object), &all) != nil {
		return nil
	}
	return all
}

// known keeps the fields that are asked for.
func known(all map[string]json.RawMessage, fields []string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, f := range fields {
		if value, ok := all[f]; ok {
			out[f] = value
		}
	}
	return out
}

// repairedObject mends the object that holds the first of the fields. It is not sound
// if it has names of fields that are none in the text: then quotation marks within a
// string were taken for its end, and the rest of the string for fields.
func repairedObject(text string, fields []string) (out map[string]json.RawMessage, sound bool) {
	places := fieldPlaces(text, fields)
	open := strings.IndexByte(text, '{')
	if len(places) > 0 {
		if before := strings.LastIndexByte(text[:places[0].name], '{'); before >= 0 {
			open = before
		}
	}
	if open < 0 {
		return nil, false
	}
	end, _ := closing(text[open:])
	mended, ok := repair(text[open : open+end])
	if !ok {
		return nil, false
	}
	all := decode(mended)
	sound = all != nil && len(all) <= len(fields)+maxUnknown
	for name := range all {
		sound = sound && (slices.Contains(fields, name) || named(text[open:open+end], name))
	}
	return known(all, fields), sound
}

// named reports whether a colon follows a name somewhere in a text.
func named(text, name string) bool {
	for name != "" {
		_, rest, ok := strings.Cut(text, name)
		if !ok {
			return false
		}
		if strings.HasPrefix(strings.TrimLeft(rest[:min(len(rest), 64)], "\"' \t\r\n"), ":") {
			return true
		}
		text = rest
	}
	return false
}

// repair mends one JSON value within the bounds.
func repair(text string) (mended string, ok bool) {
	if len(text) > maxRepair || nesting(text) > maxNesting {
		return "", false
	}
	defer func() {
		if recover() != nil { // a foreign parser over a foreign text
			mended, ok = "", false
		}
	}()
	mended, err := jsonrepair.Repair(text)
	return mended, err == nil && json.Valid([]byte(mended))
}

// nesting is how deep brackets of a text lie within each other at most, those in
// strings included: what a string is, is not certain here.
func nesting(text string) int {
	depth, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[', '(':
			depth++
			most = max(most, depth)
		case '}', ']', ')':
			depth = max(depth-1, 0)
		}
	}
	return most
}

// place is where a field stands in a text.
type place struct {
	field       string
	name, value int // offsets: of the quotation mark before its name, behind its colon
}

// fieldPlaces finds the first place of each field, in the order of the text.
func fieldPlaces(text string, fields []string) []place {
	var out []place
	found := map[string]bool{}
	for i := 0; i < len(text) && len(found) < len(fields); i++ {
		if text[i] != '"' || i > 0 && text[i-1] == '\\' {
			continue
		}
		for _, f := range fields {
			rest, ok := strings.CutPrefix(text[i+1:], f+`"`)
			if !ok || found[f] {
				continue
			}
			spaces := len(rest) - len(strings.TrimLeft(rest, " \t\r\n"))
			if spaces > 64 || spaces == len(rest) || rest[spaces] != ':' {
				continue
			}
			found[f] = true
			out = append(out, place{f, i, len(text) - len(rest) + spaces + 1})
			break
		}
	}
	return out
}

// eachField reads what stands between the name of a field and that of the next.
func eachField(text string, fields []string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	places := fieldPlaces(text, fields)
	for i, p := range places {
		last := i == len(places)-1
		end := len(text)
		if !last {
			end = places[i+1].name
		}
		value := strings.TrimSpace(text[p.value:end])
		if raw := single(value, last); raw != nil {
			out[p.field] = raw
		}
	}
	return out
}

// single reads one value that something may follow: a comma, and behind the last
// one of an object brackets and words. It is nil if it can't be read.
func single(value string, last bool) json.RawMessage {
	if value == "" {
		return nil
	}
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(value)).Decode(&raw) == nil && ends(value[len(raw):], last) {
		return raw
	}
	switch value[0] {
	case '"':
		return quoted(value[1:textEnd(value, last)])
	case '{', '[':
		end, _ := closing(value)
		if mended, ok := repair(value[:end]); ok {
			return json.RawMessage(mended)
		}
	}
	return nil
}

// textEnd is where a string ends that holds quotation marks: at the last one that a
// comma follows, a bracket if it is the last of its object, or nothing. Without such a
// one it was cut.
func textEnd(value string, last bool) int {
	for i := len(value) - 1; i > 0; i-- {
		if value[i] == '"' && value[i-1] != '\\' && ends(value[i+1:], last) {
			return i
		}
	}
	return len(value)
}

// ends reports whether a value's end is one: in what follows it there is no other text
// before a comma or a bracket.
func ends(rest string, last bool) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	if rest == "" {
		return true
	}
	if last {
		return rest[0] == '}' || rest[0] == ','
	}
	return strings.Trim(rest, ", \t\r\n") == ""
}

// quoted makes a JSON string of what stands between two quotation marks, in which
// others, line breaks and backslashes may stand that should have been escaped.
func quoted(body string) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('"')
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c == '\\' && i+1 < len(body) && strings.IndexByte(`"\/bfnrt`, body[i+1]) >= 0:
			b.WriteByte(c)
			i++
			b.WriteByte(body[i])
		case c == '\\' && i+5 < len(body) && body[i+1] == 'u' && hexadecimal(body[i+2:i+6]):
			b.WriteString(body[i : i+6])
			i += 5
		case c == '\\' || c == '"':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	if !json.Valid(b.Bytes()) {
		return nil
	}
	return b.Bytes()
}

func hexadecimal(digits string) bool {
	return strings.Trim(digits, "0123456789abcdefABCDEF") == ""
}
