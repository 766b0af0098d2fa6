package main

import (
	"bytes"

	"memoir"
	"memoir/model/modeltest"
	"memoir/testdata/mockmodel"
)

// asking is the turn in which the model asks memoir's MCP server, by a tool that the agent offers at once: Codex
// offers tools of servers only to a model that searched for them, but reads resources.
func (a agent) asking() mockmodel.Turn {
	step := mockmodel.Step{Tool: "memory_get", Input: map[string]any{"path": "memory://root/MEMORY.md"}}
	if a.source == memoir.SourceClaude { // which offers the names of the others alone
		step = mockmodel.Step{Tool: "memory_search", Input: map[string]any{"query": "nothing says this"}}
	}
	if a.source == memoir.SourceCodex {
		step = mockmodel.Step{Tool: "read_mcp_resource",
			Input: map[string]any{"server": "memoir", "uri": "memory://root/MEMORY.md"}}
	}
	return mockmodel.Turn{Prompt: "What does the memory say of wicks?", Bare: true,
		Steps: []mockmodel.Step{step, {Text: "To trim them."}}}
}

// asked looks whether an answer of the server reaches the model.
func (r *installation) asked(calls []modeltest.Call) {
	offered := false
	for _, call := range calls {
		for _, told := range []string{"nothing matches", "project memory"} {
			if bytes.Contains(call.Body, []byte(told)) {
				return
			}
		}
		offered = offered || bytes.Contains(call.Body, []byte(`memory_get"`))
	}
	if offered {
		r.differ("no answer of the MCP server reaches the model")
	} else {
		r.note("it offers no tools of MCP servers to the model")
	}
}
