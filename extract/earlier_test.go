package extract_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"memoir"
	"memoir/extract"

	"github.com/google/go-cmp/cmp"
)

// grownInput is the session of llmInput, extracted as goodMemory says, with two more items.
func grownInput() extract.Input {
	in := llmInput()
	in.Earlier = &memoir.Extraction{
		RawMemory: goodMemory, RolloutSlug: goodSlug, Title: "Retries of the uploader", Model: "test/other",
		RolloutSummary: "# Retries of the uploader\n\n- date: 2026-07-01\n- session: codex 019f1fd6-f9a0\n- outcome: done\n\n## Task\n\nThe uploader was made to retry [4].\nIt thanked [6].\n",
	}
	in.Since = 6
	in.Items = append(in.Items,
		memoir.Item{N: 7, Kind: memoir.ItemMessage, Role: memoir.RoleUser, Origin: memoir.OriginTyped, Text: "Make it five times."},
		memoir.Item{N: 8, Kind: memoir.ItemTool, Role: memoir.RoleTool, Origin: memoir.OriginTool, Tool: "Bash", Input: "make upload", Output: "five tries"},
	)
	return in
}

const grownMemory = goodMemory + "\n## Decisions\n- It tries five times now [7, 8]\n"

// inOrder writes a raw memory as it is kept.
func inOrder(memory string) string { return memoir.FormatStatements(memoir.ParseStatements(memory)) }

func TestASessionThatGrewIsAskedAboutWithWhatIsKnown(t *testing.T) {
	t.Parallel()
	in := grownInput()
	s := &script{turns: []any{reply(grownMemory, goodSummary, goodSlug)}}
	var told extract.Report
	e, _, err := ask(t, s, extract.LLM{Report: func(r extract.Report) { told = r }}, in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inOrder(grownMemory), e.RawMemory); diff != "" {
		t.Error(diff)
	}
	if err := extract.Check(e, in.Items); err != nil {
		t.Error(err)
	}
	if told != (extract.Report{Session: e.SessionKey, Shown: 2, Calls: 1, Grown: true, Kept: 7}) {
		t.Errorf("told %+v", told)
	}
	q := s.asked[0].Input
	before, transcript, _ := strings.Cut(q, "<transcript>")
	for _, want := range []string{goodMemory, "# Retries of the uploader\n\n## Task\n\nThe uploader was made to retry [4].", "items up to 6: read before", "items after that: 2, of which 0"} {
		if !strings.Contains(before, want) {
			t.Errorf("the input lacks %q:\n%s", want, before)
		}
	}
	if strings.Contains(before, "- date:") {
		t.Error("the summary is shown with the head that code wrote")
	}
	var numbers []string
	for _, found := range regexp.MustCompile(`"n":(\d+)`).FindAllStringSubmatch(transcript, -1) {
		numbers = append(numbers, found[1])
	}
	if got := strings.Join(numbers, " "); got != "1 5 6 7 8" { // what the person said, and the agent last
		t.Errorf("items %s are shown", got)
	}
	first := &script{turns: []any{good()}}
	if _, _, err := ask(t, first, extract.LLM{}, llmInput()); err != nil || first.asked[0].System != s.asked[0].System {
		t.Errorf("the system part is another: %v", err)
	}
	again := &script{turns: []any{reply(grownMemory, goodSummary, goodSlug)}}
	if e2, _, err := ask(t, again, extract.LLM{}, in); err != nil || e2 != e || again.asked[0].Input != q {
		t.Errorf("another time it is another result: %v", err)
	}
}

