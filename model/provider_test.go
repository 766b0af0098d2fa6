package model

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKnownProviders(t *testing.T) {
	t.Parallel()
	type row struct {
		API     API
		BaseURL string
		KeyEnv  string
	}
	got := map[string]row{}
	for _, name := range KnownProviders() {
		o, keyEnv, ok := Known(name)
		if !ok {
			t.Errorf("%s is not known", name)
		}
		got[name] = row{o.API, o.BaseURL, keyEnv}
	}
	want := map[string]row{
		"anthropic":  {APIAnthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY"},
		"gemini":     {APIChat, "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"},
		"llamacpp":   {APIChat, "http://127.0.0.1:8080/v1", ""},
		"lmstudio":   {APIChat, "http://127.0.0.1:1234/v1", ""},
		"ollama":     {APIChat, "http://127.0.0.1:11434/v1", ""},
		"openai":     {APIChat, "https://api.openai.com/v1", "OPENAI_API_KEY"},
		"openrouter": {APIChat, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
		"vllm":       {APIChat, "http://127.0.0.1:8000/v1", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAProviderWithoutAKeyIsThisMachine(t *testing.T) {
	t.Parallel()
	for _, name := range KnownProviders() {
		o, keyEnv, _ := Known(name)
		u, err := url.Parse(o.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		local := net.ParseIP(u.Hostname()).IsLoopback()
		if local != (keyEnv == "") || !local && u.Scheme != "https" || strings.HasSuffix(u.Path, "/") {
			t.Errorf("%s: %s, key in %q", name, o.BaseURL, keyEnv)
		}
	}
}

func TestOthersAreNotKnown(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "builtin", "exec", "OpenAI", "claude"} {
		if o, keyEnv, ok := Known(name); ok || keyEnv != "" || o.API != "" {
			t.Errorf("%q is known: %+v", name, o)
		}
	}
}
