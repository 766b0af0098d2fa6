package model

import (
	"testing"

	"memoir/model/modeltest"
)

// The messages are those of the servers, with other numbers.
func TestAServersWordsOfACallThatIsTooLongAreRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words string
		want  length
	}{
		"Anthropic":                 {"prompt is too long: 215000 tokens > 200000 maximum", length{200000, 215000, 0}},
		"Anthropic, with a cap":     {"input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again", length{200000, 178959, 64000}},
		"OpenAI":                    {"This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens. Please reduce the length of the messages.", length{128000, 140000, 0}},
		"OpenAI, configured":        {"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens. Please reduce the length of the messages.", length{272000, 289650, 0}},
		"OpenAI, with a cap":        {"This model's maximum context length is 8192 tokens, however you requested 8977 tokens (7977 in your prompt; 1000 for the completion). Please reduce your prompt; or completion length.", length{8192, 7977, 1000}},
		"OpenAI, of a minute":       {"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully.", length{30000, 45000, 0}},
		"OpenAI, without a number":  {"Your input exceeds the context window of this model. Please adjust your input and try again.", length{}},
		"vLLM":                      {"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.", length{16384, 112946, 10000}},
		"vLLM, the cap":             {"'max_tokens' or 'max_completion_tokens' is too large: 6000. This model's maximum context length is 8192 tokens and your request has 3000 input tokens (6000 > 8192 - 3000).", length{8192, 3000, 6000}},
		"vLLM, since 0.20":          {"This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.", length{128000, 62466, 65535}},
		"vLLM, the input alone":     {"This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens. Please reduce the length of the input messages.", length{8192, 9000, 0}},
		"llama.cpp":                 {"request (131168 tokens) exceeds the available context size (131072 tokens), try increasing it", length{131072, 131168, 0}},
		"llama.cpp, of old":         {"the request exceeds the available context size. try increasing the context size or enable context shift", length{}},
		"llama.cpp in Python":       {"Requested tokens (2285) exceed context window of 2048", length{2048, 2285, 0}},
		"Ollama, without a number":  {"the input length exceeds the context length", length{}},
		"LM Studio":                 {"Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input", length{4096, 15857, 0}},
		"LM Studio, later":          {"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.", length{4096, 13055, 0}},
		"LM Studio, by its engine":  {"Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)", length{7424, 15028, 0}},
		"OpenRouter":                {"This endpoint's maximum context length is 131072 tokens. However, you requested about 138956 tokens (7884 of text input, 131072 in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.", length{131072, 7884, 131072}},
		"OpenRouter, with tools":    {"This endpoint's maximum context length is 131072 tokens. However, you requested about 139000 tokens (130000 of text input, 1000 of tool input, 8000 in the output).", length{131072, 130000, 8000}},
		"Gemini":                    {"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", length{1048576, 1200293, 0}},
		"Gemini, without the count": {"The input token count exceeds the maximum number of tokens allowed 1048576.", length{1048576, 0, 0}},
		"Mistral":                   {"Requested token count exceeds the model's maximum context length of 131072 tokens", length{131072, 0, 0}},
		"with commas":               {"maximum context length of 128,000 tokens", length{128000, 0, 0}},
		"numbers that do not agree": {"prompt is too long: 100 tokens > 200000 maximum", length{200000, 0, 0}},
		"a limit that cannot be":    {"prompt is too long: 100 tokens > 5 maximum", length{}},
		"a number beyond all":       {"maximum context length is 99999999999999999999 tokens", length{}},
		"nothing":                   {"", length{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := lengthIn(c.words); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestTheLargestCapIsReadFromAServersWords(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]int{
		"max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-opus-20240229":                                                     4096,
		"max_tokens is too large: 20480. This model supports at most 16384 completion tokens, whereas you provided 20480.":                                             16384,
		"Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000, but got 200000 instead.":                                                128000,
		"The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 12288, but got 32000 instead.": 12288,
		"`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model":                       8192,
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]":                                                                                         8192,
		"Range of max_tokens should be [1, 16384]": 16384,
		"Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).": 65536,
		"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.":                                    0,
		"`max_tokens` must be greater than `thinking.budget_tokens`.":                                                                                   0,
		"temperature: Input should be less than or equal to 1":                                                                                          0,
	} {
		if got := capIn("", words); got != want {
			t.Errorf("%s: got %d, want %d", words, got, want)
		}
	}
}

func TestALengthInFieldsIsRead(t *testing.T) {
	t.Parallel()
	m, _ := openWith(t, APIChat, Options{}, modeltest.Step{Status: 400,
		Raw: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`})
	e := errorOf(t, refused(t, m, Request{Input: "in"}))
	if e.Class != ClassTooLong || e.Limit != 8192 || e.Asked != 14429 || m.Window() != 8192 {
		t.Errorf("got %+v, window %d", e, m.Window())
	}
}
