package pipeline_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"memoir"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/secrets"
	"memoir/store"
)

// holding lists the files of a home whose bytes hold a text, compressed ones unpacked.
func holding(t *testing.T, home, text string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".zst") {
			z, err := zstd.NewReader(nil)
			if err != nil {
				return err
			}
			defer z.Close()
			if content, err = z.DecodeAll(content, nil); err != nil {
				return err
			}
		}
		if bytes.Contains(bytes.ToLower(content), []byte(text)) || strings.Contains(path, text) {
			rel, _ := filepath.Rel(home, path)
			found = append(found, rel)
		}
		return nil
	})
	must(t, err)
	return found
}

func TestAfterAPurgeNoByteOfTheHomeTellsOfIt(t *testing.T) {
	t.Parallel()
	home, dir, project := twoSessions(t)
	root := memory.At(home, project)
	appendLine(t, filepath.Join(root.Link(), "MEMORY.md"), "\n- zanzibar by hand [aaaaaaaa 2026-05-01]\n- ask Ada")
	// The session grows, and its memory with it: more generations, more freed pages.
	for _, more := range []string{"Never restart zanzibar.", "Always greet zanzibar."} {
		appendLine(t, filepath.Join(dir, secretID+".jsonl"), `{"timestamp":"2026-05-01T11:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"`+more+`"}}`)
		run(t, options(home, dir))
	}
	for name, text := range map[string]string{
		"log/run.log": "memoir: session: zanzibar\n", "log/startup.log.1": "zanzibar\n",
		"projects/" + project + "/unmerged/1/MEMORY.md": "saved too late\n- zanzibar is rainy [aaaaaaaa 2026-05-01]\n",
	} {
		path := filepath.Join(home, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		writeIn(t, path, text)
	}
	must(t, copyDatabase(t, filepath.Join(home, "memoir.db"), filepath.Join(home, "memoir.db.v5.bak")))
	if before := holding(t, home, "zanzibar"); len(before) < 8 {
		t.Fatalf("only %v hold it to begin with", before)
	}
	report := forgotten(t, options(home, dir), store.Forgetting{Keys: []string{"codex:" + secretID}, Purge: true})
	if found := holding(t, home, "zanzibar"); len(found) > 0 {
		t.Errorf("it is left in %v", found)
	}
	if late, err := os.ReadFile(filepath.Join(root.Dir(), "unmerged", "1", "MEMORY.md")); string(late) != "saved too late\n" {
		t.Errorf("of what was saved too late %q is left, %v", late, err)
	}
	if len(report.Projects[0].Archives) != 4 || len(report.Removed) != 3 {
		t.Errorf("%+v", report)
	}
	if text := liveText(t, home, project); !strings.Contains(text, "ask Ada") || !strings.Contains(text, "header of a fixture") {
		t.Errorf("more than that is gone:\n%s", text)
	}
	run(t, options(home, dir))
	if found := holding(t, home, "zanzibar"); len(found) > 0 {
		t.Errorf("the next run brought it back into %v", found)
	}
}

// The manifest of a restored generation names the sessions that it leaves out.
func TestAPurgeRemovesGenerationsThatSetTheSessionAside(t *testing.T) {
	t.Parallel()
	a := grown(t)
	a.restore(1)
	a.edit("MEMORY.md", "- ask Bob")
	o := options(a.home, a.dir)
	forgotten(t, o, store.Forgetting{Keys: []string{"codex:aaaaaaaa-0002"}})
	forgotten(t, o, store.Forgetting{Keys: []string{"codex:aaaaaaaa-0002"}, Purge: true})
	if found := holding(t, a.root().Dir(), "aaaaaaaa-0002"); len(found) > 0 {
		t.Errorf("it is left in %v", found)
	}
	a.wantText([]string{"pnpm", "ask Bob"}, nil)
}

// A project to which nothing belongs any more goes with its directory's name.
func TestASessionOfNoProjectOrOneOfItsOwnIsForgottenWithItsDirectory(t *testing.T) {
	t.Parallel()
	for _, cwd := range []string{"/", "/srv/zanzibar"} {
		dir, home := t.TempDir(), t.TempDir()
		codexSession(t, dir, secretID, cwd, "main", "Never deploy to zanzibar.")
		run(t, options(home, dir))
		if len(holding(t, home, "zanzibar")) == 0 {
			t.Fatal("the registry does not know of it to begin with")
		}
		forgotten(t, options(home, dir), store.Forgetting{Keys: []string{"codex:" + secretID}, Purge: true})
		run(t, options(home, dir))
		if found := holding(t, home, "zanzibar"); len(found) > 0 {
			t.Errorf("%s: it is left in %v", cwd, found)
		}
	}
}

func TestAProjectThatASessionHadLeftForgetsItToo(t *testing.T) {
	t.Parallel()
	home, dir, _ := twoSessions(t)
	codexSession(t, dir, secretID, "/srv/elsewhere", "main", "Never deploy to the zanzibar cluster on Fridays, always use pnpm.")
	run(t, options(home, dir))
	forgotten(t, options(home, dir), store.Forgetting{Keys: []string{"codex:" + secretID}, Purge: true})
	if found := holding(t, home, "zanzibar"); len(found) > 0 {
		t.Errorf("it is left in %v", found)
	}
}

// The origin's file is deleted when the fork goes on, so no reader knows any more what the fork repeats.
func TestAForkDoesNotBringBackWhatItsForgottenOriginSaid(t *testing.T) {
	t.Parallel()
	const stem, id, fork = "2026-05-01T10-00-00-000Z_", "cccccccc-0000-4000-8000-000000000002", "bbbbbbbb-0000-4000-8000-000000000001"
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "agent", "sessions", "--w--")
	say := func(n, before, role, text string) string {
		return `{"id":"` + n + `","parentId":` + before + `,"timestamp":"2026-05-01T10:00:0` + n + `.000Z","type":"message","message":{"role":"` +
			role + `","content":[{"type":"text","text":"` + text + `"}],"stopReason":"stop"}}` + "\n"
	}
	head := func(id, more string) string {
		return `{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-05-01T10:00:00.000Z"` + more + `,"cwd":"/srv/app"}` + "\n"
	}
	copied := say("1", "null", "user", "Never deploy to the zanzibar cluster on Fridays.") + say("2", `"1"`, "assistant", "Understood: zanzibar rests.")
	writeIn(t, filepath.Join(dir, stem+id+".jsonl"), head(id, "")+copied)
	writeIn(t, filepath.Join(dir, stem+fork+".jsonl"), head(fork, `,"parentSession":"`+id+`"`)+copied+say("3", `"2"`, "user", "Always use pnpm instead of npm."))
	o := options(home, dir)
	run(t, o)
	sessions := ask(t, home, func(st *store.Store) ([]memoir.Session, error) { return st.Sessions(t.Context(), store.Filter{}) })
	if len(sessions) != 2 || sessions[0].Title != sessions[1].Title {
		t.Fatalf("%+v", sessions)
	}
	forgotten(t, o, store.Forgetting{Keys: []string{"pi:" + id}, Purge: true})
	if found := holding(t, home, "zanzibar"); len(found) > 0 {
		t.Errorf("it is left in %v", found)
	}
	must(t, os.Remove(filepath.Join(dir, stem+id+".jsonl")))
	appendLine(t, filepath.Join(dir, stem+fork+".jsonl"), strings.TrimSpace(say("4", `"3"`, "user", "Always write the header of a fixture first.")))
	report := run(t, o)
	if found := holding(t, home, "zanzibar"); len(found) > 0 || report.Phase1.Stored != 1 {
		t.Errorf("it came back in %v: %+v", found, report.Phase1)
	}
	if text := liveText(t, home, report.Phase2[0].Project); !strings.Contains(text, "header of a fixture") || !strings.Contains(text, "pnpm") {
		t.Errorf("the fork's own words are gone:\n%s", text)
	}
}

