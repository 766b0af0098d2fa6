package pipeline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"memoir"
	"memoir/model"
	"memoir/model/modeltest"
	"memoir/pipeline"
)

func TestWhatAModelIsCalledWith(t *testing.T) {
	t.Parallel()
	half := 0.5
	settings := load(t, `
providers:
  openai: {effort: low, timeoutSeconds: 30}
  proxy: {baseURL: 'https://proxy.example/v1', keyEnv: PROXY_KEY, window: 32000, inputPrice: 1, outputPrice: 2}
  work: {api: anthropic, keyCommand: [pass, work]}
  other: {api: openai-responses}
  ollama: {baseURL: 'http://box:11434/v1', temperature: 0.5}
  tool: {api: exec, command: [ask, -q], timeoutSeconds: 5}
  mine: {api: exec, preset: claude, command: [/opt/claude]}
models:
  openai/gpt-5: {effort: high, maxOutputTokens: 4000}
  proxy/a/b: {outputPrice: 3, cachedPrice: 0.1}
  exec/claude/opus: {window: 200000}
`)
	const minutes = 10 * time.Minute
	for _, test := range []struct {
		model string
		want  model.Options
		key   model.Key
	}{
		{"builtin", model.Options{}, model.Key{}},
		{"openai/gpt-5", model.Options{API: model.APIResponses, BaseURL: "https://api.openai.com/v1", Effort: "high", MaxOutput: 4000, Timeout: 30 * time.Second},
			model.Key{Provider: "openai", Variable: "OPENAI_API_KEY"}},
		{"openai/gpt-5-mini", model.Options{API: model.APIResponses, BaseURL: "https://api.openai.com/v1", Effort: "low", Timeout: 30 * time.Second},
			model.Key{Provider: "openai", Variable: "OPENAI_API_KEY"}},
		{"proxy/a/b", model.Options{API: model.APIChat, BaseURL: "https://proxy.example/v1", Window: 32000, Timeout: minutes, Price: model.Price{Input: 1, Cached: 0.1, Output: 3}},
			model.Key{Provider: "proxy", Variable: "PROXY_KEY"}},
		{"work/m", model.Options{API: model.APIAnthropic, BaseURL: "https://api.anthropic.com", Timeout: minutes},
			model.Key{Provider: "work", Command: []string{"pass", "work"}}},
		{"other/m", model.Options{API: model.APIResponses, BaseURL: "https://api.openai.com/v1", Timeout: minutes},
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
		c.Key.Origin, c.Key.VariableOrigin = "", ""
		if diff := cmp.Diff(test.want, c.Options); diff != "" {
			t.Errorf("%s: %s", test.model, diff)
		}
		if diff := cmp.Diff(test.key, c.Key); diff != "" {
			t.Errorf("%s: key: %s", test.model, diff)
		}
	}
}

func TestEachPhaseAsksTheModelOfItsRole(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{ // the models of Phase 1 and Phase 2
		"modelRoles: {default: mine/d}":                                                   "d d",
		"modelRoles: {default: mine/d, smol: mine/s}":                                     "d s",
		"modelRoles: {default: mine/d, smol: builtin}":                                    "d -",
		"modelRoles: {smol: mine/s}":                                                      "- s",
		"modelRoles: {default: mine/d, phase1: builtin, smol: mine/s}":                    "- s",
		"modelRoles: {default: mine/d, phase1: mine/one, smol: mine/s}":                   "one s",
		"modelRoles: {phase1: mine/one, phase2: builtin}":                                 "one -",
		"modelRoles: {default: mine/d, smol: mine/s, phase1: builtin, phase2: mine/two}":  "- two",
		"modelRoles: {default: mine/d, smol: mine/s, phase1: mine/one, phase2: mine/two}": "one two",
		"modelRoles: {default: builtin, smol: mine/s, phase1: mine/one}":                  "one s",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(program, []byte("#!/bin/sh\necho x >>\"$0.runs\"\necho k-of-command\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			server := modeltest.OpenAIChat(t, func(_ int, c modeltest.Call) modeltest.Step { return answeredWell(t, c) })
			home, dir := prompted(t, 2)
			o := options(home, dir)
			o.Settings = load(t, yaml+"\nproviders: {mine: {api: openai-chat, baseURL: '"+server.URL+"/v1', keyCommand: ["+program+"]}}")
			if report := run(t, o); len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished || report.Phase1.Stored != 2 {
				t.Fatalf("%+v, %+v", report.Phase1, report.Phase2)
			}
			if runs, err := os.ReadFile(program + ".runs"); err != nil || string(runs) != "x\n" {
				t.Errorf("the command ran %q, %v", runs, err)
			}
			models := [2]string{"-", "-"}
			for _, c := range server.Calls() {
				var body struct{ Model string }
				if err := json.Unmarshal(c.Body, &body); err != nil {
					t.Fatal(err)
				}
				phase := 0
				if _, consolidates := asked(t, c); consolidates {
					phase = 1
				}
				if other := models[phase]; other != "-" && other != body.Model || c.Header.Get("Authorization") != "Bearer k-of-command" {
					t.Errorf("phase %d asked %s and %s, with %s", phase+1, other, body.Model, c.Header.Get("Authorization"))
				}
				models[phase] = body.Model
			}
			if got := strings.Join(models[:], " "); got != want {
				t.Errorf("%s: asked %s", yaml, got)
			}
		})
	}
}

func TestAModelThatCannotBeHadIsToldWithItsPlaceAndANearName(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string][2]string{
		"modelRoles:\n  phase1: opnai/gpt-5\n":                                   {"config.yml:2: modelRoles.phase1: provider \"opnai\" is neither known nor configured", "did you mean openai/gpt-5?"},
		"modelRoles: {default: antropic/a/b}\n":                                  {"config.yml:1: modelRoles.default: provider", "did you mean anthropic/a/b?"},
		"modelRoles: {smol: exec/cluade/opus}\n":                                 {"config.yml:1: modelRoles.smol: no command is known", "did you mean exec/claude/opus?"},
		"modelRoles: {smol: mien/x}\nproviders: {mine: {baseURL: 'http://x'}}\n": {"config.yml:1: modelRoles.smol: provider", "did you mean mine/x?"},
		"modelRoles: {default: bultin}\n":                                        {"config.yml:1: modelRoles.default: model", "did you mean builtin?"},
		"modelRoles: {default: somewhere/x}\n":                                   {"config.yml:1: modelRoles.default: provider", "use builtin, "},
		"modelRoles: {default: gpt-5}\n":                                         {"config.yml:1: modelRoles.default: model", "write provider/model"},
	} {
		settings := load(t, yaml)
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

func TestBothPhasesKnowTheConfiguredCapAndWarnOfWhatIsNotRead(t *testing.T) {
	t.Parallel()
	for role, least := range map[string]int64{"phase1": 700, "phase2": 5000} {
		server := modeltest.OpenAIChat(t, func(int, modeltest.Call) modeltest.Step {
			return modeltest.Step{Text: "{}", Usage: memoir.Usage{InputTokens: 50, OutputTokens: 1}}
		})
		dir, _ := fixtures(t)
		o := options(t.TempDir(), dir)
		o.Settings = load(t, "modelRoles: {"+role+": mine/m}\nproviders: {mine: {baseURL: '"+server.URL+"/v1', maxOutputTokens: 700, window: 100000}}")
		report, err := tryRun(t.Context(), t, o)
		if err != nil && memoir.CodeOf(err) != memoir.CodeModel { // it is of no use
			t.Fatal(err)
		}
		calls := server.Calls()
		if len(calls) == 0 {
			t.Fatalf("%s: nobody was asked", role)
		}
		if asked := gjson.GetBytes(calls[0].Body, "max_tokens").Int(); asked < least || role == "phase1" && asked != least {
			t.Errorf("%s: asked for %d tokens", role, asked)
		}
		warned := 0
		for _, w := range report.Warnings {
			if strings.Contains(w.Message, "mine/m read 50 of about") && strings.Contains(w.Hint, "OLLAMA_CONTEXT_LENGTH") {
				warned++
			}
		}
		if role == "phase2" && warned != 1 { // the sessions are short, a memory's question is not
			t.Errorf("%s: %d warnings: %+v", role, warned, report.Warnings)
		}
	}
}

func TestAServerNearbyNeedsNoKey(t *testing.T) {
	t.Parallel()
	for at, need := range map[string]bool{
		"http://127.0.0.1:4000/v1": false, "http://localhost:1/v1": false, "http://LOCALHOST.:1": false, "http://[::1]:9/v1": false,
		"http://192.168.1.5:1": false, "http://10.1.2.3": false, "http://box:11434/v1": false, "http://gpu.local": false, "http://host.docker.internal:1": false,
		"http://0.0.0.0:1": false, "https://proxy.example/v1": true, "https://8.8.8.8/v1": true, "https://localhost.example/v1": true, "https://[2606:4700::1]/v1": true,
		"https://api.openai.com/v1": true, "https://internal.example": true,
	} {
		for _, name := range []string{"openai", "anthropic"} {
			settings := load(t, "providers: {"+name+": {baseURL: '"+at+"'}}")
			c, err := model.Choose(settings, model.Role{Setting: "modelRoles.default", Model: name + "/m"})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Check(getenv(nil)); (err != nil) != need {
				t.Errorf("%s at %s: %v", name, at, err)
			}
		}
	}
	// A variable that a person named is wanted wherever the server is, and so is a command.
	settings := load(t, "providers: {openai: {baseURL: 'http://127.0.0.1:1/v1', keyEnv: MINE}}")
	c, err := model.Choose(settings, model.Role{Setting: "modelRoles.default", Model: "openai/m"})
	if err == nil {
		err = c.Check(getenv(map[string]string{"OPENAI_API_KEY": "k"}))
	}
	if memoir.CodeOf(err) != memoir.CodeConfig || !strings.Contains(err.Error(), "the variable MINE is not set") {
		t.Errorf("got %v", err)
	}
}

func TestAKnownProviderAtALocalServerWorksWithoutAKey(t *testing.T) {
	t.Parallel()
	server := modeltest.OpenAIChat(t, modeltest.Script(modeltest.Step{Text: emptyExtraction}))
	home, dir := prompted(t, 2)
	for _, key := range []string{"", "k-of-mine"} {
		o := options(home, dir)
		o.Settings = load(t, "modelRoles: {phase1: openai/m}\nproviders: {openai: {api: openai-chat, baseURL: '"+server.URL+"/v1'}}")
		o.Env.Getenv = getenv(map[string]string{"OPENAI_API_KEY": key})
		if report := run(t, o); report.Phase1.Empty != 2 {
			t.Fatalf("%+v", report.Phase1)
		}
		for _, call := range server.Calls() {
			if got := strings.TrimPrefix(call.Header.Get("Authorization"), "Bearer "); got != key {
				t.Errorf("sent %q, want %q", got, key)
			}
		}
		home, dir = prompted(t, 2)
		server = modeltest.OpenAIChat(t, modeltest.Script(modeltest.Step{Text: emptyExtraction}))
	}
}
