package score_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/bench/memory/marks"
	"memoir/bench/memory/scenario"
	"memoir/bench/memory/score"
)

func project() scenario.Project {
	needs := func(s string) marks.Needs { return marks.Needs{{s}} }
	return scenario.Project{
		Name: "p",
		Facts: []marks.Fact{{ID: "release", Kind: "command", Weight: 3, Needs: needs("make release")},
			{ID: "tags", Kind: "constraint", Weight: 1, Needs: needs("signed")}},
		Traps: []marks.Trap{{ID: "old-port", Kind: marks.Superseded, Needs: needs("8100"), Unless: []string{"was"}}},
		Sessions: []scenario.Session{
			{Name: "01-a",
				Facts: []marks.Fact{{ID: "test", Kind: "command", Weight: 2, Needs: needs("make test")},
					{ID: "lint", Kind: "command", Weight: 1, Needs: needs("make lint")}},
				Traps: []marks.Trap{{ID: "push", Kind: "refused", Needs: needs("--force")},
					{ID: "port", Kind: marks.Superseded, Needs: needs("8100")}}},
			{Name: "02-b", Facts: []marks.Fact{{ID: "office", Kind: "finding", Weight: 3, Needs: needs("Paderborn")}}},
		},
	}
}

func TestAProjectIsScored(t *testing.T) {
	t.Parallel()
	before := score.Memory{
		Raw: map[string]string{"01-a": "- run `make test`\n- git push --force\n",
			"02-b": "- the office is in Paderborn\n"},
		Memory:  "- port 8100 was taken\n- run make test\n",
		Summary: "- office: Paderborn\n",
		Skills:  []string{"# Release\n\n1. make test\n\nmake\nrelease"},
	}
	var report score.Report
	report.Add(project(), before, 2, 1)
	want := score.Counts{
		Sessions:       2,
		Raw:            score.Recall{Facts: 3, Found: 2, Weight: 6, WeightFound: 5},
		Files:          score.Recall{Facts: 2, Found: 1, Weight: 4, WeightFound: 3},
		Carried:        score.Recall{Facts: 3, Found: 2, Weight: 6, WeightFound: 5},
		TrapsRaw:       score.Fallen{Of: 2, Into: 1},
		TrapsFiles:     score.Fallen{Of: 3, Into: 1},
		Contradictions: score.Fallen{Of: 2, Into: 1},
		Secrets:        score.Fallen{Of: 2, Into: 1},
		Size:           score.Size{Sessions: 2, Tokens: 18, Largest: 10},
		MemoryBytes:    len(before.Memory),
		SummaryBytes:   len(before.Summary),
		Skills:         1,
	}
	if diff := cmp.Diff(want, report.Total); diff != "" {
		t.Errorf("counts differ (-want +got):\n%s", diff)
	}
	var missed []string
	for _, m := range report.Misses {
		missed = append(missed, m.Where+" "+m.ID)
	}
	if diff := cmp.Diff([]string{"raw memory lint", "raw memory push", "files port", "files tags"}, missed); diff != "" {
		t.Errorf("misses differ (-want +got):\n%s", diff)
	}
}
