package extract_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memoir"
	"memoir/extract"
)

func fitItems() []memoir.Item {
	long := strings.Repeat("noise ", 400)
	items := []memoir.Item{
		{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: "make the uploader retry"},
		{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: "I will look around. " + long},
		{Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "Bash", Input: "go test ./...", Output: long + "FAIL uploader", Failed: true},
		{Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "Read", Input: "a.go", Output: long},
		{Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "Bash", Input: "go test ./...", Output: "ok"},
		{Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: "The uploader retries now."},
		{Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: "never retry on 4xx"},
	}
	for i := range items {
		items[i].N = i + 1
	}
	return items
}

func TestFitKeepsByValueAndInOrder(t *testing.T) {
	t.Parallel()
	if fitted, omitted := extract.Fit(fitItems(), 0); len(fitted) != 7 || omitted != 0 {
		t.Errorf("without a budget %d are kept, %d omitted", len(fitted), omitted)
	}
	fitted, omitted := extract.Fit(fitItems(), 400)
	var got []int
	total := 0
	for _, it := range fitted {
		got = append(got, it.N)
		total += extract.Cost(it)
		if it.N == 3 && !strings.HasSuffix(it.Output, "FAIL uploader") {
			t.Errorf("the error is cut off: %q", it.Output)
		}
	}
	for _, n := range []int{1, 3, 5, 6, 7} {
		if !slices.Contains(got, n) {
			t.Errorf("item %d was left out of %v", n, got)
		}
	}
	if !slices.IsSorted(got) || total > 400 || omitted != 7-len(fitted) {
		t.Errorf("%v kept in a budget of 400, %d tokens, %d omitted", got, total, omitted)
	}
}

func TestWhatWasSaidBeforeMakesRoomForWhatIsNew(t *testing.T) {
	t.Parallel()
	var items []memoir.Item
	say := func(text string) {
		items = append(items, memoir.Item{N: len(items) + 1, Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: text})
	}
	say("The cache key leaves the locale out, because `Key` hashes the path only.")
	for range 40 {
		say("The upload fails because `retry.go` closes the body before the second attempt.")
	}
	fitted, _ := extract.Fit(items, 120)
	var all strings.Builder
	for _, it := range fitted {
		all.WriteString(it.Text)
	}
	if !strings.Contains(all.String(), "leaves the locale out") {
		t.Errorf("what was said once is missing: %q", all.String())
	}
}

