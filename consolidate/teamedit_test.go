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

// Without a hub's memory, too, words that a person changed are theirs; a line that they moved is not.
func TestAChangedLineNamesNobodyElse(t *testing.T) {
	t.Parallel()
	const from, cite = " (from the team: anna)", " [anna-6ce75cd2 2026-05-01]"
	for after, want := range map[string]string{"it is blue": "- it is blue" + cite, "it is red": "- it is red" + from + cite} {
		edits := []memoir.HandEdit{{File: memoir.MemoryFile, Action: memoir.EditRemoved, Text: "- it is red" + from + cite},
			{File: memoir.MemoryFile, Action: memoir.EditAdded, Text: "- " + after + from + cite}}
		(*consolidate.Base)(nil).MarkEdits(memoir.Project{}, edits)
		if got := edits[1].Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Two members said nearly the same of a failure. One line is changed or removed, here or by a member at a hub.
func TestAChangedLineTakesNoOtherLineWithIt(t *testing.T) {
	t.Parallel()
	const cite, text = " [anna-6ce75cd2 2026-05-01]", "`make test` failed: no route to the database of the tests while the first migration of the schema was still running there; fixed by `make "
	for what, test := range map[string]struct{ after, want string }{
		"changed": {text + "database`", "- " + text + "cache`"}, "removed": {"", "- other"}} {
		made := memoir.Consolidation{MemoryMD: "# app\n\n## Failures and fixes\n\n- other\n- " + text + "db` (from the team: anna)" + cite + "\n- " +
			text + "cache` (from the team: ben) [ben-0123abcd 2026-05-02]\n"}
		edits := []memoir.HandEdit{{File: memoir.MemoryFile, Action: memoir.EditRemoved, Section: "## Failures and fixes", Text: "- " + text + "db`" + cite}}
		if test.after != "" {
			edits = append(edits, memoir.HandEdit{File: memoir.MemoryFile, Action: memoir.EditAdded, Section: "## Failures and fixes", Text: "- " + test.after + cite})
		}
		here := consolidate.ApplyHandEdits(made, edits)
		made, edits = consolidate.WithTeamEdits(made, []consolidate.TeamEdit{{"ben", text + "db`", test.after, "2026-05-02"}}, nil)
		for where, c := range map[string]memoir.Consolidation{"here": here, "at the hub": consolidate.ApplyHandEdits(made, edits)} {
			lines := under(c.MemoryMD, "## Failures and fixes")
			if !contains(lines, test.want) || contains(lines, "db`") || contains(lines, "cache`") != (test.after != "") {
				t.Errorf("%s, %s: %q", what, where, lines)
			}
		}
	}
}