// claudeLine is an entry of a Claude Code session.
func claudeLine(session, uuid, parent, at, role, text string) string {
	content, _ := json.Marshal(text)
	return `{"sessionId":"` + session + `","uuid":"` + uuid + `","parentUuid":` + parent + `,"timestamp":"2026-05-01T10:0` + at +
		`.000Z","type":"` + role + `","entrypoint":"cli","userType":"external","cwd":"/srv/app","version":"2.1.330","message":{"role":"` +
		role + `","content":` + string(content) + `}}` + "\n"
}

// A fork that names no original is told by the times of its entries, in another directory, too, and when the original
// went on longer. The same words at another time are of another session.
func TestACopyThatNamesNoOriginalIsForgottenWithItAndEqualWordsAreNot(t *testing.T) {
	t.Parallel()
	const original, fork, other = "cccccccc-0000-4000-8000-000000000012", "bbbbbbbb-0000-4000-8000-000000000011", "aaaaaaaa-0000-4000-8000-000000000013"
	shared := func(id, minute string) string {
		return claudeLine(id, "u1"+minute, "null", minute+":01", "user", "Never deploy to the zanzibar cluster on Fridays.") +
			claudeLine(id, "u2"+minute, `"u1`+minute+`"`, minute+":02", "assistant", "Understood: zanzibar rests.")
	}
	own := claudeLine(fork, "u5", `"u20"`, "1:00", "user", "Always use pnpm instead of npm.") +
		claudeLine(fork, "u6", `"u5"`, "1:05", "assistant", "Only pnpm, then.")
	longer := claudeLine(original, "u3", `"u20"`, "0:30", "user", "And never on the evening before a holiday, neither.") +
		claudeLine(original, "u4", `"u3"`, "0:31", "assistant", "Noted.") +
		claudeLine(original, "u7", `"u4"`, "0:40", "user", "Thanks, that is all that I wanted to say about that cluster.")
	for _, beside := range []string{"-srv-app", "-srv-app-tree"} {
		home, dir := t.TempDir(), t.TempDir()
		writeIn(t, filepath.Join(dir, "-srv-app", original+".jsonl"), shared(original, "0")+longer)
		writeIn(t, filepath.Join(dir, beside, fork+".jsonl"), shared(fork, "0")+own)
		writeIn(t, filepath.Join(dir, "-srv-app", other+".jsonl"), strings.ReplaceAll(shared(other, "7"), "zanzibar", "lantern")+own)
		o := options(home, dir)
		project := run(t, o).Phase2[0].Project
		forgotten(t, o, store.Forgetting{Keys: []string{"claude:" + original}, Purge: true})
		if found := holding(t, home, "zanzibar"); len(found) > 0 {
			t.Errorf("%s: it is left in %v", beside, found)
		}
		run(t, o)
		if found := holding(t, home, "zanzibar"); len(found) > 0 {
			t.Errorf("%s: it came back in %v", beside, found)
		}
		if text := liveText(t, home, project); !strings.Contains(text, "pnpm") || !strings.Contains(text, "lantern") {
			t.Errorf("%s: the fork's own words, or those of another session, are gone:\n%s", beside, text)
		}
		loaded, err := pipeline.LoadSession(t.Context(), home, sessionsOf(t, home)["claude:"+fork],
			func() (*secrets.Scanner, error) { return secrets.New(secrets.Options{}) })
		must(t, err)
		if said, _ := pipeline.Recap(loaded.Items, 800, strings.Clone); len(said) != 2 {
			t.Errorf("%s: its recap says %+v", beside, said)
		}
	}
}

