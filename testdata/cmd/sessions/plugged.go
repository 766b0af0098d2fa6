package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir/model/modeltest"
	"memoir/testdata/mockmodel"
)

// What is said in a session of Claude Code with the plugin.
const (
	skillPrompt  = "/memoir view"
	skillText    = "what each new session here is told"
	lonelyPrompt = "Is anybody on the pier?"
)

// plug installs the plugin of this directory in Claude Code.
func plug(ctx context.Context, v *visit) error {
	root, err := os.Getwd()
	for _, arguments := range [][]string{{"validate", filepath.Join(root, "plugin")}, {"marketplace", "add", root},
		{"install", "memoir@memoir"}} {
		if err == nil {
			_, err = v.run(ctx, "", v.bin, slices.Insert(arguments, 0, "plugin")...)
		}
	}
	v.memoir(ctx, "config", "set", "memories.enabled", "true")
	return err
}

// actingPlugged is acting with the plugin.
func actingPlugged(_ agent, work string) kind { return actingWith(work, "plugin", plug) }

// plugging gives Claude Code the plugin, alone, beside what install writes, and without the program.
func plugging(a agent, _ string) kind {
	asking := a.asking()
	bare := func(prompt string) mockmodel.Turn {
		return mockmodel.Turn{Prompt: prompt, Bare: true, Steps: []mockmodel.Step{{Text: "It is calm."}}}
	}
	return kind{mockmodel.Script{bare(firstPrompt), bare(secondPrompt), bare(viewPrompt), bare(skillText),
		bare(lonelyPrompt), asking,
	}, func(ctx context.Context, v *visit) {
		v.channel = "plugin"
		err := teach(ctx, v.place)
		if err == nil {
			err = plug(ctx, v)
		}
		if err != nil {
			v.differ("%v", err)
			return
		}
		call := func(arguments []string) []modeltest.Call { return v.call(ctx, "", arguments...) }
		v.delivery("a new session", firstPrompt, call(a.prompt(firstPrompt)))
		v.delivery("a session that goes on", secondPrompt, call(a.resume(secondPrompt)))
		v.asked(call(a.prompt(asking.Prompt)))
		if requestWith(call(a.prompt(skillPrompt)), skillText) == nil {
			v.differ("%s does not reach the model", skillPrompt)
		}
		v.memoir(ctx, "install", "claude", "--yes")
		calls := call(a.prompt(firstPrompt))
		v.delivery("beside what install writes", firstPrompt, calls)
		if bytes.Contains(requestWith(calls, firstPrompt), []byte("mcp__plugin_memoir")) {
			v.differ("beside what install writes, the model is offered the tools of the plugin as well")
		}
		v.memoir(ctx, "uninstall", "--yes")
		if err := os.Rename(filepath.Join(v.dir, "bin", "memoir"), filepath.Join(v.dir, "memoir")); err != nil {
			v.differ("%v", err)
		}
		lonely := string(requestWith(call(a.prompt(lonelyPrompt)), lonelyPrompt))
		if lonely == "" || strings.Contains(lonely, "<memoir-context") {
			v.differ("without the program, the model is not asked, or told the memory")
		}
	}}
}
