package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"memoir/model/modeltest"
	"memoir/testdata/mockmodel"
)

// What the user of Claude Code says in three sessions of a day, and what the first of them runs: a command that passes is
// told later if a person names it.
const (
	dayFirst  = taught + " Now lint it: `" + dayTarget + "`."
	dayThird  = "Is the lamp lit?"
	dayTarget = "make lint J=2"
)

// aDay is a user's day that begins with nothing: install, and three sessions of Claude Code. The second is told
// what the first taught, the third no longer what the working tree no longer has.
func aDay(a agent, _ string) kind {
	return kind{mockmodel.Script{
		{Prompt: dayFirst, Steps: []mockmodel.Step{
			{Text: "I look at the Makefile.", Shell: "cat Makefile; " + pause},
			{Text: "I lint it.", Shell: dayTarget}, {Text: "It is clean."}}},
		{Prompt: secondPrompt, Bare: true, Steps: []mockmodel.Step{{Text: "The pier is dry."}}},
		{Prompt: dayThird, Bare: true, Steps: []mockmodel.Step{{Text: "It is."}}},
	}, func(ctx context.Context, v *visit) {
		v.version, v.channel = "a day", "three sessions"
		// What runs without a terminal is a script's; here a person is played.
		v.env = append(v.env, "MEMOIR_MEMORIES_INCLUDE_AUTOMATION=true")
		makefile := func(content string) {
			if err := writeFile(filepath.Join(v.work, "Makefile"), content); err != nil {
				v.differ("%v", err)
			}
		}
		told := func(prompt string) string {
			body := requestWith(v.call(ctx, "", a.prompt(prompt)...), prompt)
			if body == nil {
				v.differ("no request has the prompt %q", prompt)
			}
			return string(body)
		}
		makefile("all:\n\nlint:\n\t@echo lint ok\n")
		v.memoir(ctx, "run")
		v.memoir(ctx, "install", "claude", "--yes")
		if strings.Contains(told(dayFirst), "<memoir-context") {
			v.differ("the first session was told something")
		}
		v.memoir(ctx, "run", "--min-idle", "0")
		second := told(secondPrompt)
		for _, want := range []string{taught, dayTarget} {
			if !strings.Contains(second, want) {
				v.differ("the second session is not told %q", want)
			}
		}
		makefile("all:\n")
		if third := told(dayThird); !strings.Contains(third, taught) || strings.Contains(third, dayTarget) {
			v.differ("the third session is told of a target that is gone, or not what still holds")
		}
		v.requests = v.seen
	}}
}

// requestWith is the body of the first request that carries a prompt; nil if none does.
func requestWith(calls []modeltest.Call, prompt string) []byte {
	for _, call := range calls {
		if bytes.Contains(call.Body, []byte(prompt)) {
			return call.Body
		}
	}
	return nil
}
