package rollout

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
)

func threeSessions() []ocSession {
	var out []ocSession
	for i := range 3 {
		id := fmt.Sprintf("ses_%d", i)
		var messages []ocMessage
		for n := range 6 {
			messages = append(messages, ocUser(fmt.Sprintf("msg_%d%d", i, n), ocText(fmt.Sprintf("prompt %d of %s", n, id))))
		}
		out = append(out, ocSession{id: id, title: "T", messages: messages})
	}
	return out
}

// threeIn is a database of three sessions, open for writing.
func threeIn(t *testing.T) (path string, db *sql.DB, all []ocSession) {
	t.Helper()
	path, all = filepath.Join(t.TempDir(), "data", "opencode.db"), threeSessions()
	return path, opencodeDatabase(t, path, all...), all
}

// filesOf looks at a database's sessions by their ids.
func filesOf(t *testing.T, path string) map[string]memoir.File {
	t.Helper()
	out := map[string]memoir.File{}
	for _, e := range entriesBelow(t, path) {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
		_, id, ok := splitMember(e.Path)
		if !ok {
			t.Fatalf("%s is no session of a database", e.Path)
		}
		again, err := Stat(e.Path)
		if err != nil || again != e.File {
			t.Errorf("another look gives %+v, %v instead of %+v", again, err, e.File)
		}
		out[id] = e.File
	}
	return out
}

func TestOpenCodeDatabaseIsAnEntryASession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := opencodeDatabase(t, filepath.Join(dir, "any name at all"), threeSessions()...)
	writeAt(t, filepath.Join(dir, "notes.txt"), "x")
	found := entriesBelow(t, dir)
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, []string{"any name at all#ses_0", "any name at all#ses_1", "any name at all#ses_2", "notes.txt"}) {
		t.Errorf("found %q", got)
	}
	if e := found["any name at all#ses_1"]; e.Source != memoir.SourceOpenCode || e.Size == 0 || e.ModTime.UnixMilli() != ocEpoch+6000 {
		t.Errorf("entry %+v", e)
	}
	items, _ := read(t, found["any name at all#ses_1"].Path)
	if got := sketch(items); len(got) != 6 || got[5] != "typed: prompt 5 of ses_1" {
		t.Errorf("items %q", got)
	}
	db.Close() // now without a log
	if again := entriesBelow(t, dir); !slices.Equal(slices.Sorted(maps.Keys(again)), slices.Sorted(maps.Keys(found))) {
		t.Errorf("closed, it gives %v", again)
	}
}

func TestOpenCodeSessionThatChangesIsSeenToAndOthersAreNot(t *testing.T) {
	t.Parallel()
	path, db, all := threeIn(t)
	changes := []struct {
		name string
		do   func()
	}{
		{"a new message", func() {
			all[1].messages = append(all[1].messages, ocAgent("msg_9", ocText("hel")))
			insertMessage(t, db, all[1], 6)
		}},
		{"a text that goes on", func() {
			ocExec(t, db, `UPDATE part SET data = '{"type":"text","text":"hello"}' WHERE id = 'prt_msg_9_000'`)
		}},
		{"a call that ends", func() { ocExec(t, db, `UPDATE part SET time_updated = time_updated + 1 WHERE id = 'prt_msg_9_000'`) }},
		{"a new part", func() {
			ocExec(t, db, `INSERT INTO part VALUES ('prt_z', 'msg_9', 'ses_1', 1, 1, '{"type":"text","text":"x"}')`)
		}},
		{"a message that ends", func() { ocExec(t, db, `UPDATE message SET time_updated = time_updated + 5 WHERE id = 'msg_9'`) }},
		{"a revert", func() { ocExec(t, db, `UPDATE session SET "revert" = '{"messageID":"msg_9"}' WHERE id = 'ses_1'`) }},
		{"a title", func() {
			ocExec(t, db, `UPDATE session SET title = 'New', time_updated = time_updated + 1 WHERE id = 'ses_1'`)
		}},
		{"an old message that is taken away", func() { ocExec(t, db, `DELETE FROM message WHERE id = 'msg_10'`) }},
	}
	before := filesOf(t, path)
	for _, c := range changes {
		if again := filesOf(t, path); !maps.Equal(before, again) {
			t.Fatalf("before %s: %v became %v", c.name, before, again)
		}
		c.do()
		after := filesOf(t, path)
		if before["ses_1"] == after["ses_1"] {
			t.Errorf("%s is not seen", c.name)
		}
		if before["ses_0"] != after["ses_0"] || before["ses_2"] != after["ses_2"] {
			t.Errorf("%s is seen in another session", c.name)
		}
		before = after
	}
}

