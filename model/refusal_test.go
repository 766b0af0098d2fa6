package model

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// The bodies are those of the servers named, shortened.
func TestRefusalsOfRealServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server string
		status int
		body   string
		class  Class
		words  string
	}{
		{"OpenAI", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
			ClassTooLong, "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens."},
		{"OpenAI", 400, `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`,
			ClassTooLong, "Your input exceeds the context window of this model."},
		{"OpenAI", 400, `{"error":{"message":"Invalid 'input': string too long.","type":"invalid_request_error","param":"input","code":"string_above_max_length"}}`, ClassTooLong, "Invalid 'input': string too long."},
		{"OpenAI", 429, `{"error":{"message":"Rate limit reached: too many tokens per min (TPM).","type":"tokens","code":"rate_limit_exceeded"}}`, ClassLimited, "Rate limit reached: too many tokens per min (TPM)."},
		{"OpenAI", 429, `{"error":{"message":"Request too large on tokens per min (TPM): Limit 10000, Requested 16000. The input or output tokens must be reduced.","type":"tokens","code":"rate_limit_exceeded"}}`,
			ClassTooLong, "Request too large on tokens per min (TPM): Limit 10000, Requested 16000. The input or output tokens must be reduced."},
		{"OpenAI", 429, `{"error":{"message":"quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, ClassDenied, "quota"},
		{"OpenAI", 429, `{"error":{"message":"not active","type":"billing_not_active","code":"billing_not_active"}}`, ClassDenied, "not active"},
		{"OpenAI", 400, `{"error":{"message":"max_tokens is too large: 99999. This model supports at most 16384 completion tokens.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}`,
			ClassInvalid, "max_tokens is too large: 99999. This model supports at most 16384 completion tokens."},
		{"vLLM", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}`, ClassTooLong, "This model's maximum context length is 4096 tokens."},
		{"vLLM", 404, `{"object":"error","message":"The model x does not exist.","type":"NotFoundError","code":404}`, ClassMissing, "The model x does not exist."},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`,
			ClassTooLong, "the request exceeds the available context size, try increasing it"},
		{"llama.cpp", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, ClassTemporary, "Loading model"},
		{"Ollama", 404, `{"error":{"message":"model 'x' not found","type":"not_found_error","param":null,"code":null}}`, ClassMissing, "model 'x' not found"},
		{"Ollama", 400, `{"error":"the input length exceeds the context length"}`, ClassTooLong, "the input length exceeds the context length"},
		{"LM Studio", 400, `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`,
			ClassTooLong, "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"},
		{"OpenRouter", 402, `{"error":{"message":"Insufficient credits","code":402}}`, ClassDenied, "Insufficient credits"},
		{"OpenRouter", 400, `{"error":{"message":"x/y is not a valid model ID","code":400}}`, ClassMissing, "x/y is not a valid model ID"},
		{"OpenRouter", 502, `{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"overloaded","provider_name":"P"}}}`, ClassTemporary, "Provider returned error: overloaded"},
		{"Gemini", 400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`, ClassDenied, "API key not valid. Please pass a valid API key."},
		{"Gemini", 400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}]`,
			ClassTooLong, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575)."},
		{"Gemini", 429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}]`,
			ClassLimited, "You exceeded your current quota, please check your plan and billing details."},
		{"FastAPI", 422, `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`, ClassInvalid, `[{"loc":["body","messages"],"msg":"field required"}]`},
		{"a proxy", 413, `<html><head><title>413 Request Entity Too Large</title></head></html>`, ClassTooLong, "a web page instead of JSON: 413 Request Entity Too Large"},
		{"a proxy", 504, "<html><body>time-out</body></html>", ClassTemporary, "a web page instead of JSON"},
		{"a proxy", 408, "", ClassTemporary, ""},
		{"a server without the API", 405, "Method Not Allowed", ClassMissing, "Method Not Allowed"},
		{"nobody knows", 500, `{"error":null}`, ClassTemporary, `{"error":null}`},
		{"nobody knows", 418, `{"error":{}}`, ClassInvalid, `{}`},
		{"nobody knows", 501, `"no"`, ClassInvalid, `"no"`},
	} {
		e := readRefusal(c.status, http.Header{}, []byte(c.body))
		if e.Class != c.class || e.Message != c.words || e.Status != c.status {
			t.Errorf("%s, %d %s:\n got %s, %q\nwant %s, %q", c.server, c.status, c.body, e.Class, e.Message, c.class, c.words)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header map[string]string
		want   time.Duration
	}{
		{nil, 0},
		{map[string]string{"Retry-After": "20"}, 20 * time.Second},
		{map[string]string{"Retry-After": " 0.25 "}, 250 * time.Millisecond},
		{map[string]string{"retry-after-ms": "1500"}, 1500 * time.Millisecond},
		{map[string]string{"Retry-After": "2", "Retry-After-Ms": "1500"}, 1500 * time.Millisecond},
		{map[string]string{"Retry-After": "2", "Retry-After-Ms": "soon"}, 2 * time.Second},
		{map[string]string{"Retry-After": "Fri, 01 May 2026 12:01:30 GMT"}, 90 * time.Second},
		{map[string]string{"Retry-After": "Fri, 01 May 2026 11:00:00 GMT"}, 0},
		{map[string]string{"Retry-After": "Fri, 01 May 2099 11:00:30 GMT"}, maxRetryAfter},
		{map[string]string{"Retry-After": "1e300"}, maxRetryAfter},
		{map[string]string{"Retry-After": "Inf"}, maxRetryAfter},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{"Retry-After": "-5"}, 0},
		{map[string]string{"Retry-After": "later"}, 0},
	} {
		header := http.Header{}
		for name, value := range c.header {
			header.Set(name, value)
		}
		if got := retryAfter(header, now); got != c.want {
			t.Errorf("%v: got %s, want %s", c.header, got, c.want)
		}
	}
	body := `[{"error":{"code":429,"message":"quota","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]`
	if got := readRefusal(429, http.Header{}, []byte(body)).RetryAfter; got != 34500*time.Millisecond {
		t.Errorf("in the body: got %s", got)
	}
	if got := readRefusal(429, http.Header{"Retry-After": {"3"}}, []byte(body)).RetryAfter; got != 3*time.Second {
		t.Errorf("in body and header: got %s", got)
	}
}

func TestForeignWordsAreOneShortLineWithoutTheKey(t *testing.T) {
	t.Parallel()
	key := "sk-" + "or-v1-" + strings.Repeat("0f", 8) + "9a8b"
	o := Options{Key: key, Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "REDACTED") }}
	for text, want := range map[string]string{
		" two\n\tlines ":              "two lines",
		"\x1b]0;title\abell":          "]0;titlebell",
		"bad \xff\xfe bytes":          "bad bytes",
		"Zürich\u202e \u200bok":       "Zürich ok",
		"key " + key + " is bad":      "key [key] is bad",
		"x" + key + "y":               "x[key]",
		"key '" + key[:12] + "...'":   "key '[key]'",
		"?api_key=" + key + "&n=1":    "?api_key=[key]&n=1",
		"the password hunter2 is bad": "the password REDACTED is bad",
		"a sketch of risk":            "a sketch of risk",
	} {
		for _, end := range []bool{false, true} {
			if got := o.words(text, end); got != want {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
		}
	}
	words := strings.Repeat("word ", 2*maxMessage/5)
	var said ending
	_, _ = said.Write([]byte(strings.Repeat("k", 40) + " " + strings.Repeat("word ", 4*maxMessage/5-3)))
	for _, got := range []string{
		o.words(words[:maxMessage-20]+strings.Repeat("k", 40), false),
		o.words(strings.Repeat("k", 40)+" "+words[:maxMessage-20], true),
		strings.TrimSpace(string(said.kept)),
	} {
		if strings.Contains(got, "k") || !strings.HasPrefix(got, "word") || !strings.HasSuffix(strings.TrimSuffix(got, "…"), "word") {
			t.Errorf("a word is cut: %q", got)
		}
	}
	for n := range 8 {
		got := o.words(strings.Repeat("x", n)+strings.Repeat("ü€", 400), false)
		if len(got) > maxMessage || len(got) < maxMessage-6 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Errorf("cut to %d bytes: %q", len(got), got)
		}
	}
}
