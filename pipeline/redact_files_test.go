package pipeline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/memory"
	"memoir/secrets"
)

func TestPublishedNamesAndFilesAreRedacted(t *testing.T) {
	t.Parallel()
	scanner, err := secrets.New(secrets.Options{})
	must(t, err)
	r := &run{scanner: scanner}
	token := func(tail string) string {
		return strings.Join([]string{"ghp", "_", "k3Jd9sLq0WmZx7Yt2Rv5Bn8Cf4Hg6Pa1U", tail}, "")
	}
	value := strings.Join([]string{"q9!", "xLm2#zP"}, "")
	in := memory.Files{
		"MEMORY.md":                       []byte("it was " + value), // bare: only the script tells what it is
		"memory_summary.md":               []byte("clean"),
		"skills/deploy/SKILL.md":          []byte("use " + token("e0o")),
		"notes/" + token("e0o") + ".md":   []byte("one"),
		"notes/" + token("e1p") + ".md":   []byte("two"),
		"skills/deploy/scripts/deploy.sh": []byte("password=\"" + value + "\""),
	}
	out, counts, err := r.cleanFiles(in)
	must(t, err)
	want := memory.Files{
		"MEMORY.md":                       []byte("it was [REDACTED:password-assignment]"),
		"memory_summary.md":               []byte("clean"),
		"skills/deploy/SKILL.md":          []byte("use [REDACTED:github-pat]"),
		"notes/redacted-github-pat.md":    []byte("one"),
		"notes/redacted-github-pat-2.md":  []byte("two"),
		"skills/deploy/scripts/deploy.sh": []byte("password=\"[REDACTED:password-assignment]\""),
	}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if counts.Total() != 5 {
		t.Errorf("counts %v", counts)
	}
	if string(in["skills/deploy/SKILL.md"]) != "use "+token("e0o") {
		t.Error("the input was changed")
	}
}
