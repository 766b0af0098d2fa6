package store

import (
	"slices"
	"strings"
	"testing"

	"memoir"
)

func outbox(t *testing.T, s *Store) map[string]Outgoing {
	t.Helper()
	out := map[string]Outgoing{}
	all, err := s.Outbox(t.Context(), "", 100)
	must(t, err)
	for _, o := range all {
		out[o.Session] = o
	}
	return out
}

func deliver(t *testing.T, s *Store, o Outgoing, sent []Sent, whole bool) error {
	return s.Deliver(t.Context(), []Delivery{{o, sent, whole}}, true)
}

func TestWhatChangesAnExtractionFillsTheOutbox(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t) // s00 is extracted
	const key = "codex:s00"
	if got := outbox(t, s); len(got) != 0 {
		t.Fatalf("before anything is shared: %+v", got)
	}
	must(t, s.Share(t.Context(), project, "host.example/a/b"))
	o := outbox(t, s)[key]
	if o.Key != "host.example/a/b" || o.Extraction == nil || len(o.Extraction.Statements) == 0 || len(o.Sent) != 0 {
		t.Fatalf("shared: %+v", o)
	}
	sent := []Sent{{Key: o.Key, Hash: "h1", Shared: true}}
	must(t, deliver(t, s, o, sent, true))
	if got := outbox(t, s); len(got) != 0 {
		t.Fatalf("delivered: %+v", got)
	}

	for _, step := range []struct {
		what   string
		leaves bool
		change func() error
	}{
		{"disabled", false, func() error { return s.SetDisabled(t.Context(), key, true) }},
		{"enabled", true, func() error { return s.SetDisabled(t.Context(), key, false) }},
		{"forgotten", false, func() error { return s.BeginForgetting(t.Context(), Forgetting{Keys: []string{key}}) }},
	} {
		must(t, step.change())
		got := outbox(t, s)[key]
		if (got.Extraction != nil) != step.leaves || !slices.Equal(got.Sent, sent) {
			t.Errorf("%s: %+v", step.what, got)
		}
		must(t, deliver(t, s, got, nil, true))
	}
}

func TestAChangeDuringAPushStaysInTheOutbox(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.Share(t.Context(), project, "k"))
	o := outbox(t, s)["codex:s00"]
	must(t, s.SetDisabled(t.Context(), o.Session, true))
	must(t, deliver(t, s, o, []Sent{{Key: "k", Hash: "h"}}, true))
	if got := outbox(t, s)[o.Session]; got.N <= o.N || got.Extraction != nil || len(got.Sent) != 1 {
		t.Errorf("left %+v", got)
	}
}

func TestUnsharingWithdrawsWhatWasSentAndReceived(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		s, _ := newDue(t)
		must(t, s.Share(t.Context(), project, "k"))
		o := outbox(t, s)["codex:s00"]
		must(t, deliver(t, s, o, []Sent{{Key: "k", Hash: "h"}}, true))
		_, _, err := s.Receive(t.Context(), project, FromHub, "e.1", []Received{theirStatement("alice", "a", "x")})
		must(t, err)
		must(t, s.Unshare(t.Context(), project, keep))
		if got := outbox(t, s); (len(got) == 0) != keep || !keep && (got[o.Session].Key != "" || len(got[o.Session].Sent) != 1) {
			t.Errorf("keep %v: %+v", keep, got)
		}
		if keys := inputKeys(t, s); !slices.Equal(keys, []string{"codex:s00"}) {
			t.Errorf("keep %v: inputs %q", keep, keys)
		}
	}
}

func TestAProjectIsSharedUnderAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.Share(t.Context(), project, "k"))
	register(t, s, other)
	wantCode(t, s.Share(t.Context(), other, "k"), memoir.CodeUsage)
	wantCode(t, s.Share(t.Context(), "none", "l"), memoir.CodeNotFound)
}

func theirStatement(member, session, text string) Received {
	return Received{Member: member, Hash: "hash of " + text, Session: session, Day: "2026-11-01",
		Statement: memoir.Statement{Kind: memoir.StatementFinding, Text: text, Signal: memoir.SignalModel, By: memoir.ByAgent}}
}

func inputKeys(t *testing.T, s *Store) (keys []string) {
	t.Helper()
	selected, _, err := s.Selected(t.Context(), project, 100)
	must(t, err)
	for _, e := range selected {
		keys = append(keys, e.SessionKey)
	}
	return keys
}

