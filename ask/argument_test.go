package ask_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"memoir/search"
)

// refusals are what clients refuse in the schema of a tool, with one that does.
var refusals = map[string]string{
	"$ref": "Gemini", "$defs": "Gemini", "$schema": "Gemini", "anyOf": "Cursor", "oneOf": "OpenAI, strict", "not": "OpenAI, strict",
	"allOf": "OpenAI, strict", "const": "Gemini", "default": "OpenAI, strict", "additionalProperties": "Gemini", "format": "Gemini",
	"patternProperties": "OpenAI, strict", "exclusiveMinimum": "Gemini", "exclusiveMaximum": "Gemini", "title": "Gemini",
	"nullable": "OpenAI, strict", "minLength": "OpenAI, strict", "uniqueItems": "Gemini",
}

func TestTheSchemasOfToolsHoldNothingThatClientsRefuse(t *testing.T) {
	t.Parallel()
	list, err := newWorld(t).connect().ListTools(t.Context(), nil)
	must(t, err)
	var check func(where string, schema map[string]any, input bool)
	check = func(where string, schema map[string]any, input bool) {
		for word := range schema {
			if by := refusals[word]; by != "" {
				t.Errorf("%s: %s refuses %s", where, by, word)
			}
		}
		kind, _ := schema["type"].(string)
		properties, _ := schema["properties"].(map[string]any)
		items, _ := schema["items"].(map[string]any)
		if kind == "" || kind == "array" && items == nil || kind == "object" && input && len(properties) == 0 {
			t.Errorf("%s: Gemini and Cursor refuse the type %v", where, schema)
		}
		for name, one := range properties {
			if !regexp.MustCompile(`^[a-zA-Z0-9_]{1,64}$`).MatchString(name) {
				t.Errorf("%s: Anthropic refuses the name %q", where, name)
			}
			check(where+"."+name, one.(map[string]any), input)
		}
		if items != nil {
			check(where+"[]", items, input)
		}
	}
	doc, err := os.ReadFile("../docs/mcp.md")
	must(t, err)
	for _, tool := range list.Tools {
		if kinds, err := json.Marshal(tool.InputSchema); tool.Name == "memory_search" {
			must(t, err)
			for _, kind := range search.Kinds {
				if !strings.Contains(string(doc), "`"+kind+"`") || !regexp.MustCompile(`"description":"memory [^"]*\b`+kind+`[ "]`).Match(kinds) && kind != search.SourceMemory {
					t.Errorf("the schema or docs/mcp.md has no kind %s: %s", kind, kinds)
				}
			}
		}
		if len("memoir")+len(tool.Name) > 60 || !regexp.MustCompile(`^\w+$`).MatchString(tool.Name) {
			t.Errorf("Cursor refuses the name %s", tool.Name)
		}
		check(tool.Name, tool.InputSchema.(map[string]any), true)
		check(tool.Name+" answers", tool.OutputSchema.(map[string]any), false)
	}
}

func TestAnArgumentIsTakenInTheFormsThatClientsSend(t *testing.T) {
	t.Parallel()
	searchable(t)
	w := newWorld(t)
	session := w.connect()
	for _, test := range []struct{ tool, arguments, want string }{
		{"memory_search", `{"query": "make", "kind": null, "date": null, "maxTokens": null, "unknown": null}`, "results"},
		{"memory_search", `{"query": "make", "maxResults": " 1 ", "maxTokens": "500.0"}`, " more hits: "},
		{"memory_search", `{"query": 404, "maxResults": 1.0}`, "notice"},
		{"memory_search", `"{\"query\": \"make\"}"`, "results"},
		{"memory_search", `{"query": "{\"type\": 1}"}`, "notice"}, // a text stays one
		{"memory_search", `{"kind": "note", "query": "", "maxResults": "null"}`, "no match"},
		{"memory_get", `{"paths": "[\"memory://root\", \"MEMORY.md\"]", "lines": "1"}`, `"path":"MEMORY.md"`},
		{"memory_get", `{"paths": "MEMORY.md", "from": "7", "lines": "2"}`, `"to":8`},
		{"memory_get", `{"path": "MEMORY.md", "paths": []}`, `"from":1`},
		{"memory_patch", `{"ops": ["{\"op\": \"insert\", \"line\": \"1\", \"content\": \"- an okapi\"}"]}`, "an okapi (not confirmed)"},
		{"memory_patch", `{"ops": {"op": "remove", "line": 1, "content": null}}`, `"lines":`},
		{"memory_patch", `{}`, "the patch has no operations"},
		{"memory_messages", `{"messages": "[{\"role\": \"assistant\", \"content\": \"fed\", \"source\": null}]"}`, `"stored":1`},
		{"memory_messages", `null`, "session"},
		{"memory_forget", `{"session": "` + ofLanternd + `", "line": null, "confirm": "false"}`, `"forgotten":false`},
		{"memory_search", `{"query": "make", "maxResults": "many"}`, "arguments: maxResults must not be of type string"},
		{"memory_search", `[7]`, "arguments: they must not be of type array"},
		{"memory_search", `{"query": "make", "limit": 3}`, `arguments: json: unknown field "limit"`},
	} {
		out, failed := w.call(session, 8000, test.tool, json.RawMessage(test.arguments))
		if got := asJSON(t, out) + failed; !strings.Contains(got, test.want) {
			t.Errorf("%s %s: %s\nwant %s", test.tool, test.arguments, got, test.want)
		}
	}
}
