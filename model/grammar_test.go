package model

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"memoir/model/modeltest"
)

func TestAServerThatMakesNoGrammarOfASchemaIsAskedForPlainJSON(t *testing.T) {
	t.Parallel()
	for status, words := range map[int][]string{
		500: {"Failed to parse grammar", "failed to initialize samplers: error parsing grammar: unknown rule", "Failed to initialize samplers"},
		400: {"JSON schema conversion failed:\nUnrecognized schema: {}", "Failed to parse grammar"},
	} {
		for i, message := range words {
			t.Run(fmt.Sprint(status, i), func(t *testing.T) {
				t.Parallel()
				s := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step {
					if gjson.GetBytes(c.Body, "response_format.type").Str == "json_schema" {
						return modeltest.Step{Status: status, Message: message}
					}
					return modeltest.Step{Text: `{"z":"1","a":"2"}`}
				})
				m := openModel(t, Options{API: APIChat, BaseURL: s.URL + "/v1"})
				for range 2 {
					if answer, err := m.Call(t.Context(), Request{Input: "in", Schema: json.RawMessage(schema)}); err != nil || answer.Text == "" {
						t.Fatalf("got %+v, %v", answer, err)
					}
				}
				var formats []string
				for _, c := range s.Calls() {
					formats = append(formats, gjson.GetBytes(c.Body, "response_format.type").Str)
				}
				if diff := cmp.Diff([]string{"json_schema", "json_object", "json_object"}, formats); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestAFaultOfAServerIsNoRefusalOfASchema(t *testing.T) {
	t.Parallel()
	s := modeltest.OpenAIChat(t, step(modeltest.Step{Status: 500, Message: "grammar of the error page is off"}))
	m := openModel(t, Options{API: APIChat, BaseURL: s.URL + "/v1"})
	_, err := m.Call(t.Context(), Request{Input: "in", Schema: json.RawMessage(schema)})
	if e := errorOf(t, err); e.Class != ClassTemporary || len(s.Calls()) != 1 {
		t.Errorf("got %+v after %d calls", e, len(s.Calls()))
	}
}
