package consolidate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/consolidate"
	"memoir/model"
	"memoir/model/modeltest"
)

// folding answers a call of Chat Completions or Messages as folds does.
func folding(c modeltest.Call) modeltest.Step {
	input := gjson.GetBytes(c.Body, "messages.#(role==user).content")
	if text := input.Get("0.text"); text.Exists() {
		input = text
	}
	a, _ := folds(model.Request{Input: input.Str})
	return modeltest.Step{Text: a.Text}
}

// served consolidates with a model behind a loopback server.
func served(t *testing.T, s *modeltest.Server, o model.Options, in consolidate.Input) (memoir.Consolidation, error) {
	t.Helper()
	o.BaseURL = s.URL + "/v1"
	m, err := model.Open(model.Spec{Provider: "local", Model: "m-1"}, o)
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := consolidate.NewLLM(consolidate.LLM{Model: m, MaxOutput: o.MaxOutput}).Consolidate(t.Context(), in)
	return c, err
}

func TestTheFirstQuestionAsksForTheOutputThatTheMemoryNeeds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o         model.Options
		most      int // that the server allows
		least     int // that is asked for in the end
		questions int
	}{
		"the API's default": {model.Options{}, 64000, 10000, 1},
		"a small cap":       {model.Options{MaxOutput: 500}, 64000, 10000, 1},
		"a large cap":       {model.Options{MaxOutput: 50000}, 64000, 50000, 1},
		"a model with less": {model.Options{}, 8000, 8000, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.Anthropic(t, func(_ int, call modeltest.Call) modeltest.Step {
				if asked := gjson.GetBytes(call.Body, "max_tokens").Int(); asked > int64(c.most) {
					return modeltest.Step{Status: 400, Message: fmt.Sprintf("max_tokens: %d > %d, which is the maximum allowed number of output tokens for m-1", asked, c.most)}
				}
				return folding(call)
			})
			c.o.API = model.APIAnthropic
			if _, err := served(t, s, c.o, input(first, second)); err != nil {
				t.Fatal(err)
			}
			calls := s.Calls()
			if asked := gjson.GetBytes(calls[len(calls)-1].Body, "max_tokens").Int(); len(calls) != c.questions || asked < int64(c.least) {
				t.Errorf("%d calls, the last for %d tokens", len(calls), asked)
			}
		})
	}
}

func TestAQuestionIsFittedToTheWindowThatIsLeftByTheCap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o     model.Options
		times int // calls at most for each question that is answered
	}{
		"a window and a cap":         {model.Options{Window: 16384, MaxOutput: 12000}, 1},
		"a cap alone":                {model.Options{MaxOutput: 12000}, 3},
		"a cap beyond the window":    {model.Options{MaxOutput: 20000}, 3},
		"neither":                    {model.Options{}, 3},
		"a window that is too large": {model.Options{Window: 64000, MaxOutput: 4000}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answered := 0
			s := modeltest.OpenAIChat(t, func(_ int, call modeltest.Call) modeltest.Step {
				const window = 16384
				asked := 0
				for _, m := range gjson.GetBytes(call.Body, "messages").Array() {
					asked += memoir.Tokens(m.Get("content").Str)
				}
				if output := int(gjson.GetBytes(call.Body, "max_tokens").Int()); asked+output > window {
					return modeltest.Step{Status: 400, Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion).", window, asked+output, asked, output)}
				}
				answered++
				return folding(call)
			})
			c.o.API = model.APIChat
			if _, err := served(t, s, c.o, input(history(200)...)); err != nil {
				t.Fatal(err)
			}
			if n := len(s.Calls()); answered == 0 || n > answered+c.times-1 {
				t.Errorf("%d calls for %d answers", n, answered)
			}
		})
	}
}

func TestAMemoryThatNoAnswerOfTheModelHoldsSaysWhatToLower(t *testing.T) {
	t.Parallel()
	s := modeltest.Anthropic(t, func(_ int, call modeltest.Call) modeltest.Step {
		if asked := gjson.GetBytes(call.Body, "max_tokens").Int(); asked > 20000 {
			return modeltest.Step{Status: 400, Message: fmt.Sprintf("max_tokens: %d > 20000", asked)}
		}
		return modeltest.Step{Text: `{"memory_md": "# Mem`, Stop: "length"}
	})
	_, err := served(t, s, model.Options{API: model.APIAnthropic}, input(first, second))
	if err == nil || !strings.Contains(memoir.HintOf(err), "memories.maxMemorySize") {
		t.Errorf("got %v: %s", err, memoir.HintOf(err))
	}
}
