package integrate

import (
	"bytes"
	"cmp"
	_ "embed" // the extension files
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// Agent is a coding agent that memoir can be connected with.
type Agent struct {
	Name     string
	Channel  string // by which the summary reaches the model
	Tested   bool   // against the agent's own program
	Confirm  string // what a person has to confirm by hand in the agent; "": nothing
	commands []string
	// dir is the agent's configuration directory, projectDir the one in a project, "" if it has none.
	dir        func(e Env) string
	projectDir string
	// skills is the directory in which the agent looks for a person's skills.
	skills func(e Env, dir string) string
	files  func(s site) []file
}

// file is a file of an agent with what memoir keeps in it.
type file struct {
	path    string
	form    form
	entries []Entry
	content string // of a file that is memoir's own
	what    string // of the same
}

// startSeconds and endSeconds are the patience of an agent with memoir's hooks. Both return at once.
const (
	startSeconds = 10
	endSeconds   = 3 // Codex takes no more
)

// hookName is the name of hooks where they have one.
const hookName = "memoir"

// Agents are all that install knows, in the order in which they are listed.
var Agents = []Agent{
	{
		Name: "claude", Channel: "SessionStart hook", Tested: true, commands: []string{"claude"},
		dir: below("CLAUDE_CONFIG_DIR", ".claude"), projectDir: ".claude",
		skills: func(_ Env, dir string) string { return filepath.Join(dir, "skills") },
		files: func(s site) []file {
			settings, servers := filepath.Join(s.dir, "settings.json"), filepath.Join(s.UserHome, ".claude.json")
			if s.Getenv("CLAUDE_CONFIG_DIR") != "" {
				servers = filepath.Join(s.dir, ".claude.json")
			}
			if !s.user() { // the file of settings that is not shared
				settings, servers = filepath.Join(s.dir, "settings.local.json"), filepath.Join(s.Project, ".mcp.json")
			}
			return s.jsonFiles(settings, []Entry{
				s.hook("SessionStart", s.words("inject", "--agent", s.agent, "--run"), startSeconds,
					"startup|resume|clear|compact|fork"),
				s.hook("SessionEnd", s.words("run", "--startup", "--ended", s.agent), endSeconds, ""),
			}, servers, "mcpServers", s.server("type", "stdio"))
		},
	},
	{
		Name: "codex", Channel: "SessionStart hook", Tested: true, commands: []string{"codex"},
		Confirm: "trust the hooks in /hooks: until then Codex skips them without a word",
		dir:     below("CODEX_HOME", ".codex"), projectDir: ".codex", skills: sharedSkills,
		files: func(s site) []file {
			hooks := s.hookFile(filepath.Join(s.dir, "hooks.json"), []Entry{
				s.hook("SessionStart", s.line("inject", "--agent", s.agent, "--run"), startSeconds,
					"startup|resume|clear|compact"),
				s.hook("SessionEnd", s.line("run", "--startup", "--ended", s.agent), endSeconds, ""),
			})
			return append(hooks, s.serverFile(filepath.Join(s.dir, "config.toml"), formTOML, "mcp_servers", s.server())...)
		},
	},
	{
		Name: "pi", Channel: "extension", Tested: true, commands: []string{"pi"},
		dir: below("PI_CODING_AGENT_DIR", ".pi/agent"), projectDir: ".pi", skills: sharedSkills,
		files: func(s site) []file {
			out := s.extension(filepath.Join(s.dir, "extensions", "memoir.ts"), piExtension)
			if s.user() {
				out = append(out, s.serverFile(filepath.Join(s.dir, "mcp.json"), formJSON, "mcpServers",
					s.server("description", serverDescription))...)
			}
			return out
		},
	},
	{
		Name: "omp", Channel: "extension", Tested: true, commands: []string{"omp"},
		dir: func(e Env) string {
			if set := e.Getenv("PI_CODING_AGENT_DIR"); set != "" {
				return e.expand(set)
			}
			return filepath.Join(e.UserHome, cmp.Or(e.Getenv("PI_CONFIG_DIR"), ".omp"), "agent")
		},
		projectDir: ".omp",
		skills:     func(_ Env, dir string) string { return filepath.Join(dir, "skills") },
		files: func(s site) []file {
			return append(s.extension(filepath.Join(s.dir, "extensions", "memoir.ts"), piExtension),
				s.serverFile(filepath.Join(s.dir, "mcp.json"), formJSON, "mcpServers", s.server())...)
		},
	},
	{
		Name: "opencode", Channel: "plugin", Tested: true, commands: []string{"opencode"},
		dir: func(e Env) string {
			if set := e.Getenv("OPENCODE_CONFIG_DIR"); set != "" {
				return e.expand(set)
			}
			return filepath.Join(e.config(), "opencode")
		},
		projectDir: ".opencode", skills: sharedSkills,
		files: func(s site) []file {
			config := s.dir
			if !s.user() {
				config = s.Project
			}
			return append(s.extension(filepath.Join(s.dir, "plugins", "memoir.js"), openCodePlugin),
				s.serverFile(existing(filepath.Join(config, "opencode.jsonc"), filepath.Join(config, "opencode.json")),
					formJSON, "mcp", object("type", "local", "command", s.call("mcp", "--agent", s.agent), "enabled", true))...)
		},
	},
	{
		Name: "gemini", Channel: "SessionStart hook", Tested: true, commands: []string{"gemini"},
		Confirm: "trust a folder when Gemini CLI asks: hooks do not run in others",
		dir: func(e Env) string {
			if set := e.Getenv("GEMINI_CLI_HOME"); set != "" {
				return filepath.Join(e.expand(set), ".gemini")
			}
			return filepath.Join(e.UserHome, ".gemini")
		},
		projectDir: ".gemini", skills: sharedSkills,
		files: func(s site) []file {
			settings := filepath.Join(s.dir, "settings.json")
			return s.jsonFiles(settings, []Entry{
				s.hook("SessionStart", s.named("inject", "--agent", s.agent, "--run"), 1000*startSeconds, "*"),
				s.hook("SessionEnd", s.named("run", "--startup", "--ended", s.agent), 1000*endSeconds, "*"),
			}, settings, "mcpServers", s.server())
		},
	},
	{
		Name: "qwen", Channel: "SessionStart hook", Tested: true, commands: []string{"qwen"},
		dir: below("QWEN_HOME", ".qwen"), projectDir: ".qwen", skills: sharedSkills,
		files: func(s site) []file {
			settings := filepath.Join(s.dir, "settings.json")
			return s.jsonFiles(settings, []Entry{
				s.hook("SessionStart", s.named("inject", "--agent", s.agent, "--run"), startSeconds, "*"),
				s.hook("SessionEnd", s.named("run", "--startup", "--ended", s.agent), endSeconds, "*"),
			}, settings, "mcpServers", s.server())
		},
	},
	{
		Name: "copilot", Channel: "sessionStart hook", Tested: true, commands: []string{"copilot"},
		dir: below("COPILOT_HOME", ".copilot"), projectDir: ".github", skills: sharedSkills,
		files: func(s site) []file {
			one := func(seconds int, words ...string) json.RawMessage {
				return slices.Concat([]byte("["), object("type", "command", "bash", s.shell(words...), "powershell",
					"& "+s.shell(words...), "timeoutSec", seconds), []byte("]"))
			}
			out := []file{}
			if !s.NoHooks {
				out = append(out, file{path: filepath.Join(s.dir, "hooks", "memoir.json"), form: formOwn, what: "hooks",
					content: indented(object("version", 1, "hooks", object(
						"sessionStart", one(startSeconds, "inject", "--agent", s.agent, "--run"),
						"sessionEnd", one(endSeconds, "run", "--startup", "--ended", s.agent))))})
			}
			if s.user() {
				out = append(out, s.serverFile(filepath.Join(s.dir, "mcp-config.json"), formJSON, "mcpServers",
					s.server("type", "local", "tools", []string{"*"}))...)
			}
			return out
		},
	},
	{
		Name: "cursor", Channel: "sessionStart hook", commands: []string{"cursor-agent"},
		Confirm: "Cursor's editor may drop what a start hook gives; its command line takes it",
		dir:     below("", ".cursor"), projectDir: ".cursor", skills: sharedSkills,
		files: func(s site) []file {
			version := Entry{What: "version", At: []string{"version"}, Value: json.RawMessage("1")}
			flat := func(event string, seconds int, words ...string) Entry {
				return Entry{What: event + " hook", At: []string{"hooks", event}, List: true,
					Value: object("command", s.shell(words...), "timeout", seconds)}
			}
			return s.jsonFiles(filepath.Join(s.dir, "hooks.json"), []Entry{version,
				flat("sessionStart", startSeconds, "inject", "--agent", s.agent, "--run"),
				flat("sessionEnd", endSeconds, "run", "--startup", "--ended", s.agent),
			}, filepath.Join(s.dir, "mcp.json"), "mcpServers", s.server())
		},
	},
	{
		Name: "crush", Channel: "instructions of the MCP server", commands: []string{"crush"},
		dir:    func(e Env) string { return filepath.Join(e.config(), "crush") },
		skills: sharedSkills,
		files: func(s site) []file {
			return s.serverFile(filepath.Join(s.dir, "crush.json"), formJSON, "mcp", object("type", "stdio", "command",
				s.Program, "args", s.call("mcp", "--agent", s.agent, "--deliver", "instructions")[1:]))
		},
	},
	{
		Name: "goose", Channel: "instructions of the MCP server", commands: []string{"goose"},
		dir:    func(e Env) string { return filepath.Join(e.config(), "goose") },
		skills: sharedSkills,
		files: func(s site) []file {
			return s.serverFile(filepath.Join(s.dir, "config.yaml"), formYAML, "extensions", object("type", "stdio",
				"name", hookName, "description", serverDescription, "cmd", s.Program, "args",
				s.call("mcp", "--agent", s.agent, "--deliver", "instructions")[1:], "enabled", true, "timeout", 60))
		},
	},
}

// serverWhat is what people are told of the entry for the MCP server.
const serverWhat = "MCP server"

// serverDescription is what agents list of the MCP server.
const serverDescription = "What earlier sessions in this project taught: search it and read it"

// Named returns an agent by its name.
func Named(name string) (Agent, bool) {
	i := slices.IndexFunc(Agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return Agents[i], true
}

// below is the directory that a variable names, else the one of a name in the home directory.
func below(variable, name string) func(Env) string {
	return func(e Env) string {
		if set := e.Getenv(variable); variable != "" && set != "" {
			return e.expand(set)
		}
		return filepath.Join(e.UserHome, filepath.FromSlash(name))
	}
}

func (e Env) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(e.UserHome, rest)
	}
	return path
}

