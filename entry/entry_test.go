package entry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

const projectID = "work-0123456789ab"

func newBook(t *testing.T) Book {
	t.Helper()
	home := t.TempDir()
	st, err := store.Open(t.Context(), filepath.Join(home, "memoir.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	if _, err = st.Register(t.Context(), memoir.Project{ID: projectID, Name: "work"}); err != nil {
		t.Fatal(err)
	}
	redact := strings.NewReplacer("hunter2", "[REDACTED]", "key is", "[REDACTED]").Replace
	return Book{Store: st, Home: home, Redact: redact}
}

func note(category, text string) memoir.Entry {
	return memoir.Entry{ProjectID: projectID, Kind: memoir.EntryNote, Category: category, Author: memoir.AuthorUser,
		Text: text}
}

func wantUsage(t *testing.T, err error) {
	t.Helper()
	if memoir.CodeOf(err) != memoir.CodeUsage {
		t.Errorf("error = %v, want one of usage", err)
	}
}

func TestATextIsStoredAsOneCleanLine(t *testing.T) {
	b := newBook(t)
	for text, want := range map[string]string{
		"use pnpm":                      "use pnpm",
		"my key\nis":                    "my [REDACTED]",
		" two\r\n\tlines\n":             "two lines",
		"a\x00b\x1b[31mc\u202ed\u2028e": "ab[31mcd e",
		"hun\x07ter2, hunt\u202eer2":    "[REDACTED], [REDACTED]",
		"not \xff utf-8":                "not \uFFFD utf-8",
		"the password is hunter2":       "the password is [REDACTED]",
		"👩\u200d💻 stays one":            "👩\u200d💻 stays one",
		strings.Repeat("x", MaxText):    strings.Repeat("x", MaxText),
		"":                              "",
		" \u200b\x07\n":                 "",
		strings.Repeat("x", MaxText+1):  "",
		strings.Repeat("x", 1<<20):      "",
		strings.Repeat("hunter2", 999):  "",
	} {
		e, _, err := b.Write(t.Context(), note("fact", text))
		if want == "" {
			wantUsage(t, err)
		} else if err != nil || e.Text != want || e.ID == 0 {
			t.Errorf("Write(%.40q) = #%d %.40q, %v, want %.40q", text, e.ID, e.Text, err, want)
		}
	}
	_, _, err := b.Write(t.Context(), note("opinion", "x"))
	wantUsage(t, err)
	_, err = b.Notes(t.Context(), []string{projectID}, "opinion")
	wantUsage(t, err)
}

func TestAPageThatCannotBeWrittenHoldsUpNoOther(t *testing.T) {
	b := newBook(t)
	line := memoir.Entry{ProjectID: projectID, Kind: memoir.EntryJournal, Author: memoir.AuthorUser, Text: "released 1.4"}
	root := memory.At(b.Home, projectID)
	path := pagePath(root, dayOf(memoir.Entry{CreatedAt: time.Now()}))
	if err := Append(root, path, strings.Repeat("x", maxPage-10)); err != nil {
		t.Fatal(err)
	}
	_, _, err := b.Write(t.Context(), line)
	wantUsage(t, err)
	if all, err := b.Store.Entries(t.Context(), store.EntryFilter{}); err != nil || len(all) > 0 {
		t.Errorf("of a page that is full, %v is stored: %v", all, err)
	}
	line.CreatedAt = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	waiting, err := b.Store.AddEntry(t.Context(), line, nil)
	if err != nil {
		t.Fatal(err)
	}
	old := pagePath(memory.At(b.Home, projectID), "2026-07-01")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Write(t.Context(), note("fact", "the sky is blue")); err != nil {
		t.Errorf("a note, while #%d waits for its page: %v", waiting.ID, err)
	}
	if err := b.File(t.Context(), 0); err == nil {
		t.Error("no error tells of a page that cannot be read")
	}
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	if err := b.File(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if page, err := b.Page(projectID, "2026-07-01"); err != nil || page != "- released 1.4\n" {
		t.Errorf("the page is %q, %v", page, err)
	}
}

func TestALineThatWaitsForItsPageIsNotAddedAgain(t *testing.T) {
	b := newBook(t)
	line := memoir.Entry{ProjectID: projectID, Kind: memoir.EntryJournal, Author: memoir.AuthorAuto, Text: "released 1.4"}
	waiting, err := b.Store.AddEntry(t.Context(), line, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e, added, err := b.Write(t.Context(), line); err != nil || added || e.ID != waiting.ID {
		t.Errorf("Write = #%d, %v, %v", e.ID, added, err)
	}
	line.CreatedAt = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	if e, added, err := b.Write(t.Context(), line); err != nil || !added || e.ID == waiting.ID {
		t.Errorf("on another day: Write = #%d, %v, %v", e.ID, added, err)
	}
}

func TestANoteIsStoredOnce(t *testing.T) {
	b := newBook(t)
	like := func(change func(*memoir.Entry)) memoir.Entry {
		e := note("fact", "use  pnpm")
		change(&e)
		return e
	}
	for i, c := range []struct {
		note  memoir.Entry
		added bool
	}{
		{like(func(*memoir.Entry) {}), true},
		{like(func(e *memoir.Entry) { e.Text = "use pnpm " }), false},
		{like(func(e *memoir.Entry) { e.Text = "use PNPM" }), false},
		{like(func(e *memoir.Entry) { e.Text, e.Category = "use PNPM", "" }), false},

		{like(func(e *memoir.Entry) { e.Category = "preference" }), true},
		{like(func(e *memoir.Entry) { e.Author = memoir.AuthorAgent }), false},
		{like(func(e *memoir.Entry) { e.Kind, e.Category = memoir.EntryJournal, "" }), true},
		{like(func(*memoir.Entry) {}), false},
		{like(func(e *memoir.Entry) { e.Text, e.Replaces = "use PNPM", 1 }), true},
	} {
		if e, added, err := b.Write(t.Context(), c.note); err != nil || added != c.added || !added && e.ID != 1 {
			t.Errorf("%d: Write = #%d, %v, %v", i, e.ID, added, err)
		}
	}
}

func TestAPersonConfirmsAnAgentsNote(t *testing.T) {
	b := newBook(t)
	claim := note("preference", "use pnpm")
	claim.Author = memoir.AuthorAgent
	first, added, err := b.Write(t.Context(), claim)
	told, fault := Injected(t.Context(), b.Store, projectID)
	if err != nil || fault != nil || !added || strings.Contains(told.Text(1000), "pnpm") ||
		!strings.Contains(told.Text(1000), "confirmation: 1 note of agents") {
		t.Errorf("before: %v, %v, %v: %+v", added, err, fault, told)
	}
	for i, want := range []bool{true, false} {
		again, added, err := b.Write(t.Context(), note("preference", "use pnpm"))
		if err != nil || added != want || again.ID != first.ID || again.Author != memoir.AuthorUser {
			t.Errorf("%d: %+v, %v, %v", i, again, added, err)
		}
	}
	if told, err := Injected(t.Context(), b.Store, projectID); err != nil || told.Text(1000) != "## Long-Term Memory\n\n### preference\n\n- [#1] use pnpm\n\n" {
		t.Errorf("after: %+v, %v", told, err)
	}
	all, _, err := b.Store.Selected(t.Context(), projectID, 10)
	if err != nil || len(all) != 1 || all[0].Statements[0].By != memoir.ByPerson || all[0].Statements[0].Quote != "use pnpm" {
		t.Errorf("consolidated: %+v, %v", all, err)
	}
}

// Only a person's note replaces a person's, and an agent's does once it is confirmed.
func TestANoteReplacesAnother(t *testing.T) {
	b := newBook(t)
	write := func(author memoir.Author, text string, replaces int64, want string) {
		t.Helper()
		n := memoir.Entry{ProjectID: projectID, Kind: memoir.EntryNote, Author: author, Text: text, Replaces: replaces}
		if replaces == 0 {
			n.Category = "preference"
		}
		_, _, err := b.Write(t.Context(), n)
		notes, fault := b.Notes(t.Context(), []string{projectID}, "preference")
		var left []string
		for _, one := range notes {
			left = append(left, one.Text)
		}
		if got := strings.Join(left, ", "); err != nil || fault != nil || got != want {
			t.Errorf("%s: %v, %v: %s, want %s", text, err, fault, got, want)
		}
	}
	write(memoir.AuthorAgent, "npm", 0, "npm")
	write(memoir.AuthorAgent, "yarn", 1, "yarn")
	write(memoir.AuthorUser, "pnpm", 2, "pnpm")
	write(memoir.AuthorAgent, "bun", 3, "pnpm, bun")
	write(memoir.AuthorUser, "bun", 0, "bun")
	write(memoir.AuthorUser, "pnpm", 4, "pnpm")
	write(memoir.AuthorUser, "pnpm", 5, "pnpm")
	if _, _, err := b.Write(t.Context(), memoir.Entry{ProjectID: "other-0123456789ab", Kind: memoir.EntryNote, Author: memoir.AuthorUser,
		Text: "x", Replaces: 5}); memoir.CodeOf(err) != memoir.CodeNotFound {
		t.Errorf("a note of another project: %v", err)
	}
}

func TestOnlyAnEntrysOwnLineIsErased(t *testing.T) {
	const page = "# by hand\n\n- a\n- ab\n"
	for _, line := range []string{"- one\n", "  - one\r\n", "- one"} {
		if got := without(page+line, memoir.Entry{Text: "one"}); got != page {
			t.Errorf("without(%q) = %q", page+line, got)
		}
	}
	if got := without(page, memoir.Entry{Text: "# by hand"}) + without(page, memoir.Entry{Text: "b"}); got != page+page {
		t.Errorf("lines of others are gone: %q", got)
	}
}

func TestApply(t *testing.T) {
	for _, c := range []struct{ ops, want string }{
		{`{"op": "insert", "line": 1, "content": "x\ny\n"}`, "x\ny\na\nb\nc\n"},
		{`{"op": "insert", "line": 4, "content": "x"}`, "a\nb\nc\nx\n"},
		{`{"op": "update", "line": 2, "content": "x"}, {"op": "remove", "line": 1}`, "x\nc\n"},
		{`{"op": "remove", "line": 3}, {"op": "remove", "line": 3}`, ""},
		{`{"op": "insert", "line": 5, "content": "x"}`, ""},
		{`{"op": "remove", "line": -1}`, ""},
		{`{"op": "move", "line": 1}`, ""},
		{`{"op": "insert", "line": 1, "content": "\u0007"}`, ""},
		{`{"op": "update", "line": 1, "content": "x\u202e\ry\u2028z"}`, "x\ny\nz\nb\nc\n"},
		{`{"op": "update", "line": 1}`, ""},
		{`{"op": "update", "line": 1, "contents": "x"}`, ""},
		{`{"op": "remove", "line": 1}]} {"ops": [`, ""},
		{`{"op": "update", "line": 1, "content": "0123456789"}`, ""},
		{``, ""},
	} {
		got, err := Patch{Text: "a\nb\nc\n", Most: 12, Author: memoir.AuthorUser}.Apply([]byte(`{"ops": [` + c.ops + `]}`))
		if c.want == "" && memoir.CodeOf(err) != memoir.CodeInvalid {
			wantUsage(t, err)
		}
		if got != c.want {
			t.Errorf("Apply(%s) = %q, %v, want %q", c.ops, got, err, c.want)
		}
	}
}

func TestWhatAnAgentWritesIsMarked(t *testing.T) {
	p := Patch{Text: "# a\n\n- by a person\n- by a session\n", Most: 1000, Author: memoir.AuthorAgent,
		Own: func(line string) bool { return strings.Contains(line, "person") }}
	got, err := p.Apply([]byte(strings.ReplaceAll(`{"ops": [{"op": "update", "line": 4, "content": "- by an agent"},
		{"op": "insert", "line": 1, "content": "# a\n## b\n#c\n#\n # d (not confirmed)\ne\r# f\nx (not confirmed)\n"},
		{"op": "insert", "line": 9, "content": "'''go\nx\n'''\n  ~~~~\n- ''''y\n> ~~'''~\n# '''\n~~'z'~~"}]}`,
		"'", "`")))
	want := "# a\nb (not confirmed)\nc (not confirmed)\n\nd (not confirmed)\ne (not confirmed)\nf (not confirmed)\n" +
		"x (not confirmed)\ngo (not confirmed)\nx (not confirmed)\n\n\n- y (not confirmed)\n> ~~ (not confirmed)\n\n" +
		"~~`z`~~ (not confirmed)\n# a\n\n- by a person\n- by an agent (not confirmed)\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	for _, op := range []string{`"remove"`, `"update", "content": "x"`} {
		_, err := p.Apply([]byte(`{"ops": [{"line": 3, "op": ` + op + `}]}`))
		wantUsage(t, err)
	}
}

func FuzzApply(f *testing.F) {
	f.Add("a\nb\n", []byte(`{"ops": [{"op": "insert", "line": 1, "content": "x"}, {"op": "remove", "line": 2}]}`))
	f.Fuzz(func(t *testing.T, text string, patch []byte) {
		got, err := Patch{Text: text, Most: 100, Author: memoir.AuthorUser}.Apply(patch)
		if err != nil && (got != "" || memoir.CodeOf(err) == "") {
			t.Errorf("%q, %v", got, err)
		}
		if err == nil && (len(got) > 100 || !strings.HasSuffix(got, "\n")) {
			t.Errorf("%q", got)
		}
	})
}

func TestTheNotesThatFitAreThoseOfTheLastAccess(t *testing.T) {
	b := newBook(t)
	const all = 60
	for i := range all {
		n := note([]string{"fact", "preference"}[i%2], fmt.Sprintf("the lamp %03d is in the hall of the northern wing", i))
		n.CreatedAt = time.Date(2026, 7, 1, 0, i, 0, 0, time.UTC)
		if _, _, err := b.Write(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Recall(t.Context(), []string{projectID}, "", []string{"004"}); err != nil {
		t.Fatal(err)
	}
	notes, err := Injected(t.Context(), b.Store, projectID)
	if err != nil {
		t.Fatal(err)
	}
	for _, tokens := range []int{60, 200, 500, 700, 2000} {
		text := notes.Text(tokens)
		shown := strings.Count(text, "- [#")
		more := fmt.Sprintf("%d of %d notes, those that were written or recalled last; `memoir search` finds the others.", shown, all)
		if len(text) > 4*tokens || strings.Contains(text, more) != (shown < all) || shown < min(all, (tokens-60)/18) {
			t.Errorf("%d tokens: %d notes\n%.300s", tokens, shown, text)
		}
		for i := range all {
			if has := strings.Contains(text, fmt.Sprintf("lamp %03d", i)); has != (shown > 0 && i == 4 || i > all-shown || shown == all) {
				t.Errorf("%d tokens, %d notes: the one of %d is shown: %v", tokens, shown, i, has)
			}
		}
	}
}

func TestNoLinkOfAJournalOrHistoryIsFollowed(t *testing.T) {
	for name, link := range map[string]func(root memory.Root) (at string){
		"a page":            func(root memory.Root) string { return pagePath(root, "2026-07-01") },
		"the journal":       memory.Root.Journal,
		"the history":       func(root memory.Root) string { return root.History("") },
		"a month's history": func(root memory.Root) string { return root.History("2026-07") },
	} {
		b := newBook(t)
		at, target := link(memory.At(b.Home, projectID)), t.TempDir()
		theirs := filepath.Join(target, "2026-07-01.md")
		if err := errors.Join(os.WriteFile(theirs, []byte("theirs\n"), 0o600), os.MkdirAll(filepath.Dir(at), 0o700)); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(at) == ".md" {
			target = theirs
		}
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
		page, err1 := b.Page(projectID, "2026-07-01")
		history, err2 := b.History(projectID, "")
		month, err3 := b.History(projectID, "2026-07")
		_, _, err4 := b.Write(t.Context(), memoir.Entry{ProjectID: projectID, Kind: memoir.EntryJournal, Author: memoir.AuthorUser,
			Text: "mine", CreatedAt: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)})
		text, err := os.ReadFile(theirs)
		if err != nil || string(text) != "theirs\n" || strings.Contains(page+history+month, "theirs") ||
			errors.Join(err1, err2, err3, err4) == nil {
			t.Errorf("%s: %q, %q, %q, %v %v", name, text, page, history+month, err, errors.Join(err1, err2, err3, err4))
		}
	}
}

// A link that somebody puts in place of a page while it is opened is not followed either.
func TestNoLinkThatAppearsMeanwhileIsFollowed(t *testing.T) {
	b := newBook(t)
	root := memory.At(b.Home, projectID)
	dir := t.TempDir()
	theirs, link, ours, page := filepath.Join(dir, "theirs"), filepath.Join(dir, "link"), filepath.Join(dir, "ours"), pagePath(root, "2026-07-01")
	if err := errors.Join(os.WriteFile(theirs, []byte("theirs\n"), 0o600), Append(root, page, "ours\n")); err != nil {
		t.Fatal(err)
	}
	done, ended := make(chan bool), make(chan error)
	go func() {
		var err error
		for running := true; running && err == nil; {
			err = errors.Join(os.Symlink(theirs, link), os.Rename(link, page), os.WriteFile(ours, nil, 0o600), os.Rename(ours, page))
			select {
			case <-done:
				running = false
			default:
			}
		}
		ended <- err
	}()
	for range 3000 {
		_ = Append(root, page, "mine\n")
		if text, _ := b.Page(projectID, "2026-07-01"); strings.Contains(text, "theirs") {
			t.Error("it was read")
			break
		}
	}
	close(done)
	text, err := os.ReadFile(theirs)
	if err = errors.Join(err, <-ended); err != nil || string(text) != "theirs\n" {
		t.Errorf("%.20q, %v", text, err)
	}
}
