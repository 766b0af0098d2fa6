package pipeline_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/model/modeltest"
	"memoir/pipeline"
	"memoir/store"
)

// getenv is an environment of these variables alone.
func getenv(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

func TestAModelThatCannotBeHadEndsTheRunBeforeItBegins(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ yaml, want string }{
		{"modelRoles: {default: openai/gpt-5}", "modelRoles.default: provider openai has no key: the variable OPENAI_API_KEY is not set; set OPENAI_API_KEY, or providers.openai.keyEnv or keyCommand"},
		{"modelRoles: {default: x/m}\nproviders: {x: {api: openai-chat, keyCommand: [no-such-program-of-mine, k]}}", "config.yml:2: providers.x.keyCommand: its program cannot be run: executable file not found"},
		{"modelRoles: {smol: z/y}\nproviders: {x: {baseURL: 'http://127.0.0.1:1'}}", `modelRoles.smol: provider "z" is neither known nor configured; use builtin`},
		{"modelRoles: {default: x/y}\nproviders: {x: {api: exec, command: [no-such-program-of-mine]}}", "modelRoles.default: x/y: program no-such-program-of-mine cannot be run: executable file not found"},
	} {
		for _, dry := range []bool{false, true} {
			o := options(t.TempDir(), t.TempDir())
			o.Settings, o.DryRun = load(t, test.yaml), dry
			report, err := tryRun(t.Context(), t, o)
			if dry && (strings.Contains(test.want, "has no key") || strings.Contains(test.want, "keyCommand")) { // it is not needed yet
				if err != nil || len(report.Warnings) == 0 || !strings.Contains(report.Warnings[0].Message+"; "+report.Warnings[0].Hint, test.want) {
					t.Errorf("got %v, %v, want %s", err, report.Warnings, test.want)
				}
				continue
			}
			if memoir.CodeOf(err) != memoir.CodeConfig || !strings.Contains(err.Error()+"; "+memoir.HintOf(err), test.want) || memoir.HintOf(err) == "" {
				t.Errorf("got %v; %s, want %s", err, memoir.HintOf(err), test.want)
			}
			if report.Scan.Reasons != nil {
				t.Errorf("%s: sessions were looked for", test.want)
			}
		}
	}
}

// ofServer are the settings of a run whose phases, or one of them, ask a server.
func ofServer(t *testing.T, home, sessions, role, url string) pipeline.Options {
	t.Helper()
	o := options(home, sessions)
	o.Settings = load(t, "modelRoles: {"+role+": mine/m}\nproviders: {mine: {api: openai-chat, baseURL: '"+url+"/v1', keyEnv: MINE}}")
	o.Env.Getenv = getenv(map[string]string{"MINE": "k-0123456789"})
	o.Sleep = func(context.Context, time.Duration) error { return nil }
	return o
}

// ofNarrow is ofServer with a model that reads at most 16,000 tokens and needs no key: a
// consolidation of many sessions takes several calls.
func ofNarrow(t *testing.T, home, sessions, role, url string) pipeline.Options {
	t.Helper()
	o := ofServer(t, home, sessions, role, url)
	o.Settings = load(t, "modelRoles: {"+role+": mine/m}\nproviders: {mine: {api: openai-chat, baseURL: '"+url+"/v1', window: 16000}}")
	return o
}

func TestAFaultOfTheModelCostsNobodyAnAttempt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		step       modeltest.Step
		url        string
		want, hint string
	}{
		"denied":      {modeltest.Step{Status: http.StatusUnauthorized, Message: "bad key k-0123456789"}, "", "mine/m answered with status 401: bad key", "check the key"},
		"missing":     {modeltest.Step{Status: http.StatusNotFound, Message: "no such model"}, "", "mine/m answered with status 404", "check the model's name"},
		"unreachable": {modeltest.Step{}, "http://127.0.0.1:1", "mine/m", "check that the provider's baseURL is reachable"},
	} {
		for _, role := range []string{"phase1", "phase2"} {
			t.Run(name+" "+role, func(t *testing.T) {
				t.Parallel()
				server := modeltest.Serve(t, func(int, modeltest.Call) modeltest.Step { return test.step })
				if test.url != "" {
					server.URL = test.url
				}
				home, dir := prompted(t, 5)
				report, err := tryRun(t.Context(), t, ofServer(t, home, dir, role, server.URL))
				said, hint := "", memoir.HintOf(err)
				switch {
				case role == "phase1": // nothing could be done
					if memoir.CodeOf(err) != memoir.CodeModel || report.Phase1.Released == 0 || report.Phase1.Stored != 0 {
						t.Fatalf("got %v, %+v", err, report.Phase1)
					}
					said = err.Error()
					if r := lastRun(t, home); r.Outcome != store.RunFailed || !strings.Contains(r.Reason, test.want) || r.Hint == "" {
						t.Errorf("kept as %+v", r)
					}
				case err != nil || !report.Partly():
					t.Fatalf("got %v, %+v", err, report)
				default:
					last := report.Warnings[len(report.Warnings)-1]
					said, hint = last.Message, last.Hint
				}
				if !strings.Contains(said, test.want) || !strings.Contains(hint, test.hint) || strings.Contains(said, "k-0123456789") {
					t.Errorf("said: %s; %s", said, hint)
				}
				_, _, status := ledger(t, home)
				if report.Phase1.Failed+len(status.Failed)+len(status.Dead) > 0 {
					t.Errorf("blamed for it: %+v, %+v", report.Phase1, status)
				}
				if again := run(t, options(home, dir)); again.Phase1.Stored+report.Phase1.Stored != 5 || len(again.Phase2) != 1 {
					t.Errorf("once it is mended: %+v", again)
				}
			})
		}
	}
}

func TestEachPhaseAsksTheModelOfItsRole(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{ // the models of Phase 1 and Phase 2
		"modelRoles: {default: mine/d}":                                                   "d d",
		"modelRoles: {default: mine/d, smol: mine/s}":                                     "d s",
		"modelRoles: {smol: mine/s}":                                                      "- s",
		"modelRoles: {default: mine/d, phase1: builtin, smol: mine/s}":                    "- s",
		"modelRoles: {default: openai/gpt-5, phase1: builtin, phase2: builtin}":           "- -", // which needs no key
		"modelRoles: {phase1: mine/one, phase2: builtin}":                                 "one -",
		"modelRoles: {default: mine/d, smol: mine/s, phase1: mine/one, phase2: mine/two}": "one two",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "key")
			must(t, os.WriteFile(program, []byte("#!/bin/sh\necho x >>\"$0.runs\"\necho k-of-command\n"), 0o700))
			server := modeltest.Serve(t, func(_ int, c modeltest.Call) modeltest.Step { return answeredWell(t, c) })
			home, dir := prompted(t, 2)
			o := options(home, dir)
			o.Settings = load(t, yaml+"\nproviders: {mine: {api: openai-chat, baseURL: '"+server.URL+"/v1', keyCommand: ["+program+"]}}")
			if report := run(t, o); len(report.Phase2) != 1 || report.Phase2[0].Outcome != pipeline.OutcomePublished || report.Phase1.Stored != 2 {
				t.Fatalf("%+v, %+v", report.Phase1, report.Phase2)
			}
			if runs, err := os.ReadFile(program + ".runs"); want != "- -" && (err != nil || string(runs) != "x\n") {
				t.Errorf("the command ran %q, %v", runs, err)
			}
			models := [2]string{"-", "-"}
			for _, c := range server.Calls() {
				var body struct{ Model string }
				must(t, json.Unmarshal(c.Body, &body))
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
