package integrate

import (
	"errors"
	"os"
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
		Value: object{"command": "/bin/memoir inject --agent x --run"}}
	member   = entry("server", object{"command": "/bin/memoir", "args": []string{"mcp"}}, "servers", "memoir")
	onSwitch = entry("switch", true, "m", "on")
)

func TestAnEntryIsPutWhereItBelongsAndNothingElseChanges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, before, after string
		file                string
		entry               Entry
	}{
		{"an empty file", "", "{\n  \"hooks\": {\n    \"Start\": [\n      {\n        \"command\": \"/bin/memoir inject --agent x --run\"\n      }\n    ]\n  }\n}\n",
			"a.json", elem},
		{"one line", `{"a":1}`, `{"a":1, "servers": {"memoir":{"args":["mcp"],"command":"/bin/memoir"}}}`, "a.json", member},
		{"a list of others, with comments, CRLF and tabs",
			"{ // x\r\n\t\"hooks\": {\r\n\t\t\"Start\": [\r\n\t\t\t\"a\", // b\r\n\t\t\t\"c\" // d\r\n\t\t]\r\n\t}\r\n}\r\n",
			"{ // x\r\n\t\"hooks\": {\r\n\t\t\"Start\": [\r\n\t\t\t\"a\", // b\r\n\t\t\t\"c\", // d\r\n\t\t\t{\r\n\t\t\t\t\"command\": \"/bin/memoir inject --agent x --run\"\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}\r\n",
			"a.json", elem},
		{"a trailing comma", "{\n  \"hooks\": {\"Start\": [\n    1, // one\n  ]},\n}",
			"{\n  \"hooks\": {\"Start\": [\n    1, // one\n    {\n      \"command\": \"/bin/memoir inject --agent x --run\"\n    },\n  ]},\n}", "a.json", elem},
		{"an earlier entry of memoir's", `{"hooks":{"Start":[{"command":"/old/memoir inject"},2]}}`,
			`{"hooks":{"Start":[ {"command":"/bin/memoir inject --agent x --run"}, 2]}}`, "a.json", elem},
		{"comments of several lines", "{\"hooks\":{\"Start\":[\n 1 /* a\n b */\n // c\n]}}",
			"{\"hooks\":{\"Start\":[\n 1, /* a\n b */\n {\n  \"command\": \"/bin/memoir inject --agent x --run\"\n }\n // c\n]}}", "a.json", elem},
		{"a byte order mark", bom + "{}", bom + "{\n  \"servers\": {\n    \"memoir\": {\n      \"args\": [\n        \"mcp\"\n      ],\n      \"command\": \"/bin/memoir\"\n    }\n  }\n}",
			"a.json", member},
		{"TOML", "# x\na = 1 # y", "# x\na = 1 # y\n\n[servers.memoir]\nargs = ['mcp', '-v']\ncommand = '/bin/memoir'\n", "a.toml",
			entry("server", object{"command": "/bin/memoir", "args": []string{"mcp", "-v"}}, member.At...)},
		{"TOML with an earlier entry", "[servers.memoir]\r\ncommand = \"/old/memoir\"\r\nargs = [\"mcp\"]\r\n\r\n# z\r\n[b]\r\n",
			"\r\n# z\r\n[b]\r\n\r\n[servers.memoir]\r\nargs = ['mcp']\r\ncommand = '/bin/memoir'\r\n", "a.toml", member},
		{"YAML", "a: 1 # x\nservers:\n    other: {b: 2}\n",
			"a: 1 # x\nservers:\n    memoir: {\"args\":[\"mcp\"],\"command\":\"/bin/memoir\"}\n    other: {b: 2}\n", "a.yaml", member},
		{"YAML with an empty section", "servers: # none\nz: 1", "servers: # none\n  memoir: {\"args\":[\"mcp\"],\"command\":\"/bin/memoir\"}\nz: 1", "a.yaml", member},
		{"YAML without the section", "# only this", "# only this\nservers:\n  memoir: {\"args\":[\"mcp\"],\"command\":\"/bin/memoir\"}\n", "a.yaml", member},
		{"YAML with empty braces", "servers: {} # none\n", "servers: {memoir: {\"args\":[\"mcp\"],\"command\":\"/bin/memoir\"}} # none\n", "a.yaml", member},
		{"YAML in braces", "servers: {a: 1}", "servers: {memoir: {\"args\":[\"mcp\"],\"command\":\"/bin/memoir\"}, a: 1}", "a.yaml", member},
		{"a comment at the end", "{} // x", "{\n  \"servers\": {\n    \"memoir\": {\n      \"args\": [\n        \"mcp\"\n      ],\n      \"command\": \"/bin/memoir\"\n    }\n  }\n} // x", "a.json", member},
		{"a switch", "m:\n  on: false # why\n  b: 1\n", "m:\n  on: true # why\n  b: 1\n", "a.yaml", onSwitch},
		{"a switch in braces", "m: {on: false, b: 1}\n", "m: {on: true, b: 1}\n", "a.yaml", onSwitch},
		{"a switch with dots", "m.on: false\n", "m.on: true\n", "a.yaml", onSwitch},
	} {
		syntax, entry := syntaxOf(test.file), test.entry
		after, splices, err := syntax.put([]byte(test.before), &entry)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if string(after) != test.after {
			t.Errorf("%s: got\n%q\nwant\n%q", test.name, after, test.after)
		}
		if _, again, err := syntax.put(after, &entry); err != nil || len(again) != 0 {
			t.Errorf("%s: put again: %v, %v", test.name, again, err)
		}
		if undone, ok := undoSplices(after, splices); !ok || string(undone) != test.before {
			t.Errorf("%s: undone it is %q", test.name, undone)
		}
		if strings.HasPrefix(test.name, "a switch") || test.name == "YAML in braces" {
			continue
		}
		if rest, err := syntax.take(after, entry); err != nil || strings.Contains(string(rest), "memoir") {
			t.Errorf("%s: taken it is %q, %v", test.name, rest, err)
		}
	}
}

func TestWhatCannotBeEditedSafelyIsRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, content string
		file          string
		entry         Entry
	}{
		{"no JSON", `{"a": }`, "a.json", elem},
		{"half a file", `{"hooks": {"Start": [`, "a.json", elem},
		{"a list in the place of an object", `[]`, "a.json", elem},
		{"a text in the place of a list", `{"hooks":{"Start":"x"}}`, "a.json", elem},
		{"nothing in the place of a list", `{"hooks":{"Start":null}}`, "a.json", elem},
		{"somebody else's server of the name", `{"servers":{"memoir":{"command":"/bin/other"}}}`, "a.json", member},
		{"a group with a hook of somebody else's", `{"hooks":{"Start":[{"hooks":[{"command":"memoir inject"},{"command":"other"}]}]}}`, "a.json", elem},
		{"no TOML", "a = ", "a.toml", member},
		{"an inline table", "servers = {}\n", "a.toml", member},
		{"somebody else's table of the name", "[servers.memoir]\ncommand = \"x\"\n", "a.toml", member},
		{"no YAML", "a: [", "a.yaml", member},
		{"two documents", "a: 1\n---\nb: 1\n", "a.yaml", member},
		{"a list in YAML", "- a\n", "a.yaml", member},
		{"the key twice", "servers:\n  a: 1\nservers:\n  b: 1\n", "a.yaml", member},
	} {
		if after, _, err := syntaxOf(test.file).put([]byte(test.content), &test.entry); err == nil {
			t.Errorf("%s: %q", test.name, after)
		}
	}
}