// names lists a directory's files with their sizes and contents' hashes.
func names(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(e.Name(), "-shm") { // whose locks change
			out[e.Name()] = fmt.Sprint(len(content), textHash(string(content)))
		} else {
			out[e.Name()] = ""
		}
	}
	return out
}

func TestReadingOpenCodeWritesNothing(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{true, false} {
		path, db, _ := threeIn(t)
		dir := filepath.Dir(path)
		if !open {
			db.Close()
		}
		for name := range names(t, dir) {
			if err := os.Chmod(filepath.Join(dir, name), 0o400); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(dir, 0o700) })
		before := names(t, dir)
		if want := map[bool]int{true: 3, false: 1}[open]; len(before) != want {
			t.Fatalf("files %v", before)
		}
		if n := len(filesOf(t, path)); n != 3 {
			t.Errorf("%d sessions", n)
		}
		if items, _ := read(t, memberPath(path, "ses_2")); len(items) != 6 {
			t.Errorf("%d items", len(items))
		}
		if after := names(t, dir); !maps.Equal(before, after) {
			t.Errorf("%v became %v", before, after)
		}
	}
}

func TestOpenCodeIsReadWhileItWrites(t *testing.T) {
	t.Parallel()
	path, db, _ := threeIn(t)
	member := memberPath(path, "ses_1")
	before := filesOf(t, path)

	ocExec(t, db, `BEGIN`)
	ocExec(t, db, `INSERT INTO message VALUES ('msg_z', 'ses_1', ?, 1, '{"role":"user"}')`, ocEpoch*2)
	ocExec(t, db, `INSERT INTO part VALUES ('prt_z', 'msg_z', 'ses_1', 1, 1, '{"type":"text","text":"new"}')`)
	if !maps.Equal(before, filesOf(t, path)) {
		t.Error("what is not committed is seen")
	}
	if items, _ := read(t, member); len(items) != 6 {
		t.Errorf("%d items before the commit", len(items))
	}
	// A reader in the middle of a session sees the state it began with, and the
	// writer does not wait for it.
	n := 0
	_, err := Read(t.Context(), []Part{{Path: member, Head: probe(t, member)}}, func(memoir.Item) error {
		if n++; n == 2 {
			ocExec(t, db, `COMMIT`)
		}
		return nil
	})
	if err != nil || n != 6 {
		t.Errorf("%d items, %v, while it was committed", n, err)
	}
	if items, _ := read(t, member); len(items) != 7 {
		t.Errorf("%d items after the commit", len(items))
	}
	if before["ses_1"] == filesOf(t, path)["ses_1"] {
		t.Error("the commit is not seen")
	}
}

func TestOpenCodeDatabaseThatCannotBeReadIsOneEntry(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil func(t *testing.T, path string, db *sql.DB)
		hint  string
	}{
		{"locked", func(t *testing.T, path string, db *sql.DB) {
			ocExec(t, db, `PRAGMA journal_mode = DELETE`)
			ocExec(t, db, `BEGIN EXCLUSIVE`)
		}, "again"},
		{"cut", func(t *testing.T, path string, db *sql.DB) {
			db.Close()
			if err := os.Truncate(path, 4096); err != nil {
				t.Fatal(err)
			}
		}, "recover"},
		{"overwritten", func(t *testing.T, path string, db *sql.DB) {
			db.Close()
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			copy(content[100:], bytes.Repeat([]byte{0xA5}, len(content)-100))
			writeAt(t, path, string(content))
		}, "recover"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path, db, _ := threeIn(t)
			dir := filepath.Dir(path)
			known := slices.Sorted(maps.Keys(entriesBelow(t, dir)))
			tt.spoil(t, path, db)
			found := entriesBelow(t, dir)
			e, ok := found["opencode.db"]
			if len(found) != 1 || !ok || memoir.CodeOf(e.Err) != memoir.CodeUnreadable || !strings.Contains(memoir.HintOf(e.Err), tt.hint) {
				t.Fatalf("found %v", found)
			}
			if again := entriesBelow(t, dir)["opencode.db"].Err; again == nil || again.Error() != e.Err.Error() {
				t.Errorf("another look says %v instead of %v", again, e.Err)
			}
			var paths []string
			for _, rel := range known {
				paths = append(paths, filepath.Join(dir, rel))
			}
			if gone := Missing(append(paths, path)); len(gone) > 0 {
				t.Errorf("missing are %q", gone)
			}
			if _, err := Stat(paths[0]); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a look at a session says %v", err)
			}
		})
	}
}

