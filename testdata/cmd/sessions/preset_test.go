//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/model"
	"memoir/testdata/mockmodel"
)

// What an agent is asked as a model.
const (
	presetSystem   = "You keep the log of a lighthouse. Nobody else may write it."
	presetQuestion = "Which lamp burnt last night, in one word?"
	presetAnswer   = `{"lamp":"north"}`
	presetSchema   = `{"type":"object","properties":{"lamp":{"type":"string"}},"required":["lamp"],"additionalProperties":false}`
)

// trap is what an agent's own settings start with each session, and leave a trace by.
type trap struct {
	// set adds a hook and a server called memoir to what configure wrote. Either is
	// a program that takes no arguments.
	set func(p place, hook, server string) error
	// as are the arguments that the program is given before the preset's: what the
	// preset keeps it from reading in its settings.
	as func(p place) []string
	// model is how the agent calls the mock.
	model string
	// control are the arguments of a run in which both are started.
	control []string
}

// extension is a hook of the agents whose hooks are programs.
func extension(p place, path, hook string) error {
	return p.write(path, fmt.Sprintf("import { execFileSync } from 'node:child_process';\nexport default function () { execFileSync(%q); }\n", hook))
}

// merge adds members to a JSON file below the home directory.
func (p place) merge(path string, more object) error {
	all := object{}
	if b, err := os.ReadFile(filepath.Join(p.home, path)); err == nil {
		if err := json.Unmarshal(b, &all); err != nil {
			return err
		}
	}
	for name, value := range more {
		all[name] = value
	}
	return p.write(path, toJSON(all))
}

var traps = map[memoir.Source]trap{
	memoir.SourceClaude: {
		set: func(p place, hook, server string) error {
			if err := p.merge(".claude/settings.json", object{"hooks": object{"SessionStart": []object{{"hooks": []object{{"type": "command", "command": hook}}}}}}); err != nil {
				return err
			}
			return p.merge(".claude.json", object{"mcpServers": object{"memoir": object{"type": "stdio", "command": server, "args": []string{}}}})
		},
		model: "claude-sonnet-4-5", control: []string{"-p", "--model", "claude-sonnet-4-5", presetQuestion},
	},
	memoir.SourceCodex: {
		set: func(p place, hook, server string) error {
			if err := p.write(".codex/hooks.json", toJSON(object{"hooks": object{"SessionStart": []object{{"matcher": "startup",
				"hooks": []object{{"type": "command", "command": hook, "timeout": 10}}}}}})); err != nil {
				return err
			}
			config, err := os.ReadFile(filepath.Join(p.home, ".codex/config.toml"))
			if err != nil {
				return err
			}
			return p.write(".codex/config.toml", string(config)+fmt.Sprintf("\n[mcp_servers.memoir]\ncommand = %q\n", server))
		},
		as: func(p place) []string {
			return []string{"-c", `model_provider="mock"`, "-c", fmt.Sprintf(`model_providers.mock={name="Mock",base_url=%q,env_key="MOCK_KEY",wire_api="responses"}`, p.url+"/v1")}
		},
		model: "gpt-5.5", control: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", presetQuestion},
	},
	memoir.SourcePi: {
		set: func(p place, hook, server string) error {
			if err := extension(p, ".pi/agent/extensions/memoir.ts", hook); err != nil {
				return err
			}
			return p.merge(".pi/agent/mcp.json", object{"mcpServers": object{"memoir": object{"command": server, "args": []string{}}}})
		},
		model: "mock/" + mockmodel.Model, control: []string{"-p", "--model", "mock/" + mockmodel.Model, presetQuestion},
	},
	memoir.SourceOMP: {
		set: func(p place, hook, server string) error {
			if err := extension(p, ".omp/agent/extensions/memoir.ts", hook); err != nil {
				return err
			}
			return p.merge(".omp/agent/mcp.json", object{"mcpServers": object{"memoir": object{"command": server, "args": []string{}}}})
		},
		model: "mock/" + mockmodel.Model, control: []string{"-p", "--model", "mock/" + mockmodel.Model, presetQuestion},
	},
	memoir.SourceOpenCode: {
		set: func(p place, hook, server string) error {
			if err := p.write(".config/opencode/plugin/memoir.js",
				fmt.Sprintf("import { execFileSync } from 'node:child_process';\nexport const Memoir = async () => { execFileSync(%q); return {}; };\n", hook)); err != nil {
				return err
			}
			return p.merge(".config/opencode/opencode.json", object{"mcp": object{"memoir": object{"type": "local", "command": []string{server}}}})
		},
		model: "mock/" + mockmodel.Model, control: []string{"run", presetQuestion},
	},
}

