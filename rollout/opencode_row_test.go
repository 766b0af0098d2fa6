package rollout

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoir"
)

func TestOpenCodeDatabaseOfAnOlderVersionIsUnreadable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "opencode.db")
	db := opencodeDatabase(t, path, ocSession{id: "ses_1", title: "T", messages: []ocMessage{ocUser("m1", ocText("one"))}})
	ocExec(t, db, `ALTER TABLE part DROP COLUMN time_updated`)
	found := entriesBelow(t, filepath.Dir(path))
	err := found["opencode.db"].Err
	if len(found) != 1 || memoir.CodeOf(err) != memoir.CodeUnreadable || !strings.Contains(fmt.Sprint(err), "has no column part.time_updated") || memoir.HintOf(err) == "" {
		t.Errorf("found %v", found)
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
