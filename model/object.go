package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kaptinlin/jsonrepair"
	"github.com/tidwall/gjson"
)

// Bounds of reading an answer.
const (
	maxObject  = 2 << 20  // bytes of an answer
	maxStarts  = 16       // opening braces that are tried
	maxRepair  = 32 << 10 // bytes of a repaired object: the library's time may grow with their square
	maxRepairs = 96 << 10 // bytes repaired per answer, over all attempts
	maxNesting = 64       // of a repaired object
)

// Object finds the JSON object of an answer and returns the requested fields. It ignores code
// fences, words before and after, and unknown fields. jsonrepair repairs an invalid object of
// at most 32 KiB. A repaired object with an unknown field is rejected: a quotation mark in a
// text was probably taken for its end.
//
// The result lacks the fields that the answer lacks. An answer with none of them, or of more
// than 2 MiB, is an error, which does not quote the answer. The caller must check types.
func Object(text string, fields []string) (map[string]json.RawMessage, error) {
	if len(text) > maxObject {
		return nil, fmt.Errorf("the answer has %d bytes, more than %d", len(text), maxObject)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the answer is empty")
	}
	room := maxRepairs
	for _, mend := range []bool{false, true} {
		from := 0
		for range maxStarts {
			open := strings.IndexByte(text[from:], '{')
			if open < 0 {
				break
			}
			from += open + 1
			if rest := text[from-1:]; mend && len(rest) <= maxRepair {
				if room -= len(rest); room < 0 {
					break
				}
			}
			if out := objectAt(text[from-1:], fields, mend); len(out) > 0 {
				return out, nil
			}
		}
	}
	return nil, fmt.Errorf("the answer holds no JSON object with %s", strings.Join(fields, ", "))
}

// objectAt returns the fields of the object at the beginning of a text.
func objectAt(text string, fields []string, mend bool) map[string]json.RawMessage {
	if !mend {
		var whole json.RawMessage
		if json.NewDecoder(strings.NewReader(text)).Decode(&whole) != nil {
			return nil
		}
		out := map[string]json.RawMessage{} // not of all fields: a hostile answer may have a million
		for _, f := range fields {
			if value := gjson.GetBytes(whole, f); value.Exists() {
				out[f] = json.RawMessage(value.Raw)
			}
		}
		return out
	}
	for _, end := range []int{len(text), strings.LastIndexByte(text, '}') + 1} { // cut, or followed by words
		all := repaired(text[:end])
		unknown := maps.Clone(all)
		maps.DeleteFunc(unknown, func(name string, _ json.RawMessage) bool { return slices.Contains(fields, name) })
		if len(all) > 0 && len(unknown) == 0 {
			return all
		}
	}
	return nil
}

// repaired returns a repaired object; nil if that is impossible within the bounds.
func repaired(text string) (all map[string]json.RawMessage) {
	if len(text) > maxRepair || nesting(text) > maxNesting {
		return nil
	}
	defer func() {
		if recover() != nil { // a foreign parser over a foreign text
			all = nil
		}
	}()
	mended, err := jsonrepair.Repair(text)
	if err != nil || json.Unmarshal([]byte(mended), &all) != nil {
		return nil
	}
	return all
}

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