// The agents themselves answer as models, and start nothing else meanwhile. They are
// looked for below AGENTS_PREFIX, as `make sessions` has it.
func TestAgentsAnswerAsModels(t *testing.T) {
	prefix := os.Getenv("AGENTS_PREFIX")
	for _, a := range agents {
		trap, ok := traps[a.source]
		if !ok {
			continue
		}
		t.Run(string(a.source), func(t *testing.T) {
			command, path := "", ""
			if prefix != "" {
				command, path = find(a, prefix)
			}
			if command == "" {
				t.Skipf("%s is not installed below AGENTS_PREFIX %q", a.source, prefix)
			}
			askAgent(t, a, trap, command, path)
		})
	}
}

func askAgent(t *testing.T, a agent, trap trap, command, path string) {
	server := mockmodel.Start(mockmodel.Script{{Prompt: presetQuestion, Bare: true, Steps: []mockmodel.Step{{Text: presetAnswer}}}})
	defer server.Close()
	p, err := newPlace(t.TempDir(), server.URL, path)
	if err != nil {
		t.Fatal(err)
	}
	if p.env, err = a.configure(p); err != nil {
		t.Fatal(err)
	}
	hook, hooked := trace(t, p, "hook")
	mcp, served := trace(t, p, "server")
	if err := trap.set(p, hook, mcp); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runTime)
	defer cancel()

	// In a session of a person's both are started, or what follows would show nothing.
	if out, err := p.run(ctx, "", command, trap.control...); err != nil {
		t.Errorf("a run without the preset: %v\n%s", err, out)
	}
	if n, m := hooked(), served(); n == 0 || m == 0 {
		t.Errorf("without the preset the hook left %d traces, the server %d", n, m)
	}
	before := own(t, p)

	// As if a session that runs inside another one had started it.
	program := append([]string{"env", "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "GEMINI_CLI=1", "OPENCODE=1"}, p.environment()...)
	for i, entry := range program {
		if strings.HasPrefix(entry, "TMPDIR=") { // the model's own
			program = append(program[:i], program[i+1:]...)
			break
		}
	}
	program = append(program, command)
	if trap.as != nil {
		program = append(program, trap.as(p)...)
	}
	name := string(a.source) + "/" + trap.model
	m, err := model.Open(model.Spec{Provider: "exec", Model: name},
		model.Options{API: model.APIExec, Preset: string(a.source), Command: program, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", p.home) // a preset may look there itself
	asked := len(server.Calls())
	begin := time.Now()
	answer, err := m.Call(ctx, model.Request{System: presetSystem, Input: presetQuestion, Schema: json.RawMessage(presetSchema)})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s answered %q, stop %s, %+v, in %s", m.Name(), answer.Text, answer.Stop, answer.Usage, time.Since(begin).Round(100*time.Millisecond))
	if answer.Text != presetAnswer || answer.Stop != model.StopEnd {
		t.Errorf("answer %q, stop %s", answer.Text, answer.Stop)
	}
	if answer.Estimated || answer.Usage.Calls != 1 || answer.Usage.InputTokens == 0 || answer.Usage.OutputTokens == 0 {
		t.Errorf("usage %+v", answer.Usage)
	}
	for _, c := range server.Calls()[asked:] {
		t.Logf("asked %s, %d bytes, tools %s", c.Path, len(c.Body), gjson.GetBytes(c.Body, "tools.#.[name,function.name]"))
		if strings.Contains(string(c.Body), presetQuestion) && !strings.Contains(string(c.Body), presetSystem) {
			t.Error("the system prompt did not arrive")
		}
	}
	if n, m := hooked(), served(); n+m > 0 {
		t.Errorf("the hook was started %d times, the server %d", n, m)
	}
	if n := own(t, p) - before; n > 0 {
		t.Errorf("%d sessions were kept", n)
	}
	for _, path := range naming(p.home, "memoir-exec-") {
		t.Errorf("%s remembers the directory of the call", path)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "memoir-exec-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// trace makes a program that leaves a line in a file each time it is started, and a
// function that returns and forgets how often it was.
func trace(t *testing.T, p place, name string) (program string, started func() int) {
	program, file := filepath.Join(p.dir, name+".sh"), filepath.Join(p.dir, name+".trace")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho started >>'"+file+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, func() int {
		b, _ := os.ReadFile(file)
		_ = os.Remove(file)
		return strings.Count(string(b), "\n")
	}
}

// own counts the sessions below the home directory that are known as memoir's own runs.
// Any other one that holds what was asked after the first is an error.
func own(t *testing.T, p place) (n int) {
	t.Helper()
	sessions, problems, err := collect(t.Context(), p.home)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Log("not read:", problem)
	}
	persons := 0
	for _, s := range sessions {
		if s.head.Kind == memoir.KindOwnRun {
			n++
		} else if persons++; persons > 1 {
			t.Errorf("session %s, titled %q, passes for %s", s.head.ID, s.head.Title, s.head.Kind)
		}
	}
	return n
}

// naming returns the JSON files below a directory that hold a text.
func naming(dir, text string) (paths []string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if ext := filepath.Ext(path); err == nil && (ext == ".json" || ext == ".jsonl") {
			if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), text) {
				paths = append(paths, path)
			}
		}
		return nil
	})
	return paths
}
