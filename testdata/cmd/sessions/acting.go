package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memoir"
	"memoir/model/modeltest"
	"memoir/testdata/mockmodel"
)

// What is said in the sessions in which commands fail and files are edited, and what reaches the model then.
const (
	failPrompt  = "Please light the lamp of the quay."
	passPrompt  = "Is the lamp of the quay lit?"
	quietPrompt = "Please light the lamp of the mole."
	afterFail   = "then `./lamp.sh --quick` passed."
	firstStep   = "I light it."
	afterEdit   = "Of `wick.sh`, earlier sessions:"
)

// What is said in the session of pi in which a script of the model's runs the command that fails.
const (
	scriptPrompt = "Please light the lamp of the jetty."
	scriptCode   = `const r = await tools.bash({command: "` + failCommand + `"}); text("The lamp ended with " + r.exit_code);`
	failCommand  = "./lamp.sh --fast"
	scriptSaw    = "The lamp ended with 2"
)

// acting looks at what reaches the model after a failure and an edit, in an agent that install connected.
func acting(_ agent, work string) kind {
	return actingWith(work, "hooks of tool calls", func(ctx context.Context, v *visit) error {
		v.memoir(ctx, "install", string(v.source), "--yes")
		return nil
	})
}

func actingWith(work, channel string, connect func(context.Context, *visit) error) kind {
	wick := &mockmodel.File{Path: filepath.Join(work, "wick.sh"), Content: "#!/bin/sh\n"}
	steps := []mockmodel.Step{{Text: firstStep, Shell: failCommand}, {Text: "Again.", Shell: failCommand},
		{Text: "Slower.", Shell: "./lamp.sh --quick"}, {Text: "A wick.", Write: wick}, {Text: "It is lit."}}
	scripted := []mockmodel.Step{{Text: firstStep, Tool: "codemode", Input: object{"code": scriptCode}}, {Text: "It is lit."}}
	return kind{mockmodel.Script{{Prompt: failPrompt, Steps: steps}, {Prompt: quietPrompt, Steps: steps},
		{Prompt: scriptPrompt, Steps: scripted},
		{Prompt: passPrompt, Steps: []mockmodel.Step{{Text: "I look.", Shell: "./lamp.sh --quick"}, {Text: "It is."}}},
	}, func(ctx context.Context, v *visit) {
		v.version, v.channel = v.version+", tools", channel
		// Qwen Code may lose the output of a program that ends at once.
		const lamp = "#!/bin/sh\n[ \"$1\" = --quick ] && exit\necho \"lamp: unknown option $1\" >&2\nsleep 0.3\nexit 2\n"
		err := writeFile(filepath.Join(v.work, "lamp.sh"), lamp)
		if err == nil {
			err = os.Chmod(filepath.Join(v.work, "lamp.sh"), 0o700)
		}
		if err == nil {
			err = teachFailures(ctx, v.place)
		}
		if err == nil {
			err = connect(ctx, v)
		}
		if err != nil {
			v.differ("%v", err)
			return
		}
		call := func(prompt string, more ...string) [][]byte {
			arguments := slices.Insert(slices.Clone(v.prompt(prompt)), 1, slices.Concat(extras[v.source].trust, more)...)
			return holdingPrompt(v.call(ctx, "", arguments...), prompt)
		}
		v.told("a session", call(failPrompt), 1, 1)
		v.told("a command that passed", call(passPrompt), 0, 0)
		if v.source == memoir.SourcePi {
			v.scripted(ctx, call(scriptPrompt, "--tools", "+codemode"))
		}
		os.Remove(wick.Path)
		v.env = append(v.env, "MEMOIR_DELIVER_AFTER_FAILURE=false", "MEMOIR_DELIVER_ON_EDIT=false")
		v.told("switched off", call(quietPrompt), 0, 0)
	}}
}

