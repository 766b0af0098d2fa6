package model

import (
	"strings"
	"testing"

	"memoir"
	"memoir/model/modeltest"
)

func TestAServerThatReadsAPartOfWhatItIsSentIsWarnedOfOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input, told int
		want        bool
	}{
		"cut":                        {16000, 4096, true},
		"cut to the usual window":    {8000, 2050, true},
		"counted closer":             {16000, 20000, false},
		"counted less closely":       {16000, 9000, false},
		"a short question":           {2000, 500, false},
		"the server tells no tokens": {16000, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.OpenAIChat(t, step(modeltest.Step{Text: "ok", Usage: memoir.Usage{InputTokens: int64(c.told), OutputTokens: 1}}))
			var warned []string
			m := openModel(t, Options{API: APIChat, BaseURL: s.URL + "/v1", Warn: func(message, hint string) { warned = append(warned, message+" | "+hint) }})
			for range 2 {
				if _, err := m.Call(t.Context(), Request{System: "Read all.", Input: strings.Repeat("four", c.input)}); err != nil {
					t.Fatal(err)
				}
			}
			if c.want != (len(warned) == 1) || len(warned) > 1 || c.want && (!strings.Contains(warned[0], "OLLAMA_CONTEXT_LENGTH") || !strings.Contains(warned[0], "num_ctx")) {
				t.Errorf("warned %q", warned)
			}
		})
	}
}
