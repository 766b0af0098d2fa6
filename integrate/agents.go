package integrate

import (
	"cmp"
	_ "embed" // the extension files
	"path/filepath"
	"slices"
	"strings"
)

// Agent is a coding agent that memoir can be installed in.
type Agent struct {
	Name    string
	Channel string // how the summary reaches the model
	Confirm string // what a person must confirm in the agent, or should know; "": nothing
	command string
	// dir returns the agent's configuration directory. projectDir is the one in a project; "": none.
	dir        func(e Env) string
	projectDir string
	ownSkills  bool // it reads a person's skills only from its own directory
	files      func(s site) []file
}

type file struct {
	path    string
	entries []Entry
	content string // of a file that is memoir's own
}

// startSeconds and endSeconds are the timeouts of memoir's hooks in agents. The hooks take less than one.
const (
	startSeconds = 10
	endSeconds   = 3 // Codex takes no more
)

// untested is printed for agents whose real program was not tested with memoir.
const untested = "not tested against the real program"

// Agents are all supported agents, in the order in which they are listed.
var Agents = []Agent{
	{
		Name: "claude", Channel: "SessionStart hook", command: "claude",
		Confirm: "trust the folder when Claude Code asks, in its interactive program",
		dir:     below("CLAUDE_CONFIG_DIR", ".claude"), projectDir: ".claude", ownSkills: true,
		files: func(s site) []file {
			settings, servers := filepath.Join(s.dir, "settings.json"), filepath.Join(s.UserHome, ".claude.json")
			if s.Getenv("CLAUDE_CONFIG_DIR") != "" {
				servers = filepath.Join(s.dir, ".claude.json")
			}
			if s.Project != "" { // the file of settings that is not shared
				settings, servers = filepath.Join(s.dir, "settings.local.json"), filepath.Join(s.Project, ".mcp.json")
			}
			direct := func(words []string) object { return object{"command": words[0], "args": words[1:]} }
			return []file{{path: settings, entries: s.hooks(direct, 1, "startup|resume|clear|compact|fork", "", "Stop",
				toolHook{"PostToolUseFailure", "Bash"}, toolHook{"PostToolUse", "Edit|MultiEdit|Write|NotebookEdit"})},
				{path: servers, entries: s.server("mcpServers", object{"type": "stdio"})}}
		},
	},
	{
		Name: "codex", Channel: "SessionStart hook", command: "codex",
		Confirm: "call /hooks in Codex and trust memoir's hooks: until then Codex skips them silently",
		dir:     below("CODEX_HOME", ".codex"), projectDir: ".codex",
		files: func(s site) []file {
			line := func(words []string) object { return object{"command": commandLine(words)} }
			return []file{
				{path: filepath.Join(s.dir, "hooks.json"), entries: s.hooks(line, 1, "startup|resume|clear|compact", "", "Stop",
					toolHook{"PostToolUse", "Bash|apply_patch"})},
				{path: filepath.Join(s.dir, "config.toml"), entries: s.server("mcp_servers", object{})}}
		},
	},
	{
		Name: "pi", Channel: "extension", command: "pi",
		dir: below("PI_CODING_AGENT_DIR", ".pi/agent"), projectDir: ".pi",
		files: func(s site) []file {
			out := []file{s.extension("extensions/memoir.ts", piExtension)}
			if s.Project == "" { // with another exposure, pi would switch its tool for scripts on
				out = append(out, file{path: filepath.Join(s.dir, "mcp.json"), entries: s.server("mcpServers",
					object{"description": serverDescription, "exposure": "deferred"})})
			}
			return out
		},
	},
	{
		Name: "omp", Channel: "extension", command: "omp",
		dir: func(e Env) string {
			return below("PI_CODING_AGENT_DIR", filepath.Join(cmp.Or(e.Getenv("PI_CONFIG_DIR"), ".omp"), "agent"))(e)
		},
		projectDir: ".omp", ownSkills: true,
		files: func(s site) []file {
			return []file{s.extension("extensions/memoir.ts", piExtension),
				{path: filepath.Join(s.dir, "mcp.json"), entries: s.server("mcpServers", object{})}}
		},
	},
	{
		Name: "opencode", Channel: "plugin", command: "opencode",
		dir: func(e Env) string {
			return cmp.Or(e.expand(e.Getenv("OPENCODE_CONFIG_DIR")), filepath.Join(e.config(), "opencode"))
		},
		projectDir: ".opencode",
		files: func(s site) []file {
			config := filepath.Join(cmp.Or(s.Project, s.dir), "opencode.jsonc")
			if missing(config) != nil {
				config = strings.TrimSuffix(config, "c")
			}
			return []file{s.extension("plugins/memoir.js", openCodePlugin), {path: config, entries: []Entry{
				entry(serverWhat, object{"type": "local", "command": s.mcp(), "enabled": true}, "mcp", "memoir")}}}
		},
	},
	{
		Name: "gemini", Channel: "SessionStart hook", command: "gemini",
		Confirm: "trust the folder when Gemini CLI asks: hooks do not run in other folders",
		dir: func(e Env) string {
			return filepath.Join(cmp.Or(e.expand(e.Getenv("GEMINI_CLI_HOME")), e.UserHome), ".gemini")
		},
		projectDir: ".gemini",
		files: func(s site) []file {
			return s.settings(1000, "AfterAgent", toolHook{"AfterTool", "run_shell_command|write_file|replace"})
		},
	},
	{
		Name: "qwen", Channel: "SessionStart hook", command: "qwen",
		dir: below("QWEN_HOME", ".qwen"), projectDir: ".qwen",
		files: func(s site) []file {
			return s.settings(1, "Stop", toolHook{"PostToolUse", "run_shell_command|write_file|edit|replace"},
				toolHook{"PostToolUseFailure", "run_shell_command"})
		},
	},
	{
		Name: "copilot", Channel: "sessionStart hook", command: "copilot",
		dir: below("COPILOT_HOME", ".copilot"), projectDir: ".github",
		files: func(s site) []file {
			hook := func(words []string, seconds int) []object {
				line := commandLine(words)
				return []object{{"type": "command", "bash": line, "powershell": "& " + line, "timeoutSec": seconds}}
			}
			all := object{"sessionStart": hook(s.start(), startSeconds), "sessionEnd": hook(s.end(), endSeconds),
				"postToolUse": hook(s.action(), startSeconds), "postToolUseFailure": hook(s.action(), startSeconds)}
			if s.Turns {
				all["agentStop"] = hook(s.turn(), endSeconds)
			}
			hooks := object{"version": 1, "hooks": all}
			out := []file{{path: filepath.Join(s.dir, "hooks", "memoir.json"),
				content: string(marshal(hooks, "", "  ")) + "\n"}}
			if s.Project == "" {
				out = append(out, file{path: filepath.Join(s.dir, "mcp-config.json"),
					entries: s.server("mcpServers", object{"type": "local", "tools": []string{"*"}})})
			}
			return out
		},
	},
	{
		Name: "cursor", Channel: "sessionStart hook", command: "cursor-agent",
		Confirm: "Cursor's editor may ignore the output of a start hook; " + untested,
		dir:     func(e Env) string { return filepath.Join(e.UserHome, ".cursor") }, projectDir: ".cursor",
		files: func(s site) []file {
			hook := func(event string, words []string, seconds int) Entry {
				e := entry(event+" hook", object{"command": commandLine(words), "timeout": seconds}, "hooks", event)
				e.List = true
				return e
			}
			return []file{{path: filepath.Join(s.dir, "hooks.json"), entries: []Entry{entry("version", 1, "version"),
				hook("sessionStart", s.start(), startSeconds), hook("sessionEnd", s.end(), endSeconds)}},
				{path: filepath.Join(s.dir, "mcp.json"), entries: s.server("mcpServers", object{})}}
		},
	},
	{
		Name: "crush", Channel: "instructions of the MCP server", command: "crush", Confirm: untested,
		dir: func(e Env) string { return filepath.Join(e.config(), "crush") },
		files: func(s site) []file {
			return []file{{path: filepath.Join(s.dir, "crush.json"),
				entries: s.server("mcp", object{"type": "stdio"}, "--deliver", "instructions")}}
		},
	},
	{
		Name: "goose", Channel: "instructions of the MCP server", command: "goose", Confirm: untested,
		dir: func(e Env) string { return filepath.Join(e.config(), "goose") },
		files: func(s site) []file {
			call := s.mcp("--deliver", "instructions")
			return []file{{path: filepath.Join(s.dir, "config.yaml"), entries: []Entry{entry(serverWhat, object{
				"type": "stdio", "name": "memoir", "description": serverDescription, "cmd": call[0], "args": call[1:],
				"enabled": true, "timeout": 60}, "extensions", "memoir")}}}
		},
	},
}

