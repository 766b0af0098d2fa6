package extract_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"memoir"
	"memoir/extract"
)

// A growth makes a session that is n times as large in one respect.
type growth struct {
	name string
	full int // how many make the largest session that is measured
	make func(n int) *talk
}

// growths are the ways in which a session becomes large.
var growths = []growth{
	{"lines of one answer", 20000, func(n int) *talk {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "The part `p%d` needs the lock of `Run%d` because it %s.\n\n", i, i*7%n, verb(i))
		}
		return work().answers(b.String())
	}},
	{"lines alike of one answer", 20000, func(n int) *talk {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "- The cache must not keep entry %d because the reader fails on it\n", i)
		}
		return work().answers(b.String())
	}},
	{"lines of answers on the way", 20000, func(n int) *talk {
		s := work()
		for i := range n {
			s.narrates(fmt.Sprintf("The worker `w%d` never closes `Queue%d`, because the loop %s too early.", i, i, verb(i)))
		}
		return s.answers("Done.")
	}},
	{"lines of one typed message", 15000, func(n int) *talk {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "Never use the module m%d for part %d, and keep `f%d` as it is, ok.\n", i, i, i)
		}
		return work().says(b.String()).answers("Understood.")
	}},
	{"requests", 3000, func(n int) *talk {
		s := work()
		for i := range n {
			s.says(fmt.Sprintf("add a check of value %d to part%d", i, i)).edits(fmt.Sprintf("/src/app/p%d.go", i%50)).
				answers(fmt.Sprintf("Added the check of `value%d` to `part%d.go`, because `Read%d` accepts anything.", i, i, i))
		}
		return s
	}},
	{"objections", 3000, func(n int) *talk {
		s := work()
		for i := range n {
			s.says(fmt.Sprintf("no, that's wrong, why does loader%d still read the table t%d?", i, i)).edits(fmt.Sprintf("/src/app/l%d.go", i%9)).
				answers(fmt.Sprintf("You're right, `loader%d` must not read the table `t%d`, because its rows are stale by %d.", i, i, i))
		}
		return s
	}},
	{"short calls", 100000, func(n int) *talk {
		s := work()
		for i := range n {
			s.runs(fmt.Sprintf("ls d%d", i), 0, "a")
		}
		return s.answers("Done.")
	}},
	{"failures and successes", 20000, func(n int) *talk {
		s := work()
		for i := range n {
			s.runs("go test ./...", i%2, fmt.Sprintf("x.go:%d:3: cannot use x%d as y in argument", i, i))
		}
		return s.answers("Done.")
	}},
	{"failures that stay", 20000, func(n int) *talk {
		s := work()
		for i := range n {
			s.runs(fmt.Sprintf("go test ./p%d", i), 1, fmt.Sprintf("error: cannot read the table t%d", i))
		}
		return s.answers("Done.")
	}},
	{"failures of unlike commands", 5000, func(n int) *talk {
		s := work()
		for i := range n {
			s.runs(fmt.Sprintf("make t%d", i), 1, fmt.Sprintf("fatal: cannot open the map m%d", i)).narrates(fmt.Sprintf("The map `m%d` is missing because nothing builds it.", i))
		}
		return s.answers("Done.")
	}},
	{"failures that change", 5000, func(n int) *talk {
		s := work()
		for i := range n {
			s.edits(fmt.Sprintf("/src/app/f%d.go", i)).runs("go test ./...", 1, fmt.Sprintf("fatal: cannot open the map %s", strings.Repeat("x", i%90)))
		}
		return s.answers("Done.")
	}},
	{"forms of a command", 5000, func(n int) *talk {
		s := work()
		for i := range n {
			s.runs(fmt.Sprintf("npm run build -- --part=p%d", i), (i+1)%2, fmt.Sprintf("fatal: cannot open the map %s", strings.Repeat("x", i%90)))
		}
		return s.answers("Done.")
	}},
	{"steps of one turn", 20000, func(n int) *talk {
		s := work()
		for i := range n {
			s.runs(fmt.Sprintf("go test ./p%d && make t%d", i, i), 0, "ok")
		}
		return s.answers("Done.")
	}},
	{"requests in the same words", 3000, func(n int) *talk {
		s := work()
		for i := range n {
			s.says("address the review feedback").runs(fmt.Sprintf("make t%d", i), 0, "ok").answers("Done.")
		}
		return s
	}},
	{"pasted errors", 3000, func(n int) *talk {
		s := work()
		for i := range n {
			s.says(fmt.Sprintf("no, still broken\nTypeError: cannot read part%d", i)).answers("I will look.")
		}
		return s
	}},
	{"specifications", 1000, func(n int) *talk {
		s := work()
		for i := range n {
			s.says(fmt.Sprintf("do this\n# Plan %d\n## Constraints\n- keep cache%d\n- `Run%d` must not block\n", i, i, i)).answers("Done.")
		}
		return s
	}},
	{"lines of a specification", 20000, func(n int) *talk {
		var b strings.Builder
		b.WriteString("do this, but not the cache part\n# Plan\n## Constraints\n")
		for i := range n {
			fmt.Fprintf(&b, "- keep cache%d\n- `Run%d` must not block\n", i, i)
		}
		return work().says(b.String()).answers("Done.").says("keep the cache as it is").answers("Done.")
	}},
	{"edits undone", 3000, func(n int) *talk {
		s := work()
		for i := range n {
			s.rewrites("/src/app/f.go", fmt.Sprintf("the line number %d of it", i-1), fmt.Sprintf("the line number %d of it", i)).answers(fmt.Sprintf("The reader `r%d` now keeps row %d.", i, i)).says("add the next part")
		}
		return s
	}},
	{"missing programs", 5000, func(n int) *talk {
		s := work()
		for i := range n {
			s.runs(fmt.Sprintf("tool%d build", i), 127, fmt.Sprintf("bash: tool%d: command not found", i))
		}
		return s.answers("Done.")
	}},
	{"edits", 5000, func(n int) *talk {
		s := work()
		for i := range n {
			s.rewrites(fmt.Sprintf("/src/app/f%d.go", i%1000), fmt.Sprintf("func Old%d() { return }", i), fmt.Sprintf("func New%d() { return }", i))
		}
		return s.answers("Done.")
	}},
	{"definitions of one file", 5000, func(n int) *talk {
		s := work()
		for i := range n {
			s.rewrites("/src/app/f.go", "", fmt.Sprintf("func New%d() { return }", i))
		}
		return s.answers("Done.")
	}},
	{"removed files", 5000, func(n int) *talk {
		s := work()
		for i := range n {
			s.edits(fmt.Sprintf("/src/app/f%d.go", i)).runs(fmt.Sprintf("git rm f%d.go", i), 0, "").
				answers(fmt.Sprintf("Removed `f%d.go` because nothing reads the table `t%d` any more.", i, i))
		}
		return s
	}},
	{"fixes of findings", 3000, func(n int) *talk {
		s := work()
		for i := range n {
			s.answers(fmt.Sprintf("The loader `load%d` fails because `Parse` drops the row %d of the table.", i, i)).edits("/src/app/a.go").
				answers(fmt.Sprintf("Fixed `load%d`: `Parse` now keeps the row %d of the table.", i, i))
		}
		return s
	}},
	{"commits", 3000, func(n int) *talk {
		s := work()
		for i := range n {
			s.runs(fmt.Sprintf("git commit -m 'fix(part%d): keep row %d' -m 'The loader%d dropped it because the table was stale.'", i, i, i), 0, fmt.Sprintf("[main %07x] fix(part%d): keep row %d", i, i, i))
		}
		return s.answers("Done.")
	}},
	{"pull requests", 3000, func(n int) *talk {
		s := work()
		for i := range n {
			s.runs(fmt.Sprintf("gh pr create --title 'fix: keep row %d' --body 'The loader%d dropped row %d because the table was stale.'", i, i, i), 0, fmt.Sprintf("https://github.com/a/b/pull/%d", i)).
				runs(fmt.Sprintf("gh pr edit %d --body 'The loader%d dropped the row because of t%d.'", i, i, i), 0, "")
		}
		return s.answers("Done.")
	}},
	{"other directories", 5000, func(n int) *talk {
		s := work()
		for i := range n {
			s.runs(fmt.Sprintf("cd /src/other%d && go test ./...", i), 0, "ok")
		}
		return s.answers("Done.")
	}},
	{"bytes of one line of output", 5 << 20, func(n int) *talk {
		return work().runs("go test ./...", 1, strings.Repeat("error: x ", n/9)).answers("Done.")
	}},
	{"words of one line of an answer", 100000, func(n int) *talk {
		return work().answers(strings.Repeat("because it must ", n/3)).answers("Done.")
	}},
	{"sentences without spaces", 50000, func(n int) *talk {
		return work().says(strings.Repeat("不要删除缓存。", n)).answers(strings.Repeat("因为缓存必须保留。", n))
	}},
	{"code marks", 100000, func(n int) *talk {
		return work().says(strings.Repeat("`a` ", n)).answers(strings.Repeat("`a", n))
	}},
	{"brackets", 100000, func(n int) *talk {
		return work().says(strings.Repeat("[a](", n)).answers(strings.Repeat("[", n)+strings.Repeat("](http", n)).runs(strings.Repeat("(", n)+strings.Repeat("$(", n), 1, "")
	}},
	{"here documents", 5000, func(n int) *talk {
		return work().runs(strings.Repeat("cat <<A\nx\nA\n", n), 0, "").runs(strings.Repeat("cat <<A ", n), 0, "").answers("Done.")
	}},
	{"quotation marks", 100000, func(n int) *talk {
		return work().runs(strings.Repeat("a\"'", n), 0, "").runs(strings.Repeat("$('", n), 0, "").answers(strings.Repeat("\"'", n))
	}},
	{"commands of one line", 20000, func(n int) *talk {
		return work().runs(strings.Repeat("rm a; ", n), 0, "").runs(strings.Repeat("(cd a; ", n), 0, "").answers("Done.")
	}},
	{"calls of a script", 20000, func(n int) *talk {
		s := work()
		s.add(memoir.Item{Kind: memoir.ItemTool, Tool: "exec", Input: strings.Repeat("exec_command({cmd: \"go test ./...\"}); ", n)})
		s.add(memoir.Item{Kind: memoir.ItemTool, Tool: "exec", Input: strings.Repeat("exec_command({cmd: \"go test", n)})
		return s.answers("Done.")
	}},
	{"files of a patch", 20000, func(n int) *talk {
		var b strings.Builder
		b.WriteString("*** Begin Patch\n")
		for i := range n {
			fmt.Fprintf(&b, "*** Update File: f%d.go\n@@\n-func Old%d() {\n+func New%d() {\n", i, i, i)
		}
		s := work()
		s.add(memoir.Item{Kind: memoir.ItemTool, Tool: "apply_patch", Input: b.String()})
		return s.answers("Done.")
	}},
	{"lines of a patch", 20000, func(n int) *talk {
		var b strings.Builder
		b.WriteString("*** Begin Patch\n*** Update File: f.go\n@@\n")
		for i := range n {
			fmt.Fprintf(&b, "-func Old%d() {\n+func New%d() {\n", i, i)
		}
		s := work()
		s.add(memoir.Item{Kind: memoir.ItemTool, Tool: "apply_patch", Input: b.String()})
		return s.answers("Done.")
	}},
}

