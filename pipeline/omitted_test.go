package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/config"
	"memoir/extract"
)

func TestWhatIsLeftOutForLengthIsCounted(t *testing.T) {
	t.Parallel()
	r := &run{extractor: extract.NewBuiltin(), meter: newMeter(config.Limits{}, nil, "", nil)}
	r.extracted(extract.Report{Session: "claude:1", Shown: 562, Omitted: 205})
	r.extracted(extract.Report{Session: "claude:2", Shown: 3})
	r.extracted(extract.Report{Session: "claude:3", Shown: 10, Omitted: 1})
	want := &Grounding{Cut: 2, CutItems: 778, Omitted: 206, Dropped: map[string]int{}}
	if diff := cmp.Diff(want, r.report.Grounding); diff != "" {
		t.Error(diff)
	}
}
