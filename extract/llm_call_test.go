package extract_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"memoir"
	"memoir/extract"
	"memoir/model"
)

func TestRefusalsAndEmptyAnswersAreOutcomes(t *testing.T) {
	t.Parallel()
	for want, answer := range map[string]model.Answer{
		"test/scripted: it declined to answer":  {Text: "I can't help with that.", Stop: model.StopRefusal},
		"test/scripted: its answer was empty":   {Stop: model.StopEmpty},
		"test/scripted: its answer was empty\n": {Text: " \n", Stop: model.StopEnd},
	} {
		_, err := ask(t, &script{turns: []any{answer}}, extract.LLM{}, llmInput())
		var refused *memoir.AnswerError
		if !errors.As(err, &refused) || err.Error() != strings.TrimSpace(want) || memoir.CodeOf(err) != memoir.CodeModel || memoir.HintOf(err) == "" {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// large is a session of about 40,000 tokens.
func large() extract.Input {
	in := llmInput()
	for n := range 400 {
		in.Items = append(in.Items, memoir.Item{
			N: 7 + n, Kind: memoir.ItemTool, Role: memoir.RoleTool, Tool: "Bash", Input: fmt.Sprintf("step %d", n), Output: strings.Repeat(fmt.Sprintf("line \"%d\"\n", n), 30),
		})
	}
	return in
}

func TestASessionIsFittedToWhatTheModelTakes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		o      extract.LLM
		window int
		most   int // tokens of the transcript
	}{
		"the limit":           {extract.LLM{InputTokens: 5000}, 0, 5000},
		"a share of a window": {extract.LLM{InputTokens: 64000, Payload: 0.5}, 20000, 10000},
		"the usual share":     {extract.LLM{}, 20000, 14000},
		"a small window":      {extract.LLM{InputTokens: 64000, Payload: 1, MaxOutput: 1000}, 8000, 5700},
		"a tiny window":       {extract.LLM{Payload: 0.7}, 500, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{window: tt.window, turns: []any{reply("", "", "")}}
			if _, err := ask(t, s, tt.o, large()); err != nil {
				t.Fatal(err)
			}
			if got := transcriptTokens(s.asked[0]); got > tt.most || tt.window != 500 && got < tt.most/2 {
				t.Errorf("%d tokens, want at most %d and not much less", got, tt.most)
			}
			q := s.asked[0]
			if all := memoir.Tokens(q.System) + memoir.Tokens(q.Input) + tt.o.MaxOutput; tt.window > 2000 && all > tt.window {
				t.Errorf("%d tokens in a window of %d", all, tt.window)
			}
			if tt.window != 500 && !strings.Contains(q.Input, "[…]") {
				t.Error("what was left out is not marked")
			}
		})
	}
}

func transcriptTokens(q model.Request) int {
	_, rest, _ := strings.Cut(q.Input, "<transcript>")
	text, _, _ := strings.Cut(rest, "</transcript>")
	return memoir.Tokens(text)
}

