package model

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
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
  anthropic: {baseURL: 'https://proxy.example'}
  gemini: {baseURL: 'https://proxy.example', keyEnv: MINE}
  openrouter: {api: exec, command: [ask]}
  tool: {api: exec, command: [ask, -q], timeoutSeconds: 5}
  mine: {api: exec, preset: claude, command: [/opt/claude]}
  exec: {window: 200000}
`)
	for _, test := range []struct {
		model string
		want  Options
		key   Key
	}{
		{"builtin", Options{}, Key{}},
		{"openai/gpt-5", Options{API: APIChat, BaseURL: "https://api.openai.com/v1", Effort: "low", MaxOutput: 4000, Timeout: 30 * time.Second},
			Key{Provider: "openai", Variable: "OPENAI_API_KEY"}},
		{"proxy/a/b", Options{API: APIChat, BaseURL: "https://proxy.example/v1", Window: 32000, Price: Price{Input: 1, Cached: 0.1, Output: 3}},
			Key{Provider: "proxy", Variable: "PROXY_KEY"}},
		{"work/m", Options{API: APIAnthropic, BaseURL: "https://api.anthropic.com"},
			Key{Provider: "work", Command: []string{"pass", "work"}}},
		{"other/m", Options{API: APIChat, BaseURL: "https://api.openai.com/v1"},
			Key{Provider: "other", Variable: "OPENAI_API_KEY"}},
		{"ollama/m", Options{API: APIChat, BaseURL: "http://box:11434/v1", Temperature: &half}, Key{Provider: "ollama"}},
		// A known provider's key is not missed at another server, unless it is named.
		{"anthropic/m", Options{API: APIAnthropic, BaseURL: "https://proxy.example"},
			Key{Provider: "anthropic", Variable: "ANTHROPIC_API_KEY", Optional: true}},
		{"gemini/m", Options{API: APIChat, BaseURL: "https://proxy.example"}, Key{Provider: "gemini", Variable: "MINE"}},
		{"lmstudio/m", Options{API: APIChat, BaseURL: "http://127.0.0.1:1234/v1"}, Key{Provider: "lmstudio"}},
		{"openrouter/m", Options{API: APIExec, Command: []string{"ask"}}, Key{Provider: "openrouter"}}, // a program needs no key
		{"tool/m", Options{API: APIExec, Command: []string{"ask", "-q"}, Timeout: 5 * time.Second}, Key{Provider: "tool"}},
		{"mine/opus", Options{API: APIExec, Command: []string{"/opt/claude"}, Preset: "claude"}, Key{Provider: "mine"}},
		{"exec/claude/opus", Options{API: APIExec, Window: 200000}, Key{Provider: "exec"}},
	} {
		c, err := Choose(settings, Role{Setting: "modelRoles.default", Model: test.model})
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
	for _, p := range presets { // settings allow each of them
		settingsOf(t, "providers: {x: {preset: "+p.name+"}}\n")
	}
}

func TestAModelThatCannotBeHadIsToldWithItsPlaceAndANearName(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string][2]string{
		"modelRoles:\n  phase1: opnai/gpt-5\n":                                   {"config.yml:2: modelRoles.phase1: provider \"opnai\" is neither known nor configured", "did you mean openai/gpt-5?"},
		"modelRoles: {default: antropic/a/b}\n":                                  {"config.yml:1: modelRoles.default: provider", "did you mean anthropic/a/b?"},
		"modelRoles: {smol: exec/cluade/opus}\n":                                 {`config.yml:1: modelRoles.smol: exec/cluade/opus has the unknown preset "cluade"`, "use one of claude, codex, pi, omp, opencode, or"},
		"modelRoles: {smol: mien/x}\nproviders: {mine: {baseURL: 'http://x'}}\n": {"config.yml:1: modelRoles.smol: provider", "did you mean mine/x?"},
		"modelRoles: {default: bultin}\n":                                        {"config.yml:1: modelRoles.default: \"bultin\"", "or builtin"},
		"modelRoles: {default: somewhere/x}\n":                                   {"config.yml:1: modelRoles.default: provider", "use builtin, "},
		"modelRoles: {default: mine/x}\nproviders: {mine: {effort: low}}\n":      {"config.yml:1: modelRoles.default: provider mine has no address", "set providers.mine.baseURL"},
		"modelRoles: {default: gpt-5}\n":                                         {"config.yml:1: modelRoles.default: \"gpt-5\"", "write provider/model"},
	} {
		settings := settingsOf(t, yaml)
		var err error
		for _, role := range Roles(settings) {
			if _, failed := Choose(settings, role); failed != nil {
				err = failed
			}
		}
		if err == nil || !strings.Contains(err.Error(), want[0]) || !strings.Contains(memoir.HintOf(err), want[1]) {
			t.Errorf("%s: got %v; %s", yaml, err, memoir.HintOf(err))
		}
	}
}

func TestTheNameOfAModel(t *testing.T) {
	t.Parallel()
	settings := config.Settings{Providers: map[string]config.Provider{"mine": {}}}
	for text, want := range map[string]Spec{
		"builtin":                    {Builtin, ""},
		"openrouter/meta/llama:free": {"openrouter", "meta/llama:free"},
		" anthropic/claude-opus-5\n": {"anthropic", "claude-opus-5"},
		"exec/codex/gpt-5":           {"exec", "codex/gpt-5"},
		"mine/x":                     {"mine", "x"},
	} {
		spec, err := SpecOf(settings, text)
		if err != nil || spec != want || spec.String() != strings.TrimSpace(text) || spec.Builtin() != (text == "builtin") {
			t.Errorf("%q: got %v, %v", text, spec, err)
		}
	}
	for text, want := range map[string]string{
		"":             `"" is not the name of a model; write provider/model, or builtin`,
		"gpt":          `"gpt" is not the name`,
		"/x":           `"/x" is not the name`,
		"exec/":        `"exec/" is not the name`,
		"openai/gpt/":  `"openai/gpt/" is not the name`,
		"open ai/gpt":  `"open ai/gpt" is not the name`,
		"a/b\x00":      `is not the name of a model`,
		"builtin/x":    `provider "builtin" is neither known nor configured; use builtin, anthropic,`,
		"opnai/gpt-5":  `provider "opnai" is neither known nor configured; did you mean openai/gpt-5?`,
		"OpenAI/gpt-5": `provider "OpenAI" is neither known nor configured; did you mean openai/gpt-5?`,
		"Exec/claude":  `provider "Exec" is neither known nor configured; did you mean exec/claude?`,
		"MINE/x":       `provider "MINE" is neither known nor configured; did you mean mine/x?`,
	} {
		spec, err := SpecOf(settings, text)
		if memoir.CodeOf(err) != memoir.CodeConfig || spec != (Spec{}) {
			t.Errorf("%q: got %v, %v", text, spec, err)
		} else if got := err.Error() + "; " + memoir.HintOf(err); !strings.Contains(got, want) {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestAProviderWithoutAKeyIsThisMachine(t *testing.T) {
	t.Parallel()
	for name, p := range providers {
		u, err := url.Parse(p.baseURL)
		if err != nil {
			t.Fatal(err)
		}
		local := p.api == APIExec || net.ParseIP(u.Hostname()).IsLoopback()
		if local != (p.keyEnv == "") || !local && u.Scheme != "https" || strings.HasSuffix(u.Path, "/") {
			t.Errorf("%s: %s, key in %q", name, p.baseURL, p.keyEnv)
		}
	}
}
