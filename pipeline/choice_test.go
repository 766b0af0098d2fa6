package pipeline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/model/modeltest"
	"memoir/pipeline"
)

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

func TestBothPhasesKnowTheConfiguredCap(t *testing.T) {
	t.Parallel()
	for role, least := range map[string]int64{"phase1": 700, "phase2": 5000} {
		server := modeltest.OpenAIChat(t, func(int, modeltest.Call) modeltest.Step {
			return modeltest.Step{Text: "{}", Usage: memoir.Usage{InputTokens: 50, OutputTokens: 1}}
		})
		dir, _ := fixtures(t)
		o := options(t.TempDir(), dir)
		o.Settings = load(t, "modelRoles: {"+role+": mine/m}\nproviders: {mine: {baseURL: '"+server.URL+"/v1', maxOutputTokens: 700, window: 100000}}")
		if _, err := tryRun(t.Context(), t, o); err != nil && memoir.CodeOf(err) != memoir.CodeModel { // it is of no use
			t.Fatal(err)
		}
		calls := server.Calls()
		if len(calls) == 0 {
			t.Fatalf("%s: nobody was asked", role)
		}
		if asked := gjson.GetBytes(calls[0].Body, "max_tokens").Int(); asked < least || role == "phase1" && asked != least {
			t.Errorf("%s: asked for %d tokens", role, asked)
		}
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
