package rollout

import (
	"strings"
	"testing"
)

func TestStripOwnRemovesWhatMemoirInjected(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"raw", "a <memoir-context project=\"x\">\nmemory\n</memoir-context> b", "a  b"},
		{"escaped for XML", "a &lt;memoir-context&gt;memory&lt;/memoir-context&gt; b", "a  b"},
		{"escaped in JSON", `a \u003cmemoir-context\u003ememory\u003c/memoir-context\u003e b`, "a  b"},
		{"twice", "<memoir-context>1</memoir-context>a<memoir-context>2</memoir-context>", "a"},
		{"its end cut off", "a <memoir-context>memory", "a "},
		{"another word", "a <memoir-contextual> b", "a <memoir-contextual> b"},
		{"only named", "the memoir-context block", "the memoir-context block"},
	}
	for _, tt := range tests {
		if got := stripOwn(tt.in); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCutElementSplitsALeadingElement(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in, tag, inner, rest string
		ok                   bool
	}{
		{"<a>x</a> y", "a", "x", " y", true},
		{`<a b="c">x</a>`, "a", "x", "", true},
		{"<permissions instructions>x</permissions instructions>", "permissions instructions", "x", "", true},
		{"<a>x", "a", "", "<a>x", false},
		{"<ab>x</ab>", "a", "", "<ab>x</ab>", false},
		{"x<a></a>", "a", "", "x<a></a>", false},
	}
	for _, tt := range tests {
		inner, rest, ok := cutElement(tt.in, tt.tag)
		if inner != tt.inner || rest != tt.rest || ok != tt.ok {
			t.Errorf("cutElement(%q, %q) = %q, %q, %v", tt.in, tt.tag, inner, rest, ok)
		}
	}
}

func TestFirstLineMakesATitle(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"\n\n  fix   the build\nplease", "fix the build"},
		{strings.Repeat("é", 100), strings.Repeat("é", 100)},
		{strings.Repeat("é ", 1500), strings.TrimSpace(strings.Repeat("é ", 1000))},
		{strings.Repeat("é", 3000), ""},
		{" \n ", ""},
	}
	for _, tt := range tests {
		if got := firstLine(tt.in); got != tt.want {
			t.Errorf("firstLine(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestDataInURLsIsLeftOut(t *testing.T) {
	t.Parallel()
	data := strings.Repeat("QUJD", 5000)
	tests := []struct{ in, want string }{
		{"see data:image/png;base64," + data + " here", "see data:image/png;base64,… here"},
		{`![x](data:image/svg+xml;charset=utf-8;base64,` + data + `)`, `![x](data:image/svg+xml;charset=utf-8;base64,…)`},
		{"a small one: data:text/plain;base64,QUJD", "a small one: data:text/plain;base64,QUJD"},
		{"the word ;base64, alone " + data, "the word ;base64, alone " + data},
	}
	for _, tt := range tests {
		if got := withoutData(tt.in); got != tt.want {
			t.Errorf("%.40q gives %.80q", tt.in, got)
		}
	}
	items, _ := read(t, write(t, "x.jsonl", piV3, pe("1", "", piUser("see data:image/png;base64,"+data+" here")),
		pe("2", "1", `"type":"message","message":{"role":"bashExecution","command":"cat data:image/png;base64,`+data+`","output":"data:image/png;base64,`+data+`","exitCode":0}`)))
	expect(t, items, "typed: see data:image/png;base64,… here", "user_shell(cat data:image/png;base64,…) =0 data:image/png;base64,…")
}