// config is the directory of configurations that follow the XDG rules.
func (e Env) config() string {
	if set := e.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(set) {
		return set
	}
	return filepath.Join(e.UserHome, ".config")
}

// sharedSkills is the directory that most agents look into.
func sharedSkills(e Env, _ string) string { return filepath.Join(e.UserHome, ".agents", "skills") }

// jsonFiles are an agent's hooks and its MCP server, which may stand in the same file.
func (s site) jsonFiles(hooks string, entries []Entry, servers, section string, server json.RawMessage) []file {
	out, more := s.hookFile(hooks, entries), s.serverFile(servers, formJSON, section, server)
	if hooks == servers && len(out) == 1 && len(more) == 1 {
		out[0].entries = append(out[0].entries, more[0].entries...)
		return out
	}
	return append(out, more...)
}

func (s site) hookFile(path string, entries []Entry) []file {
	if s.NoHooks {
		return nil
	}
	return []file{{path: path, form: formJSON, entries: entries}}
}

func (s site) serverFile(path string, f form, section string, server json.RawMessage) []file {
	if s.NoMCP {
		return nil
	}
	return []file{{path: path, form: f, entries: []Entry{
		{What: serverWhat, At: []string{section, "memoir"}, Value: server}}}}
}

// extension is a file that is memoir's own, with the words of the program in it.
func (s site) extension(path, text string) []file {
	if s.NoHooks {
		return nil
	}
	quoted := func(v any) string { b, _ := marshal(v); return string(b) }
	return []file{{path: path, form: formOwn, what: "extension", content: strings.NewReplacer(
		`"{{program}}"`, quoted(s.Program), `"{{flags}}"`, quoted(append([]string{}, s.Flags...)),
		`"{{agent}}"`, quoted(s.agent)).Replace(text)}}
}

