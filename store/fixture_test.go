package store

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"memoir"
	"memoir/lease"
)

// The day on which tests happen.
var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func openAt(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, o)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// newStore returns an empty store with a clock that stands still, and no jitter.
func newStore(t testing.TB) (*Store, *fakeClock) {
	t.Helper()
	clock := &fakeClock{now: noon}
	s := openAt(t, filepath.Join(t.TempDir(), "memoir.db"), Options{Now: clock.Now, Rand: func() float64 { return 0.5 }})
	return s, clock
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, code memoir.Code) {
	t.Helper()
	if memoir.CodeOf(err) != code {
		t.Fatalf("error %v has code %q, want %q", err, memoir.CodeOf(err), code)
	}
}

const project, other = "memoir-0123456789ab", "other-0123456789ab"

func register(t testing.TB, s *Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		must(t, s.UpsertProject(t.Context(), memoir.Project{ID: id, Name: id[:len(id)-13], Identity: "host/" + id, Directories: []string{"/src/" + id}}))
	}
}

// session is one that ended a day before noon, in the project above.
func session(id string, change ...func(*memoir.Session)) memoir.Session {
	se := memoir.Session{
		ID: id, Source: memoir.SourceCodex, Kind: memoir.KindMain, ProjectID: project, Title: "about " + id, CWD: "/src/" + project,
		CreatedAt: noon.Add(-25 * time.Hour), UpdatedAt: noon.Add(-24 * time.Hour),
		Files: []memoir.File{{Path: "/sessions/" + id + ".jsonl", Size: 100, ModTime: noon.Add(-24 * time.Hour), Inode: 7}},
	}
	for _, c := range change {
		c(&se)
	}
	return se
}

func ended(ago time.Duration) func(*memoir.Session) {
	return func(se *memoir.Session) { se.UpdatedAt = noon.Add(-ago) }
}

// theirs makes it one of the other project.
func theirs(se *memoir.Session) { se.ProjectID, se.CWD = other, "/src/"+other }

// grown changes the session's file, and so its version.
func grown(se *memoir.Session) { se.Files[0].Size += 50 }

func scan(t testing.TB, s *Store, sessions ...memoir.Session) {
	t.Helper()
	var scans []SessionScan
	for _, se := range sessions {
		scans = append(scans, SessionScan{Session: se})
	}
	must(t, s.SaveScan(t.Context(), scans, nil))
}

// newQueue returns a store with n sessions s00, s01, …, of which s00 is the latest.
func newQueue(t testing.TB, n int) (*Store, *fakeClock) {
	t.Helper()
	s, clock := newStore(t)
	register(t, s, project)
	var sessions []memoir.Session
	for i := range n {
		sessions = append(sessions, session(fmt.Sprintf("s%02d", i), ended(24*time.Hour+time.Duration(i)*time.Minute)))
	}
	scan(t, s, sessions...)
	return s, clock
}

func claimOptions(limit int) ClaimOptions {
	return ClaimOptions{Holder: lease.Self(), Lease: 2 * time.Minute, Limit: limit}
}

func claim(t testing.TB, s *Store, o ClaimOptions) []Claim {
	t.Helper()
	claims, err := s.ClaimSessions(t.Context(), o)
	must(t, err)
	return claims
}

// claimOne claims the only or latest session.
func claimOne(t testing.TB, s *Store) Claim {
	t.Helper()
	claims := claim(t, s, claimOptions(1))
	if len(claims) != 1 {
		t.Fatalf("claimed %d sessions, want 1", len(claims))
	}
	return claims[0]
}

func claimSuspects(t testing.TB, s *Store) []Claim {
	t.Helper()
	o := claimOptions(1)
	o.Suspects = true
	return claim(t, s, o)
}

func ids(claims []Claim) []string {
	out := []string{}
	for _, c := range claims {
		out = append(out, c.Session.ID)
	}
	return out
}

// failed ends a claim without a result.
func failed(s *Store, c Claimed, f Failure, p Policy) error {
	_, err := s.Fail(background(), c, f, p)
	return err
}

func fail(t testing.TB, s *Store, c Claimed, f Failure, p Policy) {
	t.Helper()
	must(t, failed(s, c, f, p))
}

func giveBack(t testing.TB, s *Store, claims ...Claim) {
	t.Helper()
	for _, c := range claims {
		must(t, s.Release(t.Context(), c))
	}
}

// extend moves a claim's lease on, and says whether it still is ours.
func extend(t testing.TB, s *Store, c Claimed, until time.Time) bool {
	t.Helper()
	ok, err := s.Extend(t.Context(), c, until)
	must(t, err)
	return ok
}

// worth is a result that is worth keeping.
func worth(text string) Result {
	return Result{
		Extraction: memoir.Extraction{Statements: findings(text), RolloutSummary: "summary of " + text, ContentHash: "hash of " + text, FilterVersion: 1, Model: "builtin"},
		Messages:   []Message{{Item: 1, Typed: true, At: noon, Text: "please remember " + text}, {Item: 3, Text: "done: " + text}},
	}
}

// deadHolder is a process of this machine that has ended.
func deadHolder() lease.Holder {
	h := lease.Self()
	h.Start = "0" // no process of ours began with the kernel
	return h
}

// elsewhere is a process that nobody here can examine.
func elsewhere() lease.Holder {
	return lease.Holder{Host: "elsewhere", PID: 1, Start: "1", Boot: "another", Space: "another"}
}

func reasonOf(t testing.TB, s *Store, id string) memoir.Reason {
	t.Helper()
	found, err := s.FindSessions(t.Context(), id)
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("%d sessions called %s", len(found), id)
	}
	return found[0].Reason
}

func projectRow(t testing.TB, s *Store, id string) ProjectRow {
	t.Helper()
	row, err := s.FindProject(t.Context(), id)
	must(t, err)
	return row
}

// background is for work that must go on when the test's context has ended.
func background() context.Context { return context.Background() }

// cancelled is the context of one who was interrupted.
func cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// UpsertProject registers projects under exactly these ids; which project one that was
// found is, Register tells.
func (s *Store) UpsertProject(ctx context.Context, projects ...memoir.Project) error {
	return s.quickly(ctx, func(t tx) {
		a := readProjectIndex(t)
		for _, p := range projects {
			a.put(t, p)
		}
	})
}

// forget withdraws a session for good, as BeginForgetting and FinishForgetting do together.
func forget(t testing.TB, s *Store, key string) {
	t.Helper()
	must(t, s.durably(t.Context(), func(tx tx) {
		s.markChanged(tx, key)
		s.bury(tx, []string{key})
		deleteExtracted(tx, []string{key})
	}))
}

// findings is a statement with a text.
func findings(text string) []memoir.Statement {
	return []memoir.Statement{{Kind: memoir.StatementFinding, Text: text, Signal: "test", By: memoir.ByTool}}
}

// rawOf is the text of an extraction's first statement.
func rawOf(e memoir.Extraction) string { return e.Statements[0].Text }
