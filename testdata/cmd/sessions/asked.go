package main

import (
	"bytes"

	"memoir"
	"memoir/model/modeltest"
	"memoir/testdata/mockmodel"
)

// asking is the turn in which the model asks memoir's MCP server, in the way that the agent offers at once.
func (a agent) asking() mockmodel.Turn {
	const address = "memory://root/MEMORY.md"
	step := mockmodel.Step{Tool: "memory_get", Input: map[string]any{"path": address}}
	before := []mockmodel.Step{}
	switch a.source {
	case memoir.SourcePi: // tools are for a model that searches for them, once the server answered
		before = []mockmodel.Step{{Text: "I wait.", Shell: "sleep 2"}, {Tool: "tool_search", Input: map[string]any{"query": "memory get"}}}
	case memoir.SourceClaude: // the names of the others alone
		step = mockmodel.Step{Tool: "memory_search", Input: map[string]any{"query": "unheard"}}
	case memoir.SourceCodex: // tools are for a model that searches for them
		step = mockmodel.Step{Tool: "read_mcp_resource", Input: map[string]any{"server": "memoir", "uri": address}}
	case memoir.SourceOMP: // tools are files
		step = mockmodel.Step{Write: &mockmodel.File{Path: "xd://mcp__memoir_memory_get", Content: `{"path": "` + address + `"}`}}
	}
	return mockmodel.Turn{Prompt: "What does the memory say of wicks?", Bare: true,
		Steps: append(before, step, mockmodel.Step{Text: "To trim them."})}
}

// asked looks whether an answer of the server reaches the model.
func (r *row) asked(calls []modeltest.Call) {
	offered := false
	for _, call := range calls {
		if bytes.Contains(call.Body, []byte(`"name":"codemode"`)) {
			r.differ("memoir's server switches a tool for scripts on")
		}
		for _, told := range []string{"no match", "project memory"} {
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
