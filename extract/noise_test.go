package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"memoir"
	"memoir/extract"
	"memoir/prompts"

	"github.com/google/go-cmp/cmp"
)

func call(n int, tool, input, output string) memoir.Item {
	return memoir.Item{N: n, Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: tool, Input: input, Output: output}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

func TestNoiseIsLeftOutBeforeTheBudget(t *testing.T) {
	t.Parallel()
	failed := call(1, "Bash", "go build ./...", numbered("go: downloading example.com/m%d v1.0.0", 4)+"./a.go:3:1: undefined: x")
	failed.Failed = true
	file := numbered("func number%d() { return }", 8)
	for name, tt := range map[string]struct {
		items []memoir.Item
		want  []string // number, input and output of what is left
	}{
		"a to-do list":             {[]memoir.Item{call(1, "TodoWrite", `{"todos":[]}`, "ok"), call(2, "update_plan", "{}", "Plan updated")}, nil},
		"a search without a match": {[]memoir.Item{call(1, "Grep", `{"pattern":"x"}`, "No matches found"), call(2, "bash", "rg -n x | head", "")}, nil},
		"a command without output": {[]memoir.Item{call(1, "bash", "make x", "")}, []string{"1|make x|"}},
		"a poll without output":    {[]memoir.Item{call(1, "BashOutput", `{"bash_id":"b1"}`, "<status>running</status>")}, nil},
		"a poll of something else": {[]memoir.Item{call(1, "BashOutput", `{"bash_id":"b9"}`, "built it")}, []string{`1|{"bash_id":"b9"}|built it`}},
		"a file that is read again": {[]memoir.Item{call(1, "bash", "cat a.go", file), call(2, "bash", "nl -ba a.go", strings.Replace(file, "number4()", "number4(changed int)", 1))},
			[]string{"1|cat a.go|" + strings.TrimSpace(file), "2|nl -ba a.go|[…]\nfunc number4(changed int) { return }\n[…]"}},
		"progress":           {[]memoir.Item{failed}, []string{"1|go build ./...|[…]\ngo: downloading example.com/m2 v1.0.0\ngo: downloading example.com/m3 v1.0.0\n./a.go:3:1: undefined: x"}},
		"a page":             {[]memoir.Item{call(1, "fetch", "u", "<!doctype html><html><head><style>p{}</style></head><body><p>Words</p></body></html>")}, []string{"1|u|Words"}},
		"a long line":        {[]memoir.Item{call(1, "bash", "make x", strings.Repeat("a", 9000))}, []string{"1|make x|" + strings.Repeat("a", 400) + " […] " + strings.Repeat("a", 200)}},
		"an edit is a diff":  {[]memoir.Item{call(1, "Edit", `{"file_path":"a.go","old_string":"a\nb\nc","new_string":"a\nB\nc"}`, "The file a.go has been updated.")}, []string{"1|*** Update File: a.go\n@@\n-b\n+B|"}},
		"several edits":      {[]memoir.Item{call(1, "MultiEdit", `{"file_path":"a.go","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":""}]}`, "")}, []string{"1|*** Update File: a.go\n@@\n-a\n+b\n@@\n-c|"}},
		"a new file":         {[]memoir.Item{call(1, "write", `{"path":"a.md","content":"one\ntwo"}`, "written")}, []string{"1|*** Add File: a.md\n+one\n+two|"}},
		"a patch":            {[]memoir.Item{call(1, "apply_patch", "*** Begin Patch\n*** Update File: a.go\n@@ func x\n same\n-old\n+new\n*** End Patch", "Success.")}, []string{"1|*** Update File: a.go\n@@ func x\n-old\n+new|"}},
		"an edit that fails": {[]memoir.Item{{N: 1, Kind: memoir.ItemTool, Tool: "Edit", Input: `{"file_path":"a","old_string":"x","new_string":"y"}`, Output: "String to replace not found", Failed: true}}, []string{"1|*** Update File: a\n@@\n-x\n+y|String to replace not found"}},
		"a repeated result": {[]memoir.Item{call(1, "bash", "make check", "all the files are checked"), call(2, "bash", "make check-all", numbered("step %d", 6)+"all the files are checked")},
			[]string{"1|make check|all the files are checked", "2|make check-all|[…]\nstep 4\nstep 5\nall the files are checked"}},
		"equal rounds": {[]memoir.Item{call(1, "bash", "make check", "ok in 2.1s"), call(2, "bash", "make check", "FAIL in 1s"), call(3, "bash", "make check", "ok in 0.9s")}, []string{"2|make check|FAIL in 1s", "3|make check|ok in 0.9s"}},
		"comments as JSON": {[]memoir.Item{call(1, "bash", "gh api x", `[{"id":4861031315,"node_id":"IC_kwDOIvux3s8AAA","url":"https://api.test/`+strings.Repeat("x", 700)+`","user":{"login":"ann"},"line":7,"body":"It leaks:\n`+strings.Repeat("so it does. ", 60)+`","draft":false}`)},
			[]string{"1|gh api x|login: ann\nline: 7\nbody: It leaks:\n" + strings.TrimSpace(strings.Repeat("so it does. ", 60))[:400] + " […] " + strings.TrimSpace(strings.Repeat("so it does. ", 60))[519:]}},
		"a summary of what is there": {[]memoir.Item{call(1, "bash", "make check", "the linter is missing"), {N: 2, Kind: memoir.ItemSummary, Origin: memoir.OriginCompactionSummary, Text: "make check: linter is missing\nThe release waits for Ann's approval."}},
			[]string{"1|make check|the linter is missing", "2||The release waits for Ann's approval."}},
		"an empty message": {[]memoir.Item{{N: 1, Kind: memoir.ItemMessage, Origin: memoir.OriginAgent, Text: " \n"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left, omitted := extract.Fit(tt.items, 0)
			var got []string
			for _, it := range left {
				got = append(got, fmt.Sprintf("%d|%s|%s", it.N, it.Input, it.Text+it.Output))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || omitted != 0 {
				t.Errorf("%d left out for length\n%s", omitted, diff)
			}
		})
	}
}

// The mark that the prompt of Phase 1 explains is the one that stands in what is fitted.
func TestThePromptNamesTheMarkOfACut(t *testing.T) {
	t.Parallel()
	system, _ := prompts.StageOne(prompts.StageOneVars{})
	fitted, _ := extract.Fit(fitItems(), 200)
	var all strings.Builder
	for _, it := range fitted {
		all.WriteString(it.Text + it.Input + it.Output)
	}
	if !strings.Contains(system, "`"+extract.CutMark+"`") || !strings.Contains(all.String(), extract.CutMark) {
		t.Errorf("%s is not in both:\n%s", extract.CutMark, all.String())
	}
}

// Patches and the error lines of failures are there before what else tools print and what the agent says.
func TestEvidenceComesBeforeProse(t *testing.T) {
	t.Parallel()
	items := fitItems()[:1]
	for i := range 40 {
		items = append(items, memoir.Item{N: i + 2, Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent,
			Text: fmt.Sprintf("Number %d works because `part%d.go` must never fail instead. ", i, i) + strings.Repeat("It says more. ", 20)})
	}
	bad := call(90, "Bash", "make test", numbered("ok, line %d of many that nobody needs", 60)+"a.go:7: Error: nothing is closed\n"+numbered("more line %d of them", 60))
	bad.Failed = true
	items = append(items, call(50, "Edit", `{"file_path":"a.go","old_string":"open()","new_string":"defer f.Close()"}`, "updated"), bad, items[1])
	items[len(items)-1].N = 99
	fitted, _ := extract.Fit(items, 500)
	var all strings.Builder
	for _, it := range fitted {
		all.WriteString(it.Text + it.Input + it.Output + "\n")
	}
	for _, want := range []string{"make the uploader retry", "*** Update File: a.go", "-open()\n+defer f.Close()", "$make test", "a.go:7: Error: nothing is closed"} {
		if !strings.Contains(all.String(), strings.TrimPrefix(want, "$")) {
			t.Errorf("%q is missing:\n%s", want, all.String())
		}
	}
}
