package store

import (
	"slices"
	"testing"
	"time"

	"memoir"
)

// said returns the messages of all sessions that searching finds, by key.
func said(t *testing.T, s *Store) map[string][]Message {
	t.Helper()
	found, err := s.Searchable(t.Context())
	must(t, err)
	out := map[string][]Message{}
	for _, q := range found {
		d, err := s.SessionText(t.Context(), q.Seq)
		must(t, err)
		out[d.SessionKey] = d.Messages
	}
	return out
}

func searchState(t *testing.T, s *Store) string {
	t.Helper()
	state, _, err := s.SearchState(t.Context())
	must(t, err)
	return state
}

// What was said is stored with the end of the job, also where nothing was worth keeping, and replaced by
// what a later reading gives. Each change is seen by the state.
func TestMessagesAreStoredWithTheExtraction(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 1)
	register(t, s, other)
	const key = "codex:s00"
	states := map[string]string{}
	changed := func(what string) {
		t.Helper()
		state := searchState(t, s)
		if before, known := states[state]; known {
			t.Errorf("%s: the state is that of %q", what, before)
		}
		states[state] = what
	}
	changed("nothing")
	empty := Result{Messages: worth("tea").Messages}
	empty.Extraction.ContentHash = "h"
	extracted(t, s, empty)
	changed("stored")
	if got := said(t, s)[key]; len(got) != 2 || got[0] != empty.Messages[0] || got[1].Typed || got[1].Item != 3 {
		t.Errorf("said: %+v", got)
	}
	scan(t, s, session("s00", grown))
	extracted(t, s, Result{Messages: []Message{{Item: 2, Text: "other words"}}})
	changed("read again")
	if got := said(t, s)[key]; len(got) != 1 || got[0].Text != "other words" {
		t.Errorf("said: %+v", got)
	}
	scan(t, s, session("s00", grown, theirs))
	changed("moved")
	must(t, s.SetDisabled(t.Context(), key, true))
	changed("disabled")
	if got := said(t, s); len(got) != 0 {
		t.Errorf("disabled, it is found: %+v", got)
	}
	must(t, s.SetDisabled(t.Context(), key, false))
	must(t, s.BeginForgetting(t.Context(), Forgetting{Keys: []string{key}}))
	changed("forgotten")
	if n := rows(t, s); n["message"] != 0 || n["searchable"] != 0 {
		t.Errorf("once forgetting began there are %d messages, %d sessions to find", n["message"], n["searchable"])
	}
}

// An extraction that was adopted is found, although nobody knows what was said.
func TestAnAdoptedExtractionIsSearched(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	_, err := s.Adopt(t.Context(), Adoption{
		Project:     memoir.Project{ID: project, Name: "memoir", Identity: "host/memoir"},
		Generations: []GenerationRecord{{N: 1}},
		Extractions: []memoir.Extraction{{SessionKey: "codex:a", Statements: findings("a"), RolloutSummary: "b", ContentHash: "h"}},
	})
	must(t, err)
	if got, ok := said(t, s)["codex:a"]; !ok || len(got) != 0 {
		t.Errorf("%v, %+v", ok, got)
	}
}

func TestTheHistoryLeavesOutWhatIsKeptOutOfMemory(t *testing.T) {
	s, _ := newQueue(t, 2)
	extracted(t, s, worth("tea"))
	extracted(t, s, worth("coffee"))
	must(t, s.SetDisabled(t.Context(), "codex:s00", true))
	files := func(want ...string) {
		t.Helper()
		var keys []string
		must(t, s.FileHistory(t.Context(), func(id string, found []memoir.Extraction) error {
			for _, e := range found {
				keys = append(keys, e.SessionKey)
			}
			return nil
		}))
		if !slices.Equal(keys, want) {
			t.Errorf("filed %v, want %v", keys, want)
		}
	}
	files("codex:s01")
	must(t, s.SetDisabled(t.Context(), "codex:s00", false))
	files("codex:s00") // once it is let in
	files()
}

func TestTheDatabaseIsWrittenWhileFilesAre(t *testing.T) {
	t.Parallel()
	s, clock := newQueue(t, 4)
	extracted(t, s, worth("tea"))
	_, err := s.AddEntry(t.Context(), memoir.Entry{ProjectID: project, Kind: memoir.EntryJournal,
		Author: memoir.AuthorUser, Text: "released"}, nil)
	must(t, err)
	second := openAt(t, s.Path(), Options{Now: clock.Now, BusyTimeout: time.Millisecond})
	calls := 0
	write := func() error {
		calls++
		wantCode(t, second.Alone(t.Context(), nil), memoir.CodeBusy)
		extracted(t, second, worth("coffee"))
		return nil
	}
	var filed []string
	must(t, s.Alone(t.Context(), write))
	must(t, s.FileEntries(t.Context(), 0, func(memoir.Entry) error { return write() }))
	history := func() error {
		return s.FileHistory(t.Context(), func(_ string, found []memoir.Extraction) error {
			for _, e := range found {
				filed = append(filed, e.SessionKey)
			}
			if calls == 2 {
				return write()
			}
			return nil
		})
	}
	must(t, history())
	must(t, history())
	must(t, history())
	slices.Sort(filed[:3])
	if want := []string{"codex:s00", "codex:s01", "codex:s02", "codex:s03"}; calls != 3 || !slices.Equal(filed, want) {
		t.Errorf("%d calls, filed %v, want %v", calls, filed, want)
	}
}

// What was read of a session before something was forgotten, or before stored texts are redacted, is not stored.
func TestTextsOfAnEpochThatIsOverAreNotStored(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *Store) error{
		"nothing":    func(*Store) error { return nil },
		"forgetting": func(s *Store) error { return s.BeginForgetting(background(), Forgetting{Keys: []string{"codex:x"}}) },
		"redaction":  func(s *Store) error { return s.Working(background()) },
	} {
		s, _ := newQueue(t, 1)
		all, err := s.Untaken(t.Context(), nil)
		if must(t, err); len(all) != 1 {
			t.Fatalf("to read: %+v", all)
		}
		epoch, err := s.Epoch(t.Context())
		must(t, err)
		must(t, end(s))
		texts := []Message{{Item: 1, Text: "said"}}
		must(t, s.TakeIn(t.Context(), epoch, []Taken{{Session: all[0], Messages: texts}}))
		left, err := s.CountUntaken(t.Context(), "", 0)
		must(t, err)
		if stored := len(said(t, s)) == 1; stored != (name == "nothing") || stored == (left == 1) {
			t.Errorf("%s: stored %v, %d left", name, stored, left)
		}
	}
}
