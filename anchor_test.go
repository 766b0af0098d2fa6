package memoir_test

import (
	"strings"
	"testing"

	"memoir"
)

func TestATextIsFoundAsAWhole(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		content, text string
		want          bool
	}{
		{"go 1.2\n", "1.2", true},
		{"go 1.2.3\n", "1.2", false},
		{"go 0.1.2\n", "1.2", false},
		{"go 1.2.", "1.2", true},
		{"go v1.2", "1.2", false},
		{"go v1.2-rc1", "v1.2", false},
		{"x >=1.2,<2", "1.2", true},
		{"golint: x", "lint:", false},
		{"pre-lint: x", "lint:", false},
		{".PHONY: lint\nlint: x", "lint:", true},
		{".PHONY: lint", "lint:", false},
		{"lint-all", "lint", false},
		{"a.lint()", "lint", true},
		{"x --fast", "--fast", true},
		{"x --fast-mode", "--fast", false},
		{"x ---fast", "--fast", false},
		{"größe_max", "max", false},
		{"größe max", "größe", true},
		{"größer", "größe", false},
		{`"build": "x"`, `"build":`, true},
		{"x", "", false},
	} {
		if _, ok := memoir.Token(test.content, test.text, 0); ok != test.want {
			t.Errorf("%q in %q: %v", test.text, test.content, ok)
		}
	}
}

func TestAValueStandsWhereItIsGivenToItsKey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		content, text, key string
		want               memoir.Standing
	}{
		{"port: 8080\n", "8080", "port", memoir.Present},
		{"port: 9090\nold: 8080\n", "8080", "port", memoir.Replaced},
		{"port: 9090\nport: 8080\n", "8080", "port", memoir.Present},
		{"# the port is open\n", "8080", "port", memoir.Absent},
		{"listen 8080\n", "8080", "port", memoir.Present},
		{"go 1.26.1\n", "1.26", "go", memoir.Replaced},
		{"const maxTitle = 80\n", "80", "maxTitle", memoir.Present},
		{"cut(maxTitle)\n", "80", "maxTitle", memoir.Absent},
		{`"mode": "strict"`, "strict", "mode", memoir.Present},
		{`"mode": "lax", "other": "strict"`, "strict", "mode", memoir.Replaced},
		{`"link": "#0a0b0c"`, "#0a0b0c", "link", memoir.Present},
		{"export: 8080\n", "8080", "port", memoir.Present}, // another name: only the text is compared
		{"retries: 12\n", "12", "port", memoir.Absent},     // any file may contain a short number
		{"", "8080", "port", memoir.Absent},
	} {
		a := memoir.Anchor{Path: "x", Text: test.text, Key: test.key}
		if got := a.In(test.content); got != test.want {
			t.Errorf("%s %s in %q: %d, want %d", test.key, test.text, test.content, got, test.want)
		}
	}
}

func TestAnchorsThatLeadElsewhereAreInvalid(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"a/b.go": true, ".github/x.yml": true, "": false, ".": false, "..": false, "../x": false, "a/../../x": false, "/etc/passwd": false,
		"a//b": false, "./a": false, `a\b`: false, "a\x00b": false, "a\nb": false, ".git/config": false, ".GIT/config": false, "a\u202eb": false,
		"[REDACTED:x]/a": false, strings.Repeat("a", 256): false,
	} {
		if got := (memoir.Anchor{Path: path}).Valid(); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
	for _, a := range []memoir.Anchor{{Path: "a", Text: "two\nlines"}, {Path: "a", Text: strings.Repeat("a", 101)}, {Path: "a", Text: "x", Key: "\x1b"}} {
		if a.Valid() {
			t.Errorf("%+q is valid", a)
		}
	}
}

func TestALineIsKnownByItsWords(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"- `make lint` passes", "* `make  lint` passes [019f6782 2026-07-16]", "  - `make lint` passes [019f6782 2026-07-16, +31].", "12. `make lint` passes\n"} {
		if memoir.LineKey(line) != memoir.LineKey("`make lint` passes") {
			t.Errorf("%q is another line: %q", line, memoir.LineText(line))
		}
	}
	if memoir.LineKey("- uses [1.2]") == memoir.LineKey("- uses") {
		t.Error("brackets that are no citation count")
	}
}
