package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"memoir"
)

func TestWhatIsHeldOfASessionIsBoundedAndWhatPeopleSaidGivesWayLast(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("so ", 1000)
	typed := memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped}
	tool := memoir.Item{Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool}
	agent := memoir.Item{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent}
	for name, item := range map[string]func(n int) memoir.Item{
		"outputs": func(int) memoir.Item { it := tool; it.Output = long; return it },
		"prompts": func(int) memoir.Item { it := typed; it.Text = long; return it },
		"nothing": func(int) memoir.Item { return tool },
		"mixed": func(n int) memoir.Item {
			it := agent
			switch n % 4 {
			case 0:
				it, it.Text = typed, fmt.Sprint("prompt ", n)
			case 1:
				it.Text, it.Final = "answer", true
			case 2:
				it, it.Output = tool, "out"
			default:
				it.Text = long
			}
			return it
		},
	} {
		h := &holding{}
		for n := range 30000 {
			it := item(n)
			it.N = n + 1
			h.add(it)
		}
		bytes, last, prompts, finals := 0, 0, 0, 0
		for _, it := range h.items {
			if bytes += cost(it); it.N <= last {
				t.Fatalf("%s: item %d comes after %d", name, it.N, last)
			}
			last = it.N
			if it.Origin == memoir.OriginTyped {
				prompts++
			} else if it.Final {
				finals++
			}
		}
		if bytes > maxHeld || bytes != h.bytes || h.omitted == 0 || last != 30000 {
			t.Errorf("%s: %d bytes held, counted as %d, %d gave way, the last is %d", name, bytes, h.bytes, h.omitted, last)
		}
		if name == "mixed" && (prompts != 7500 || finals != 7500) {
			t.Errorf("%d prompts and %d closing answers are left", prompts, finals)
		}
	}
}