// scripted looks at what a script that runs a failing command got, and at what is read of it.
func (v *visit) scripted(ctx context.Context, bodies [][]byte) {
	v.told("a script", bodies, 1, 0)
	if len(bodies) == 0 || !bytes.Contains(bodies[len(bodies)-1], []byte(scriptSaw)) {
		v.differ("a script: it did not get the command's exit status")
	}
	sessions, _, err := collect(ctx, v.home)
	if err != nil {
		v.differ("%v", err)
	}
	for _, s := range sessions {
		if s.holds(mockmodel.Script{{Prompt: scriptPrompt}}) && !slices.ContainsFunc(s.items, func(it memoir.Item) bool {
			return it.Shell() && it.Input == failCommand && it.Failed && it.Exit != nil && *it.Exit == 2
		}) {
			v.differ("a script: its command is not read as one that failed")
		}
	}
}

// holdingPrompt returns the bodies of the requests that have a prompt.
func holdingPrompt(calls []modeltest.Call, prompt string) (bodies [][]byte) {
	for _, call := range calls {
		if bytes.Contains(call.Body, []byte(prompt)) {
			bodies = append(bodies, call.Body)
		}
	}
	return bodies
}

// told compares how often texts are in requests: no text twice, and that after the failure in each request since then.
func (r *row) told(when string, bodies [][]byte, failures, edits int) {
	r.requests += len(bodies)
	if len(bodies) < 2 {
		r.differ("%s: %d requests have the prompt", when, len(bodies))
	}
	for _, body := range bodies {
		since := bytes.Contains(body, []byte(firstStep)) // else it is the first one, or for a title
		if n := bytes.Count(body, []byte(afterFail)); since && n != failures || !since && n != 0 {
			r.differ("%s: a request has the text after the failure %d times", when, n)
		}
	}
	most := func(text string) (n int) {
		for _, body := range bodies {
			n = max(n, bytes.Count(body, []byte(text)))
		}
		return n
	}
	if n := most(afterFail); n != failures {
		r.differ("%s: the text after the failure is there %d times, not %d", when, n, failures)
	}
	if n := most(afterEdit); n != edits {
		r.differ("%s: the text after the edit is there %d times, not %d", when, n, edits)
	}
}

// teachFailures makes a memory of a session in pi's format, in which two scripts fail with an option.
func teachFailures(ctx context.Context, p place) error {
	at := time.Now().Add(-48 * time.Hour).UTC()
	var b strings.Builder
	n := 0
	line := func(v object) {
		if v["type"] = "session"; n > 0 {
			v["type"], v["id"], v["parentId"] = "message", fmt.Sprint("m", n), fmt.Sprint("m", n-1)
		}
		v["timestamp"] = at
		text, _ := json.Marshal(v)
		b.Write(append(text, '\n'))
		n++
	}
	say := func(role string, content object, more object) {
		message := object{"role": role, "content": []object{content}, "timestamp": at.UnixMilli()}
		for key, value := range more {
			message[key] = value
		}
		line(object{"message": message})
	}
	line(object{"version": 3, "id": "0b5c1f6a-0000-4000-8000-000000000002", "cwd": p.work})
	say("user", object{"type": "text", "text": "Light the lamp."}, nil)
	for i, run := range []struct{ command, output string }{
		{"./lamp.sh --fast", "lamp: unknown option --fast\n\nCommand exited with code 2"}, {"./lamp.sh --quick", "lit"},
		{"./wick.sh --fast", "wick: unknown option --fast\n\nCommand exited with code 2"}, {"./wick.sh --quick", "trimmed"},
	} {
		id := fmt.Sprint("call", i)
		say("assistant", object{"type": "toolCall", "id": id, "name": "bash", "arguments": object{"command": run.command}}, nil)
		say("toolResult", object{"type": "text", "text": run.output},
			object{"toolCallId": id, "toolName": "bash", "isError": strings.Contains(run.output, "exited")})
	}
	say("assistant", object{"type": "text", "text": "It is lit."}, nil)
	sessions := filepath.Join(p.dir, "taught")
	if err := writeFile(filepath.Join(sessions, "session.jsonl"), b.String()); err != nil {
		return err
	}
	_, err := p.run(ctx, "", filepath.Join(p.dir, "bin", "memoir"), "run", "-q", "--sessions", sessions)
	return err
}