// hook is an entry of the form that Claude Code, Codex, Gemini CLI and Qwen Code share.
func (s site) hook(event string, handler json.RawMessage, timeout int, matcher string) Entry {
	handler = slices.Concat(bytes.TrimSuffix(handler, []byte("}")), []byte(","),
		bytes.TrimPrefix(object("timeout", timeout), []byte("{")))
	group := object("hooks", []json.RawMessage{handler})
	if matcher != "" {
		group = object("matcher", matcher, "hooks", []json.RawMessage{handler})
	}
	return Entry{What: event + " hook", At: []string{"hooks", event}, List: true, Value: group}
}

// words is a handler that needs no shell, line one that is a line of a shell, named the same with a name.
func (s site) words(words ...string) json.RawMessage {
	return object("type", "command", "command", s.Program, "args", s.call(words...)[1:])
}

func (s site) line(words ...string) json.RawMessage {
	return object("type", "command", "command", s.shell(words...))
}

func (s site) named(words ...string) json.RawMessage {
	return object("name", hookName, "type", "command", "command", s.shell(words...))
}

// server is an entry for the MCP server, after other members.
func (s site) server(more ...any) json.RawMessage {
	return object(append(more, "command", s.Program, "args", s.call("mcp", "--agent", s.agent)[1:])...)
}

// object is a JSON object of names and values, in this order.
func object(members ...any) json.RawMessage {
	var b bytes.Buffer
	for i := 0; i < len(members); i += 2 {
		name, _ := marshal(members[i])
		value, _ := marshal(members[i+1])
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// marshal is json.Marshal without the escapes that are for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

func indented(value json.RawMessage) string {
	var b bytes.Buffer
	_ = json.Indent(&b, value, "", "  ")
	return b.String() + "\n"
}

var (
	//go:embed extension/pi.ts
	piExtension string
	//go:embed extension/opencode.js
	openCodePlugin string
)

// existing is the first path, unless only the second is there or none.
func existing(first, second string) string {
	if current, err := read(first); err == nil && current == nil {
		return second
	}
	return first
}