func TestWhatIsSaidOfAGrownSessionIsHeldAgainstIt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		line string // under Decisions
		want extract.Dropped
	}{
		"of a new item":                        {"- `make upload` sends it [8]", extract.Dropped{}},
		"of an item that was cited before":     {"- `status 503` came back [2]", extract.Dropped{}},
		"of an item shown again":               {"- “thanks” was said [6]", extract.Dropped{}},
		"of both":                              {"- `status 503` until `five tries` [2, 8]", extract.Dropped{}},
		"what an item cited before has not":    {"- `make upload` sends it [2]", extract.Dropped{Ungrounded: 1}},
		"of an item that does not exist":       {"- it tries [9]", extract.Dropped{Missing: 1}},
		"what only items read before have not": {"- `make deploy` sends it [8]", extract.Dropped{Ungrounded: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told extract.Report
			memory := goodMemory + "\n## Decisions\n- It tries five times now [7]\n" + tt.line
			if _, _, err := ask(t, &script{turns: []any{reply(memory, goodSummary, goodSlug)}}, extract.LLM{Report: func(r extract.Report) { told = r }}, grownInput()); err != nil {
				t.Fatal(err)
			}
			if told.Dropped != tt.want {
				t.Errorf("%+v, want %+v", told.Dropped, tt.want)
			}
		})
	}
	// What was found true once need not be shown again.
	known := grownInput()
	known.Earlier.RawMemory += "\n## Decisions\n- `a word of a text that was longer then` [5]\n"
	if e, _, err := ask(t, &script{turns: []any{reply(known.Earlier.RawMemory, goodSummary, goodSlug)}}, extract.LLM{}, known); err != nil || !strings.Contains(e.RawMemory, "longer then") {
		t.Errorf("%v:\n%s", err, e.RawMemory)
	}
	// Item 3 was read before and nothing cited it then: nobody can know what it says.
	in := grownInput()
	in.Earlier.RawMemory = strings.ReplaceAll(in.Earlier.RawMemory, "[2, 3]", "[2]")
	var told extract.Report
	memory := in.Earlier.RawMemory + "\n## Decisions\n- It was edited [3]\n"
	if _, _, err := ask(t, &script{turns: []any{reply(memory, goodSummary, goodSlug)}}, extract.LLM{Report: func(r extract.Report) { told = r }}, in); err != nil || told.Dropped != (extract.Dropped{Missing: 1}) {
		t.Errorf("%+v, %v", told.Dropped, err)
	}
}

func TestAnAnswerThatForgetsWhatWasKnownIsObjectedToOnceAndThenMended(t *testing.T) {
	t.Parallel()
	onlyNew := reply("## Task\n- Five tries [7]\n\n## Outcome\n- unknown — five tries were asked for [7]\n", "# Five\n\nFive tries were asked for [7].\n", "five-tries")
	in := grownInput()

	s := &script{turns: []any{onlyNew, reply(grownMemory, goodSummary, goodSlug)}}
	e, _, err := ask(t, s, extract.LLM{}, in)
	if err != nil || e.RawMemory != inOrder(grownMemory) {
		t.Fatalf("%v:\n%s", err, e.RawMemory)
	}
	if objection := s.asked[1].Earlier[0].Objection; !strings.Contains(objection, "- under Preferences: Run the linter before anything else") {
		t.Errorf("objection: %s", objection)
	}

	e, _, err = ask(t, &script{turns: []any{onlyNew, onlyNew}}, extract.LLM{}, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range memoir.ParseStatements(goodMemory) {
		if !strings.Contains(e.RawMemory, "- "+st.Text) {
			t.Errorf("%q is lost", st.Text)
		}
	}
	for _, want := range []string{"- Five tries [7]", "- unknown — five tries"} {
		if !strings.Contains(e.RawMemory, want) {
			t.Errorf("%q is not kept:\n%s", want, e.RawMemory)
		}
	}
	for _, want := range []string{"# Retries of the uploader\n", "was made to retry [4]", "Five tries were asked for [7]."} {
		if !strings.Contains(e.RolloutSummary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, e.RolloutSummary)
		}
	}
	if e.RolloutSlug != goodSlug || extract.Check(e, in.Items) != nil {
		t.Errorf("slug %s, %v", e.RolloutSlug, extract.Check(e, in.Items))
	}

	// What is put in other words, or brought together, is not forgotten.
	retold := strings.NewReplacer("the uploader tries three times; the tests pass [4, 5]", "five tries, and all is tested [4, 8]", "Run the linter before anything else", "Linter first").Replace(goodMemory)
	if e, _, err = ask(t, &script{turns: []any{reply(retold, goodSummary, goodSlug)}}, extract.LLM{}, in); err != nil || e.RawMemory != retold {
		t.Errorf("%v:\n%s", err, e.RawMemory)
	}
}

