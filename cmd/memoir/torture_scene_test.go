//go:build unix

package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	hub "memoir/team/wire"
	"memoir/testdata"
)

// fixtures writes the fixture sessions to a new directory.
func fixtures(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	_, err := testdata.Write(dir)
	must(t, err)
	return dir
}

// fewNames are fixture sessions for which a run makes all kinds of writes: two projects, one of them with a skill.
var fewNames = []string{"release-4", "release-41", "exitcode", "dates", "release-5", "ocr", "bare"}

// few writes the first n sessions of fewNames to a new directory.
func few(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "few")
	must(t, os.Mkdir(dir, 0o700))
	move(t, fixtures(t), dir, fewNames[:n]...)
	return dir
}

func move(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		i := slices.IndexFunc(testdata.Expected(), func(s testdata.Session) bool { return s.Name == name })
		for _, file := range testdata.Expected()[i].Files {
			path := filepath.Join(from, filepath.FromSlash(file))
			if _, err := os.Stat(path); err != nil {
				path = filepath.Join(from, filepath.Base(file))
			}
			must(t, os.Rename(path, filepath.Join(to, filepath.Base(file))))
		}
	}
}

// grown returns sessions, and a home with a memory of some of them and a hand edit.
func grown(t *testing.T) (sessions, home string) {
	t.Helper()
	sessions, home = growing(t, len(fewNames), 4)
	edit(t, home, houseRules)
	return sessions, home
}

// growing returns the first n sessions of fewNames, and a home with a memory of the first some.
func growing(t *testing.T, n, some int) (sessions, home string) {
	t.Helper()
	sessions, aside := few(t, n), t.TempDir()
	move(t, sessions, aside, fewNames[some:n]...)
	home = made(t, sessions)
	move(t, aside, sessions, fewNames[some:n]...)
	return sessions, home
}

// made returns a home after a run.
func made(t *testing.T, sessions string) string {
	t.Helper()
	x := newTorture(t, sessions, "")
	try := x.trial(t)
	try.succeeds(t, "the first run")
	return try.home
}

const houseRules = "\n## House rules\n\n- never on a Friday\n"

// edit adds a text and a skill to each live memory, as a hand edit.
func edit(t *testing.T, home, text string) {
	t.Helper()
	memories, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory", "MEMORY.md"))
	must(t, err)
	for _, path := range memories {
		b, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, append(b, text...), 0o600))
		put(t, filepath.Join(filepath.Dir(path), "skills", "by-hand", "SKILL.md"), "---\nname: by-hand\ndescription: Use it on Fridays.\n---\n\n1. `make`\n")
	}
}

// old returns a home with several generations and hand edits, no eligible session, and one hand edit that no run has
// seen. Tests must not change the home, only copies.
var old = once(func(t *testing.T) (o struct{ sessions, home string }) {
	t.Helper()
	sessions, home := grown(t)
	dir := sharedDir(t)
	o.sessions, o.home = filepath.Join(dir, "sessions"), filepath.Join(dir, "home")
	must(t, errors.Join(os.CopyFS(o.sessions, os.DirFS(sessions)), os.CopyFS(o.home, os.DirFS(home)),
		os.RemoveAll(sessions))) // exists only during the first test, so it must exist in none
	try := newTorture(t, o.sessions, o.home).trial(t)
	try.succeeds(t, "the first run")
	edit(t, try.home, houseRules)
	must(t, errors.Join(os.RemoveAll(o.home), os.CopyFS(o.home, os.DirFS(try.home))))
	return o
})

// on returns a constructor of a torture of a command in an old home.
func on(args ...string) func(t *testing.T) *torture {
	return func(t *testing.T) *torture {
		o := old(t)
		return newTorture(t, o.sessions, o.home, args...)
	}
}

// after is on with a command that succeeds before.
func after(first []string, args ...string) func(t *testing.T) *torture {
	return func(t *testing.T) *torture {
		try := on()(t).trial(t)
		try.succeeds(t, "the command before", first...)
		return newTorture(t, try.sessions, try.home, args...)
	}
}

