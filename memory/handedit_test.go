package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/memory"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// noted writes notes one a line: action, section, line before, text.
func noted(notes []memoir.HandEdit) string {
	var b strings.Builder
	for _, n := range notes {
		b.WriteString(strings.Join([]string{string(n.Action), n.Section, n.After, n.Text}, " | ") + "\n")
	}
	return b.String()
}

func TestHandEditsOfMemoryBecomeNotesByLine(t *testing.T) {
	t.Parallel()
	const published = `# Memory

intro

## Commands
- make
- test

## Decisions
- use sqlite [a]
- use go [b]
`
	tests := []struct{ name, before, now, want string }{
		{"nothing but space", published, strings.ReplaceAll(published, "\n", " \r\n\n"), ""},
		{
			"a line added at the end of a section", published, strings.Replace(published, "- test\n", "- test\n- lint\n", 1),
			"added | ## Commands | - test | - lint\n",
		},
		{
			"a line added first in a section", published, strings.Replace(published, "- make\n", "- lint\n- make\n", 1),
			"added | ## Commands |  | - lint\n",
		},
		{
			"lines added one after the other", published, strings.Replace(published, "- make\n", "- make\n- a\n  - b\n", 1),
			"added | ## Commands | - make | - a\nadded | ## Commands | - a |   - b\n",
		},
		{
			"a line above the first heading", published, "note\n" + published,
			"added |  |  | note\n",
		},
		{
			"a line removed", published, strings.Replace(published, "- test\n", "", 1),
			"removed | ## Commands | - make | - test\n",
		},
		{
			"a line changed", published, strings.Replace(published, "use go [b]", "use Go", 1),
			"removed | ## Decisions | - use sqlite [a] | - use go [b]\nadded | ## Decisions | - use sqlite [a] | - use Go\n",
		},
		{
			"a section added", published, published + "## Mine\n- always ask\n",
			"added | ## Decisions | - use go [b] | \n## Mine\nadded | ## Mine |  | - always ask\n",
		},
		{
			"a line moved up is removed before it is added", published,
			strings.Replace(strings.Replace(published, "- use go [b]\n", "", 1), "- make\n", "- use go [b]\n- make\n", 1),
			"removed | ## Decisions | - use sqlite [a] | - use go [b]\nadded | ## Commands |  | - use go [b]\n",
		},
		{
			"a heading that is another now", published, strings.Replace(published, "## Commands", "## Mine", 1),
			"removed | # Memory | intro | ## Commands\nadded | # Memory | intro | ## Mine\n",
		},
		{
			"a section between others", published, strings.Replace(published, "## Decisions", "## Mine\n- x\n\n## Decisions", 1),
			"added | ## Commands | - test | \n## Mine\nadded | ## Mine |  | - x\n",
		},
		{
			"one of two like lines removed", "## A\n- x\n- y\n- x\n", "## A\n- x\n- y\n", "removed | ## A | - y | - x\n",
		},
		{
			"both of two like lines removed", "## A\n- x\n- y\n- x\n", "## A\n- y\n",
			"removed | ## A |  | - x\nremoved | ## A | - y | - x\n",
		},
		{
			"a code block is one", "## A\n```\n# a\n```\n", "## A\n```\n# a\n\nb\n```\n",
			"removed | ## A |  | ```\n# a\n```\nadded | ## A |  | ```\n# a\n\nb\n```\n",
		},
		{
			"paragraphs with blank lines between", published, strings.Replace(published, "## Commands\n", "## Commands\n\none\ntwo\n\nthree\n\n", 1),
			"added | ## Commands |  | one\nadded | ## Commands | one | two\nadded | ## Commands | two | \nthree\n",
		},
		{"a hashtag is no heading", "#tag\n", "#tag\nx\n", "added |  | #tag | x\n"},
	}
	for _, test := range tests {
		for _, path := range []string{"MEMORY.md", "memory_summary.md"} {
			notes := memory.HandEdits("p", []memory.Edit{{Path: path, Published: []byte(test.before), Now: []byte(test.now)}}, noon)
			if diff := cmp.Diff(test.want, noted(notes)); diff != "" {
				t.Errorf("%s:\n%s", test.name, diff)
			}
		}
	}
}

func TestOtherFilesAreNotesAsAWhole(t *testing.T) {
	t.Parallel()
	notes := memory.HandEdits("p", []memory.Edit{
		{Path: "skills/a/SKILL.md", Published: []byte("old"), Now: []byte("new\ntext")},
		{Path: "notes.md", Now: []byte("mine")},
		{Path: "empty.md", Now: []byte{}},
		{Path: "raw_memories.md", Published: []byte("raw")},
		{Path: "MEMORY.md", Published: []byte("## A\n- x\n")},
		{Path: "same.md", Published: []byte("s"), Now: []byte("s")},
	}, noon)
	want := []memoir.HandEdit{
		{ProjectID: "p", File: "skills/a/SKILL.md", Action: memoir.EditFile, Text: "new\ntext", At: noon},
		{ProjectID: "p", File: "notes.md", Action: memoir.EditFile, Text: "mine", At: noon},
		{ProjectID: "p", File: "empty.md", Action: memoir.EditFile, At: noon},
		{ProjectID: "p", File: "raw_memories.md", Action: memoir.EditDeleted, At: noon},
	}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
}

func TestALineOfADiffThatLooksLikeAHeaderIsNone(t *testing.T) {
	t.Parallel()
	var marks string
	for _, l := range memory.DiffLines("diff a b\n--- a\n+++ b\n@@ -1 +1 @@\n same\n---- x\n+++ y\ndiff c d\n--- c\n") {
		marks += (l.Mark + " ")[:1]
	}
	if marks != " @@@ -+ @" {
		t.Errorf("got %q", marks)
	}
}
