package store

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
)

func listed(sessions []memoir.Session) []string {
	out := []string{}
	for _, se := range sessions {
		out = append(out, se.Key())
	}
	return out
}

func TestSessionsAreListedTheLatestFirstAndByFilter(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	register(t, s, project, other)
	at := ended(24 * time.Hour)
	scan(t, s,
		session("b", at), session("a", at), session("late", ended(time.Hour)),
		session("a", at, func(se *memoir.Session) { se.Source = memoir.SourceClaude; se.Files = nil }),
		session("c", ended(48*time.Hour), func(se *memoir.Session) { se.ProjectID, se.Kind = other, memoir.KindSubagent }),
	)
	tests := []struct {
		name   string
		filter Filter
		want   []string
	}{
		{"all", Filter{}, []string{"codex:late", "claude:a", "codex:a", "codex:b", "codex:c"}},
		{"of a project", Filter{Project: other}, []string{"codex:c"}},
		{"of an agent", Filter{Source: memoir.SourceClaude}, []string{"claude:a"}},
		{"with a reason", Filter{Reason: memoir.ReasonSubagent}, []string{"codex:c"}},
		{"by key", Filter{Keys: []string{"codex:b", "codex:none"}}, []string{"codex:b"}},
		{"by no key", Filter{Keys: []string{}}, []string{}},
		{"since", Filter{Since: noon.Add(-24 * time.Hour)}, []string{"codex:late", "claude:a", "codex:a", "codex:b"}},
		{"until", Filter{Until: noon.Add(-24 * time.Hour)}, []string{"codex:c"}},
		{"listed", Filter{Listed: true, Project: project}, []string{"codex:late", "claude:a", "codex:a", "codex:b"}},
		{"of nobody", Filter{Project: other, Source: memoir.SourceClaude}, []string{}},
	}
	for _, tt := range tests {
		got, err := s.Sessions(t.Context(), tt.filter)
		if must(t, err); !slices.Equal(listed(got), tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, listed(got), tt.want)
		}
		n, err := s.CountSessions(t.Context(), tt.filter)
		if must(t, err); n != len(got) {
			t.Errorf("%s: %d are counted", tt.name, n)
		}
		tt.filter.First, tt.filter.Most = 1, 2
		page, err := s.Sessions(t.Context(), tt.filter)
		want := got[min(1, len(got)):min(3, len(got))]
		if must(t, err); !reflect.DeepEqual(page, want) && len(page)+len(want) > 0 {
			t.Errorf("%s: a page is %v, want %v", tt.name, page, want)
		}
	}
}

func TestASessionIsFoundByKeyIDOrTheBeginningOfOne(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	register(t, s, project)
	scan(t, s, session("0199-aa"), session("0199-ab"), session("0199"), session("x%_y"),
		session("0199-ab", func(se *memoir.Session) { se.Source = memoir.SourceClaude; se.Files = nil }))
	tests := []struct {
		ref  string
		want []string
	}{
		{"codex:0199-ab", []string{"codex:0199-ab"}},
		{"0199-ab", []string{"claude:0199-ab", "codex:0199-ab"}},
		{"0199-aa", []string{"codex:0199-aa"}},
		{"0199", []string{"codex:0199"}}, // an id, though others begin with it
		{"0199-", []string{"claude:0199-ab", "codex:0199-aa", "codex:0199-ab"}},
		{"claude:01", []string{"claude:0199-ab"}},
		{"x%", []string{"codex:x%_y"}},
	}
	for _, tt := range tests {
		got, err := s.FindSessions(t.Context(), tt.ref)
		if must(t, err); !slices.Equal(listed(got), tt.want) {
			t.Errorf("%s: %v, want %v", tt.ref, listed(got), tt.want)
		}
	}
	for ref, code := range map[string]memoir.Code{"": memoir.CodeUsage, "none": memoir.CodeNotFound, "%": memoir.CodeNotFound, "codex:0199-aaa": memoir.CodeNotFound} {
		_, err := s.FindSessions(t.Context(), ref)
		wantCode(t, err, code)
		if !strings.HasPrefix(err.Error(), "no session ") {
			t.Errorf("%q: the error is %q", ref, err)
		}
	}
}

func TestADisabledSessionIsNeitherExtractedNorConsolidated(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.FinishProjectUnchanged(t.Context(), claimProject(t, s)))
	steps := []struct {
		disabled bool
		inputs   int
		seq      int64
	}{{false, 1, 1}, {true, 0, 2}, {true, 0, 2}, {false, 1, 3}, {false, 1, 3}}
	for _, step := range steps {
		must(t, s.SetDisabled(t.Context(), "codex:s00", step.disabled))
		if row := projectRow(t, s, project); len(inputs(t, s)) != step.inputs || row.Extractions != step.inputs || row.ChangeSeq != step.seq {
			t.Fatalf("disabled %v: %d inputs, project %+v", step.disabled, len(inputs(t, s)), row)
		}
	}
	must(t, s.SetDisabled(t.Context(), "codex:s01", true))
	wantIDs(t, claim(t, s, claimOptions(9)), "s02")
	if projectRow(t, s, project).ChangeSeq != 3 {
		t.Error("disabling a session without an extraction changed the project")
	}
}