// A scene of torture is a command in a home.
var tortureScenes = []struct {
	name  string
	dense int // write moments at depth dense; 0: the default
	kills int // kills at depth dense, while others read; 0: 16 without readers
	make  func(t *testing.T) *torture
}{
	{"first run", 80, 300, func(t *testing.T) *torture { return newTorture(t, few(t, len(fewNames)), "") }},
	{"next run, after hand edits", 90, 300, func(t *testing.T) *torture {
		sessions, home := grown(t)
		return newTorture(t, sessions, home)
	}},
	{"run over damage", 20, 0, damaged},
	{"forget a session", 0, 30, on("forget", "019e3048-38a0-7b27-ac39-4933dd5ceff7", "--yes")},
	{"forget and purge", 0, 0, on("forget", "019e3048-38a0-7b27-ac39-4933dd5ceff7", "--purge", "--yes")},
	{"forget a text", 0, 0, on("forget", "--match", "exit with code 3", "--yes")},
	{"forget a project", 0, 0, on("forget", "--project", "papertrail", "--yes")},
	{"take back that a session was forgotten", 0, 0, after([]string{"forget", "019e3048-38a0-7b27-ac39-4933dd5ceff7", "--yes"}, "forget", "--undo", "019e3048-38a0-7b27-ac39-4933dd5ceff7")},
	{"restore", 0, 30, on("restore", "1", "--project", "papertrail", "--yes")},
	{"disable", 0, 0, on("sessions", "disable", "019e3048-38a0-7b27-ac39-4933dd5ceff7")},
	{"enable", 0, 0, after([]string{"sessions", "disable", "019e3048-38a0-7b27-ac39-4933dd5ceff7"}, "sessions", "enable", "019e3048-38a0-7b27-ac39-4933dd5ceff7")},
	{"enqueue", 0, 0, on("enqueue", "--project", "papertrail")},
	{"clear a project", 0, 0, on("clear", "--project", "papertrail", "--yes")},
	{"clear all", 0, 0, on("clear", "--all", "--yes")},
	{"retry", 0, 0, failures},
	{"remember", 0, 0, on("remember", "--now", "2026-07-01", "--project", "papertrail", "--category", "preference", "never deploy on a Friday")},
	{"patch", 0, 0, func(t *testing.T) *torture {
		path := filepath.Join(t.TempDir(), "patch.json")
		put(t, path, `{"ops": [{"op": "insert", "line": 4, "content": "- by a patch"}]}`)
		return on("patch", path, "--project", "papertrail")(t)
	}},
	{"export", 0, 0, func(t *testing.T) *torture {
		return on("export", "--html", filepath.Join(t.TempDir(), "memory.html"))(t)
	}},
	{"reflect", 0, 0, func(t *testing.T) *torture {
		x := on("reflect", "--session", "019e3048-38a0-7b27-ac39-4933dd5ceff7")(t)
		x.asks = byExec(t)
		return x
	}},
	{"mount", 0, 0, on("mount", ".", "--project", "papertrail")},
	{"journal", 0, 0, on("journal", "add", "--now", "2026-07-01", "--project", "papertrail", "released 1.4")},
	{"run over a journal", 0, 0, func(t *testing.T) *torture {
		x := after([]string{"journal", "add", "--now", "2026-05-20", "--project", "papertrail", "never deploy on a Friday"})(t)
		page, err := filepath.Glob(filepath.Join(x.before, "projects", "papertrail-*", "journal", "2026-05-20.md"))
		must(t, err)
		put(t, page[0], "- never deploy on a Friday\n- we use tabs in every file\n")
		x.env = append(x.env, "MEMOIR_MEM_CONSOLIDATE_ENABLED=true")
		return x
	}},
	{"message", 0, 0, after([]string{"message", "--now", "2026-06-30", "--project", "papertrail", "--conversation", "other", "hello"},
		"message", "--now", "2026-07-01", "--project", "papertrail", "--conversation", "support", "never deploy on a Friday")},
	{"forget a note", 0, 0, after([]string{"remember", "--now", "2026-07-01", "--project", "papertrail", "deploys stop on Fridays"}, "forget", "#1", "--yes")},
	{"merge projects", 30, 0, func(t *testing.T) *torture { return projects(t)("merge", "papertrail", "lanternd", "--yes") }},
	{"split a project", 30, 0, func(t *testing.T) *torture {
		return projects(t, "projects", "merge", "papertrail", "lanternd", "--yes")("split", "lanternd", "--yes")
	}},
	{"team share", 0, 0, func(t *testing.T) *torture { return shares(t)("share", "papertrail", "--yes") }},
	{"team sync", 24, 0, func(t *testing.T) *torture { return shares(t, "papertrail")("sync") }},
	{"team unshare", 0, 0, func(t *testing.T) *torture { return shares(t, "papertrail", "sync")("unshare", "papertrail", "--yes") }},
	{"trust", 0, 0, trusted},
	{"take trust back", 0, 0, func(t *testing.T) *torture { x := trusted(t); return after(x.args, "trust", "--undo", x.args[1])(t) }},
}