func TestMissingAreSessionsThatADatabaseNoLongerHolds(t *testing.T) {
	t.Parallel()
	path, db, _ := threeIn(t)
	dir := filepath.Dir(path)
	ocExec(t, db, `DELETE FROM session WHERE id = 'ses_1'`)
	writeAt(t, filepath.Join(dir, "here.jsonl"), "{}")
	got := Missing([]string{memberPath(path, "ses_0"), memberPath(path, "ses_1"), path, filepath.Join(dir, "here.jsonl"),
		filepath.Join(dir, "gone.jsonl"), memberPath(filepath.Join(dir, "gone.db"), "ses_0")})
	want := []string{memberPath(path, "ses_1"), path, filepath.Join(dir, "gone.jsonl"), memberPath(filepath.Join(dir, "gone.db"), "ses_0")}
	if !slices.Equal(got, want) {
		t.Errorf("missing are %q", got)
	}
	if _, err := Stat(memberPath(path, "ses_1")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a look at it says %v", err)
	}
	db.Close()
	writeAt(t, path, "something else")
	if got := Missing([]string{memberPath(path, "ses_0")}); len(got) > 0 {
		t.Errorf("of what is no database now, missing are %q", got)
	}
}

func TestOpenCodeDatabasesOfVersionsWithFewerColumns(t *testing.T) {
	t.Parallel()
	drop := func(table string, columns ...string) (statements []string) {
		for _, c := range columns {
			statements = append(statements, `ALTER TABLE `+table+` DROP COLUMN `+c)
		}
		return statements
	}
	few := slices.Concat(drop("session", "workspace_id", "slug", "path", "share_url", "summary_diffs", "metadata", "cost", "revert", "permission",
		"agent", "model", "time_compacting", "time_archived"), drop("message", "time_updated"), drop("part", "time_updated"))
	fewest := slices.Concat(few, drop("session", "title", "version", "time_created", "time_updated"),
		[]string{"DROP INDEX message_session_time_created_id_idx"}, drop("message", "time_created"), drop("part", "time_created"))
	for name, statements := range map[string][]string{"few": few, "fewest": fewest} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "opencode.db")
			db := opencodeDatabase(t, path, ocSession{id: "ses_1", title: "T", messages: []ocMessage{ocUser("m1", ocText("one")), ocAgent("m2", ocBash("make", "no", 2)), ocUser("m3", ocText("two"))}})
			for _, statement := range statements {
				ocExec(t, db, statement)
			}
			before := filesOf(t, path)["ses_1"]
			items, _ := read(t, memberPath(path, "ses_1"))
			expect(t, items, "typed: one", "bash(make) !2 no", "typed: two")
			ocExec(t, db, `UPDATE part SET data = '{"type":"text","text":"three"}' WHERE id = 'prt_m3_000'`)
			if after := filesOf(t, path)["ses_1"]; before == after || after == (memoir.File{}) {
				t.Errorf("a longer part is not seen: %+v", after)
			}
		})
	}
}

func TestOtherDatabasesAreFilesLikeOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, schema := range map[string]string{
		"other.db":   `CREATE TABLE session (id)`,
		"views.db":   `CREATE TABLE x (id, directory, title, time_created, time_updated, session_id, data, message_id); CREATE VIEW session AS SELECT * FROM x; CREATE VIEW message AS SELECT * FROM x; CREATE VIEW part AS SELECT * FROM x`,
		"without.db": `CREATE TABLE session (id, directory, title, time_created, time_updated); CREATE TABLE message (id); CREATE TABLE part (id)`,
	} {
		db, err := sql.Open("sqlite3", filepath.Join(dir, name)+"?_journal_mode=WAL")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		ocExec(t, db, schema)
	}
	found := entriesBelow(t, dir)
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, []string{"other.db", "views.db", "without.db"}) {
		t.Fatalf("found %q", got)
	}
	for _, e := range found {
		if _, err := Probe(e); e.Err != nil || memoir.CodeOf(err) != memoir.CodeUnreadable || !strings.Contains(err.Error(), "no complete JSON record") {
			t.Errorf("%s: %v, %v", e.Path, e.Err, err)
		}
	}
}

