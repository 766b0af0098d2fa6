package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir"
)

func TestTheVersionOfASessionIsThatOfItsFiles(t *testing.T) {
	t.Parallel()
	a := memoir.File{Path: "/a", Size: 1, ModTime: noon, Inode: 1}
	b := memoir.File{Path: "/b", Size: 2, ModTime: noon, Inode: 2}
	change := func(f func(*memoir.File)) []memoir.File { c := a; f(&c); return []memoir.File{c, b} }
	base := Fingerprint([]memoir.File{a, b})
	for name, files := range map[string][]memoir.File{
		"another size":            change(func(f *memoir.File) { f.Size++ }),
		"a nanosecond":            change(func(f *memoir.File) { f.ModTime = f.ModTime.Add(1) }),
		"another inode":           change(func(f *memoir.File) { f.Inode++ }),
		"a file less":             {a},
		"a file more":             {a, b, b},
		"another order of files":  {b, a},
		"nothing":                 nil,
		"digits that move across": change(func(f *memoir.File) { f.Size = 11 }),
	} {
		if Fingerprint(files) == base {
			t.Errorf("%s makes no difference", name)
		}
	}
	if Fingerprint(change(func(f *memoir.File) { f.Path = "/archived/a" })) != base {
		t.Error("moving a file makes a difference")
	}
}

func TestScanningAgainUpdatesAndDoesNotDouble(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	register(t, s, project)
	scan(t, s, session("a"))
	want := session("a", grown, func(se *memoir.Session) {
		se.Title, se.Branch, se.Remote, se.ParentID = "new", "main", "host/x", "p"
		se.CreatedAt, se.UpdatedAt = noon, noon
	})
	scan(t, s, want)
	scan(t, s, want)
	want.CreatedAt = session("a").CreatedAt // it began then, whatever a file says that was written anew
	got, err := s.Sessions(t.Context(), Filter{})
	must(t, err)
	want.Bytes, want.Reason = 150, memoir.ReasonEligible
	if diff := cmp.Diff([]memoir.Session{want}, got); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
}

func TestAVanishedFileIsNotForgotten(t *testing.T) {
	t.Parallel()
	s, _ := newQueue(t, 2)
	extracted(t, s, worth("a"))
	must(t, s.SaveScan(t.Context(), nil, []string{"/sessions/s00.jsonl", "/sessions/s01.jsonl", "/sessions/none"}))
	if files, err := s.Files(t.Context()); err != nil || len(files) != 0 {
		t.Fatalf("files %v, %v", files, err)
	}
	if got := inputs(t, s); len(got) != 1 {
		t.Fatalf("extractions %+v", got)
	}
	if got := reasonOf(t, s, "s00"); got != memoir.ReasonUpToDate {
		t.Errorf("what was extracted is %s", got)
	}
	if got := reasonOf(t, s, "s01"); got != memoir.ReasonUnreadable {
		t.Errorf("what can't be extracted any more is %s", got)
	}
	if projectRow(t, s, project).ChangeSeq != 1 {
		t.Error("a vanished file changed the project")
	}
	scan(t, s, session("s01")) // it is back
	wantIDs(t, claim(t, s, claimOptions(9)), "s01")
}

func TestAScanIsStoredWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	register(t, s, project)
	homeless := session("b", func(se *memoir.Session) { se.ProjectID = "unregistered" })
	err := s.SaveScan(t.Context(), []SessionScan{{Session: session("a")}, {Session: homeless}}, nil)
	wantCode(t, err, memoir.CodeNotFound)
	if got, err := s.Sessions(t.Context(), Filter{}); err != nil || len(got) != 0 {
		t.Fatalf("sessions %+v, %v", got, err)
	}
}

func TestASessionFoundInAnotherProjectTakesItsExtractionAlong(t *testing.T) {
	t.Parallel()
	s, _ := newDue(t)
	register(t, s, other)
	must(t, s.FinishProjectUnchanged(t.Context(), claimProject(t, s)))
	moved := session("s00", theirs)
	scan(t, s, moved)
	scan(t, s, moved) // again: nothing happens
	c := claimOne(t, s)
	scan(t, s, session("s01", theirs)) // its result goes where it is then
	from, to := projectRow(t, s, project), projectRow(t, s, other)
	if !from.Due || from.Extractions != 0 || from.ChangeSeq != 2 || !to.Due || to.Extractions != 1 || to.ChangeSeq != 1 {
		t.Errorf("from %+v to %+v", from, to)
	}
	if got := reasonOf(t, s, "s00"); got != memoir.ReasonUpToDate {
		t.Errorf("moving made the session %s", got)
	}
	must(t, s.StoreExtraction(t.Context(), c, worth("b")))
	if e := inputsOf(t, s, other); len(e) != 2 || e[1].Seq != 2 || projectRow(t, s, project).ChangeSeq != from.ChangeSeq {
		t.Errorf("extractions %+v", e)
	}
}