// damaged has a home in which one memory has no link and another no live files, and newer sessions.
func damaged(t *testing.T) *torture {
	sessions, home := growing(t, 5, 3)
	x := newTorture(t, sessions, home)
	x.lives = append(x.lives, livesOf(t, home))
	edit(t, home, houseRules)
	x.lives = append(x.lives, livesOf(t, home))
	links, err := filepath.Glob(filepath.Join(home, "projects", "*", "memory"))
	must(t, err)
	live, err := filepath.EvalSymlinks(links[1])
	must(t, err)
	must(t, errors.Join(os.Remove(links[0]), os.RemoveAll(live)))
	return x
}

// failures has a home whose sessions failed with a model that is no longer configured.
func failures(t *testing.T) *torture {
	x := newTorture(t, few(t, len(fewNames)), "")
	try := x.trial(t)
	configureModel(t, try.user, "api: exec, command: ['false']")
	if out := try.run(t, ""); out.code == exitDone || !strings.Contains(out.stdout, `"failed"`) {
		t.Fatalf("a program that fails was no failure: %s", out.stdout)
	}
	return newTorture(t, x.sessions, try.home, "retry", "--all")
}

// projects returns a constructor of a torture of `memoir projects` in an old home whose projects also have notes,
// journals and a conversation, after a command.
func projects(t *testing.T, first ...string) func(args ...string) *torture {
	try := on()(t).trial(t)
	for _, name := range []string{"papertrail", "lanternd"} {
		for _, args := range [][]string{{"remember", "deploys of " + name + " stop on Fridays"}, {"journal", "add", "released " + name},
			{"journal", "add", "released both"}, {"message", "--conversation", name, "never deploy on a Friday"}} {
			try.succeeds(t, "a command before", append(args, "--now", "2026-06-30", "--project", name)...)
		}
	}
	if len(first) > 0 {
		try.succeeds(t, "the command before", first...)
	}
	return func(args ...string) *torture {
		return newTorture(t, try.sessions, try.home, append([]string{"projects"}, args...)...)
	}
}

// shares returns a constructor of a torture of `memoir team` in an old home that has joined a hub, where another member
// said and withdrew something. first are the project that it shares, and the command after that.
func shares(t *testing.T, first ...string) func(args ...string) *torture {
	h := startHub(t)
	h.length = 100 // between two pages a run would publish a generation
	const key = "git.example.test/acme/papertrail"
	ben := &hub.Push{Project: key}
	for _, text := range []string{"one", "two", "three", "four"} {
		st := hub.Statement{Session: strings.Repeat("b", 24), Day: "2026-05-01",
			Body: []byte(`{"kind":"Findings","text":"Ben found ` + text + `.","signal":"model","by":"agent"}`)}
		st.Hash = hub.Of(st.Session, false, st.Day, st.Body)
		ben.Statements = append(ben.Statements, st)
	}
	h.store("ben", *ben)
	try := on()(t).trial(t)
	code := filepath.Join(t.TempDir(), "code")
	put(t, code, "anna-1")
	try.succeeds(t, "joining", "team", "join", h.URL, "--code-file", code)
	if len(first) > 0 {
		try.succeeds(t, "sharing", "team", "share", first[0], "--yes")
	}
	if len(first) > 1 {
		try.succeeds(t, "the command before", "team", first[1])
		h.store("ben", hub.Push{Project: key, Tombstones: []string{ben.Statements[0].Hash}})
	}
	return func(args ...string) *torture {
		return newTorture(t, try.sessions, try.home, append([]string{"team"}, args...)...)
	}
}

