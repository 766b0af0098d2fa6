package model_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
	"memoir/model"
)

// settingsOf are those of a configuration file.
func settingsOf(t *testing.T, yaml string) config.Settings {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := config.Load(config.Options{ConfigDir: dir, Environ: []string{"HOME=" + dir}})
	if err != nil {
		t.Fatal(err)
	}
	return settings
}

// getenv is an environment of these variables alone.
func getenv(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

func TestWhatAModelIsCalledWith(t *testing.T) {
	t.Parallel()
	half := 0.5
	settings := settingsOf(t, `
providers:
  openai: {effort: low, timeoutSeconds: 30, maxOutputTokens: 4000}
  proxy: {baseURL: 'https://proxy.example/v1', keyEnv: PROXY_KEY, window: 32000, inputPrice: 1, outputPrice: 3, cachedPrice: 0.1}
  work: {api: anthropic, keyCommand: [pass, work]}
  other: {api: openai-chat}
  ollama: {baseURL: 'http://box:11434/v1', temperature: 0.5}
  tool: {api: exec, command: [ask, -q], timeoutSeconds: 5}
  mine: {api: exec, preset: claude, command: [/opt/claude]}
  exec: {window: 200000}
`)
	const minutes = 10 * time.Minute
	for _, test := range []struct {
		model string
		want  model.Options
		key   model.Key
	}{
		{"builtin", model.Options{}, model.Key{}},
		{"openai/gpt-5", model.Options{API: model.APIChat, BaseURL: "https://api.openai.com/v1", Effort: "low", MaxOutput: 4000, Timeout: 30 * time.Second},
			model.Key{Provider: "openai", Variable: "OPENAI_API_KEY"}},
		{"proxy/a/b", model.Options{API: model.APIChat, BaseURL: "https://proxy.example/v1", Window: 32000, Timeout: minutes, Price: model.Price{Input: 1, Cached: 0.1, Output: 3}},
			model.Key{Provider: "proxy", Variable: "PROXY_KEY"}},
		{"work/m", model.Options{API: model.APIAnthropic, BaseURL: "https://api.anthropic.com", Timeout: minutes},
			model.Key{Provider: "work", Command: []string{"pass", "work"}}},
		{"other/m", model.Options{API: model.APIChat, BaseURL: "https://api.openai.com/v1", Timeout: minutes},
			model.Key{Provider: "other", Variable: "OPENAI_API_KEY"}},
		{"ollama/m", model.Options{API: model.APIChat, BaseURL: "http://box:11434/v1", Temperature: &half, Timeout: minutes}, model.Key{Provider: "ollama"}},
		{"lmstudio/m", model.Options{API: model.APIChat, BaseURL: "http://127.0.0.1:1234/v1", Timeout: minutes}, model.Key{Provider: "lmstudio"}},
		{"tool/m", model.Options{API: model.APIExec, Command: []string{"ask", "-q"}, Timeout: 5 * time.Second}, model.Key{Provider: "tool"}},
		{"mine/opus", model.Options{API: model.APIExec, Command: []string{"/opt/claude"}, Preset: "claude", Timeout: minutes}, model.Key{Provider: "mine"}},
		{"exec/claude/opus", model.Options{API: model.APIExec, Window: 200000, Timeout: minutes}, model.Key{Provider: "exec"}},
	} {
		c, err := model.Choose(settings, model.Role{Setting: "modelRoles.default", Model: test.model})
		if err != nil {
			t.Errorf("%s: %v", test.model, err)
			continue
		}
		c.Key.Origin = ""
		if diff := cmp.Diff(test.want, c.Options); diff != "" {
			t.Errorf("%s: %s", test.model, diff)
		}
		if diff := cmp.Diff(test.key, c.Key); diff != "" {
			t.Errorf("%s: key: %s", test.model, diff)
		}
	}
}

func TestAModelThatCannotBeHadIsToldWithItsPlaceAndANearName(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string][2]string{
		"modelRoles:\n  phase1: opnai/gpt-5\n":                                   {"config.yml:2: modelRoles.phase1: provider \"opnai\" is neither known nor configured", "did you mean openai/gpt-5?"},
		"modelRoles: {default: antropic/a/b}\n":                                  {"config.yml:1: modelRoles.default: provider", "did you mean anthropic/a/b?"},
		"modelRoles: {smol: exec/cluade/opus}\n":                                 {"config.yml:1: modelRoles.smol: no command is known", "use one of claude, codex"},
		"modelRoles: {smol: mien/x}\nproviders: {mine: {baseURL: 'http://x'}}\n": {"config.yml:1: modelRoles.smol: provider", "did you mean mine/x?"},
		"modelRoles: {default: bultin}\n":                                        {"config.yml:1: modelRoles.default: \"bultin\"", "or builtin"},
		"modelRoles: {default: somewhere/x}\n":                                   {"config.yml:1: modelRoles.default: provider", "use builtin, "},
		"modelRoles: {default: gpt-5}\n":                                         {"config.yml:1: modelRoles.default: \"gpt-5\"", "write provider/model"},
	} {
		settings := settingsOf(t, yaml)
		var err error
		for _, role := range model.Roles(settings.ModelRoles) {
			if _, failed := model.Choose(settings, role); failed != nil {
				err = failed
			}
		}
		if err == nil || !strings.Contains(err.Error(), want[0]) || !strings.Contains(memoir.HintOf(err), want[1]) {
			t.Errorf("%s: got %v; %s", yaml, err, memoir.HintOf(err))
		}
	}
}

func TestAKnownProviderAtAnotherServerNeedsNoKey(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"providers: {openai: {baseURL: 'http://127.0.0.1:4000/v1'}}":               "",
		"providers: {anthropic: {baseURL: 'https://proxy.example'}}":               "",
		"providers: {anthropic: {effort: low}}":                                    "the variable ANTHROPIC_API_KEY is not set",
		"providers: {openai: {effort: low}}":                                       "the variable OPENAI_API_KEY is not set",
		"providers: {openai: {baseURL: 'http://127.0.0.1:1/v1', keyEnv: MINE}}":    "the variable MINE is not set",
		"providers: {anthropic: {baseURL: 'https://proxy.example', keyEnv: MINE}}": "the variable MINE is not set",
	} {
		name := "openai/m"
		if strings.Contains(yaml, "anthropic") {
			name = "anthropic/m"
		}
		c, err := model.Choose(settingsOf(t, yaml), model.Role{Setting: "modelRoles.default", Model: name})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Check(getenv(nil)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}