func TestAWithdrawnStatementForgetsItsGroup(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.Share(t.Context(), project, "k"))
	receive := func(want bool, changes ...Received) {
		t.Helper()
		_, withdrawn, err := s.Receive(t.Context(), project, FromHub, "e.9", changes)
		if must(t, err); withdrawn != want {
			t.Errorf("withdrawn: %v", withdrawn)
		}
	}
	receive(false, theirStatement("al-ice", "abc", "one"), theirStatement("al-ice", "abc", "two"),
		theirStatement("", "abc", "mine"))
	receive(false, theirStatement("al-ice", "abc", "one")) // again
	if got := inputKeys(t, s); !slices.Equal(got, []string{"codex:s00", "machine:abc", "team:al-ice-abc"}) {
		t.Fatalf("%q", got)
	}
	receive(false, Received{Member: "bob", Hash: "hash of one", Gone: true}) // it is not Bob's
	receive(true, Received{Member: "al-ice", Hash: "hash of one", Gone: true})
	if got := inputKeys(t, s); !slices.Equal(got, []string{"codex:s00", "machine:abc", "team:al-ice-01abc"}) {
		t.Fatalf("%q", got)
	}
	receive(false, theirStatement("al-ice", "abc", "one")) // it does not come back
	receive(true, Received{Member: "al-ice", Hash: "hash of two", Gone: true})
	if got := inputKeys(t, s); !slices.Equal(got, []string{"codex:s00", "machine:abc"}) {
		t.Fatalf("%q", got)
	}
	if shares, _, err := s.Shares(t.Context()); err != nil || len(shares) != 1 || shares[0].Cursor != "e.9" || shares[0].Received != 1 {
		t.Errorf("%+v, %v", shares, err)
	}
	if got := outbox(t, s); len(got) != 1 {
		t.Errorf("what was received comes into the outbox: %+v", got)
	}
}

func TestEverythingIsSentAgain(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.Share(t.Context(), project, "k"))
	o := outbox(t, s)["codex:s00"]
	must(t, deliver(t, s, o, []Sent{{Key: "k", Hash: "h", Told: true}, {Key: "k", Hash: "old", Withdrawn: true, Told: true}}, true))
	must(t, s.ResendAll(t.Context()))
	must(t, s.ResendAll(t.Context())) // again, after a kill
	want := []Sent{{Key: "k", Hash: "h", Shared: true}, {Key: "k", Hash: "old", Withdrawn: true, Shared: true}}
	if got := outbox(t, s)[o.Session]; got.Extraction == nil || !slices.Equal(got.Sent, want) {
		t.Errorf("%+v", got)
	}
}

func TestWhatARepositoryGivesAgainReturnsUnlessAPersonForgotIt(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	one, two := theirStatement("alice", "abc", "one"), theirStatement("alice", "def", "two")
	copied := theirStatement("mallory", "abc", "one")
	receive := func(changes ...Received) []string {
		t.Helper()
		_, _, err := s.Receive(t.Context(), project, FromRepository, "", changes)
		must(t, err)
		return inputKeys(t, s)
	}
	for _, step := range []struct {
		changes []Received
		want    []string
	}{
		{[]Received{one, two}, []string{"codex:s00", "team:alice-abc", "team:alice-def"}},
		{[]Received{two}, []string{"codex:s00", "team:alice-def"}},
		{[]Received{two, copied}, []string{"codex:s00", "team:alice-def", "team:mallory-abc"}},
		{[]Received{one, two}, []string{"codex:s00", "team:alice-01abc", "team:alice-def"}},
		{[]Received{theirStatement("alice", "abc", "three"), two}, []string{"codex:s00", "team:alice-02abc", "team:alice-def"}},
	} {
		if got := receive(step.changes...); !slices.Equal(got, step.want) {
			t.Errorf("%+v: %q, want %q", step.changes, got, step.want)
		}
	}
	must(t, s.BeginForgetting(t.Context(), Forgetting{Keys: []string{"team:alice-def"}}))
	elsewhere := two // as a fork, or a project that was merged, has it
	elsewhere.Session = "defg"
	for _, is := range [][]Received{{two, elsewhere}, {}, {two, elsewhere}} {
		if got := receive(is...); !slices.Equal(got, []string{"codex:s00"}) {
			t.Errorf("forgotten: %q", got)
		}
	}
}