func trusted(t *testing.T) *torture {
	dir := t.TempDir()
	put(t, filepath.Join(dir, ".memoir.yml"), "memories: {enabled: true}\n")
	return on("trust", dir)(t)
}

// Each command is killed at each of its writes, has no disk space from each write on, and is killed or terminated at any
// time, between writes or within one. The result of the next run is the same as after the undisturbed command or without
// the command. Readers see only whole generations.
func TestACommandThatIsDisturbedAtAnyTimeIsFinishedByTheNextRun(t *testing.T) {
	t.Parallel()
	for _, scene := range tortureScenes {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			by(t, 0, 0, 0) // skip before the preparation
			x := scene.make(t)
			x.dense = cmp.Or(scene.dense, x.dense)
			x.undisturbed(t)
			x.killed(t)
			x.starved(t)
			x.watched = scene.kills > 0
			x.killedAtAnyTime(t, by(t, 1, cmp.Or(scene.kills, 16), 1000))
		})
	}
}

// takenBack has the statements that revert the migration from each earlier schema version to the next.
var takenBack = map[int]string{
	1: "ALTER TABLE hand_edit DROP COLUMN nth; ALTER TABLE hand_edit DROP COLUMN others",
	2: "DROP TABLE review",
	3: "DROP INDEX session_untaken; ALTER TABLE session DROP COLUMN taken; ALTER TABLE searchable DROP COLUMN tools; " +
		"DELETE FROM counter WHERE name = 'texts'",
	4: "DROP TABLE said",
	5: "DROP TRIGGER outbox_filled; DROP TRIGGER extraction_made; DROP TRIGGER extraction_changed; " +
		"DROP TRIGGER extraction_gone; " +
		"DROP TRIGGER mark_made; DROP TRIGGER mark_changed; DROP TRIGGER mark_gone; DROP TABLE share; DROP TABLE sent; " +
		"DROP TABLE outbox; DROP TABLE received",
	6: "DROP INDEX session_updated",
	7: "DROP TRIGGER edit_made; DROP TRIGGER edit_changed; DROP TRIGGER edit_gone; DROP TRIGGER share_made; " +
		"DROP TRIGGER share_gone; DROP VIEW edited; ALTER TABLE hand_edit DROP COLUMN hub",
	8: "DELETE FROM searchable WHERE session_key LIKE 'team:%' OR session_key LIKE 'machine:%'",
	9: "DROP INDEX session_reason; CREATE INDEX session_reason ON session (reason)",
}

func TestAMigrationThatIsDisturbedAtAnyWriteIsFinishedByTheNextRun(t *testing.T) {
	t.Parallel()
	migrations, err := filepath.Glob(filepath.Join("..", "..", "store", "migration", "*.sql"))
	must(t, err)
	if len(migrations) != len(takenBack)+1 {
		t.Fatalf("%d migrations are taken back of %q", len(takenBack), migrations)
	}
	for version := range takenBack {
		t.Run(fmt.Sprintf("from schema %d", version), func(t *testing.T) {
			t.Parallel()
			by(t, 0, 0, 0) // skip before the preparation
			sessions, home := grown(t)
			db, err := sql.Open("sqlite3", filepath.Join(home, databaseName))
			must(t, err)
			defer db.Close()
			for _, later := range slices.Backward(slices.Sorted(maps.Keys(takenBack))) {
				if later < version {
					break
				}
				_, err = db.Exec(takenBack[later] + fmt.Sprintf("; PRAGMA user_version = %d", later))
				must(t, err)
			}
			must(t, db.Close())
			x := newTorture(t, sessions, home)
			x.dense = 4
			x.undisturbed(t)
			// Other tests disturb the writes after the migration.
			migrated := slices.Index(x.points, "committed store.Open")
			if migrated < 0 {
				t.Fatalf("nothing was migrated: %v", x.points[:min(len(x.points), 20)])
			}
			x.points = x.points[:migrated+1]
			x.killed(t)
			x.starved(t)
		})
	}
}

