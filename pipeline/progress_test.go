package pipeline

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestLongWorkIsReportedAsItBeginsAndGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []Progress
		r := &phase1{total: 3, run: &run{opts: Options{Progress: func(p Progress) { told = append(told, p) }}}}
		stop := during(func(since time.Duration) { r.extracting("a", false, since) })
		time.Sleep(2*stillEvery + time.Second) // of the bubble's clock
		stop()
		r.count(func(p *Phase1Report) { p.Claimed++ })
		r.extracting("", false, 0)
		want := []Progress{
			{Stage: StageExtract, Total: 3, What: "a"},
			{Stage: StageExtract, Total: 3, What: "a", Since: stillEvery},
			{Stage: StageExtract, Total: 3, What: "a", Since: 2 * stillEvery},
			{Stage: StageExtract, Done: 1, Total: 3},
		}
		if !slices.Equal(told, want) {
			t.Errorf("got %+v, want %+v", told, want)
		}
	})
}