func TestTwoProjectsHaveASession(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	register(t, s, other)
	session := strings.Repeat("ab", 12)
	one := theirStatement("alice", session, "one")
	has := func(projectID string) (keys []string) {
		t.Helper()
		all, _, err := s.Selected(t.Context(), projectID, 100)
		must(t, err)
		for _, e := range all {
			if memoir.IsReceived(e.SessionKey) {
				keys = append(keys, e.SessionKey)
			}
		}
		return keys
	}
	for i, id := range []string{project, other} {
		must(t, s.Share(t.Context(), id, id))
		_, _, err := s.Receive(t.Context(), id, FromHub, "e.1", []Received{one, theirStatement("al", session, "two")})
		must(t, err)
		if got := [][]string{has(project), has(other)}; len(got[0]) != 2 || len(got[1]) != 2*i {
			t.Fatalf("%d: %q", i, got)
		}
	}
	_, _, err := s.Receive(t.Context(), project, FromHub, "e.2", []Received{{Member: "alice", Hash: one.Hash, Gone: true}, theirStatement("alice", session, "three")})
	must(t, err)
	for id, want := range map[string]string{project: "team:alice-02" + session, other: "team:alice-01" + session} {
		if got := has(id); !slices.Contains(got, want) {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	must(t, s.BeginForgetting(t.Context(), Forgetting{Keys: []string{"team:alice-01" + session}})) // the session is one
	for _, id := range []string{project, other} {
		if got := has(id); len(got) != 1 || memoir.MemberOf(got[0]) != "al" {
			t.Errorf("forgotten: %q", got)
		}
	}
}

func TestWhatIsReadAnewReplacesWhatAnEarlierProgramRead(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.Share(t.Context(), project, "k"))
	one := theirStatement("alice", "abc", "one")
	for _, cause := range []string{"", "a field of later"} {
		one.Statement.Cause = cause
		_, _, err := s.Receive(t.Context(), project, FromHub, "e.1", []Received{one})
		must(t, err)
	}
	all, _, err := s.Selected(t.Context(), project, 100)
	if must(t, err); len(all) != 2 || !slices.ContainsFunc(all, func(e memoir.Extraction) bool { return e.Statements[0].Cause != "" }) {
		t.Errorf("%+v", all)
	}
}

func TestWhatIsSharedAgainIsReceivedAgain(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	for _, want := range []string{"team:alice-abc", "team:alice-01abc"} {
		must(t, s.Share(t.Context(), project, "k"))
		_, _, err := s.Receive(t.Context(), project, FromHub, "e.1", []Received{theirStatement("alice", "abc", "one")})
		must(t, err)
		if got := inputKeys(t, s); !slices.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		must(t, s.Unshare(t.Context(), project, false))
	}
}

func TestANoteIsRewordedThatAnotherMachineHasToo(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.Share(t.Context(), project, "k"))
	note := func(text string) (memoir.Entry, []memoir.Statement) {
		return memoir.Entry{ProjectID: project, Kind: memoir.EntryNote, Category: "fact", Author: memoir.AuthorUser, Text: text},
			[]memoir.Statement{{Kind: memoir.StatementFinding, Text: text, Signal: memoir.SignalNote, By: memoir.ByPerson}}
	}
	first, statements := note("old")
	first, err := s.AddEntry(t.Context(), first, statements)
	must(t, err)
	received := Received{Hash: "h", Session: "abc", Day: "2026-11-01", Statement: statements[0]}
	_, _, err = s.Receive(t.Context(), project, FromHub, "e.1", []Received{received})
	must(t, err)
	second, statements := note("new")
	must(t, s.BeginForgetting(t.Context(), Forgetting{Keys: []string{first.Key()}, Instead: &second, Statements: statements}))
	if got := inputKeys(t, s); !slices.Equal(got, []string{"codex:s00", second.Key()}) {
		t.Errorf("%q", got)
	}
}

// Another hub, or other members of the same one, must not get the words of the team that a project was shared with.
func TestEditsOfALineOfAHubStayHereAfterUnsharing(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	must(t, s.Share(t.Context(), project, "k"))
	line := memoir.HandEdit{File: memoir.MemoryFile, Action: memoir.EditRemoved, Text: "- theirs (from the team: anna) [anna-6ce75cd2 2026-05-01]"}
	line.Hub = 3
	must(t, s.RecordHandEdits(t.Context(), project, 1, []memoir.HandEdit{line}))
	must(t, s.Unshare(t.Context(), project, true))
	must(t, s.Share(t.Context(), project, "other"))
	edits, err := s.HandEdits(t.Context(), project)
	if err != nil || len(edits) != 1 || edits[0].Hub != 0 {
		t.Errorf("%+v, %v", edits, err)
	}
	if _, there := outbox(t, s)[EditsOf+"other"]; there {
		t.Error("they are in the outbox")
	}
}

// A line that came back from a hub says that it is the hub's.
func TestAnEditOfAChangedLineIsOfThatLineWhoeverItIsFrom(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	edit := func(base int64, action memoir.EditAction, text string) {
		must(t, s.RecordHandEdits(t.Context(), project, base, []memoir.HandEdit{{File: memoir.MemoryFile, Action: action, Text: text}}))
	}
	edit(1, memoir.EditAdded, "- mine [anna-6ce75cd2 2026-05-01]")
	edit(2, memoir.EditRemoved, "- mine"+memoir.HubsWords([]string{"anna"}, nil)+" [anna-6ce75cd2 2026-05-01]")
	edits, err := s.HandEdits(t.Context(), project)
	if err != nil || len(edits) != 2 || edits[0].Action != memoir.EditWasAdded {
		t.Errorf("%+v, %v", edits, err)
	}
}