func TestWhatDidNotFitIsAskedWithLess(t *testing.T) {
	t.Parallel()
	tooLong := &model.Error{Class: model.ClassTooLong, Model: "test/scripted", Status: 400, Message: "too many tokens"}
	invalid := &model.Error{Class: model.ClassInvalid, Model: "test/scripted", Status: 400, Message: "max_tokens is too large"}
	cut := model.Answer{Text: `{"raw_memory": "## Ta`, Stop: model.StopLength}
	for name, tt := range map[string]struct {
		o       extract.LLM
		window  int
		turns   []any
		outputs []int     // caps that were asked for
		shares  []float64 // of the first transcript that each call showed
		want    string    // error; empty: none
	}{
		"too long":                  {extract.LLM{InputTokens: 20000}, 0, []any{tooLong, good()}, []int{0, 0}, []float64{1, 0.5}, ""},
		"too long without a budget": {extract.LLM{}, 0, []any{tooLong, good()}, []int{0, 0}, []float64{1, 0.5}, ""},
		"too long each time":        {extract.LLM{InputTokens: 20000}, 0, []any{tooLong, tooLong, tooLong, tooLong}, []int{0, 0, 0, 0}, []float64{1, 0.5, 0.25, 0.125}, "too many tokens"},
		"an answer that was cut":    {extract.LLM{InputTokens: 20000, MaxOutput: 500}, 0, []any{cut, good()}, []int{500, 500}, []float64{1, 1}, ""},
		"cut twice":                 {extract.LLM{InputTokens: 20000, MaxOutput: 500}, 0, []any{cut, cut}, []int{500, 500}, []float64{1, 1}, "it was cut by the cap on output"},
		"another refusal":           {extract.LLM{InputTokens: 20000}, 0, []any{invalid}, []int{0}, []float64{1}, "max_tokens is too large"},
		"too long, and no JSON":     {extract.LLM{InputTokens: 20000, MaxOutput: 500}, 0, []any{tooLong, "hm", good()}, []int{500, 500, 500}, []float64{1, 0.5, 0.5}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turns := append([]any(nil), tt.turns...)
			for i, turn := range turns { // the script writes to errors
				if e, ok := turn.(*model.Error); ok {
					own := *e
					turns[i] = &own
				}
			}
			s := &script{window: tt.window, turns: turns}
			_, err := ask(t, s, tt.o, large())
			if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || memoir.CodeOf(err) != memoir.CodeModel) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			first := float64(transcriptTokens(s.asked[0]))
			for i, q := range s.asked {
				if share := float64(transcriptTokens(q)) / first; q.MaxOutput != tt.outputs[i] || share > tt.shares[i]+0.01 || share < tt.shares[i]*0.8 {
					t.Errorf("call %d: cap %d, want %d; %.2f of the transcript, want %.2f", i+1, q.MaxOutput, tt.outputs[i], share, tt.shares[i])
				}
			}
		})
	}
}

func TestFailedCallsKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	denied := &model.Error{Class: model.ClassDenied, Model: "test/scripted", Status: 401, Message: "bad key"}
	_, err := ask(t, &script{turns: []any{denied}}, extract.LLM{}, llmInput())
	if failed := new(model.Error); !errors.As(err, &failed) || failed.Class != model.ClassDenied || memoir.CodeOf(err) != memoir.CodeModel || memoir.HintOf(err) != denied.Hint() {
		t.Errorf("got %v", err)
	}
	limit := memoir.Errorf(memoir.CodeLimit, "wait", "enough was spent")
	_, err = ask(t, &script{turns: []any{"hm", fmt.Errorf("call: %w", limit)}}, extract.LLM{}, llmInput())
	if memoir.CodeOf(err) != memoir.CodeLimit {
		t.Errorf("got %v", err)
	}
	if _, err = ask(t, &script{turns: []any{context.Canceled}}, extract.LLM{}, llmInput()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = (extract.LLM{Model: &script{t: t}}).Extract(ctx, llmInput()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestWhatWasLeftOutStillSupportsAName(t *testing.T) {
	t.Parallel()
	in := large()
	zero := 0
	for n := range 2 {
		in.Items = append(in.Items, memoir.Item{N: 500 + n, Kind: memoir.ItemTool, Tool: "Bash", Input: "make check", Output: fmt.Sprintf("ok in %d s", n), Exit: &zero})
	}
	in.Items = append(in.Items, memoir.Item{N: 510, Kind: memoir.ItemTool, Tool: "Bash", Input: "cat store.go", Output: strings.Repeat("const maxShare = 7\nvar other = 8\n", 900)})
	var told extract.Report
	s := &script{turns: []any{reply("## Findings\n- `maxShare` is `const maxShare = 7`, which `make check` checks [500]\n- `maxOther` is 3 [500]", "# x\n\ny", "x-y")}}
	e, err := ask(t, s, extract.LLM{InputTokens: 3000, Report: func(r extract.Report) { told = r }}, in)
	if err != nil {
		t.Fatal(err)
	}
	if want := "## Findings\n- `maxShare` is `const maxShare = 7`, which `make check` checks [501]\n"; e.RawMemory() != want || told.Dropped.Ungrounded != 1 {
		t.Errorf("%+v\n%s", told, e.RawMemory())
	}
	if q := s.asked[0].Input; strings.Contains(q, "maxShare") || !strings.Contains(q, `{"n":501,"same":[500],`) || !strings.Contains(q, "1 of them after the last one shown") {
		t.Errorf("shown is\n%s", q)
	}
}

// What the built-in model finds is copied from sessions, so that a model which answers
// with it must be believed.
func TestCorpusSessionsBearOutWhatTheBuiltinModelSays(t *testing.T) {
	t.Parallel()
	kept, dropped := 0, 0
	for _, s := range corpus(t) {
		in := extract.Input{Session: s.session, Items: s.items}
		e, err := extract.NewBuiltin().Extract(t.Context(), in)
		if err != nil || e.Empty() {
			continue
		}
		o := extract.LLM{InputTokens: 200000, Report: func(r extract.Report) {
			kept += r.Kept
			dropped += r.Dropped.Uncited + r.Dropped.Missing + r.Dropped.Ungrounded + r.Dropped.Foreign + r.Dropped.Unplaced
		}}
		m := &script{turns: []any{reply(e.RawMemory(), e.RolloutSummary, e.RolloutSlug)}}
		got, err := ask(t, m, o, in)
		if err != nil {
			t.Errorf("%s: %v", s.session.Key(), err)
			continue
		}
		if n := transcriptTokens(m.asked[0]); n > 200000 {
			t.Errorf("%s: %d tokens", s.session.Key(), n)
		}
		if err := extract.Check(got, s.items); err != nil || got.RolloutSlug != e.RolloutSlug {
			t.Errorf("%s: %v, slug %s", s.session.Key(), err, got.RolloutSlug)
		}
	}
	if all := kept + dropped; dropped*100 > all {
		t.Errorf("%d of %d statements were dropped", dropped, all)
	}
}

// told is a model that always says the same.
type told string

func (told) Name() string { return "test/told" }
func (told) Window() int  { return 0 }

func (m told) Call(context.Context, model.Request) (model.Answer, error) {
	return model.Answer{Text: string(m), Stop: model.StopEnd, Usage: memoir.Usage{Calls: 1}}, nil
}

func FuzzAnyAnswerIsAnExtractionOrAnError(f *testing.F) {
	f.Add(good())
	f.Add(reply("", "", ""))
	f.Add(reply("## Task\n- a “b [1]\n- `` ` [2-3].\n**Files**\n1. c [1][9]\n- [1]", "# #\n[1] [77]\n```", "…"))
	f.Add(`{"raw_memory": "## Task\n- x <memoir-context> [1]", "rollout_summary": "\u0000", "rollout_slug": "-"`)
	f.Fuzz(func(t *testing.T, text string) {
		in := llmInput()
		for _, text := range []string{text, reply(text, text, text), reply("## Task\n- retry [1]\n- "+text+" [2]", text, text)} {
			e, err := extract.LLM{Model: told(text)}.Extract(t.Context(), in)
			var answer *memoir.AnswerError
			switch {
			case err != nil && !errors.As(err, &answer):
				t.Errorf("%q: %v", text, err)
			case err == nil && extract.Check(e, in.Items) != nil:
				t.Errorf("%q: %v", text, extract.Check(e, in.Items))
			}
		}
	})
}

// Were the time to grow with the square of these texts, the test would not end.
func TestHostileTextsAreReadInTime(t *testing.T) {
	t.Parallel()
	in := large()
	for _, piece := range []string{"`", "“", `"`, "“a", "“a”", "- “a” [1]\n", "- `a` [1]", "[1]", "[1-60]", "- a [1-60]\n", "a\n", "**", "# ", "…", "N ", "<a>"} {
		text := strings.Repeat(piece, (60<<10)/len(piece))
		_, err := extract.LLM{Model: told(reply("## Task\n- retry [1]\n- "+text, text, text))}.Extract(t.Context(), in)
		var answer *memoir.AnswerError
		if err != nil && !errors.As(err, &answer) {
			t.Errorf("%s…: %v", piece, err)
		}
	}
}
