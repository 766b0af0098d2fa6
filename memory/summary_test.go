package memory_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
	"memoir/memory"
)

func TestTheSummaryIsReadAsItStands(t *testing.T) {
	t.Parallel()
	r := memory.At(t.TempDir(), project)
	publish(t, r, 1, generation(1))
	write(t, r, "memory_summary.md", "by hand\n")
	if text, err := r.Summary(); err != nil || text != "by hand\n" {
		t.Errorf("got %q, %v", text, err)
	}
	name := filepath.Join(r.Link(), "memory_summary.md")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if text, err := r.Summary(); err != nil || text != "" {
		t.Errorf("a deleted summary gives %q, %v", text, err)
	}
	if err := os.Symlink("/etc/passwd", name); err != nil {
		t.Fatal(err)
	}
	if text, err := r.Summary(); memoir.CodeOf(err) != memoir.CodeStorage || text != "" {
		t.Errorf("a link out of the memory gives %q, %v", text, err)
	}
}

func TestTextsAreCutByWholeLines(t *testing.T) {
	t.Parallel()
	const mark = "(cut here; the whole memory is in memory://root/MEMORY.md)\n"
	long := strings.Repeat("- a line of some length\n", 100)
	for name, test := range map[string]struct {
		text   string
		tokens int
		want   string
	}{
		"a text that fits":              {"# A\n- b\n", 2, "# A\n- b\n"},
		"a text that fits to the byte":  {"12345678", 2, "12345678"},
		"an empty text":                 {"", 0, ""},
		"no budget":                     {"x", 0, ""},
		"a negative budget":             {"x", -1, ""},
		"too little for the mark":       {long, 10, ""},
		"just the mark":                 {long, 15, mark},
		"two lines":                     {long, 30, "- a line of some length\n- a line of some length\n" + mark},
		"a heading without its content": {"- one\n\n## Two\n" + long, 20, "- one\n" + mark},
		"a code block is not left open": {"- one\n```\nx\n" + long, 22, "- one\n" + mark},
		"a code block that is closed":   {"```\nx\n```\n" + long, 18, "```\nx\n```\n" + mark},
		"a line longer than the budget": {strings.Repeat("é", 500), 40, mark},
	} {
		got := memory.FitTokens(test.text, test.tokens)
		if got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if memoir.Tokens(got) > max(test.tokens, 0) {
			t.Errorf("%s: %d tokens", name, memoir.Tokens(got))
		}
	}
}

func FuzzFitTokens(f *testing.F) {
	f.Add("# A\n\n- b\n```\nx\n", 17)
	f.Fuzz(func(t *testing.T, text string, tokens int) {
		got := memory.FitTokens(text, tokens)
		if memoir.Tokens(got) > max(tokens, 0) {
			t.Errorf("%d tokens for a budget of %d: %q", memoir.Tokens(got), tokens, got)
		}
		if got != text && got != "" && !strings.HasSuffix(got, "memory://root/MEMORY.md)\n") {
			t.Errorf("a cut text does not say so: %q", got)
		}
	})
}