func TestOpenCodeRowsThatAreNoJSONAreCounted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "opencode.db")
	s := ocSession{id: "ses_1", title: "T", messages: []ocMessage{ocUser("m1", ocText("one"), ocText("lost"), ocText("two")), ocUser("m2", ocText("lost")), ocUser("m3", ocText("three"))}}
	db := opencodeDatabase(t, path, s)
	ocExec(t, db, `UPDATE part SET data = '{"type":"text","text":"cut' WHERE id = 'prt_m1_001'`)
	ocExec(t, db, `UPDATE message SET data = '[]' WHERE id = 'm2'`)
	ocExec(t, db, `INSERT INTO session (project_id, slug, directory, title, version, time_created, time_updated) VALUES ('p', '', '', '', '', 'x', 'y')`)
	if found := filesOf(t, path); len(found) != 1 {
		t.Errorf("found %v", found)
	}
	items, stats := read(t, memberPath(path, "ses_1"))
	expect(t, items, "typed: one\n\ntwo", "typed: three")
	if stats.Malformed != 2 {
		t.Errorf("stats %+v", stats)
	}
}

func TestOpenCodeLongValuesAreCut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "opencode.db")
	long := strings.Repeat("0123456789 ", 1<<20) // 11 MiB
	s := ocSession{id: "ses_1", title: "T", messages: []ocMessage{ocUser("m1", ocText("hi")), ocAgent("m2", ocBash("cat", long, 3), ocText("done"))}}
	db := opencodeDatabase(t, path, s)
	items, stats := read(t, memberPath(path, "ses_1"))
	if len(items) != 3 || *items[1].Exit != 3 || len(items[1].Output) < 1<<19 || len(items[1].Output) > 1<<20 || items[2].Text != "done" || stats.Elided != 1 {
		t.Errorf("%d items, %+v", len(items), stats)
	}
	ocExec(t, db, `UPDATE part SET data = printf('{"type":"text","text":"%.*c"}', ?, 'x') WHERE id = 'prt_m2_000'`, maxValue)
	items, stats = read(t, memberPath(path, "ses_1"))
	expect(t, items, "typed: hi", "agent: done")
	if stats.Malformed != 1 {
		t.Errorf("stats %+v", stats)
	}
}

func TestOpenCodeMessageOfManyPartsIsReadWhole(t *testing.T) {
	t.Parallel()
	var parts []string
	for i := range 30 {
		parts = append(parts, ocBash(fmt.Sprint("step ", i), strings.Repeat("x y ", 100<<10), 0))
	}
	s := ocSession{id: "ses_1", title: "T", messages: []ocMessage{ocUser("m1", ocText("hi")), ocAgent("m2", parts...), ocUser("m3", ocText("bye"))}}
	for way, path := range stored(t, s) {
		items, _ := read(t, path)
		if len(items) != 32 || items[30].Input != "step 29" || items[31].Text != "bye" {
			t.Errorf("%s gives %d items", way, len(items))
		}
	}
}

func TestOpenCodeIDsThatAreNoNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a#b.db")
	s := ocSession{id: "ses_/../#x y\n", title: "T", messages: []ocMessage{ocUser("m1", ocText("hi"))}}
	opencodeDatabase(t, path, s)
	found := entriesBelow(t, dir)
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	for _, e := range found {
		if filepath.Dir(e.Path) != dir || !strings.HasPrefix(e.Path, path+"#") || strings.ContainsAny(e.Path, " \n") && !strings.Contains(dir, " ") {
			t.Errorf("path %q", e.Path)
		}
		items, _ := read(t, e.Path)
		expect(t, items, "typed: hi")
		if h := probe(t, e.Path); !legalID.MatchString(h.ID) {
			t.Errorf("id %q", h.ID)
		}
	}
}