func TestAForgottenSessionIsWithdrawnAndStaysAway(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	running := claimOne(t, s) // s01
	for _, key := range []string{"codex:s00", "codex:s01", "codex:never-seen"} {
		forget(t, s, key)
		forget(t, s, key)
	}
	wantCode(t, s.StoreExtraction(t.Context(), running, worth("b")), memoir.CodeLeaseLost)
	if row := projectRow(t, s, project); len(inputs(t, s)) != 0 || row.ChangeSeq != 2 {
		t.Fatalf("inputs %+v, project %+v", inputs(t, s), row)
	}
	scan(t, s, session("s00", grown), session("s01", grown), session("never-seen"))
	wantIDs(t, claim(t, s, claimOptions(9)), "s02")
	must(t, s.Unforget(t.Context(), "codex:s00"))
	scan(t, s, session("s00", grown))
	wantIDs(t, claim(t, s, claimOptions(9)), "s00")
}

func TestSessionsOfExcludedDirectoriesAreDisabledUntilTheyAreNotExcluded(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.SetDisabled(t.Context(), "codex:s02", true)) // a person's own mark outlives an exclusion
	for _, want := range []struct {
		excluded, off string
		reasons       [3]memoir.Reason
		inputs        int
		changed       bool
	}{
		{"", "/src/" + project, [3]memoir.Reason{memoir.ReasonDisabled, memoir.ReasonDisabled, memoir.ReasonDisabled}, 1, false},
		{"/src/" + project, "", [3]memoir.Reason{memoir.ReasonDisabled, memoir.ReasonDisabled, memoir.ReasonDisabled}, 0, true},
		{"/elsewhere", "", [3]memoir.Reason{memoir.ReasonUpToDate, memoir.ReasonEligible, memoir.ReasonDisabled}, 1, true},
	} {
		before := projectRow(t, s, project)
		must(t, s.SetExcluded(t.Context(), []string{want.excluded}, []string{want.off}))
		row := projectRow(t, s, project)
		got := [3]memoir.Reason{reasonOf(t, s, "s00"), reasonOf(t, s, "s01"), reasonOf(t, s, "s02")}
		if got != want.reasons || row.Extractions != want.inputs || (row.ChangeSeq != before.ChangeSeq) != want.changed {
			t.Errorf("%q excluded, %q off: %v, %+v after %+v", want.excluded, want.off, got, row, before)
		}
	}
}

// skippedNow returns what is stored, without the times.
func skippedNow(t *testing.T, s *Store) []SkippedRow {
	t.Helper()
	rows, err := s.SkippedRecords(t.Context())
	must(t, err)
	for i := range rows {
		if rows[i].At.IsZero() {
			t.Errorf("no time: %+v", rows[i])
		}
		rows[i].At = noon
	}
	return rows
}

func TestSkippedRecordsAreThoseOfEachSessionsLastExtraction(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 2)
	r := worth("a")
	r.Skipped = []Skipped{{SkippedUnknown, "hologram", 3}, {SkippedUnknown, "hologram", 1}, {SkippedUnknown, "aura", 9}, {SkippedCut, "", 1}}
	first := extracted(t, s, r)
	r = worth("b")
	r.Skipped = []Skipped{{SkippedUnknown, "hologram", 8}}
	second := extracted(t, s, r)
	want := []SkippedRow{
		{Skipped{SkippedCut, "", 1}, "codex", 1, first.Session.Key(), noon},
		{Skipped{SkippedUnknown, "hologram", 12}, "codex", 2, first.Session.Key(), noon},
		{Skipped{SkippedUnknown, "aura", 9}, "codex", 1, first.Session.Key(), noon},
	}
	if got := skippedNow(t, s); !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}

	// Its next reading is what counts, also one that finds nothing new in it.
	scan(t, s, session(first.Session.ID, grown))
	c := claimOne(t, s)
	must(t, s.MarkUnchanged(t.Context(), c, c.DoneHash, Result{Skipped: []Skipped{{SkippedUnknown, "aura", 1}}}))
	want = []SkippedRow{
		{Skipped{SkippedUnknown, "hologram", 8}, "codex", 1, second.Session.Key(), noon},
		{Skipped{SkippedUnknown, "aura", 1}, "codex", 1, first.Session.Key(), noon},
	}
	if got := skippedNow(t, s); !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	must(t, s.Clear(t.Context(), project))
	if got := skippedNow(t, s); len(got) != 0 {
		t.Errorf("cleared, and %+v is left", got)
	}
}

// What a session said that is never extracted does not stay for longer than new sessions are told it.
func TestWhatAnOldSessionSaidIsDeleted(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	register(t, s, project)
	ended := func(ago time.Duration) func(*memoir.Session) {
		return func(se *memoir.Session) { se.UpdatedAt = time.Now().Add(-ago) }
	}
	all := []memoir.Session{session("old", ended(SaidFor+time.Hour)), session("new", ended(SaidFor-time.Hour))}
	scan(t, s, all...)
	epoch, err := s.Epoch(t.Context())
	must(t, err)
	for _, se := range all {
		taken := Taken{Session: se, Statements: []memoir.Statement{{Text: "From now on never use " + se.ID}}}
		must(t, s.TakeIn(t.Context(), epoch, []Taken{taken}))
	}
	must(t, s.PruneSaid(t.Context()))
	var left []string
	must(t, s.read(t.Context(), func(t tx) { left = t.texts(`SELECT session_key FROM said`) }))
	if !slices.Equal(left, []string{"codex:new"}) {
		t.Errorf("left: %q", left)
	}
}
