package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/integrate"
	"memoir/model/modeltest"
	"memoir/testdata/mockmodel"
)

// What is said in the sessions that are to be given the memory, and what must reach the model once.
const (
	firstPrompt  = "Please report how the harbour is."
	secondPrompt = "And how is the pier?"
	viewPrompt   = "was called for me and printed what follows"
	taught       = "Always trim the wick before you light the harbour lamp."
	offered      = "Use when the lamp of the harbour is to be lit by hand."
)

// extra is what an agent needs where memoir is installed in it.
type extra struct {
	// others are files of the agent with entries of somebody else's, below the home directory. They
	// are written with lines that end in CRLF; those with comments take them.
	others map[string]string
	// trust are the arguments in the place of what a person confirms by hand, behind the first one.
	trust []string
	// command are the arguments with which the agent runs /memory view, nil if it does so for a person alone.
	command []string
}

var extras = map[memoir.Source]extra{
	memoir.SourceClaude: {others: map[string]string{
		".claude/settings.json": `{
  "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}]},
  "includeCoAuthoredBy": false
}
`,
		".claude.json": `{"mcpServers": {"other": {"type": "stdio", "command": "false", "args": []}}}` + "\n",
	}},
	memoir.SourceCodex: {trust: []string{"--dangerously-bypass-hook-trust"}, others: map[string]string{
		".codex/hooks.json": `{"hooks": {
  "SessionStart": [
    {"matcher": "startup", "hooks": [{"type": "command", "command": "true"}]}
  ]
}}
`}},
	memoir.SourcePi: {others: map[string]string{
		".pi/agent/mcp.json": `{"mcpServers": {"other": {"command": "false", "args": [], "enabled": false}}}` + "\n"}},
	memoir.SourceOMP: {others: map[string]string{
		".omp/agent/mcp.json": `{"mcpServers": {"other": {"command": "false", "args": [], "enabled": false}}}` + "\n"}},
	memoir.SourceOpenCode: {command: []string{"run", "--command", "memory", "view"}},
	memoir.SourceGemini:   {},
	memoir.SourceQwen:     {},
	memoir.SourceCopilot: {others: map[string]string{
		".copilot/mcp-config.json": `{"mcpServers": {
  "other": {"type": "local", "tools": ["*"], "command": "false", "args": []}
}}
`}},
}

// commented are the files that agents read with comments in them: what configure wrote gets one, a
// server of another name, and lines that end in CRLF.
var commented = map[memoir.Source]struct{ path, before, after string }{
	memoir.SourceCodex: {".codex/config.toml", "# kept\n", "\n[mcp_servers.other] # kept as well\ncommand = \"false\"\nenabled = false\n"},
	memoir.SourceOpenCode: {".config/opencode/opencode.json", "// kept\n{\n  \"mcp\": {\n    \"other\": {\"type\": \"local\", " +
		"\"command\": [\"false\"], \"enabled\": false}, // kept as well\n  },", ""},
	memoir.SourceGemini: {".gemini/settings.json", "// kept\n{\n  \"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": " +
		"\"command\", \"command\": \"true\"}]}]}, // kept as well", ""},
	memoir.SourceQwen: {".qwen/settings.json", "// kept\n{\n  \"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": " +
		"\"command\", \"command\": \"true\"}]}]}, // kept as well", ""},
}

// installing connects an agent with memoir and looks at what reaches the model.
func installing(a agent, _ string) kind {
	asking := a.asking()
	return kind{mockmodel.Script{
		{Prompt: firstPrompt, Bare: true, Steps: []mockmodel.Step{{Text: "The harbour is calm."}}},
		{Prompt: secondPrompt, Bare: true, Steps: []mockmodel.Step{{Text: "The pier is dry."}}},
		{Prompt: viewPrompt, Bare: true, Steps: []mockmodel.Step{{Text: "It was called."}}}, asking,
	}, func(ctx context.Context, v *visit) {
		if known, ok := integrate.Named(string(a.source)); ok {
			v.channel = known.Channel
		}
		err := v.surround()
		if err == nil {
			err = teach(ctx, v.place)
		}
		if err != nil {
			v.differ("%v", err)
			return
		}
		before := v.snapshot()
		v.install(ctx, before)
		installed := v.snapshot()
		call := func(arguments []string) []modeltest.Call {
			return v.call(ctx, "", slices.Insert(slices.Clone(arguments), 1, extras[a.source].trust...)...)
		}
		v.delivery("a new session", firstPrompt, call(a.prompt(firstPrompt)))
		v.delivery("a session that goes on", secondPrompt, call(a.resume(secondPrompt)))
		v.asked(call(a.prompt(asking.Prompt)))
		if arguments := extras[a.source].command; arguments != nil {
			body := requestWith(v.call(ctx, "", arguments...), viewPrompt)
			if !bytes.Contains(body, []byte(taught)) {
				v.differ("/memory view shows no memory")
			}
		}
		v.uninstall(ctx, before, installed)
	}}
}

