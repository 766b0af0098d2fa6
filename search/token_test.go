package search

import (
	"slices"
	"strings"
	"testing"
)

func TestWordsOfTextAndCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The parsers, parsed!":   "parsers parsed",
		"readFile":               "read file readfile",
		"HTTPServer v1.53":       "http server httpserver v1 53 v153",
		"max_open_conns":         "max open conns maxopenconns",
		"--dry-run":              "dry run dryrun",
		"internal/disk/open.go.": "internal disk open go internaldiskopengo",
		"Ada's café we'll":       "ada cafe",
		"full-text検索です":          "full text 検索 索で です す",
		"don't <b>":              "b",
		strings.Repeat("x", 65):  "",
		"naïve\u200b Straße":     "naive straße",
	} {
		if got, _ := indexed(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	if got := terms(strings.Repeat("one two three ", 9999)); !slices.Equal(wordsOf(got), []string{"one", "two", "three"}) {
		t.Errorf("%v", got)
	}
}

func TestASnippetIsAboutTheWords(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("lorem ipsum dolor ", 60)
	got := snippet(filler+"the crooked\n chimney fell "+filler, []string{"crook", "chimneys"})
	if !strings.Contains(got, "the crooked chimney fell") || !strings.HasPrefix(got, "… ") || !strings.HasSuffix(got, " …") || len(got) > maxSnippet+10 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if got := snippet(strings.Repeat("é", 900), nil); len(got) > maxSnippet {
		t.Errorf("%d bytes", len(got))
	}
}
