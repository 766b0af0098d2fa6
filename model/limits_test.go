package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"memoir/model/modeltest"
)

// openWith opens a model of an API on a server that goes through steps.
func openWith(t *testing.T, api API, o Options, steps ...modeltest.Step) (Model, *modeltest.Server) {
	t.Helper()
	serve := modeltest.Anthropic
	if api != APIAnthropic {
		serve = openAIs[api]
	}
	s := serve(t, modeltest.Script(steps...))
	o.API, o.BaseURL = api, s.URL+"/v1"
	m, err := Open(Spec{Provider: "local", Model: "m-1"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

// refused calls and returns the error that must come of it.
func refused(t *testing.T, m Model, q Request) error {
	t.Helper()
	answer, err := m.Call(t.Context(), q)
	if err == nil {
		t.Fatalf("got %+v, want an error", answer)
	}
	return err
}

// caps are the caps that a server was asked with, in order; 0 for none.
func caps(s *modeltest.Server) []int {
	var out []int
	for _, c := range s.Calls() {
		n := 0
		for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
			n = max(n, int(gjson.GetBytes(c.Body, name).Int()))
		}
		out = append(out, n)
	}
	return out
}

func TestACapThatIsTooLargeIsLoweredToWhatTheServerNames(t *testing.T) {
	t.Parallel()
	for api, words := range map[API]string{
		APIAnthropic: "max_tokens: 9000 > 4096, which is the maximum allowed number of output tokens for m-1",
		APIChat:      "max_tokens is too large: 9000. This model supports at most 4096 completion tokens, whereas you provided 9000.",
		APIResponses: "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 4096, but got 9000 instead.",
	} {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			m, s := openWith(t, api, Options{MaxOutput: 9000}, modeltest.Step{Status: 400, Message: words}, modeltest.Step{Text: "ok"})
			for range 2 {
				if answer, err := m.Call(t.Context(), Request{Input: "in"}); err != nil || answer.Text != "ok" {
					t.Fatalf("got %+v, %v", answer, err)
				}
			}
			if diff := cmp.Diff([]int{9000, 4096, 4096}, caps(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACapThatTheServerGoesOnRefusingIsAnErrorOfTheSetting(t *testing.T) {
	t.Parallel()
	for _, api := range []API{APIAnthropic, APIChat, APIResponses} {
		m, s := openWith(t, api, Options{MaxOutput: 9000}, modeltest.Step{Status: 400, Message: "max_tokens: 9000 > 4096"},
			modeltest.Step{Status: 400, Message: "max_tokens: 4096 > 2048"})
		e := errorOf(t, refused(t, m, Request{Input: "in"}))
		if e.Class != ClassInvalid || e.Setting != "maxOutputTokens" || !e.Always || !strings.Contains(e.Hint(), "maxOutputTokens") {
			t.Errorf("%s: got %+v: %s", api, e, e.Hint())
		}
		if diff := cmp.Diff([]int{9000, 4096}, caps(s)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestMoreOutputThanTheModelHasIsNotAskedForTwice(t *testing.T) {
	t.Parallel()
	m, s := openWith(t, APIAnthropic, Options{}, modeltest.Step{Status: 400, Message: "max_tokens: 16384 > 8192"})
	for range 2 { // the model's whole output would be no more than was cut before
		if e := errorOf(t, refused(t, m, Request{Input: "in", MaxOutput: 16384})); e.Class != ClassInvalid || e.Setting != "maxOutputTokens" {
			t.Errorf("got %+v", e)
		}
	}
	if len(s.Calls()) != 1 {
		t.Errorf("asked with %v", caps(s))
	}
}

func TestACapGivesWayWhereTheQuestionWithoutItFits(t *testing.T) {
	t.Parallel()
	words := "'max_tokens' or 'max_completion_tokens' is too large: 7000. This model's maximum context length is 8192 tokens and your request has 2000 input tokens (7000 > 8192 - 2000)."
	m, s := openWith(t, APIChat, Options{MaxOutput: 7000}, modeltest.Step{Status: 400, Message: words}, modeltest.Step{Text: "ok"})
	for range 2 {
		if _, err := m.Call(t.Context(), Request{Input: strings.Repeat("four", 2000)}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]int{7000, 8192 - 2000 - 250, 8192 - 2000 - 250}, caps(s)); diff != "" || m.Window() != 8192 {
		t.Errorf("window %d, caps %s", m.Window(), diff)
	}
}

func TestACallThatIsTooLongTeachesTheWindow(t *testing.T) {
	t.Parallel()
	for api, words := range map[API]string{
		APIAnthropic: "prompt is too long: 215000 tokens > 200000 maximum",
		APIChat:      "request (215000 tokens) exceeds the available context size (200000 tokens), try increasing it",
		APIResponses: "This model's maximum context length is 200000 tokens. However, your messages resulted in 215000 tokens.",
	} {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			for configured, want := range map[int]int{0: 200000, 100000: 100000, 400000: 200000} {
				m, s := openWith(t, api, Options{Window: configured}, modeltest.Step{Status: 400, Message: words})
				e := errorOf(t, refused(t, m, Request{Input: "in"}))
				if e.Class != ClassTooLong || e.Limit != 200000 || e.Asked != 215000 || len(s.Calls()) != 1 || m.Window() != want {
					t.Errorf("got %+v after %d calls, window %d, want %d", e, len(s.Calls()), m.Window(), want)
				}
				if !strings.Contains(e.Hint(), `window of models."local/m-1"`) || !strings.Contains(e.Hint(), "200000") {
					t.Errorf("hint %q", e.Hint())
				}
			}
		})
	}
}

func TestAWindowHoldsLessOfATextThatTheServerCountsCloser(t *testing.T) {
	t.Parallel()
	for asked, want := range map[int]int{12000: 6666, 20000: 4000, 9000: 8000, 90000: 8000} {
		words := fmt.Sprintf("request (%d tokens) exceeds the available context size (8000 tokens), try increasing it", asked)
		m, _ := openWith(t, APIChat, Options{}, modeltest.Step{Status: 400, Message: words})
		refused(t, m, Request{Input: strings.Repeat("four", 10000)})
		if m.Window() != want {
			t.Errorf("asked with 10000 tokens, counted as %d: window %d, want %d", asked, m.Window(), want)
		}
	}
}

func TestACapIsRaisedToWhatTheAnswerNeedsWhereThereIsOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		api  API
		o    Options
		want int
	}{
		{APIAnthropic, Options{}, 20000},
		{APIAnthropic, Options{MaxOutput: 30000}, 30000},
		{APIAnthropic, Options{Window: 16000}, 16000 - 1000 - 125},
		{APIChat, Options{}, 0}, // the server's own is the model's: it may think besides
		{APIChat, Options{MaxOutput: 500}, 20000},
		{APIResponses, Options{MaxOutput: 500}, 20000},
	} {
		m, s := openWith(t, c.api, c.o, modeltest.Step{Text: "ok"})
		if _, err := m.Call(t.Context(), Request{Input: strings.Repeat("four", 1000), Output: 20000}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{c.want}, caps(s)); diff != "" {
			t.Errorf("%s, %+v: %s", c.api, c.o, diff)
		}
	}
}

func TestAQuestionIsFittedByWhatTheServerCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e            Error
		answer, want int
	}{
		{Error{Class: ClassTooLong, Limit: 10000, Asked: 40000}, 2000, 3800},
		{Error{Class: ClassTooLong, Limit: 10000, Asked: 40000}, 9000, 2375}, // an answer gets half at most
		{Error{Class: ClassTooLong, Limit: 10000}, 2000, 6400},
		{Error{Class: ClassTooLong, Limit: 100000, Asked: 100001}, 0, 18000}, // less in any case
		{Error{Class: ClassTooLong}, 0, 0},
		{Error{Class: ClassInvalid, Limit: 10000}, 0, 0},
	} {
		if got := c.e.Fit(20000, c.answer); got != c.want {
			t.Errorf("%+v: got %d, want %d", c.e, got, c.want)
		}
	}
}

func TestACallThatIsRefusedForItsFormSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		api     API
		words   string
		setting string
		always  bool
		hint    string
	}{
		"effort":              {APIAnthropic, "output_config.effort: Extra inputs are not permitted", "effort", true, "remove effort of"},
		"temperature":         {APIAnthropic, "temperature: Input should be less than or equal to 1", "temperature", true, "remove temperature of"},
		"a parameter":         {APIAnthropic, "tools.0.custom.strict: Extra inputs are not permitted", "", true, "api and baseURL"},
		"an unknown argument": {APIChat, "Unrecognized request argument supplied: seed", "", true, "api and baseURL"},
		"a text":              {APIAnthropic, "messages.0: text content blocks must be non-empty", "", false, "check what the server says"},
		"anything":            {APIChat, "Bad request", "", false, "check what the server says"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := openWith(t, c.api, Options{}, modeltest.Step{Status: 400, Message: c.words})
			e := errorOf(t, refused(t, m, Request{Input: "in"}))
			if e.Class != ClassInvalid || e.Setting != c.setting || e.Always != c.always || !strings.Contains(e.Hint(), c.hint) {
				t.Errorf("got %s, %q, %v: %s", e.Class, e.Setting, e.Always, e.Hint())
			}
		})
	}
}