// What a model cannot do without is whole in a small budget, and what was only read is whole or not there.
func TestFitKeepsWhole(t *testing.T) {
	t.Parallel()
	agent := func(n int, text string) memoir.Item {
		return memoir.Item{N: n, Kind: memoir.ItemMessage, Origin: memoir.OriginAgent, Text: text}
	}
	person := func(origin memoir.Origin, text string) memoir.Item {
		return memoir.Item{N: 2, Kind: memoir.ItemMessage, Origin: origin, Text: text}
	}
	prose := agent(90, strings.Repeat("I look at `x.go` again, and it is fine.\n", 1)+numbered("I look at `part%d.go`, and it is as it should be in all that it does.", 200))
	wish := "Please do it as follows.\n" + numbered("%d. This part has to be done so and not otherwise.", 20)
	question := `{"questions":[{"question":"Which store?","options":[{"label":"SQLite"},{"label":"` + strings.Repeat("Postgres with a pool ", 15) + `"}]}]}`
	failed := call(2, "Bash", "make test", numbered("compiling part %d of what is there", 60)+"a.go:3: Error: nothing is closed\n\nFAIL in 3 s")
	failed.Failed = true
	for name, tt := range map[string]struct {
		items []memoir.Item
		want  string // of item 2, text, input and output; empty: it is not there
	}{
		"a person's message":    {[]memoir.Item{person(memoir.OriginTyped, wish)}, wish},
		"a question's options":  {[]memoir.Item{call(2, "AskUserQuestion", question, "ok"), {N: 3, Kind: memoir.ItemMessage, Origin: memoir.OriginAnswer, Text: "SQLite"}}, question + "ok"},
		"the result of a check": {[]memoir.Item{call(2, "Bash", "make lint", numbered("look at %d now\nand then at what is beside it", 60)+"12 problems in 3 files\n\n")}, "make lint […] and then at what is beside it\nlook at 59 now\n […] 12 problems in 3 files"},
		"the end of a failure":  {[]memoir.Item{failed}, "make test […] a.go:3: Error: nothing is closed\n\nFAIL in 3 s"},
		"a commit": {append([]memoir.Item{call(2, "Bash", "git add -A && git commit -m 'close it'", numbered("create mode of file%d", 60)+"[main 12ab] close it")},
			call(3, "Write", `{"file_path":"b.go","content":"`+strings.Repeat("a line of b.go as it was written\\n", 200)+`"}`, "ok")), "git add -A && git commit -m 'close it' […] [main 12ab] close it"},
		"a file": {[]memoir.Item{call(2, "Bash", "cat a.go", numbered("line %d of a file that is long enough", 400))}, ""},
		"a comment": {[]memoir.Item{call(2, "Bash", "gh api x", `[{"body":"Close the file before the second try, as `+strings.Repeat("it leaks, ", 15)+`", "x": "`+strings.Repeat("y", 600)+`"}]`)},
			"gh api xbody: Close the file before the second try, as it leaks,"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fitted, _ := extract.Fit(append(tt.items, prose, agent(91, "Done.")), 1000)
			got := ""
			for _, it := range fitted {
				if it.N == 2 {
					got = it.Text + it.Input + it.Output
				}
			}
			if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func FuzzFit(f *testing.F) {
	f.Add("a\nb", "go test ./...", "ok\n\nFAIL x: y\n", 50)
	f.Add("```\ncode", "git commit -m 'x'", "日本語\xff", 9)
	f.Add(strings.Repeat("x", 900), "", strings.Repeat("\n", 300), 100)
	f.Add("a", strings.Repeat("\x85", 900), "b", 50)
	f.Add(strings.Repeat("日本語", 500), strings.Repeat("é", 900), strings.Repeat("ü", 900), 1)
	f.Add(strings.Repeat("日本語", 500), strings.Repeat("é", 900), strings.Repeat("ü", 900), 1001)
	f.Fuzz(func(t *testing.T, text, input, output string, budget int) {
		items := []memoir.Item{
			{N: 1, Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: text},
			{N: 2, Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "Bash", Input: input, Output: output, Failed: len(output)%2 == 0},
			{N: 3, Kind: memoir.ItemMessage, Role: memoir.RoleAssistant, Origin: memoir.OriginAgent, Text: output + text},
		}
		said, _ := extract.Fit(items, 0) // without noise
		whole := map[int]memoir.Item{}
		for _, it := range said {
			whole[it.N] = it
		}
		fitted, omitted := extract.Fit(items, budget)
		total := 0
		for i, it := range fitted {
			total += extract.Cost(it)
			if i > 0 && it.N <= fitted[i-1].N {
				t.Error("out of order")
			}
			from := whole[it.N]
			for _, part := range [][2]string{{it.Text, from.Text}, {it.Input, from.Input}, {it.Output, from.Output}} {
				for piece := range strings.SplitSeq(part[0], " […] ") {
					if !strings.Contains(part[1], piece) && !strings.Contains(part[1], " […] ") {
						t.Errorf("%q is not in the session", piece)
					}
				}
				if utf8.ValidString(part[1]) && !utf8.ValidString(part[0]) {
					t.Error("a rune was split")
				}
			}
		}
		if budget > 0 && total > budget {
			t.Errorf("%d tokens in a budget of %d", total, budget)
		}
		if omitted > len(items)-len(fitted) { // noise does not count
			t.Errorf("%d omitted, %d kept", omitted, len(fitted))
		}
	})
}
