package extract_test

import (
	"fmt"
	"testing"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/extract"
	"memoir/model"
	"memoir/model/modeltest"
)

// narrow is a server with a window of 8192 tokens, which it counts closer than we do. It
// refuses what is longer in the words of llama.cpp, or with the cap counted in, in vLLM's.
func narrow(n int, c modeltest.Call, counted bool) modeltest.Step {
	const window = 8192
	input := 0
	for _, m := range gjson.GetBytes(c.Body, "messages").Array() {
		input += len(m.Get("content").Str) / 3
	}
	output := int(gjson.GetBytes(c.Body, "max_tokens").Int())
	switch {
	case counted && input+output > window:
		return modeltest.Step{Status: 400, Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.", window, input+output, input, output)}
	case input > window:
		return modeltest.Step{Status: 400, Message: fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", input, window)}
	}
	return modeltest.Step{Text: reply("", "", ""), Usage: memoir.Usage{InputTokens: int64(input), OutputTokens: 10}}
}

func TestASessionIsFittedToTheWindowThatTheServerNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		counted bool
		o       model.Options
	}{
		"no cap":                      {false, model.Options{}},
		"a small cap":                 {true, model.Options{MaxOutput: 1000}},
		"a cap that leaves no room":   {true, model.Options{MaxOutput: 7000}},
		"a cap beyond the window":     {true, model.Options{MaxOutput: 9000}},
		"a window and a cap":          {true, model.Options{MaxOutput: 6000, Window: 8192}},
		"a window that is not so big": {true, model.Options{MaxOutput: 2000, Window: 32000}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.OpenAIChat(t, func(n int, call modeltest.Call) modeltest.Step { return narrow(n, call, c.counted) })
			c.o.API, c.o.BaseURL = model.APIChat, s.URL+"/v1"
			m, err := model.Open(model.Spec{Provider: "local", Model: "m-1"}, c.o)
			if err != nil {
				t.Fatal(err)
			}
			x := extract.NewLLM(extract.LLM{Model: m, Prompts: defaultPrompts(t), InputTokens: 64000, Payload: 0.7, MaxOutput: c.o.MaxOutput})
			if _, _, err := x.Extract(t.Context(), large()); err != nil {
				t.Fatal(err)
			}
			first := len(s.Calls())
			if first > 3 {
				t.Errorf("the first session took %d calls", first)
			}
			if _, _, err := x.Extract(t.Context(), large()); err != nil {
				t.Fatal(err)
			}
			// What was learned of the first is known of the second.
			if second := len(s.Calls()) - first; second > 1 {
				t.Errorf("the second session took %d calls", second)
			}
			if m.Window() > 8192 || m.Window() < 5000 {
				t.Errorf("window %d", m.Window())
			}
		})
	}
}