// A lateHome contains a token in many places. A new rule identifies the token in only one of them, by the text before.
type lateHome struct {
	*torture
	token string
}

func newLateHome(t *testing.T) *lateHome {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config")
	l := &lateHome{newTorture(t, few(t, 3), "", "redact", "--stored", "--yes", "--config", config), "zqx_" + strings.ToLower(rand.Text()[:23]) + "7"}
	record := func(kind, payload string) string {
		return `{"timestamp":"2026-05-01T10:00:01Z","type":"` + kind + `","payload":` + payload + "}\n"
	}
	put(t, filepath.Join(l.sessions, "late.jsonl"),
		record("session_meta", `{"id":"aaaaaaaa-1111-4222-8333-444444444444","timestamp":"2026-05-01T10:00:00Z","cwd":"/srv/app","originator":"codex-tui","cli_version":"0.150.0","source":"cli","git":{"branch":"wip/`+l.token+`"}}`)+
			record("event_msg", `{"type":"user_message","message":"Never print the pass phrase `+l.token+` anywhere, always use pnpm."}`))
	home := made(t, l.sessions)
	edit(t, home, "\n- ask Ada for "+l.token+"\n")
	put(t, filepath.Join(home, "log", "run.log"), l.token+"\n")
	put(t, filepath.Join(config, ".gitleaks.toml"), `title = "own"
[[rules]]
id = "late-token"
regex = '''pass phrase (zqx_[a-z0-9]{24})'''
secretGroup = 1
keywords = ["pass phrase"]
`)
	l.before = home
	return l
}

// finishRedaction repeats the command undisturbed. It checks that the token is in no file, and that the memory is the
// same as after an undisturbed command.
func (l *lateHome) finishRedaction(try trial, t *testing.T, what string) int {
	t.Helper()
	home := try.home
	if try.succeeds(t, what+": called again", l.args...).code != exitDone {
		return 0
	}
	for _, name := range []string{"memoir.db", "memoir.db-wal", "log/run.log"} {
		if b, err := os.ReadFile(filepath.Join(home, name)); err == nil && bytes.Contains(b, []byte(l.token)) {
			t.Errorf("%s: it is left in %s", what, name)
		}
	}
	for path, text := range files(t, filepath.Join(home, "projects")) {
		if strings.Contains(text, l.token) || strings.Contains(path, ".stage") || strings.Contains(path, ".gone") {
			t.Errorf("%s: it, or debris, is left in %s", what, path)
		}
	}
	if !maps.Equal(lastOf(t, home), l.last) {
		t.Errorf("%s: the memory ended otherwise", what)
	}
	return 0
}

func TestRedactingThatIsKilledOrFindsNoRoomAtAnyWriteIsFinishedWhenCalledAgain(t *testing.T) {
	t.Parallel()
	by(t, 0, 0, 0) // skip before the preparation
	l := newLateHome(t)
	try := l.trial(t)
	try.logged(t)
	l.last = lastOf(t, try.home)
	l.finishRedaction(try, t, "undisturbed")
	if len(l.points) < 40 {
		t.Fatalf("only %d moments", len(l.points))
	}
	l.dense, l.check = 24, l.finishRedaction
	l.killed(t)
	l.starved(t)
	l.killedAtAnyTime(t, by(t, 1, 24, 1000))
	if again := try.succeeds(t, "the next run"); !strings.Contains(again.stdout, `"claimed": 0`) {
		t.Errorf("the next run found work: %s", again.stdout)
	}
}