func TestWalkFindsOpenCodesDatabases(t *testing.T) {
	t.Parallel()
	one := func(id string) ocSession {
		return ocSession{id: id, title: "T", messages: []ocMessage{ocUser("msg_"+id, ocText("hi"))}}
	}
	base := t.TempDir()
	data := filepath.Join(base, "share", "opencode")
	for name, id := range map[string]string{"opencode.db": "ses_a", "opencode-dev.db": "ses_b", "mine.db": "ses_c", "other.db": "ses_d"} {
		opencodeDatabase(t, filepath.Join(data, name), one(id))
	}
	opencodeDatabase(t, filepath.Join(base, "elsewhere.db"), one("ses_e"))
	tests := []struct {
		env  map[string]string
		want []string
	}{
		{map[string]string{}, []string{"opencode-dev.db#ses_b", "opencode.db#ses_a"}},
		{map[string]string{"OPENCODE_DB": "mine.db"}, []string{"mine.db#ses_c", "opencode-dev.db#ses_b", "opencode.db#ses_a"}},
		{map[string]string{"OPENCODE_DB": filepath.Join(base, "elsewhere.db")}, []string{"../../elsewhere.db#ses_e", "opencode-dev.db#ses_b", "opencode.db#ses_a"}},
	}
	for _, tt := range tests {
		tt.env["XDG_DATA_HOME"] = filepath.Join(base, "share")
		var got []string
		for _, e := range collect(t, func(fn func(Entry) error) error {
			return Walk(t.Context(), Env{Home: filepath.Join(base, "home"), Getenv: func(name string) string { return tt.env[name] }}, fn)
		}) {
			rel, _ := filepath.Rel(data, e.Path)
			got = append(got, filepath.ToSlash(rel))
			if e.Err != nil || e.Source != memoir.SourceOpenCode {
				t.Errorf("entry %+v", e)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("found %q\nwant %q", got, tt.want)
		}
	}
	if got := (OpenCode{}).Roots(Env{Home: base}); !slices.ContainsFunc(got, func(r Root) bool {
		return r.Dir == filepath.Join(base, ".local", "share", "opencode", "opencode.db")
	}) {
		t.Errorf("roots %v", got)
	}
}

// Neither what stands in a row nor damage to the file crashes the reader.
func FuzzOpenCodeDatabase(f *testing.F) {
	f.Add(`{"role":"user","time":{"created":1}}`, ocData(ocText("hi")), uint32(0), byte(0))
	f.Add(`{"role":"assistant","summary":true}`, ocData(ocBash("make", "no", 2)), uint32(18), byte(1))
	f.Add(`{"role":"assistant","path":{"cwd":1},"parentID":[]}`, `{"type":"tool","state":null}`, uint32(4096), byte(255))
	f.Add("{\n\"role\":\"user\"}\n", "{\"type\":\"text\",\n\"text\":\"x\"", uint32(8190), byte(7))
	dir := f.TempDir()
	base := filepath.Join(dir, "base.db")
	opencodeDatabase(f, base, ocSession{id: "ses_1", title: "T", messages: []ocMessage{ocUser("m1", ocText("hi")), ocUser("m2", ocText("bye"))}}).Close()
	content, err := os.ReadFile(base)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, info, part string, at uint32, flip byte) {
		path := filepath.Join(t.TempDir(), "x.db")
		writeAt(t, path, string(content))
		db, err := sql.Open("sqlite3", path)
		if err != nil {
			t.Fatal(err)
		}
		ocExec(t, db, `UPDATE message SET data = ? WHERE id = 'm1'`, info)
		ocExec(t, db, `UPDATE part SET data = ? WHERE message_id = 'm1'`, part)
		db.Close()
		damaged, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		damaged[int(at)%len(damaged)] ^= flip
		writeAt(t, path, string(damaged))
		err = WalkDir(t.Context(), path, func(e Entry) error {
			head, err := Probe(e)
			if err != nil {
				if memoir.CodeOf(err) != memoir.CodeUnreadable {
					t.Errorf("probe: %v", err)
				}
				return nil
			}
			n := 0
			_, err = Read(t.Context(), []Part{{Path: e.Path, Head: head}}, func(it memoir.Item) error {
				if n++; it.N != n || it.Kind == "" || it.Role == "" || it.Origin == "" {
					t.Errorf("item %+v", it)
				}
				return nil
			})
			if err != nil && memoir.CodeOf(err) != memoir.CodeUnreadable {
				t.Errorf("read: %v", err)
			}
			if flip == 0 && head.ID == "ses_1" && n == 0 && err == nil {
				t.Error("the other message is lost")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func ocData(part string) string { return "{" + part + "}" }