// memoir runs a command of memoir, by default the one on PATH, and returns what it printed.
func (v *visit) memoir(ctx context.Context, arguments ...string) string {
	printed, err := v.run(ctx, "", filepath.Join(v.dir, "bin", "memoir"), arguments...)
	if err != nil {
		v.differ("%v", err)
	}
	return printed
}

// surround gives the agent's files entries of somebody else's, comments and CRLF.
func (v *visit) surround() error {
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for path, content := range extras[v.source].others {
		if err := v.write(path, crlf(content)); err != nil {
			return err
		}
	}
	c, ok := commented[v.source]
	if !ok {
		return nil
	}
	content, err := os.ReadFile(filepath.Join(v.home, c.path))
	if err != nil {
		return err
	}
	text := string(content)
	if strings.HasSuffix(c.before, "\n") {
		text = c.before + text
	} else {
		text = c.before + strings.TrimPrefix(text, "{")
	}
	return v.write(c.path, crlf(text+c.after))
}

// install installs memoir, twice, from a program that is then moved, and once more.
func (v *visit) install(ctx context.Context, before map[string]string) {
	install := []string{"install", string(v.source), "--yes", "--json"}
	v.confirm = gjson.Get(v.memoir(ctx, install...), "confirm.0.text").Str
	if n := gjson.Get(v.memoir(ctx, install...), "changes.#").Int(); n != 0 {
		v.differ("installed twice, it changes %d files", n)
	}
	once := v.snapshot()
	v.memoir(ctx, "uninstall", "--yes")
	v.compare("uninstalled at once", before, v.snapshot())
	moved := filepath.Join(v.dir, "moved", "memoir")
	err := copyFile(filepath.Join(v.dir, "bin", "memoir"), moved)
	if err == nil {
		_, err = v.run(ctx, "", moved, install...)
	}
	if err != nil {
		v.differ("%v", err)
	}
	// What was installed with the other path is mended by the one on PATH.
	v.memoir(ctx, install...)
	v.compare("moved and installed again", once, v.snapshot())
	os.RemoveAll(filepath.Dir(moved))
}

// uninstall takes memoir back after the agent ran.
func (v *visit) uninstall(ctx context.Context, before, installed map[string]string) {
	now := v.snapshot()
	v.memoir(ctx, "uninstall", "--yes")
	after := v.snapshot()
	for path, content := range installed {
		was, there := before[path]
		switch {
		case content == was:
		case now[path] == content: // the agent did not write it
			if after[path] != was || !there && after[path] != "" {
				v.differ("uninstalled: %s is not as it was", path)
			}
		default:
			v.note("the agent itself changed %s", path)
			if strings.Contains(after[path], filepath.Join(v.dir, "bin", "memoir")) {
				v.differ("uninstalled: %s still names memoir", path)
			}
		}
	}
}

// delivery looks for the memory in the requests that carry a prompt.
func (r *row) delivery(when, prompt string, calls []modeltest.Call) {
	found := 0
	for _, call := range calls {
		if !bytes.Contains(call.Body, []byte(prompt)) {
			continue
		}
		found++
		if bytes.Contains(call.Body, []byte(offered)) {
			r.skill = true
		}
		switch n := bytes.Count(call.Body, []byte(taught)); {
		case n == 0 && found > 1: // a question of the agent's own, such as for what it wants to remember
			r.note("%s: request %d to %s does not hold the memory", when, found, call.Path)
		case n != 1:
			r.differ("%s: request %d to %s holds the memory %d times", when, found, call.Path, n)
		}
		if n := contextLength(gjson.ParseBytes(call.Body)); n > r.delivered {
			r.delivered = n
		}
	}
	r.requests += found
	if found == 0 {
		r.differ("%s: no request has the prompt", when)
	}
}

// contextLength is how many characters the longest frame of memoir's in a JSON value has.
func contextLength(v gjson.Result) (longest int) {
	if v.Type == gjson.String {
		text := strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(v.Str)
		if _, rest, ok := strings.Cut(text, "<memoir-context"); ok {
			if inside, _, ok := strings.Cut(rest, "</memoir-context>"); ok {
				return utf8.RuneCountInString("<memoir-context" + inside + "</memoir-context>")
			}
		}
	}
	if !v.IsObject() && !v.IsArray() {
		return 0
	}
	v.ForEach(func(_, inner gjson.Result) bool {
		longest = max(longest, contextLength(inner))
		return true
	})
	return longest
}

// compare tells which files of two snapshots differ.
func (r *row) compare(when string, want, got map[string]string) {
	for path, content := range want {
		if other, ok := got[path]; !ok || other != content {
			r.differ("%s: %s differs", when, path)
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			r.differ("%s: %s was not there", when, path)
		}
	}
}
