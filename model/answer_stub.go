package model

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Object reads the JSON object in a model's answer: what stands around it is
// passed over, and of its fields those that are named are returned.
func Object(text string, fields []string) (map[string]json.RawMessage, error) {
	start := strings.IndexByte(text, '{')
	if start < 0 {
		return nil, errors.New("the answer holds no JSON object")
	}
	var all map[string]json.RawMessage
	if err := json.NewDecoder(strings.NewReader(text[start:])).Decode(&all); err != nil {
		return nil, err
	}
	for name := range all {
		if !slices.Contains(fields, name) {
			delete(all, name)
		}
	}
	return all, nil
}