const serverWhat = "MCP server"

const serverDescription = "Memory of earlier sessions in this project: search and read it"

// Named returns an agent by its name.
func Named(name string) (Agent, bool) {
	i := slices.IndexFunc(Agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return Agents[i], true
}

// below returns a directory: the value of a variable, else a name in the home directory.
func below(variable, name string) func(Env) string {
	return func(e Env) string {
		return cmp.Or(e.expand(e.Getenv(variable)), filepath.Join(e.UserHome, filepath.FromSlash(name)))
	}
}

func (e Env) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(e.UserHome, rest)
	}
	return path
}

func (e Env) config() string {
	if set := e.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(set) {
		return set
	}
	return filepath.Join(e.UserHome, ".config")
}

// skills returns the directory from which an agent reads a person's skills; most agents share one.
func (a Agent) skills(e Env) string {
	if a.ownSkills {
		return filepath.Join(a.dir(e), "skills")
	}
	return filepath.Join(e.UserHome, ".agents", "skills")
}

// start, action, end and turn return the command lines of memoir's hooks, mcp that of its server.
func (s site) start() []string { return s.call("inject", "--agent", s.agent, "--run") }

func (s site) action() []string { return s.call("inject", "--agent", s.agent, actionFlag) }

const actionFlag = "--action"

