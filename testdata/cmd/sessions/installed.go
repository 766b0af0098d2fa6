package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
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

// installation is one agent's line of the table.
type installation struct {
	agent
	finding
	version, channel string
	delivered        int // characters
	requests         int
	skill            bool // the model was offered the skill
	confirm          string
	home             string
}

// runInstalled connects one agent with memoir and looks at what reaches the model.
func runInstalled(ctx context.Context, a agent, command, path, program string, keep bool) (r installation) {
	r = installation{agent: a, version: "unknown"}
	if known, ok := integrate.Named(string(a.source)); ok {
		r.channel = known.Channel
	}
	dir, err := os.MkdirTemp("", "memoir-agents-"+string(a.source)+"-")
	if err == nil {
		err = r.run(ctx, dir, command, path, program)
	}
	if err != nil {
		r.differ("%v", err)
	}
	if keep || len(r.differences) > 0 {
		r.home = dir
	} else {
		os.RemoveAll(dir)
	}
	return r
}

func (r *installation) run(ctx context.Context, dir, command, path, program string) error {
	server := mockmodel.Start(mockmodel.Script{
		{Prompt: firstPrompt, Bare: true, Steps: []mockmodel.Step{{Text: "The harbour is calm."}}},
		{Prompt: secondPrompt, Bare: true, Steps: []mockmodel.Step{{Text: "The pier is dry."}}},
		{Prompt: viewPrompt, Bare: true, Steps: []mockmodel.Step{{Text: "It was called."}}}, r.asking()})
	defer server.Close()
	bin := filepath.Join(dir, "bin")
	p, err := newPlace(dir, server.URL, bin+string(os.PathListSeparator)+path)
	if err != nil {
		return err
	}
	if p.env, err = r.configure(p); err != nil {
		return err
	}
	printed, err := p.run(ctx, "", command, "--version")
	if err != nil {
		return err
	}
	r.version = versionOf(printed)
	if err := copyFile(program, filepath.Join(bin, "memoir")); err != nil {
		return err
	}
	if err := r.surround(p); err != nil {
		return err
	}
	if err := teach(ctx, p); err != nil {
		return err
	}
	before, err := snapshot(p.home)
	if err != nil {
		return err
	}
	if err := r.install(ctx, p, bin, before); err != nil {
		return err
	}
	installed, err := snapshot(p.home)
	if err != nil {
		return err
	}
	trusted := func(arguments []string) []string {
		trust := extras[r.source].trust
		return append(append(append([]string{}, arguments[:1]...), trust...), arguments[1:]...)
	}
	if _, err := p.run(ctx, "", command, trusted(r.prompt(firstPrompt))...); err != nil {
		return err
	}
	r.delivery("a new session", firstPrompt, server.Calls())
	seen := len(server.Calls())
	if _, err := p.run(ctx, "", command, trusted(r.resume(secondPrompt))...); err != nil {
		return err
	}
	r.delivery("a session that goes on", secondPrompt, server.Calls()[seen:])
	seen = len(server.Calls())
	if _, err := p.run(ctx, "", command, trusted(r.prompt(r.asking().Prompt))...); err != nil {
		return err
	}
	r.asked(server.Calls()[seen:])
	if arguments := extras[r.source].command; arguments != nil {
		if _, err := p.run(ctx, "", command, arguments...); err != nil {
			return err
		}
		if body, err := requestWith(server.Calls()[seen:], viewPrompt); err != nil || !bytes.Contains(body, []byte(taught)) {
			r.differ("/memory view shows no memory: %v", err)
		}
	}
	return r.uninstall(ctx, p, before, installed)
}

// surround gives the agent's files entries of somebody else's, comments and CRLF.
func (r *installation) surround(p place) error {
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for path, content := range extras[r.source].others {
		if err := p.write(path, crlf(content)); err != nil {
			return err
		}
	}
	c, ok := commented[r.source]
	if !ok {
		return nil
	}
	content, err := os.ReadFile(filepath.Join(p.home, c.path))
	if err != nil {
		return err
	}
	text := string(content)
	if strings.HasSuffix(c.before, "\n") {
		text = c.before + text
	} else {
		text = c.before + strings.TrimPrefix(text, "{")
	}
	return p.write(c.path, crlf(text+c.after))
}

// install installs memoir, twice, from a program that is then moved, and once more.
func (r *installation) install(ctx context.Context, p place, bin string, before map[string]string) error {
	program := filepath.Join(bin, "memoir")
	call := func(program string, arguments ...string) (string, error) {
		return p.run(ctx, "", program, append(arguments, "--json")...)
	}
	printed, err := call(program, "install", string(r.source), "--yes")
	if err != nil {
		return err
	}
	r.confirm = gjson.Get(printed, "confirm.0.text").Str
	if printed, err = call(program, "install", string(r.source), "--yes"); err != nil {
		return err
	}
	if n := gjson.Get(printed, "changes.#").Int(); n != 0 {
		r.differ("installed twice, it changes %d files", n)
	}
	once, err := snapshot(p.home)
	if err != nil {
		return err
	}
	if _, err := call(program, "uninstall", "--yes"); err != nil {
		return err
	}
	after, err := snapshot(p.home)
	if err != nil {
		return err
	}
	r.compare("uninstalled at once", before, after)
	moved := filepath.Join(p.dir, "moved", "memoir")
	if err := copyFile(program, moved); err != nil {
		return err
	}
	if _, err := p.run(ctx, "", moved, "install", string(r.source), "--yes", "--json"); err != nil {
		return err
	}
	// What was installed with the other path is mended by the one on PATH.
	if _, err := call(program, "install", string(r.source), "--yes"); err != nil {
		return err
	}
	again, err := snapshot(p.home)
	if err != nil {
		return err
	}
	r.compare("moved and installed again", once, again)
	return os.RemoveAll(filepath.Dir(moved))
}

// uninstall takes memoir back after the agent ran.
func (r *installation) uninstall(ctx context.Context, p place, before, installed map[string]string) error {
	now, err := snapshot(p.home)
	if err != nil {
		return err
	}
	if _, err := p.run(ctx, "", filepath.Join(p.dir, "bin", "memoir"), "uninstall", "--yes"); err != nil {
		return err
	}
	after, err := snapshot(p.home)
	if err != nil {
		return err
	}
	for path, content := range installed {
		was, there := before[path]
		switch {
		case content == was:
		case now[path] == content: // the agent did not write it
			if after[path] != was || !there && after[path] != "" {
				r.differ("uninstalled: %s is not as it was", path)
			}
		default:
			r.note("the agent itself changed %s", path)
			if strings.Contains(after[path], filepath.Join(p.dir, "bin", "memoir")) {
				r.differ("uninstalled: %s still names memoir", path)
			}
		}
	}
	return nil
}

// delivery looks for the memory in the requests that carry a prompt.
func (r *installation) delivery(when, prompt string, calls []modeltest.Call) {
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
func (r *installation) compare(when string, want, got map[string]string) {
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
