package rollout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoir"
)

const (
	oldID   = "cccccccc-0000-4000-8000-000000000001"
	newID   = "aaaaaaaa-0000-4000-8000-000000000002" // the smaller one: ids decide last
	thirdID = "bbbbbbbb-0000-4000-8000-000000000003"
)

// entry is the id of entry n.
func entry(n int) string { return fmt.Sprintf("e0000000-0000-4000-8000-%012d", n) }

// says is a line of a session: entry n, at minute n, in which a person says u<n>.
func says(session string, n int, more ...string) string {
	parent := "null"
	if n > 0 {
		parent = fmt.Sprintf("%q", entry(n-1))
	}
	return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"cwd":"/w","sessionId":%q,"type":"user","message":{"role":"user","content":"say %d"},"uuid":%q,"timestamp":"2026-03-01T10:%02d:00Z"%s}`,
		parent, session, n, entry(n), n, strings.Join(more, ""))
}

func forked(from string, n int) string {
	return fmt.Sprintf(`,"forkedFrom":{"sessionId":%q,"messageUuid":%q}`, from, entry(n))
}

func replies(session string, from, to int, more func(n int) string) (out []string) {
	for n := from; n < to; n++ {
		if more != nil {
			out = append(out, says(session, n, more(n)))
		} else {
			out = append(out, says(session, n))
		}
	}
	return out
}

// answers are lines that say which session asked for them first.
func answers(session string, from, to int, asked string) []string {
	return replies(session, from, to, func(int) string { return fmt.Sprintf(`,"requestSessionId":%q`, asked) })
}

const snapshot = `{"type":"file-history-snapshot","messageId":"u1","snapshot":{}}`

func TestEachEntryBelongsToOneSession(t *testing.T) {
	t.Parallel()
	all := func(parts ...[]string) (out []string) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	remapped := func(session string, n int, from, of string) string {
		return strings.ReplaceAll(says(session, n, fmt.Sprintf(`,"forkedFrom":{"sessionId":%q,"messageUuid":%q}`, from, of)), fmt.Sprintf(`"uuid":%q`, entry(n)), fmt.Sprintf(`"uuid":"%s-0000-4000-8000-%012d"`, session[:8], n))
	}
	tests := []struct {
		name  string
		files map[string][]string
		want  map[string]string // the numbers of what each session gives
	}{
		{"a resumed session that was not gone on with", map[string][]string{oldID: replies(oldID, 0, 3, nil), newID: replies(newID, 0, 5, nil)},
			map[string]string{oldID: "0 1 2", newID: "3 4"}},
		{"a resumed session whose lines keep the old id", map[string][]string{oldID: replies(oldID, 0, 3, nil), newID: all(replies(oldID, 0, 3, nil), replies(newID, 3, 5, nil))},
			map[string]string{oldID: "0 1 2", newID: "3 4"}},
		{"a chain of them", map[string][]string{oldID: replies(oldID, 0, 2, nil), newID: replies(newID, 0, 6, nil), thirdID: replies(thirdID, 0, 4, nil)},
			map[string]string{oldID: "0 1", thirdID: "2 3", newID: "4 5"}},
		{"a fork that says so, of a session that went on before it", map[string][]string{oldID: replies(oldID, 0, 5, nil),
			newID: all(replies(newID, 0, 3, func(n int) string { return forked(oldID, n) }), replies(newID, 7, 8, nil))},
			map[string]string{oldID: "0 1 2 3 4", newID: "7"}},
		{"and of one that went on after it", map[string][]string{oldID: all(replies(oldID, 0, 3, nil), replies(oldID, 20, 22, nil)),
			newID: all(replies(newID, 0, 3, func(n int) string { return forked(oldID, n) }), replies(newID, 7, 8, nil))},
			map[string]string{oldID: "0 1 2 20 21", newID: "7"}},
		{"a fork of a fork", map[string][]string{oldID: all(replies(oldID, 0, 2, nil), replies(oldID, 30, 31, nil)),
			thirdID: all(replies(thirdID, 0, 2, func(n int) string { return forked(oldID, n) }), replies(thirdID, 2, 4, nil)),
			newID:   all(replies(newID, 0, 4, func(n int) string { return forked(thirdID, n) }), replies(newID, 9, 10, nil))},
			map[string]string{oldID: "0 1 30", thirdID: "2 3", newID: "9"}},
		{"a fork of a fork whose answers say who asked for them", map[string][]string{oldID: all(replies(oldID, 0, 2, nil), replies(oldID, 30, 31, nil)),
			thirdID: all(answers(thirdID, 0, 2, oldID), replies(thirdID, 2, 4, nil), replies(thirdID, 40, 41, nil)),
			newID:   all(answers(newID, 0, 2, oldID), answers(newID, 2, 4, thirdID), replies(newID, 9, 10, nil))},
			map[string]string{oldID: "0 1 30", thirdID: "2 3 40", newID: "9"}},
		{"forks with ids of their own", map[string][]string{oldID: replies(oldID, 0, 2, nil),
			newID: {remapped(newID, 0, oldID, entry(0)), remapped(newID, 1, oldID, entry(1)), says(newID, 6)}},
			map[string]string{oldID: "0 1", newID: "6"}},
		{"a fork with nothing of its own", map[string][]string{oldID: replies(oldID, 0, 3, nil), newID: replies(newID, 0, 2, func(n int) string { return forked(oldID, n) })},
			map[string]string{oldID: "0 1 2", newID: ""}},
		{"the original is gone", map[string][]string{newID: replies(newID, 0, 2, func(n int) string { return forked(oldID, n) })},
			map[string]string{newID: "0 1"}},
		{"two forks whose original is gone", map[string][]string{newID: all(replies(newID, 0, 2, func(n int) string { return forked(oldID, n) }), replies(newID, 4, 5, nil)),
			thirdID: all(replies(thirdID, 0, 2, func(n int) string { return forked(oldID, n) }), replies(thirdID, 6, 7, nil))},
			map[string]string{newID: "0 1 4", thirdID: "6"}},
		{"sessions that claim each other", map[string][]string{newID: replies(newID, 0, 2, func(n int) string { return forked(oldID, n) }), oldID: replies(oldID, 0, 2, func(n int) string { return forked(newID, n) })},
			map[string]string{newID: "0 1", oldID: ""}},
		{"strangers", map[string][]string{oldID: replies(oldID, 0, 2, nil), newID: replies(newID, 2, 4, nil)},
			map[string]string{oldID: "0 1", newID: "2 3"}},
		{"strangers whose entries are numbered alike", map[string][]string{oldID: {says(oldID, 0), says(oldID, 1)},
			newID: {strings.Replace(says(newID, 0), "say 0", "say 8", 1), strings.Replace(says(newID, 1), "say 1", "say 9", 1)}},
			map[string]string{oldID: "0 1", newID: "8 9"}},
		{"two files of one thread", map[string][]string{oldID: replies(oldID, 0, 2, nil), "copy": replies(oldID, 0, 2, nil)},
			map[string]string{oldID: "0 1", "copy": "0 1"}},
		{"a copy that a script drives", map[string][]string{oldID: replies(oldID, 0, 2, nil), newID: replies(newID, 0, 3, func(int) string { return `,"entrypoint":"sdk-py"` })},
			map[string]string{oldID: "0 1", newID: "2"}},
		{"a session of a script that a person went on with", map[string][]string{oldID: replies(oldID, 0, 2, func(int) string { return `,"entrypoint":"sdk-py"` }), newID: replies(newID, 0, 3, nil)},
			map[string]string{oldID: "", newID: "0 1 2"}},
		{"a fork of a script's session", map[string][]string{oldID: replies(oldID, 0, 2, func(int) string { return `,"entrypoint":"sdk-cli"` }),
			newID: replies(newID, 0, 3, func(int) string { return `,"entrypoint":"sdk-cli"` })},
			map[string]string{oldID: "0 1", newID: "2"}},
		{"a file that is damaged", map[string][]string{oldID: {"\x00\x01 no session"}, newID: replies(newID, 0, 2, nil)},
			map[string]string{newID: "0 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, lines := range tt.files {
				writeAt(t, filepath.Join(dir, name+".jsonl"), strings.Join(lines, "\n")+"\n")
			}
			for name, want := range tt.want {
				items, _ := read(t, filepath.Join(dir, name+".jsonl"))
				if got := said(items); got != want {
					t.Errorf("%s gives %q, want %q", name, got, want)
				}
			}
		})
	}
}

// said are the numbers of what people say, see says.
func said(items []memoir.Item) string {
	var out []string
	for _, it := range items {
		out = append(out, strings.TrimPrefix(it.Text, "say "))
	}
	return strings.Join(out, " ")
}

func TestAnOwnerStaysTheOwnerWhenFilesGrow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, fork := filepath.Join(dir, oldID+".jsonl"), filepath.Join(dir, newID+".jsonl")
	check := func(when, wantOld, wantFork string) {
		t.Helper()
		a, _ := read(t, old)
		b, _ := read(t, fork)
		if said(a) != wantOld || said(b) != wantFork {
			t.Errorf("%s: %q and %q, want %q and %q", when, said(a), said(b), wantOld, wantFork)
		}
	}
	writeAt(t, old, strings.Join([]string{says(oldID, 0), snapshot, says(oldID, 1)}, "\n")+"\n")
	items, _ := read(t, old)
	if said(items) != "0 1" {
		t.Errorf("alone: %q", said(items))
	}
	writeAt(t, fork, strings.Join(answers(newID, 0, 2, oldID), "\n")+"\n")
	check("just forked", "0 1", "")
	appendTo(t, fork, says(newID, 4)+"\n")
	check("the fork went on", "0 1", "4")
	appendTo(t, old, says(oldID, 5)+"\n")
	check("the original went on", "0 1 5", "4")
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	items, _ = read(t, fork)
	if said(items) != "0 1 4" {
		t.Errorf("the original gone: %q", said(items))
	}
}

// FuzzNoEntryIsLost takes bytes for the lines of three sessions: whichever owns
// what, each entry is given by one of them, and by one only where all have the same
// first entry.
func FuzzNoEntryIsLost(f *testing.F) {
	f.Add([]byte{0, 1, 2, 16, 17, 18, 32, 33, 34, 4, 21, 38}, false)
	f.Add([]byte{1, 65, 2, 17, 81, 18, 97, 34, 255, 3}, true)
	f.Add([]byte{0, 16, 32, 1, 66, 131, 200, 90}, true)
	ids := []string{oldID, newID, thirdID}
	f.Fuzz(func(t *testing.T, data []byte, alike bool) {
		lines := [3][]string{}
		held := map[string]bool{}
		add := func(file, n int, fork byte) {
			more := ""
			switch {
			case fork == 1:
				more = forked(ids[(file+1)%3], n)
			case fork == 2:
				more = fmt.Sprintf(`,"requestSessionId":%q`, ids[(file+2)%3])
			case fork == 3:
				lines[file] = append(lines[file], snapshot)
			}
			lines[file] = append(lines[file], says(ids[file], n, more))
			held[fmt.Sprint(n)] = true
		}
		for file := range 3 {
			if alike {
				add(file, 0, 0)
			}
		}
		for _, b := range data[:min(len(data), 60)] {
			if file := int(b>>4) & 3; file < 3 {
				add(file, int(b&15), b>>6)
			}
		}
		dir := t.TempDir()
		for file, id := range ids {
			if len(lines[file]) > 0 {
				writeAt(t, filepath.Join(dir, id+".jsonl"), strings.Join(lines[file], "\n")+"\n")
			}
		}
		given := map[string]int{}
		for file, id := range ids {
			if len(lines[file]) == 0 {
				continue
			}
			items, _ := read(t, filepath.Join(dir, id+".jsonl"))
			for _, n := range strings.Fields(said(items)) {
				given[n]++
			}
		}
		for n := range held {
			if given[n] == 0 || alike && given[n] > 1 {
				t.Errorf("entry %s is given %d times", n, given[n])
			}
		}
	})
}
