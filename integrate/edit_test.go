package integrate

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"
)

// elem is an entry of a list of hooks, and member one of a map of servers.
var (
	elem = Entry{What: "hook", At: []string{"hooks", "Start"}, List: true,
		Value: []byte(`{"command":"/bin/memoir inject --agent x --run"}`)}
	member = Entry{What: "server", At: []string{"servers", "memoir"}, Value: []byte(`{"command":"/bin/memoir","args":["mcp"]}`)}
)

func TestAnEntryIsPutWhereItBelongsAndNothingElseChanges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, before, after string
		form                form
		entry               Entry
	}{
		{"an empty file", "", "{\n  \"hooks\": {\n    \"Start\": [\n      {\n        \"command\": \"/bin/memoir inject --agent x --run\"\n      }\n    ]\n  }\n}\n",
			formJSON, elem},
		{"one line", `{"a":1}`, `{"a":1, "servers": {"memoir":{"command":"/bin/memoir","args":["mcp"]}}}`, formJSON, member},
		{"a list of others, with comments, CRLF and tabs",
			"{ // x\r\n\t\"hooks\": {\r\n\t\t\"Start\": [\r\n\t\t\t\"a\", // b\r\n\t\t\t\"c\" // d\r\n\t\t]\r\n\t}\r\n}\r\n",
			"{ // x\r\n\t\"hooks\": {\r\n\t\t\"Start\": [\r\n\t\t\t\"a\", // b\r\n\t\t\t\"c\", // d\r\n\t\t\t{\r\n\t\t\t\t\"command\": \"/bin/memoir inject --agent x --run\"\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}\r\n",
			formJSON, elem},
		{"a trailing comma", "{\n  \"hooks\": {\"Start\": [\n    1, // one\n  ]},\n}",
			"{\n  \"hooks\": {\"Start\": [\n    1, // one\n    {\n      \"command\": \"/bin/memoir inject --agent x --run\"\n    },\n  ]},\n}", formJSON, elem},
		{"an earlier entry of memoir's", `{"hooks":{"Start":[{"command":"/old/memoir inject"},2]}}`,
			"{\"hooks\":{\"Start\":[{\n  \"command\": \"/bin/memoir inject --agent x --run\"\n},2]}}", formJSON, elem},
		{"a byte order mark", bom + "{}", bom + "{\n  \"servers\": {\n    \"memoir\": {\n      \"command\": \"/bin/memoir\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}",
			formJSON, member},
		{"TOML", "# x\na = 1 # y", "# x\na = 1 # y\n\n[servers.memoir]\ncommand = \"/bin/memoir\"\nargs = [\"mcp\",\"-v\"]\n", formTOML,
			Entry{At: member.At, Value: []byte(`{"command":"/bin/memoir","args":["mcp","-v"]}`)}},
		{"TOML with an earlier entry", "[servers.memoir]\r\ncommand = \"/old/memoir\"\r\nargs = [\"mcp\"]\r\n\r\n# z\r\n[b]\r\n",
			"[servers.memoir]\r\ncommand = \"/bin/memoir\"\r\nargs = [\"mcp\"]\r\n\r\n# z\r\n[b]\r\n", formTOML, member},
		{"YAML", "a: 1 # x\nservers:\n    other: {b: 2}\n",
			"a: 1 # x\nservers:\n    memoir:\n      command: /bin/memoir\n      args:\n        - mcp\n    other: {b: 2}\n", formYAML, member},
		{"YAML with an empty section", "servers: # none\nz: 1", "servers: # none\n  memoir:\n    command: /bin/memoir\n    args:\n      - mcp\nz: 1", formYAML, member},
		{"YAML without the section", "# only this", "# only this\nservers:\n  memoir:\n    command: /bin/memoir\n    args:\n      - mcp\n", formYAML, member},
		{"a switch", "m:\n  on: false # why\n  b: 1\n", "m:\n  on: true # why\n  b: 1\n", formYAML, Entry{At: []string{"m", "on"}, Value: []byte("true")}},
		{"a switch with dots", "m.on: false\n", "m.on: true\n", formYAML, Entry{At: []string{"m", "on"}, Value: []byte("true")}},
	} {
		splices, err := put(test.form, []byte(test.before), test.entry)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		after := applySplices([]byte(test.before), splices)
		if string(after) != test.after {
			t.Errorf("%s: got\n%q\nwant\n%q", test.name, after, test.after)
		}
		if again, err := put(test.form, after, test.entry); err != nil || len(again) != 0 {
			t.Errorf("%s: put again: %v, %v", test.name, again, err)
		}
		if undone, ok := undoSplices(after, splices); !ok || string(undone) != test.before {
			t.Errorf("%s: undone it is %q", test.name, undone)
		}
		if strings.HasPrefix(test.name, "a switch") {
			continue
		}
		splices, err = take(test.form, after, test.entry, 0)
		if err != nil || len(splices) == 0 {
			t.Errorf("%s: take: %v, %v", test.name, splices, err)
		}
		if rest := applySplices(slices.Clone(after), splices); strings.Contains(string(rest), "memoir") {
			t.Errorf("%s: taken it is %q", test.name, rest)
		}
	}
}

func TestWhatCannotBeEditedSafelyIsRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, content string
		form          form
		entry         Entry
	}{
		{"no JSON", `{"a": }`, formJSON, elem},
		{"half a file", `{"hooks": {"Start": [`, formJSON, elem},
		{"a list in the place of an object", `[]`, formJSON, elem},
		{"a text in the place of a list", `{"hooks":{"Start":"x"}}`, formJSON, elem},
		{"nothing in the place of a list", `{"hooks":{"Start":null}}`, formJSON, elem},
		{"somebody else's server of the name", `{"servers":{"memoir":{"command":"/bin/other"}}}`, formJSON, member},
		{"a group with a hook of somebody else's", `{"hooks":{"Start":[{"hooks":[{"command":"memoir inject"},{"command":"other"}]}]}}`, formJSON, elem},
		{"no TOML", "a = ", formTOML, member},
		{"an inline table", "servers = {}\n", formTOML, member},
		{"somebody else's table of the name", "[servers.memoir]\ncommand = \"x\"\n", formTOML, member},
		{"no YAML", "a: [", formYAML, member},
		{"braces", "servers: {a: 1}\n", formYAML, member},
		{"two documents", "a: 1\n---\nb: 1\n", formYAML, member},
		{"a list in YAML", "- a\n", formYAML, member},
		{"the key twice", "servers:\n  a: 1\nservers:\n  b: 1\n", formYAML, member},
	} {
		if splices, err := put(test.form, []byte(test.content), test.entry); err == nil {
			t.Errorf("%s: %v", test.name, splices)
		}
	}
}

func TestWhatWasAddedMeanwhileStaysWhenAnEntryIsTaken(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, after string
		form          form
		entry         Entry
		keep          int
	}{
		{"{\n  \"hooks\": {\n    \"Start\": [\n      {\"command\": \"memoir inject\"}, // ours\n      1\n    ]\n  }\n}",
			"{\n  \"hooks\": {\n    \"Start\": [ // ours\n      1\n    ]\n  }\n}", formJSON, elem, 0},
		{`{"hooks":{"Start":[1,{"command":"memoir inject"}]}}`, `{"hooks":{"Start":[1]}}`, formJSON, elem, 0},
		{`{"a":1,"hooks":{"Start":[{"command":"memoir inject"}]}}`, `{"a":1}`, formJSON, elem, 0},
		{`{"a":1,"hooks":{"Start":[{"command":"memoir inject"}]}}`, `{"a":1,"hooks":{"Start":[]}}`, formJSON, elem, 2},
		{`{"hooks":{"Start":[{"command":"other"}]}}`, `{"hooks":{"Start":[{"command":"other"}]}}`, formJSON, elem, 0},
		{"a = 1\n\n[servers.memoir]\ncommand = \"/x/memoir\"\nargs = [\"mcp\"]\n[servers.memoir.env]\nK = \"v\"\n\n[b]\nc = 1\n",
			"a = 1\n\n[b]\nc = 1\n", formTOML, member, 0},
		{"servers:\n  memoir:\n    command: /x/memoir\n    args: [mcp]\n  other: 1\n", "servers:\n  other: 1\n", formYAML, member, 0},
	} {
		splices, err := take(test.form, []byte(test.before), test.entry, test.keep)
		if got := applySplices([]byte(test.before), splices); err != nil || string(got) != test.after {
			t.Errorf("%q: got %q, %v; want %q", test.before, got, err, test.after)
		}
	}
}

func TestHostilePathsStayOneWord(t *testing.T) {
	t.Parallel()
	for _, program := range []string{`/a b/memoir`, `/$(touch x)/memoir`, "/`id`/memoir", `/a"b/memoir`, `/a'b/memoir`, `/a\b/memoir`, `/{{agent}}/memoir`, `/é;rm -rf/memoir`} {
		home := t.TempDir()
		e := Env{UserHome: home, Getenv: func(string) string { return "" }, Home: filepath.Join(home, "data")}
		for _, a := range Agents {
			r, err := Load(e.Home)
			if err != nil {
				t.Fatal(err)
			}
			changes, err := r.Install(e, Options{Program: program, Flags: []string{"--home=" + program}}, a)
			if err != nil {
				t.Fatalf("%s, %s: %v", a.Name, program, err)
			}
			for _, c := range changes {
				checkWords(t, a.Name, program, string(c.After))
			}
		}
	}
}

// checkWords looks for the program in a file: as a value of its own, or as a word of a shell's line.
func checkWords(t *testing.T, agent, program, text string) {
	t.Helper()
	if strings.HasPrefix(text, "//") { // an extension
		line, _, _ := strings.Cut(text[strings.Index(text, "const program = ")+len("const program = "):], ";\nconst")
		if word, err := strconv.Unquote(line); err != nil || word != program {
			t.Errorf("%s: the program is %s", agent, line)
		}
		return
	}
	for _, f := range []form{formJSON, formTOML, formYAML} {
		value, err := decode(f, []byte(text))
		if err != nil {
			continue
		}
		found := slices.ContainsFunc(texts(value), func(s string) bool {
			if s == program {
				return true
			}
			words, err := shell.Fields(s, func(string) string { return "" })
			return err == nil && len(words) > 0 && words[0] == program
		})
		if !found {
			t.Errorf("%s: %q is no word of\n%s", agent, program, text)
		}
		return
	}
	t.Errorf("%s: %q", agent, text)
}