func TestWhatWasAddedMeanwhileStaysWhenAnEntryIsTaken(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, after string
		file          string
		entry         Entry
		keep          int
	}{
		{"{\n  \"hooks\": {\n    \"Start\": [\n      {\"command\": \"memoir inject\"}, // ours\n      1\n    ]\n  }\n}",
			"{\n  \"hooks\": {\n    \"Start\": [ // ours\n      1\n    ]\n  }\n}", "a.json", elem, 0},
		{`{"hooks":{"Start":[1,{"command":"memoir inject"}]}}`, `{"hooks":{"Start":[1]}}`, "a.json", elem, 0},
		{`{"a":1,"hooks":{"Start":[{"command":"memoir inject"}]}}`, `{"a":1}`, "a.json", elem, 0},
		{`{"a":1,"hooks":{"Start":[{"command":"memoir inject"}]}}`, `{"a":1,"hooks":{"Start":[]}}`, "a.json", elem, 2},
		{`{"hooks":{"Start":[{"command":"other"}]}}`, `{"hooks":{"Start":[{"command":"other"}]}}`, "a.json", elem, 0},
		{"a = 1\n\n[servers.memoir]\ncommand = \"/x/memoir\"\nargs = [\"mcp\"]\n[servers.memoir.env]\nK = \"v\"\n\n[b]\nc = 1\n",
			"a = 1\n\n[b]\nc = 1\n", "a.toml", member, 0},
		{"servers:\n  memoir:\n    command: /x/memoir\n    args: [mcp]\n  other: 1\n", "servers:\n  other: 1\n", "a.yaml", member, 0},
	} {
		test.entry.Keep = test.keep
		got, err := syntaxOf(test.file).take([]byte(test.before), test.entry)
		if err != nil || string(got) != test.after {
			t.Errorf("%q: got %q, %v; want %q", test.before, got, err, test.after)
		}
	}
}

func TestHooksOfOthersKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	e := Env{UserHome: home, Getenv: func(string) string { return "" }}
	cursor, _ := Named("cursor")
	path := filepath.Join(home, ".cursor", "hooks.json")
	r := &Record{home: filepath.Join(home, "data")}
	for _, step := range []struct {
		program, from, to, want string // what is replaced in the file, and its first hooks
		changes                 int
	}{
		{"/a/memoir", "", `{"version": 1, "hooks": {"sessionStart": [1]}}`, `[1, {"command":"/a/memoir inject`, 2},
		{"/a/memoir", "[1", "[0, 1", `[0, 1, {"command":"/a/memoir inject`, 0},
		{"/a/memoir", "}],", "}, 2],", `[0, 1, {"command":"/a/memoir inject`, 0},
		{"/b/memoir", "2]", "2, 3]", `[0, 1, {"command":"/b/memoir inject --agent cursor --run","timeout":10}, 2, 3]`, 2},
	} {
		content, err := read(path)
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
				os.WriteFile(path, []byte(strings.Replace(string(content), step.from, step.to, 1)), 0o600))
		}
		changes, installErr := r.Install(e, Options{Program: step.program}, cursor)
		if err = errors.Join(err, installErr); err != nil || len(changes) != step.changes {
			t.Fatalf("%+v: %v, %+v", step, err, changes)
		}
		for _, c := range changes {
			if err := r.Apply(c); err != nil {
				t.Fatal(err)
			}
		}
		if content, _ := read(path); !strings.Contains(string(content), step.want) {
			t.Errorf("%+v: %s", step, content)
		}
	}
}

func TestHostilePathsStayOneWord(t *testing.T) {
	t.Parallel()
	for _, program := range []string{`/a b/memoir`, `/$(touch x)/memoir`, "/`id`/memoir", `/a"b/memoir`, `/a'b/memoir`, `/a\b/memoir`, `/{{agent}}/memoir`, `/é;rm -rf/memoir`} {
		home := t.TempDir()
		e := Env{UserHome: home, Getenv: func(string) string { return "" }}
		for _, a := range Agents {
			r, err := Load(filepath.Join(home, "data"))
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
	for _, name := range []string{"a.json", "a.toml", "a.yaml"} {
		value, err := syntaxOf(name).read([]byte(text))
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
