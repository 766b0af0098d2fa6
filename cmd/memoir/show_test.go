package main

import (
	"strings"
	"testing"

	"memoir"
)

// conversation has, in order: a request, a failing command, its fix, a long
// listing, the final answer, a second request and its answer.
func conversation() []memoir.Item {
	exit0, exit1 := 0, 1
	items := []memoir.Item{
		{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: "fix the build"},
		{Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "Bash", Input: "make", Output: "error", Exit: &exit1, Failed: true},
		{Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "Bash", Input: "make tools && make all && make check", Exit: &exit0},
		{Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "Read", Output: strings.Repeat("listing ", 500)},
		{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: "make tools was missing"},
		{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginQueued, Text: "write that down"},
		{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: "done"},
	}
	for i := range items {
		items[i].N = i + 1
	}
	return items
}

func TestOnlyChoosesByOriginOrRole(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		only string
		want int
	}{{"", 7}, {"typed", 2}, {"queued", 1}, {"assistant", 2}, {"tool", 3}, {"typed,assistant", 4}, {"injected", 0}} {
		wanted, err := itemFilter(test.only)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, it := range conversation() {
			if wanted(it) {
				n++
			}
		}
		if n != test.want {
			t.Errorf("--only %q: %d items, want %d", test.only, n, test.want)
		}
	}
	if _, err := itemFilter("tyepd"); exitCode(err) != exitUsage {
		t.Errorf("an unknown name: %v", err)
	}
}
