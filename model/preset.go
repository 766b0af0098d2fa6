package model

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"memoir"
	"memoir/internal/failpoint"
)

// preset is an agent that answers a question as a model does: without tools, hooks or
// servers and, where it can, without keeping a session.
type preset struct {
	name    string
	program string // what is started unless a person names another
	invoke  func(q question, s scratch) (invocation, error)
	read    func(out printed, s scratch) reading // also reads what a failed program printed
}

// presets are the known agents. preset_read.go has their answers.
var presets = []preset{
	{"claude", "claude", askClaude, readClaude},
	{"codex", "codex", askCodex, readCodex},
	{"pi", "pi", askPi, readPi},
	{"omp", "omp", askOMP, readPi},
	{"opencode", "opencode", askOpenCode, readOpenCode},
	{"gemini", "gemini", askGemini, readGemini},
	{"llm", "llm", askLLM, func(out printed, _ scratch) reading { return reading{text: string(out.stdout)} }},
}

// Presets returns the names of the known agents.
func Presets() []string {
	var names []string
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

// question is a request as a preset sees it.
type question struct {
	Request
	model       string // as the agent calls it; empty: the agent's own choice
	effort      string
	temperature *float64
}

// system is the system prompt. Without one the agent would use its own, which is about
// tools and files.
func (q question) system() string {
	if q.System == "" {
		return "Answer the question."
	}
	return q.System
}

// scratch are the directories of one call.
type scratch struct {
	work  string // where the program runs: empty, but for settings that it reads nowhere else
	files string // what it is told to read, and writes its answer to
	temp  string // its temporary files
}

// write adds a file that the program is told to read, and returns its path.
func (s scratch) write(name, content string) (string, error) {
	path := filepath.Join(s.files, name)
	return path, failpoint.WriteFile(path, []byte(content), 0o600)
}

// invocation is how a program is started.
type invocation struct {
	args  []string
	env   []string
	stdin string
}

// flag is a switch with a value, nothing where the value is empty.
func flag(name, value string) []string {
	if value == "" {
		return nil
	}
	return []string{name, value}
}

// object writes a value made here as JSON.
func object(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// askClaude asks Claude Code, with a subscription or a key. It reads no settings, so no
// hooks and no memory.
func askClaude(q question, s scratch) (invocation, error) {
	system, err := s.write("system.md", q.system())
	if err != nil {
		return invocation{}, err
	}
	effort := q.effort
	if effort == "none" || effort == "minimal" {
		effort = "low" // it has nothing less
	}
	args := slices.Concat(
		[]string{"-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--setting-sources", "",
			"--disable-slash-commands", "--no-session-persistence", "--system-prompt-file", system},
		flag("--model", q.model),
		flag("--json-schema", string(q.Schema)),
		flag("--effort", effort),
	)
	env := []string{"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_RETRIES=1"} // the caller repeats calls, with longer waits
	if q.MaxOutput > 0 {
		env = append(env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS="+strconv.Itoa(q.MaxOutput))
	}
	return invocation{args, env, prompt(q.Request, false, false)}, nil
}

// lastMessage is the file that Codex writes its answer to.
const lastMessage = "answer.txt"

// askCodex asks Codex CLI. It ignores the person's config.toml, and with it servers, hooks
// and the choice of a model, but keeps their login. Some 30 KB of its own system prompt and
// tools cannot be left out.
func askCodex(q question, s scratch) (invocation, error) {
	system, err := s.write("system.md", q.system())
	if err != nil {
		return invocation{}, err
	}
	args := []string{"exec", "--ephemeral", "--json", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules",
		"-s", "read-only", "-C", s.work, "-o", filepath.Join(s.files, lastMessage),
		"-c", "model_instructions_file=" + object(system), "-c", `web_search="disabled"`, "-c", "project_doc_max_bytes=0"}
	for _, feature := range []string{"hooks", "shell_tool", "apps", "plugins", "multi_agent", "memories"} {
		args = append(args, "--disable", feature)
	}
	if q.Schema != nil {
		path, err := s.write("schema.json", string(q.Schema))
		if err != nil {
			return invocation{}, err
		}
		args = append(args, "--output-schema", path)
	}
	args = append(args, flag("-m", q.model)...)
	if q.effort != "" {
		args = append(args, "-c", "model_reasoning_effort="+object(q.effort))
	}
	return invocation{args: append(args, "-"), stdin: prompt(q.Request, false, false)}, nil
}

// askPi asks pi, whose request holds what is asked and nothing else.
func askPi(q question, s scratch) (invocation, error) {
	return askPiLike(q, s, "--no-context-files", "--no-prompt-templates", "--no-mcp", "--no-approve")
}

// askOMP asks oh-my-pi. It has no switch against servers: those called memoir are disabled
// by name, a person's others are started but not used.
func askOMP(q question, s scratch) (invocation, error) {
	overlay, err := s.write("overlay.yml", "disabledExtensions: [\"mcp:memoir\"]\n")
	if err != nil {
		return invocation{}, err
	}
	return askPiLike(q, s, "--no-rules", "--no-lsp", "--no-title", "--config="+overlay)
}

// askPiLike asks pi or oh-my-pi. Both take a file's name as system prompt.
func askPiLike(q question, s scratch, switches ...string) (invocation, error) {
	system, err := s.write("system.md", q.system())
	if err != nil {
		return invocation{}, err
	}
	if q.effort == "none" {
		q.effort = "off"
	}
	args := slices.Concat(
		[]string{"-p", "--mode", "json", "--no-session", "--no-tools", "--no-extensions", "--no-skills",
			"--system-prompt", system},
		switches,
		flag("--model", q.model),
		flag("--thinking", q.effort),
	)
	return invocation{args: args, stdin: prompt(q.Request, false, true)}, nil
}

// askOpenCode asks OpenCode. It keeps each run as a session, in a database of its own here.
func askOpenCode(q question, s scratch) (invocation, error) {
	agent := map[string]any{"mode": "primary", "prompt": q.system(),
		"tools": map[string]bool{"*": false}, "permission": map[string]string{"*": "deny"}}
	if q.temperature != nil {
		agent["temperature"] = *q.temperature
	}
	// It is merged over the person's own settings, which name their providers.
	config := object(map[string]any{
		"agent": map[string]any{"memoir": agent},
		"mcp":   map[string]any{"memoir": map[string]any{"enabled": false}},
		"share": "disabled", "autoupdate": false, "snapshot": false,
	})
	if q.effort == "none" {
		q.effort = ""
	}
	args := slices.Concat(
		[]string{"run", "--pure", "--format", "json", "--agent", "memoir", "--title", memoir.OwnRunMarker},
		flag("--model", q.model),
		flag("--variant", q.effort),
	)
	env := []string{"OPENCODE_CONFIG_CONTENT=" + config, "OPENCODE_DB=" + filepath.Join(s.files, "sessions.db")}
	return invocation{args, env, prompt(q.Request, false, true)}, nil
}

// askGemini asks Gemini CLI. It keeps each run as a session and each directory that it ran
// in as a project, so it gets a home of its own that links to the person's login and
// settings. Settings of the directory that it runs in disable what no option does.
func askGemini(q question, s scratch) (invocation, error) {
	system, err := s.write("system.md", q.system())
	if err != nil {
		return invocation{}, err
	}
	settings := filepath.Join(s.work, ".gemini", "settings.json")
	if err := failpoint.Mkdir(filepath.Dir(settings), 0o700); err != nil {
		return invocation{}, err
	}
	if err := failpoint.WriteFile(settings, []byte(object(map[string]any{
		"general":     map[string]any{"maxAttempts": 2}, // the caller repeats calls, with longer waits
		"hooksConfig": map[string]any{"enabled": false},
		"context":     map[string]any{"fileName": []string{"memoir-reads-none.md"}},
		"skills":      map[string]any{"enabled": false},
		"tools":       map[string]any{"core": []string{"none"}},
	})), 0o600); err != nil {
		return invocation{}, err
	}
	env := []string{"GEMINI_SYSTEM_MD=" + system, "GEMINI_CLI_TRUST_WORKSPACE=true"}
	if home, err := geminiHome(s); err == nil {
		env = append(env, "GEMINI_CLI_HOME="+home)
	}
	args := append([]string{"--output-format", "json", "--skip-trust", "--approval-mode", "plan",
		"-e", "none", "--allowed-mcp-server-names", "none"}, flag("-m", q.model)...)
	return invocation{args, env, prompt(q.Request, false, true)}, nil
}

// geminiHome makes a home directory with links to what the person's has, except for what a
// run would change or read as context.
func geminiHome(s scratch) (string, error) {
	theirs := os.Getenv("GEMINI_CLI_HOME")
	if theirs == "" {
		var err error
		if theirs, err = os.UserHomeDir(); err != nil {
			return "", err
		}
	}
	home := filepath.Join(s.files, "home")
	if err := failpoint.MkdirAll(filepath.Join(home, ".gemini"), 0o700); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(filepath.Join(theirs, ".gemini"))
	if err != nil && !os.IsNotExist(err) {
		return "", err
	}
	names := []string{".env"}
	for _, e := range entries {
		switch e.Name() {
		case "tmp", "history", "projects.json", "GEMINI.md", "skills", "extensions", "commands", "agents", "policies":
		default:
			names = append(names, filepath.Join(".gemini", e.Name()))
		}
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(theirs, name)); err != nil {
			continue
		}
		if err := failpoint.Symlink(filepath.Join(theirs, name), filepath.Join(home, name)); err != nil {
			return "", err
		}
	}
	return home, nil
}

// askLLM asks Simon Willison's llm without writing to its log. A schema is asked for in
// words, since not every model of it takes one.
func askLLM(q question, _ scratch) (invocation, error) {
	args := append([]string{"prompt", "--no-log", "--no-stream"}, flag("--model", q.model)...)
	return invocation{args: args, stdin: prompt(q.Request, true, true)}, nil
}
