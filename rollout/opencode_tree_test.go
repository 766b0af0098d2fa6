package rollout

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memoir"
)

func TestOpenCodeTreeIsOneEntryASession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, s := range threeSessions() {
		writeTree(t, dir, i == 2, s)
	}
	for _, name := range []string{"session_diff/ses_0.json", "todo/ses_0.json", "project/p.json"} {
		writeAt(t, filepath.Join(dir, "storage", name), "[]")
	}
	found := entriesBelow(t, dir)
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, []string{"project/w/storage/session/info/ses_2.json", "storage/session/p/ses_0.json", "storage/session/p/ses_1.json"}) {
		t.Errorf("found %q", got)
	}
	for _, e := range found {
		if items, _ := read(t, e.Path); len(items) != 6 || e.Source != memoir.SourceOpenCode {
			t.Errorf("%d items in %+v", len(items), e)
		}
	}
}

func TestOpenCodeTreeThatChangesIsSeenTo(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		dir := t.TempDir()
		all := threeSessions()
		var own []string
		for _, s := range all[:2] {
			own = append(own, writeTree(t, dir, old, s))
		}
		early := time.Unix(1_700_000_000, 0)
		var last string // the newest part
		if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if strings.HasPrefix(d.Name(), "prt_msg_15") {
				last = path
			}
			return os.Chtimes(path, early, early)
		}); err != nil {
			t.Fatal(err)
		}
		look := func(path string) memoir.File {
			t.Helper()
			f, err := Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		first, other := look(own[1]), look(own[0])
		if first != look(own[1]) || !first.ModTime.Equal(early) {
			t.Fatalf("two looks differ, or %+v", first)
		}
		if err := os.WriteFile(last, []byte(`{"type":"text","text":"longer than it was before"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		second := look(own[1])
		if first == second || !second.ModTime.After(early) {
			t.Errorf("a part that was written over is not seen: %+v", second)
		}
		all[1].messages = append(all[1].messages, ocUser("msg_99", ocText("new")))
		writeTree(t, dir, old, all[1])
		if third := look(own[1]); second == third {
			t.Error("a new message is not seen")
		}
		if other != look(own[0]) {
			t.Error("a change is seen in another session")
		}
		if err := os.RemoveAll(own[1]); err != nil {
			t.Fatal(err)
		}
		if got := Missing(own); !slices.Equal(got, own[1:]) {
			t.Errorf("missing are %q", got)
		}
	}
}

// The clock in the ids of messages begins anew every two years.
func TestOpenCodeTreeIsReadInOrderOfTime(t *testing.T) {
	t.Parallel()
	path := writeTree(t, t.TempDir(), false, ocSession{id: "ses_1", title: "T", messages: []ocMessage{
		ocUser("msg_ff", ocText("one")), ocUser("msg_fe", ocText("two")), ocUser("msg_00", ocText("three"))}})
	items, _ := read(t, path)
	expect(t, items, "typed: one", "typed: two", "typed: three")
}

func TestOpenCodeTreeIsNotLeftByLinks(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	path := writeTree(t, dir, false, ocSession{id: "ses_1", title: "T", messages: []ocMessage{ocUser("m1", ocText("inside")), ocUser("m2"), ocUser("m3", ocText("last"))}})
	writeAt(t, filepath.Join(outside, "prt_x.json"), `{"id":"prt_x","type":"text","text":"outside"}`)
	writeAt(t, filepath.Join(outside, "msg.json"), `{"id":"m4","role":"user"}`)
	link := func(old, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, "storage", name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(old, filepath.Join(dir, "storage", name)); err != nil {
			t.Fatal(err)
		}
	}
	link(outside, "part/m2")
	link(filepath.Join(outside, "prt_x.json"), "part/m3/prt_x.json")
	link(filepath.Join(outside, "msg.json"), "message/ses_1/m4.json")
	items, stats := read(t, path)
	expect(t, items, "typed: inside", "typed: last")
	if stats.Malformed != 2 {
		t.Errorf("stats %+v", stats)
	}
	link(filepath.Join(outside, "msg.json"), "session/p/ses_2.json")
	if e := entriesBelow(t, dir)["storage/session/p/ses_2.json"]; memoir.CodeOf(e.Err) != memoir.CodeUnreadable {
		t.Errorf("a session that leads elsewhere: %v", e.Err)
	}
}

// OpenCode leaves its files where they are when it moves to a database.
func TestOpenCodeSessionInADatabaseReplacesItsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := ocSession{id: "ses_1", title: "T", messages: []ocMessage{ocUser("m1", ocText("hi"))}}
	paths := []string{writeTree(t, dir, false, s), writeTree(t, dir, true, s)}
	s.messages = append(s.messages, ocUser("m2", ocText("later")))
	opencodeDatabase(t, filepath.Join(dir, "opencode.db"), s)
	paths = append(paths, memberPath(filepath.Join(dir, "opencode.db"), "ses_1"))
	for range 3 {
		paths = append(paths[1:], paths[0])
		items, _ := read(t, paths...)
		expect(t, items, "typed: hi", "typed: later")
	}
}
