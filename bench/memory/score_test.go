package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/bench/memory/marks"
	"memoir/bench/memory/scenario"
)

func project() scenario.Project {
	needs := func(s string) marks.Needs { return marks.Needs{{s}} }
	return scenario.Project{
		Name: "p",
		Marks: marks.Marks{
			Facts: []marks.Mark{{ID: "release", Kind: "command", Weight: 3, Needs: needs("make release")},
				{ID: "tags", Kind: "constraint", Weight: 1, Needs: needs("signed")}},
			Traps: []marks.Mark{{ID: "old-port", Kind: marks.Superseded, Needs: needs("8100"), Unless: []string{"was"}}}},
		Sessions: []scenario.Session{
			{Name: "01-a", Marks: marks.Marks{
				Facts: []marks.Mark{{ID: "test", Kind: "command", Weight: 2, Needs: needs("make test")},
					{ID: "lint", Kind: "command", Weight: 1, Needs: needs("make lint")}},
				Traps: []marks.Mark{{ID: "push", Kind: "refused", Needs: needs("--force")},
					{ID: "port", Kind: marks.Superseded, Needs: needs("8100")}}}},
			{Name: "02-b", Marks: marks.Marks{
				Facts: []marks.Mark{{ID: "office", Kind: "finding", Weight: 3, Needs: needs("Paderborn")}}}},
		},
	}
}

func TestAProjectIsScored(t *testing.T) {
	t.Parallel()
	before := Memory{
		Raw: map[string]string{"01-a": "- run `make test`\n- git push --force\n",
			"02-b": "- the office is in Paderborn\n"},
		MemoryMD: "- port 8100 was taken\n- run make test\n",
		Summary:  "- office: Paderborn\n",
		Skills:   []string{"# Release\n\n1. make test\n\nmake\nrelease"},
	}
	report := Report{Total: Counts{Tallies: map[string]Tally{}}}
	report.add(project(), before, Tally{2, 1, 2, 1})
	want := Counts{
		Sessions: 2,
		Tallies: map[string]Tally{
			inRaw:          {Of: 3, Found: 2, Weight: 6, WeightFound: 5},
			inFiles:        {Of: 2, Found: 1, Weight: 4, WeightFound: 3},
			carried:        {Of: 3, Found: 2, Weight: 6, WeightFound: 5},
			trapsRaw:       {Of: 2, Found: 1, Weight: 2, WeightFound: 1},
			trapsFiles:     {Of: 3, Found: 1, Weight: 3, WeightFound: 1},
			contradictions: {Of: 2, Found: 1, Weight: 2, WeightFound: 1},
			planted:        {Of: 2, Found: 1, Weight: 2, WeightFound: 1},
		},
		Tokens:      18,
		Largest:     10,
		MemoryBytes: len(before.MemoryMD),
		Skills:      1,
	}
	if diff := cmp.Diff(want, report.Total); diff != "" {
		t.Errorf("counts differ (-want +got):\n%s", diff)
	}
	var missed []string
	for _, m := range report.Misses {
		missed = append(missed, m.Where+" "+m.ID)
	}
	if diff := cmp.Diff([]string{"raw lint", "traps raw push", "traps files port", "files tags"}, missed); diff != "" {
		t.Errorf("misses differ (-want +got):\n%s", diff)
	}
}
