package pipeline

import (
	"encoding/json"
	"testing"
	"time"

	"memoir"
	"memoir/rollout"
	"memoir/store"
)

func TestOfAClockThatWasAheadTheEarlierTimeCounts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return now.Add(d) }
	for _, tt := range []struct {
		name               string
		record, file, want time.Time
	}{
		{"a restored file", at(-48 * time.Hour), at(-time.Minute), at(-48 * time.Hour)},
		{"a record of next year", at(9000 * time.Hour), at(-24 * time.Hour), at(-24 * time.Hour)},
		{"both ahead", at(time.Hour), at(2 * time.Hour), at(time.Hour)},
		{"a file without a time in it", time.Time{}, at(-time.Hour), at(-time.Hour)},
	} {
		head, err := json.Marshal(rollout.Head{Source: memoir.SourcePi, ID: "x", UpdatedAt: tt.record})
		if err != nil {
			t.Fatal(err)
		}
		session, err := assemble("pi:x", []store.FileRow{{File: memoir.File{Path: "x.jsonl", ModTime: tt.file}, Head: head}}, now)
		if err != nil || !session.UpdatedAt.Equal(tt.want) {
			t.Errorf("%s: %v, %v; want %v", tt.name, session.UpdatedAt, err, tt.want)
		}
	}
}
