package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"memoir"
)

// hold keeps n items made by a function of their number.
func hold(n int, item func(n int) memoir.Item) *holding {
	h := &holding{}
	for i := range n {
		it := item(i + 1)
		it.N = i + 1
		h.add(it)
	}
	return h
}

func held(h *holding) (bytes int) {
	for _, it := range h.items {
		bytes += costOf(it)
	}
	return bytes
}

func TestWhatIsHeldOfASessionIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 2000)
	person := memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: long}
	agent := memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: long}
	tool := memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Bash", Input: "ls", Output: long}
	for name, item := range map[string]func(n int) memoir.Item{
		"outputs":           func(int) memoir.Item { return tool },
		"answers":           func(int) memoir.Item { return agent },
		"prompts":           func(int) memoir.Item { return person },
		"items without any": func(int) memoir.Item { return memoir.Item{Kind: memoir.ItemTool, Origin: memoir.OriginTool} },
		"failed calls": func(int) memoir.Item {
			it := tool
			it.Failed, it.Output = true, "no"
			return it
		},
	} {
		h := hold(30000, item)
		if got := held(h); got > maxHeld || got != h.bytes || h.omitted == 0 {
			t.Errorf("%s: %d bytes held, counted as %d, %d gave way", name, got, h.bytes, h.omitted)
		}
		last := 0
		for _, it := range h.items {
			if it.N <= last {
				t.Fatalf("%s: item %d comes after %d", name, it.N, last)
			}
			last = it.N
		}
		if last != 30000 {
			t.Errorf("%s: the newest item is gone", name)
		}
	}
}

func TestWhatPeopleSaidGivesWayLast(t *testing.T) {
	t.Parallel()
	h := hold(30000, func(n int) memoir.Item {
		switch n % 4 {
		case 0:
			return memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: fmt.Sprint("prompt ", n)}
		case 1:
			return memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: "answer", Final: true}
		case 2:
			return memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Failed: n%8 == 2, Output: "out"}
		}
		return memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: strings.Repeat("so ", 1000)}
	})
	prompts, finals, others := 0, 0, 0
	for _, it := range h.items {
		switch {
		case it.Origin == memoir.OriginTyped:
			prompts++
		case it.Final:
			finals++
		default:
			others++
		}
	}
	if prompts != 7500 || finals != 7500 || others == 0 || others > 2000 {
		t.Errorf("%d prompts, %d closing answers and %d others are left", prompts, finals, others)
	}
}