func verb(i int) string {
	return []string{"blocks", "fails", "stops", "returns", "retries", "leaks", "waits"}[i%7]
}

// TestWorkGrowsAsTheSessionDoes compares what sessions of one and of four sizes
// make the model allocate: four times as much, with some room, is in proportion.
// It runs alone, since what other tests allocate would count as well.
func TestWorkGrowsAsTheSessionDoes(t *testing.T) {
	allocated := func(in extract.Input) (objects, bytes float64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, err := extract.NewBuiltin().Extract(context.Background(), in); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)
	}
	const most, spare = 5.5, 1 << 20
	for _, g := range growths {
		n := g.full / 20
		one, four := g.make(n).input(), g.make(4*n).input()
		allocated(one) // what is made once is made now
		objects, bytes := allocated(one)
		objects4, bytes4 := allocated(four)
		if objects4 > most*objects+spare/50 || bytes4 > most*bytes+spare {
			t.Errorf("%s: %.0f allocations of %.0f bytes for %d, %.0f of %.0f for four times as many", g.name, objects, bytes, n, objects4, bytes4)
		}
	}
}

// BenchmarkLargeSessions extracts from sessions that are large in one respect.
func BenchmarkLargeSessions(b *testing.B) {
	for _, g := range growths {
		b.Run(strings.ReplaceAll(g.name, " ", "-"), func(b *testing.B) {
			in := g.make(g.full).input()
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := extract.NewBuiltin().Extract(context.Background(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFittingLargeSessions fits the same sessions into a budget of 16,000 tokens.
func BenchmarkFittingLargeSessions(b *testing.B) {
	for _, g := range growths {
		b.Run(strings.ReplaceAll(g.name, " ", "-"), func(b *testing.B) {
			items := g.make(g.full).input().Items
			b.ReportAllocs()
			for b.Loop() {
				extract.Fit(items, 16000)
			}
		})
	}
}
