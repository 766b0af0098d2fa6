package ask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf returns the schema of a type in words that all clients accept: each value has one type. Gemini refuses lists
// of types and additionalProperties, Cursor a value for a type that may also be null.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // only for a type that JSON cannot have
	}
	simplify(s)
	return s
}

func simplify(s *jsonschema.Schema) {
	for _, one := range s.Types {
		if one != "null" {
			s.Type = one
		}
	}
	s.Types, s.AdditionalProperties = nil, nil
	for _, property := range s.Properties {
		simplify(property)
	}
	if s.Items != nil {
		simplify(s.Items)
	}
}

// argumentsOf decodes the arguments of a call. Clients send null for absent arguments, and numbers, lists and objects
// as text.
func argumentsOf[In any](s *jsonschema.Schema, raw json.RawMessage) (in In, err error) {
	var given any
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &given)
	}
	if err != nil {
		return in, usage("", "arguments: %w", err)
	}
	fit, _ := json.Marshal(fitted(s, given)) // cannot fail for what was JSON
	d := json.NewDecoder(bytes.NewReader(fit))
	d.DisallowUnknownFields()
	if err = d.Decode(&in); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("%s must not be of type %s", cmp.Or(wrong.Field, "they"), wrong.Value)
		}
		err = usage("", "arguments: %w", err)
	}
	return in, err
}

// fitted returns a value in the form of its schema, nil for an absent one.
func fitted(s *jsonschema.Schema, given any) any {
	if text, ok := given.(string); ok && s.Type != "string" {
		_ = json.Unmarshal([]byte(text), &given) // if it fails, the text stays
	}
	if _, list := given.([]any); s.Type == "array" && given != nil && !list {
		given = []any{given}
	}
	switch value := given.(type) {
	case float64:
		if s.Type == "string" {
			return strconv.FormatFloat(value, 'f', -1, 64)
		}
	case []any:
		for i := range value {
			if s.Items != nil {
				value[i] = fitted(s.Items, value[i])
			}
		}
	case map[string]any:
		for name, one := range value {
			if property := s.Properties[name]; property != nil {
				one = fitted(property, one)
			}
			if value[name] = one; one == nil {
				delete(value, name)
			}
		}
	}
	return given
}