func TestNothingNewLeavesWhatIsKnown(t *testing.T) {
	t.Parallel()
	e, _, err := ask(t, &script{turns: []any{reply("", "", "")}}, extract.LLM{}, grownInput())
	if err != nil || !e.Empty() { // which leaves what is stored
		t.Errorf("%v: %+v", err, e)
	}

	// The end of what was read has changed: what rested on it goes.
	in := grownInput()
	in.Since = 4
	s := &script{turns: []any{reply("", "", "")}}
	e, _, err = ask(t, s, extract.LLM{}, in)
	if want := strings.Replace(goodMemory, "## Outcome\n- done — the uploader tries three times; the tests pass [4, 5]\n\n", "", 1); err != nil || e.RawMemory != want {
		t.Errorf("%v:\n%s", err, cmp.Diff(want, e.RawMemory))
	}
	if !strings.Contains(e.RolloutSummary, "was made to retry") || strings.Contains(e.RolloutSummary, "thanked") || strings.Contains(s.asked[0].Input, "thanked") || !strings.Contains(s.asked[0].Input, "items after that: 4,") {
		t.Errorf("what was shown:\n%s\nwhat was kept:\n%s", s.asked[0].Input, e.RolloutSummary)
	}
	if err := extract.Check(e, in.Items); err != nil {
		t.Error(err)
	}
}

func TestASessionIsReadFromTheStartWhereWhatIsKnownIsOfNoUse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*extract.Input){
		"the built-in model wrote it": func(in *extract.Input) { in.Earlier.Model = extract.BuiltinName },
		"it has no statement":         func(in *extract.Input) { in.Earlier.RawMemory = "It went well." },
		"all of it changed":           func(in *extract.Input) { in.Since = 0 },
		"nothing is new":              func(in *extract.Input) { in.Since = 8 },
		"it leaves no room": func(in *extract.Input) {
			in.Earlier.RawMemory = "## Task\n- " + strings.Repeat("a long story ", 80) + "[1]\n"
		},
	} {
		in := grownInput()
		change(&in)
		s := &script{turns: []any{good()}}
		var told extract.Report
		e, _, err := ask(t, s, extract.LLM{InputTokens: 500, Report: func(r extract.Report) { told = r }}, in)
		if err != nil || e.RawMemory != goodMemory || strings.Contains(s.asked[0].Input, "<earlier-memory>") || !strings.Contains(s.asked[0].Input, "items: 8,") || told.Grown {
			t.Errorf("%s: %v, told %+v:\n%s", name, err, told, s.asked[0].Input)
		}
	}
}

func FuzzWhateverIsKnownASessionIsReadOn(f *testing.F) {
	set := defaultPrompts(f)
	f.Add(goodMemory, goodSummary, 6, good())
	f.Add("## Task\n- a [1][9]\n- [1]\n- b [2-5]", "# #\n- date: x\n\n- date: y [7]", 4, reply("", "", ""))
	f.Add("## Task\n- a <memoir-context> [1]", "", 8, reply("## Task\n- b [7]", "x", ""))
	f.Fuzz(func(t *testing.T, memory, summary string, since int, answer string) {
		in := grownInput()
		in.Earlier.RawMemory, in.Earlier.RolloutSummary, in.Earlier.Title, in.Earlier.RolloutSlug, in.Since = memory, summary, summary, memory, since
		for _, limit := range []int{0, 250} {
			e, _, err := extract.NewLLM(extract.LLM{Model: told(answer), Prompts: set, InputTokens: limit}).Extract(t.Context(), in)
			var bad *memoir.AnswerError
			switch {
			case err != nil && !errors.As(err, &bad):
				t.Errorf("%v", err)
			case err == nil && extract.Check(e, in.Items) != nil:
				t.Errorf("%v: %+v", extract.Check(e, in.Items), e)
			}
		}
	})
}