func (s site) end() []string { return s.call("run", "--startup", "--ended", s.agent) }

func (s site) turn() []string { return s.call("run", "--startup", "--turn", s.agent) }

func (s site) mcp(more ...string) []string {
	return s.call(append([]string{"mcp", "--agent", s.agent}, more...)...)
}

func entry(what string, value any, at ...string) Entry {
	value, _ = plain(value) // JSON encodes texts, numbers, lists and objects without an error
	return Entry{What: what, At: at, Value: value}
}

// server returns the entry for the MCP server in the form that most agents use, with additional members.
func (s site) server(section string, members object, more ...string) []Entry {
	call := s.mcp(more...)
	members["command"], members["args"] = call[0], call[1:]
	return []Entry{entry(serverWhat, members, section, "memoir")}
}

// hooks returns the entries in the form that Claude Code, Codex, Gemini CLI and Qwen Code use. second is one second in
// the agent's unit of timeouts.
func (s site) hooks(handler func(words []string) object, second int, start, end, turn string,
	tools ...toolHook,
) []Entry {
	hook := func(event, matcher string, words []string, seconds int) Entry {
		inner := handler(words)
		inner["type"], inner["timeout"] = "command", seconds*second
		group := object{"hooks": []object{inner}}
		if matcher != "" {
			group["matcher"] = matcher
		}
		e := entry(event+" hook", group, "hooks", event)
		e.List = true
		return e
	}
	out := []Entry{hook("SessionStart", start, s.start(), startSeconds), hook("SessionEnd", end, s.end(), endSeconds)}
	for _, t := range tools {
		out = append(out, hook(t.event, t.tools, s.action(), startSeconds))
	}
	if s.Prompts {
		prompt := PromptEvents[0]
		if turn == "AfterAgent" { // Gemini CLI
			prompt = PromptEvents[1]
		}
		out = append(out, hook(prompt, "", s.action(), startSeconds))
	}
	if s.Turns {
		out = append(out, hook(turn, end, s.turn(), endSeconds))
	}
	return out
}

// A toolHook is an event after a call of some tools: those that run commands and those that edit files.
type toolHook struct{ event, tools string }

// settings returns the file of Gemini CLI or Qwen Code with hooks and servers.
func (s site) settings(second int, turn string, tools ...toolHook) []file {
	named := func(words []string) object { return object{"name": "memoir", "command": commandLine(words)} }
	return []file{{path: filepath.Join(s.dir, "settings.json"),
		entries: append(s.hooks(named, second, "*", "*", turn, tools...), s.server("mcpServers", object{})...)}}
}

// extension returns a file that belongs to memoir, with the program's path and flags filled in.
func (s site) extension(path, text string) file {
	quoted := func(v any) string { return string(marshal(v, "", "")) }
	return file{path: filepath.Join(s.dir, filepath.FromSlash(path)), content: strings.NewReplacer(
		`"{{program}}"`, quoted(s.Program), `"{{flags}}"`, quoted(append([]string{}, s.Flags...)),
		`"{{agent}}"`, quoted(s.agent), `"{{turns}}"`, quoted(s.Turns)).Replace(text)}
}

var (
	//go:embed extension/pi.ts
	piExtension string
	//go:embed extension/opencode.js
	openCodePlugin string
)
