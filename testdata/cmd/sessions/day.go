package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"memoir/model/modeltest"
	"memoir/testdata/mockmodel"
)

// What the user of Claude Code says in three sessions of a day, and what the first of them runs.
const (
	dayFirst  = taught + " Now lint it."
	dayThird  = "Is the lamp lit?"
	dayTarget = "make lint"
)

// runDay is a user's day that begins with nothing: install, and three sessions of Claude Code. The second is told
// what the first taught, the third no longer what the working tree no longer has.
func runDay(ctx context.Context, a agent, command, path, program string) (r installation) {
	r = installation{agent: a, version: "a day", channel: "three sessions"}
	dir, err := os.MkdirTemp("", "memoir-agents-day-")
	if err == nil {
		err = r.day(ctx, dir, command, path, program)
	}
	if err != nil {
		r.differ("%v", err)
	}
	if len(r.differences) > 0 {
		r.home = dir
	} else {
		os.RemoveAll(dir)
	}
	return r
}

func (r *installation) day(ctx context.Context, dir, command, path, program string) error {
	server := mockmodel.Start(mockmodel.Script{
		{Prompt: dayFirst, Steps: []mockmodel.Step{
			{Text: "I look at the Makefile.", Shell: "cat Makefile; " + pause},
			{Text: "I lint it.", Shell: dayTarget}, {Text: "It is clean."}}},
		{Prompt: secondPrompt, Bare: true, Steps: []mockmodel.Step{{Text: "The pier is dry."}}},
		{Prompt: dayThird, Bare: true, Steps: []mockmodel.Step{{Text: "It is."}}}})
	defer server.Close()
	bin := filepath.Join(dir, "bin")
	p, err := newPlace(dir, server.URL, bin+string(os.PathListSeparator)+path)
	if err != nil {
		return err
	}
	if p.env, err = r.configure(p); err != nil {
		return err
	}
	// What runs without a terminal is a script's; here a person is played.
	p.env = append(p.env, "MEMOIR_MEMORIES_INCLUDE_AUTOMATION=true")
	memoir := filepath.Join(bin, "memoir")
	if err := copyFile(program, memoir); err != nil {
		return err
	}
	makefile := func(content string) error { return writeFile(filepath.Join(p.work, "Makefile"), content) }
	if err := makefile("all:\n\nlint:\n\t@echo lint ok\n"); err != nil {
		return err
	}
	for _, arguments := range [][]string{{"run"}, {"install", "claude", "--yes"}} {
		if _, err := p.run(ctx, "", memoir, arguments...); err != nil {
			return err
		}
	}
	told := func(prompt string) ([]byte, error) {
		seen := len(server.Calls())
		if _, err := p.run(ctx, "", command, r.prompt(prompt)...); err != nil {
			return nil, err
		}
		return requestWith(server.Calls()[seen:], prompt)
	}
	first, err := told(dayFirst)
	if err != nil {
		return err
	}
	if bytes.Contains(first, []byte("<memoir-context")) {
		r.differ("the first session was told something")
	}
	if _, err := p.run(ctx, "", memoir, "run", "--min-idle", "0"); err != nil {
		return err
	}
	second, err := told(secondPrompt)
	if err != nil {
		return err
	}
	for _, want := range []string{taught, dayTarget} {
		if !bytes.Contains(second, []byte(want)) {
			r.differ("the second session is not told %q", want)
		}
	}
	if err := makefile("all:\n"); err != nil {
		return err
	}
	third, err := told(dayThird)
	if err != nil {
		return err
	}
	if !bytes.Contains(third, []byte(taught)) || bytes.Contains(third, []byte(dayTarget)) {
		r.differ("the third session is told of a target that is gone, or not what still holds")
	}
	r.requests, r.confirm = len(server.Calls()), "nothing"
	return nil
}

// requestWith is the body of the first request that carries a prompt.
func requestWith(calls []modeltest.Call, prompt string) ([]byte, error) {
	for _, call := range calls {
		if bytes.Contains(call.Body, []byte(prompt)) {
			return call.Body, nil
		}
	}
	return nil, fmt.Errorf("no request has the prompt %q", prompt)
}
