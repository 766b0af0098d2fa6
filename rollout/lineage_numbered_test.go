package rollout

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// numbered is a line of a session whose program numbers its entries: entry n, at a
// minute, in which a person says a text.
func numbered(session string, n, minute int, text string) string {
	line := strings.Replace(says(session, n), entry(n), fmt.Sprint("u", n), 1)
	line = strings.Replace(line, fmt.Sprintf("10:%02d:00Z", n), fmt.Sprintf("10:%02d:00Z", minute), 1)
	return strings.Replace(line, fmt.Sprint("say ", n), "say "+text, 1)
}

func TestEntriesThatAreOnlyNumberedAlikeAreNoCopies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string][]string
		want  map[string]string
	}{
		{"sessions that begin alike at the same time and go on differently", map[string][]string{
			oldID: {numbered(oldID, 0, 0, "hello"), numbered(oldID, 1, 1, "ok"), numbered(oldID, 2, 2, "one")},
			newID: {numbered(newID, 0, 0, "hello"), numbered(newID, 1, 1, "ok"), numbered(newID, 2, 2, "two")}},
			map[string]string{oldID: "hello ok one", newID: "hello ok two"}},
		{"sessions that are alike at different times", map[string][]string{
			oldID: {numbered(oldID, 0, 0, "hello"), numbered(oldID, 1, 1, "ok")},
			newID: {numbered(newID, 0, 30, "hello"), numbered(newID, 1, 31, "ok")}},
			map[string]string{oldID: "hello ok", newID: "hello ok"}},
		{"sessions that have no more than their first entry in common", map[string][]string{
			oldID: {numbered(oldID, 0, 0, "hello"), numbered(oldID, 1, 1, "ok")},
			newID: {numbered(newID, 0, 0, "hello"), numbered(newID, 7, 1, "ok")}},
			map[string]string{oldID: "hello ok", newID: "hello ok"}},
		{"a resumed session", map[string][]string{
			oldID: {numbered(oldID, 0, 0, "hello"), numbered(oldID, 1, 1, "ok")},
			newID: {numbered(newID, 0, 0, "hello"), numbered(newID, 1, 1, "ok"), numbered(newID, 2, 2, "more")}},
			map[string]string{oldID: "hello ok", newID: "more"}},
		{"a resumed session beside a stranger that begins alike", map[string][]string{
			oldID:   {numbered(oldID, 0, 0, "hello"), numbered(oldID, 1, 1, "ok")},
			newID:   {numbered(newID, 0, 0, "hello"), numbered(newID, 1, 1, "ok"), numbered(newID, 2, 2, "more")},
			thirdID: {numbered(thirdID, 0, 0, "hello"), numbered(thirdID, 1, 1, "no")}},
			map[string]string{oldID: "hello ok", newID: "more", thirdID: "hello no"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, lines := range tt.files {
				writeAt(t, filepath.Join(dir, name+".jsonl"), strings.Join(lines, "\n")+"\n")
			}
			for name, want := range tt.want {
				items, _ := read(t, filepath.Join(dir, name+".jsonl"))
				if got := said(items); got != want {
					t.Errorf("%s gives %q, want %q", name, got, want)
				}
			}
		})
	}
}
