package pipeline_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/store"
)

// The earlier of record and file counts, and neither counts after now: for the activity, rank and date of a session, and
// for what is written of it.
func TestOfAClockThatWasAheadTheEarlierTimeCounts(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	at := func(hours time.Duration) time.Time { return now.Add(hours * time.Hour) }
	home, dir := t.TempDir(), t.TempDir()
	tests := []struct {
		id                 string
		record, file, want time.Time
	}{
		{"aaaaaaaa-restored", at(-48), at(-1), at(-48)},
		{"bbbbbbbb-next-year", at(9000), at(-24), at(-24)},
		{"cccccccc-an-hour-that-passed", at(-71), at(-72), at(-72)},
		{"dddddddd-both-ahead", at(8000), at(9000), now},
	}
	for i, tt := range tests {
		path := codexSession(t, dir, tt.id, "/srv/app", "main", "Always ask "+[]string{"Ada", "Bob", "Cleo", "Dora"}[i]+" before a release.")
		text, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "2026-05-01T10:00:0", tt.record.Format("2006-01-02T15:04:0"))), 0o600))
		must(t, os.Chtimes(path, tt.file, tt.file))
	}
	o := options(home, dir)
	o.Now, o.MinIdle = time.Time{}, 0
	memory := liveText(t, home, run(t, o).Phase2[0].Project)
	sessions := sessionsOf(t, home)
	for _, tt := range tests {
		s := sessions["codex:"+tt.id]
		if off := s.UpdatedAt.Sub(tt.want).Abs(); off > time.Hour || s.CreatedAt.After(s.UpdatedAt) {
			t.Errorf("%s: from %v to %v; want %v", tt.id, s.CreatedAt, s.UpdatedAt, tt.want)
		}
		if cited := "[" + tt.id[:8] + " " + s.UpdatedAt.Format(time.DateOnly) + "]"; !strings.Contains(memory, cited) {
			t.Errorf("nothing is cited as %s:\n%s", cited, memory)
		}
	}
	history, err := filepath.Glob(filepath.Join(home, "projects", "*", "HISTORY.md"))
	if must(t, err); len(history) == 0 {
		t.Error("no history")
	}
	for _, path := range history {
		text, err := os.ReadFile(path)
		must(t, err)
		if year := now.AddDate(1, 0, 0).Format("2006-"); strings.Contains(string(text), year) {
			t.Errorf("the history speaks of %s:\n%s", year, text)
		}
	}
	order := []string{}
	for _, s := range ask(t, home, func(st *store.Store) ([]memoir.Session, error) { return st.Sessions(t.Context(), store.Filter{}) }) {
		order = append(order, s.ID[:1])
	}
	if !slices.Equal(order, []string{"d", "b", "a", "c"}) {
		t.Errorf("the newest first: %v", order)
	}
}