// Codex gives what a fork repeats new times; without turn ids the reader does not know it.
func TestACodexForkIsKnownByTheAgentsWordsThatItRepeats(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	said := func(at, role, text string) string {
		return `{"timestamp":"2026-05-0` + at + `Z","type":"response_item","payload":{"type":"message","role":"` + role +
			`","content":[{"type":"` + map[string]string{"user": "input_text", "assistant": "output_text"}[role] + `","text":"` + text + `"}]}}` + "\n"
	}
	write := func(id, day, more, own string) {
		writeIn(t, filepath.Join(dir, id+".jsonl"), `{"timestamp":"2026-05-0`+day+`T10:00:00Z","type":"session_meta","payload":{"id":"`+id+`","timestamp":"2026-05-0`+day+
			`T10:00:00Z","cwd":"/srv/app","originator":"codex-tui","cli_version":"0.150.0","source":"cli"`+more+`}}`+"\n"+
			said(day+"T10:00:01", "user", "Never deploy to the zanzibar cluster on Fridays.")+
			said(day+"T10:00:02", "assistant", strings.Repeat("The zanzibar cluster rests on Fridays. ", 30))+own)
	}
	const original, fork = "cccccccc-0000-4000-8000-000000000032", "bbbbbbbb-0000-4000-8000-000000000031"
	write(original, "1", "", "")
	write(fork, "2", `,"forked_from_id":"`+original+`"`, said("2T10:00:03", "user", "Always use pnpm instead of npm.")+said("2T10:00:04", "assistant", "Only pnpm, then."))
	o := options(home, dir)
	project := run(t, o).Phase2[0].Project
	forgotten(t, o, store.Forgetting{Keys: []string{"codex:" + original}, Purge: true})
	for _, when := range []string{"after forgetting", "after the next run"} {
		if found := holding(t, home, "zanzibar"); len(found) > 0 {
			t.Errorf("%s it is left in %v", when, found)
		}
		run(t, o)
	}
	if text := liveText(t, home, project); !strings.Contains(text, "pnpm") {
		t.Errorf("the fork's own words are gone:\n%s", text)
	}
}

