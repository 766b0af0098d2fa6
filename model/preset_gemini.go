package model

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"memoir"
	"memoir/internal/failpoint"
)

// gemini is Gemini CLI. It keeps each run as a session and each directory that it ran in
// as a project, so it is given a home of its own that links to the person's login and
// settings; a version that wants none keeps sessions that the marker tells from a
// person's. Settings of the directory that it runs in switch off what no option does.
var gemini = preset{
	name: "gemini", program: "gemini",
	invoke: func(q question, s scratch) (invocation, error) {
		system, err := s.write("system.md", q.system())
		if err != nil {
			return invocation{}, err
		}
		settings := filepath.Join(s.work, ".gemini", "settings.json")
		if err := failpoint.Mkdir(filepath.Dir(settings), 0o700); err != nil {
			return invocation{}, err
		}
		if err := failpoint.WriteFile(settings, []byte(object(map[string]any{
			"general":     map[string]any{"maxAttempts": 2}, // who calls tries again, and waits for longer
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
		args := []string{"--output-format", "json", "--skip-trust", "--approval-mode", "plan",
			"-e", "none", "--allowed-mcp-server-names", "none"}
		args = append(args, flag("-m", q.model)...)
		return invocation{args: args, env: env, stdin: prompt(q.Request, false, true)}, nil
	},
	read: func(out printed, _ scratch) reading {
		var result struct {
			Response *string `json:"response"`
			Error    *struct {
				Type    string `json:"type"`
				Message string `json:"message"`
			} `json:"error"`
			Stats struct {
				Models map[string]struct {
					Tokens struct {
						Prompt     int64 `json:"prompt"`
						Candidates int64 `json:"candidates"`
						Thoughts   int64 `json:"thoughts"`
						Cached     int64 `json:"cached"`
					} `json:"tokens"`
				} `json:"models"`
			} `json:"stats"`
		}
		text := out.stdout
		if at := strings.LastIndex("\n"+out.stderr, "\n{\n"); len(text) == 0 && at >= 0 { // a failure is told there
			text = []byte(out.stderr[at:])
		}
		if err := json.Unmarshal(text, &result); err != nil || result.Response == nil && result.Error == nil {
			return notResult(out.stdout)
		}
		var r reading
		for _, m := range result.Stats.Models {
			t := m.Tokens
			r.usage = r.usage.Add(memoir.Usage{InputTokens: t.Prompt, CachedTokens: t.Cached, OutputTokens: t.Candidates + t.Thoughts})
		}
		if result.Response != nil {
			r.text = *result.Response
		}
		if result.Error != nil {
			r.objection = result.Error.Type + ": " + result.Error.Message
		}
		return r
	},
}

// geminiHome makes a home directory that has what a person's has, but for what a run
// would add to.
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
	for _, e := range entries {
		switch e.Name() {
		case "tmp", "history", "projects.json", "GEMINI.md", "skills", "extensions", "commands", "agents", "policies":
			continue
		}
		name := filepath.Join(".gemini", e.Name())
		if err := failpoint.Symlink(filepath.Join(theirs, name), filepath.Join(home, name)); err != nil {
			return "", err
		}
	}
	if _, err := os.Stat(filepath.Join(theirs, ".env")); err == nil {
		return home, failpoint.Symlink(filepath.Join(theirs, ".env"), filepath.Join(home, ".env"))
	}
	return home, nil
}
