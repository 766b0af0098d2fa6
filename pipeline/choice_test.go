package pipeline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir/model/modeltest"
	"memoir/pipeline"
)

func TestEachPhaseAsksTheModelOfItsRole(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{ // the models of Phase 1 and Phase 2
		"modelRoles: {default: mine/d}":                                                   "d d",
		"modelRoles: {default: mine/d, smol: mine/s}":                                     "d s",
		"modelRoles: {smol: mine/s}":                                                      "- s",
		"modelRoles: {default: mine/d, phase1: builtin, smol: mine/s}":                    "- s",
		"modelRoles: {phase1: mine/one, phase2: builtin}":                                 "one -",
		"modelRoles: {default: mine/d, smol: mine/s, phase1: mine/one, phase2: mine/two}": "one two",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "key")
			must(t, os.WriteFile(program, []byte("#!/bin/sh\necho x >>\"$0.runs\"\necho k-of-command\n"), 0o700))
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
