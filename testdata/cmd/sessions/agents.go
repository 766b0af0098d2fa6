package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"memoir"
	"memoir/testdata/mockmodel"
)

// agent is a coding agent that works without a person at its terminal.
type agent struct {
	source  memoir.Source
	command string
	// packages are what npm installs, each at the version that was verified.
	packages []string
	// kind is what its sessions without a terminal are.
	kind memoir.SessionKind
	// configure writes its settings and returns its environment.
	configure func(p place) ([]string, error)
	// prompt, resume and fork are the arguments with which it takes a prompt in
	// a new session, in the last one, and in a copy of that. fork is nil where
	// there is no such thing.
	prompt, resume func(prompt string) []string
	fork           func(prompt, id string) []string
	// forkKind is what a fork is where the format says less of it; "": as kind.
	forkKind memoir.SessionKind
	// late says that a call is written with its result: one that was interrupted
	// is in no file.
	late bool
	// helps says that it has sub-agents that take a task as text.
	helps bool
}

// agents lists the agents in the order of their rows.
var agents = []agent{
	{
		source: memoir.SourceClaude, command: "claude", packages: []string{"@anthropic-ai/claude-code@2.1.332"},
		kind:  memoir.KindAutomation,
		helps: true,
		configure: func(p place) ([]string, error) {
			return []string{"ANTHROPIC_BASE_URL=" + p.url, "ANTHROPIC_API_KEY=mock", "DISABLE_AUTOUPDATER=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
				"IS_SANDBOX=1"}, nil // else it does nothing unasked for root
		},
		prompt: after("-p", "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"),
		resume: after("-p", "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions", "--continue"),
		fork: func(prompt, id string) []string {
			return []string{"-p", "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions", "--resume", id,
				"--fork-session", prompt}
		},
	},
	{
		source: memoir.SourceCodex, command: "codex", packages: []string{"@openai/codex@0.171.0"},
		kind: memoir.KindAutomation,
		configure: func(p place) ([]string, error) {
			// The tool for patches is offered only to models that it knows.
			return []string{"MOCK_KEY=mock"}, p.write(".codex/config.toml", fmt.Sprintf(`model = "gpt-5.5"
model_provider = "mock"

[model_providers.mock]
name = "Mock"
base_url = %q
env_key = "MOCK_KEY"
wire_api = "responses"
`, p.url+"/v1"))
		},
		prompt: after("exec", "--dangerously-bypass-approvals-and-sandbox"),
		resume: after("exec", "--dangerously-bypass-approvals-and-sandbox", "resume", "--last"),
		fork: func(prompt, id string) []string {
			return []string{"exec", "fork", "--dangerously-bypass-approvals-and-sandbox", id, prompt}
		},
	},
	{
		source: memoir.SourcePi, command: "pi", packages: []string{"@earendil-works/pi-coding-agent@1.6.0"},
		kind: memoir.KindMain,
		configure: func(p place) ([]string, error) {
			return []string{"PI_OFFLINE=1"}, p.write(".pi/agent/models.json", toJSON(object{"providers": object{"mock": object{
				"baseUrl": p.url + "/v1", "apiKey": "mock", "api": "openai-completions",
				"models": []object{{"id": mockmodel.Model, "name": mockmodel.Model, "reasoning": false, "input": []string{"text"},
					"contextWindow": 200000, "maxTokens": 8000,
					"cost": object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}},
			}}}))
		},
		prompt: after("-p", "--model", "mock/"+mockmodel.Model),
		resume: after("-p", "--model", "mock/"+mockmodel.Model, "--continue"),
		fork: func(prompt, id string) []string {
			return []string{"-p", "--model", "mock/" + mockmodel.Model, "--fork", id, prompt}
		},
	},
	{
		source: memoir.SourceOMP, command: "omp", packages: []string{"@oh-my-pi/pi-coding-agent@18.2.3", "bun@1.4.5"},
		kind: memoir.KindMain,
		configure: func(p place) ([]string, error) {
			return nil, p.write(".omp/agent/models.yml", fmt.Sprintf(`providers:
  mock:
    baseUrl: %s/v1
    apiKey: mock
    api: openai-completions
    models:
      - id: %[2]s
        name: %[2]s
        reasoning: false
        input: [text]
        contextWindow: 200000
        maxTokens: 8000
`, p.url, mockmodel.Model))
		},
		prompt: after("-p", "--model", "mock/"+mockmodel.Model),
		resume: after("-p", "--model", "mock/"+mockmodel.Model, "--continue"),
	},
	{
		source: memoir.SourceOpenCode, command: "opencode", packages: []string{"opencode-ai@1.18.33"},
		kind: memoir.KindAutomation, forkKind: memoir.KindMain,
		helps: true,
		configure: func(p place) ([]string, error) {
			return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"},
				p.write(".config/opencode/opencode.json", toJSON(object{
					"model": "mock/" + mockmodel.Model, "small_model": "mock/" + mockmodel.Model,
					"autoupdate": false, "share": "disabled", "permission": object{"bash": "allow", "edit": "allow"},
					"provider": object{"mock": object{"npm": "@ai-sdk/openai-compatible", "name": "Mock",
						"options": object{"baseURL": p.url + "/v1", "apiKey": "mock"},
						"models": object{mockmodel.Model: object{"name": mockmodel.Model, "tool_call": true,
							"limit": object{"context": 200000, "output": 8000}}}}},
				}))
		},
		prompt: after("run"),
		resume: after("run", "--continue"),
		fork: func(prompt, id string) []string {
			return []string{"run", "--continue", "--fork", prompt}
		},
	},
	{
		source: memoir.SourceGemini, command: "gemini", packages: []string{"@google/gemini-cli@0.61.0"},
		kind: memoir.KindMain, late: true,
		helps: true,
		configure: func(p place) ([]string, error) {
			return []string{"GEMINI_API_KEY=mock", "GOOGLE_GEMINI_BASE_URL=" + p.url, "GEMINI_CLI_NO_RELAUNCH=true"},
				p.write(".gemini/settings.json", toJSON(object{
					"security": object{"auth": object{"selectedType": "gemini-api-key"}},
					"general":  object{"enableAutoUpdate": false}, "privacy": object{"usageStatisticsEnabled": false},
				}))
		},
		prompt: after("-m", "gemini-2.5-flash", "--skip-trust", "--approval-mode", "yolo", "-p"),
		resume: after("-m", "gemini-2.5-flash", "--skip-trust", "--approval-mode", "yolo", "--resume", "latest", "-p"),
	},
	{
		source: memoir.SourceQwen, command: "qwen", packages: []string{"@qwen-code/qwen-code@0.24.4"},
		kind:  memoir.KindMain,
		helps: true,
		configure: func(p place) ([]string, error) {
			return []string{"OPENAI_API_KEY=mock", "OPENAI_BASE_URL=" + p.url + "/v1", "OPENAI_MODEL=" + mockmodel.Model},
				p.write(".qwen/settings.json", toJSON(object{
					"security": object{"auth": object{"selectedType": "openai"}},
					"general":  object{"enableAutoUpdate": false}, "privacy": object{"usageStatisticsEnabled": false},
				}))
		},
		prompt: after("--yolo", "--auth-type", "openai", "-m", mockmodel.Model, "-p"),
		resume: after("--yolo", "--auth-type", "openai", "-m", mockmodel.Model, "--continue", "-p"),
	},
	{
		source: memoir.SourceCopilot, command: "copilot", packages: []string{"@github/copilot@1.0.102"},
		kind:  memoir.KindAutomation,
		helps: true,
		configure: func(p place) ([]string, error) {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + p.url + "/v1", "COPILOT_PROVIDER_TYPE=openai",
				"COPILOT_PROVIDER_API_KEY=mock", "COPILOT_MODEL=" + mockmodel.Model, "COPILOT_OFFLINE=true"}, nil
		},
		prompt: after("--allow-all", "--no-auto-update", "--disable-builtin-mcps", "-p"),
		resume: after("--allow-all", "--no-auto-update", "--disable-builtin-mcps", "--continue", "-p"),
	},
}

// after puts a prompt at the end of arguments.
func after(arguments ...string) func(string) []string {
	return func(prompt string) []string {
		return append(append([]string(nil), arguments...), prompt)
	}
}

// object is a JSON object.
type object = map[string]any

func toJSON(v any) string {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err) // the values are made here
	}
	return string(b) + "\n"
}

// write puts a file below the home directory.
func (p place) write(path, content string) error {
	return writeFile(filepath.Join(p.home, filepath.FromSlash(path)), content)
}