// Sessions in one project may begin with the same words.
func TestSessionsThatBeginWithTheSameWordsAreNoCopies(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	for i, id := range []string{"aaaaaaaa-0000-4000-8000-000000000021", "bbbbbbbb-0000-4000-8000-000000000022"} {
		at := []string{"1", "2"}[i]
		writeIn(t, filepath.Join(dir, "-srv-app", id+".jsonl"), claudeLine(id, "a"+at, "null", at+":00", "user", "Always run the tests with make check.")+
			claudeLine(id, "b"+at, `"a`+at+`"`, at+":01", "assistant", "I run them.")+
			claudeLine(id, "c"+at, `"b`+at+`"`, at+":02", "user", "Never push to "+[]string{"zanzibar", "main"}[i]+"."))
	}
	o := options(home, dir)
	project := run(t, o).Phase2[0].Project
	forgotten(t, o, store.Forgetting{Keys: []string{"claude:aaaaaaaa-0000-4000-8000-000000000021"}, Purge: true})
	later := filepath.Join(dir, "-srv-app", "bbbbbbbb-0000-4000-8000-000000000022.jsonl")
	appendLine(t, later, strings.TrimSpace(claudeLine("bbbbbbbb-0000-4000-8000-000000000022", "d2", `"c2"`, "2:03", "assistant", "I never do.")))
	run(t, o)
	if text := liveText(t, home, project); strings.Contains(text, "zanzibar") || !strings.Contains(text, "make check") || !strings.Contains(text, "main") {
		t.Errorf("the memory says:\n%s", text)
	}
	if s := sessionsOf(t, home)["claude:bbbbbbbb-0000-4000-8000-000000000022"]; !strings.HasPrefix(s.Title, "Always run the tests") {
		t.Errorf("its title is %q", s.Title)
	}
}

// A reader that has the database open for a while keeps its log from being emptied:
// that is said, and a later run does it.
func TestAPurgeThatAReaderHoldsUpIsFinishedLater(t *testing.T) {
	t.Parallel()
	home, dir, _ := twoSessions(t)
	db, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(filepath.Join(home, "memoir.db"))+"?mode=ro")
	must(t, err)
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	var n int
	must(t, tx.QueryRowContext(context.Background(), "SELECT count(*) FROM session").Scan(&n))
	st, err := store.Open(t.Context(), filepath.Join(home, "memoir.db"), store.Options{BusyTimeout: 300 * time.Millisecond})
	must(t, err)
	_, err = pipeline.Forget(t.Context(), st, options(home, dir), store.Forgetting{Keys: []string{"codex:" + secretID}, Purge: true})
	st.Close()
	wantBusy(t, err)
	must(t, tx.Rollback())
	db.Close()
	run(t, options(home, dir))
	if found := holding(t, home, "zanzibar"); len(found) > 0 {
		t.Errorf("it is left in %v", found)
	}
}

func TestAForgottenProjectLeavesNoByteAndDoesNotComeBackWithItsSessions(t *testing.T) {
	t.Parallel()
	home, dir, project := twoSessions(t)
	forgotten(t, options(home, dir), store.Forgetting{Project: project, Purge: true})
	if found := holding(t, home, "zanzibar"); len(found) > 0 {
		t.Errorf("it is left in %v", found)
	}
	appendLine(t, filepath.Join(dir, secretID+".jsonl"), `{"timestamp":"2026-05-02T10:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"And ask in zanzibar."}}`)
	report := run(t, options(home, dir))
	if found := holding(t, home, "zanzibar"); len(found) > 0 || report.Scan.Reasons[memoir.ReasonForgotten] != 2 {
		t.Errorf("it came back in %v, %v", found, report.Scan.Reasons)
	}
	codexSession(t, dir, "cccccccc-3", "/srv/app", "main", "Always write the header of a fixture.")
	if report := run(t, options(home, dir)); len(report.Phase2) != 1 || report.Phase2[0].Generation != 1 || report.Phase2[0].Inputs != 1 {
		t.Errorf("a new session does not begin it anew alone: %+v", report.Phase2)
	}
}
