package consolidate_test

import (
	"maps"
	"testing"
	"time"

	"memoir"
	"memoir/consolidate"
)

func TestWhatAPersonMadeOfALine(t *testing.T) {
	t.Parallel()
	const cite = " [anna-6ce75cd2 2026-05-01]"
	step := func(n int64, action memoir.EditAction, lines ...string) (out []memoir.HandEdit) {
		for _, line := range lines {
			out = append(out, memoir.HandEdit{File: memoir.MemoryFile, Action: action, Text: "- " + line + cite, At: time.Unix(n, 0)})
		}
		return out
	}
	const large, other = "the cache is red and large", "builds need an hour on Mondays"
	for what, test := range map[string]struct {
		edits []memoir.HandEdit
		want  map[string]string
	}{
		"many in one step: the most alike ones": {append(step(1, memoir.EditRemoved, large, other),
			step(1, memoir.EditAdded, "the cache is red", "the cache is red and very large")...),
			map[string]string{large: "the cache is red and very large", other: "the cache is red"}},
		"again": {append(append(step(1, memoir.EditRemoved, large), step(1, memoir.EditWasAdded, "it is red")...),
			append(step(2, memoir.EditRemoved, "it is red"), step(2, memoir.EditAdded, "it is blue")...)...),
			map[string]string{large: "it is blue", "it is red": "it is blue"}},
		"another step": {append(step(1, memoir.EditRemoved, large), step(2, memoir.EditAdded, "it is red")...), map[string]string{}},
	} {
		if got := consolidate.Changed(test.edits); !maps.Equal(got, test.want) {
			t.Errorf("%s: %q", what, got)
		}
	}
}
