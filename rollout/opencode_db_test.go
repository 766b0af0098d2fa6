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
