package pipeline_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"memoir"
	"memoir/config"
	"memoir/pipeline"
	"memoir/rollout"
)

// talk is a home with a project, to which applications send messages.
func talk(t *testing.T) (o pipeline.Options, say func(name string, messages ...pipeline.Message) pipeline.Spoken) {
	home, work := t.TempDir(), t.TempDir()
	o = pipeline.Options{Home: home, Settings: config.Default(), Env: rollout.Env{Home: filepath.Join(home, "nobody")}, Limit: 100}
	st := open(t, home)
	_, err := st.Register(t.Context(), memoir.Project{ID: "work-0123456789ab", Name: "work", Identity: work, Directories: []string{work}})
	must(t, err)
	must(t, st.Close())
	return o, func(name string, messages ...pipeline.Message) pipeline.Spoken {
		st := open(t, home)
		defer st.Close()
		out, err := pipeline.Say(t.Context(), st, o, "work-0123456789ab", name, messages)
		if err != nil {
			t.Error(err)
		}
		return out
	}
}

func files(t *testing.T, o pipeline.Options) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(o.Home, "projects", "*", "conversations", "*.jsonl"))
	must(t, err)
	return paths
}

func TestTheNewestMessagesAreKept(t *testing.T) {
	t.Parallel()
	o, say := talk(t)
	at := time.Now()
	for call := range 3 {
		var messages []pipeline.Message
		for i := range 100 {
			messages = append(messages, pipeline.Message{Role: "user", Content: fmt.Sprintf("message %d", 100*call+i), At: at})
		}
		if out := say("long", messages...); out.Stored != 100 || len(out.Full) != 2 {
			t.Errorf("stored %+v", out)
		}
	}
	if n := len(files(t, o)); n != 6 {
		t.Errorf("before they are read, %d files of 50 messages are left of 6", n)
	}
	if report := run(t, o); report.Phase1.Claimed != 6 {
		t.Errorf("extracted from %+v", report.Phase1)
	}
	left := files(t, o)
	text, err := os.ReadFile(left[0])
	must(t, err)
	if len(left) != 4 || !strings.Contains(string(text), `"message 100"`) {
		t.Errorf("%d files are left, the first of them:\n%s", len(left), text)
	}
	if report := run(t, o); report.Scan.Sessions != 6 || report.Phase1.Claimed != 0 {
		t.Errorf("then: %+v", report.Scan)
	}
}

func TestWritersOfAConversationWaitForEachOther(t *testing.T) {
	t.Parallel()
	o, say := talk(t)
	var group sync.WaitGroup
	for i := range 30 {
		group.Go(func() { say("one", pipeline.Message{Role: "assistant", Content: fmt.Sprintf("message %d.", i)}) })
	}
	group.Wait()
	paths := files(t, o)
	if len(paths) != 1 {
		t.Fatalf("files %q", paths)
	}
	text, err := os.ReadFile(paths[0])
	must(t, err)
	for i := range 30 {
		if n := strings.Count(string(text), fmt.Sprintf("message %d.", i)); n != 1 {
			t.Errorf("message %d is there %d times", i, n)
		}
	}
	st := open(t, o.Home)
	defer st.Close()
	found, err := st.Searchable(t.Context())
	must(t, err)
	said, err := st.SessionText(t.Context(), found[len(found)-1].Seq)
	must(t, err)
	if len(found) != 1 || len(said.Messages) != 30 {
		t.Errorf("%d of 30 messages are found", len(said.Messages))
	}
}

func TestMessagesThatAreRefusedStandInNoFile(t *testing.T) {
	t.Parallel()
	o, say := talk(t)
	db, err := sql.Open("sqlite3", filepath.Join(o.Home, "memoir.db"))
	must(t, err)
	defer db.Close()
	_, err = db.Exec(`CREATE TRIGGER refuse BEFORE INSERT ON message WHEN new.text = 'message 57.' BEGIN SELECT raise(ABORT, 'no'); END`)
	must(t, err)
	var messages []pipeline.Message
	for i := range 60 {
		messages = append(messages, pipeline.Message{Role: "user", Content: fmt.Sprintf("message %d.", i)})
	}
	st := open(t, o.Home)
	defer st.Close()
	_, err = pipeline.Say(t.Context(), st, o, "work-0123456789ab", "one", messages)
	if err == nil || !strings.Contains(err.Error(), "only 50 of 60 messages are stored") {
		t.Fatal(err)
	}
	messages = messages[50:]
	if _, err = pipeline.Say(t.Context(), st, o, "work-0123456789ab", "one", messages); err == nil {
		t.Fatal("no error")
	}
	if _, err = pipeline.Say(t.Context(), st, o, "work-0123456789ab", "another", messages[7:8]); err == nil || len(files(t, o)) != 1 {
		t.Errorf("a first message that failed leaves a file: %q, %v", files(t, o), err)
	}
	_, err = db.Exec(`DROP TRIGGER refuse`)
	must(t, err)
	say("one", messages...)
	for i := range 60 {
		n := 0
		for _, path := range files(t, o) {
			text, err := os.ReadFile(path)
			must(t, err)
			n += strings.Count(string(text), fmt.Sprintf("message %d.", i))
		}
		if n != 1 {
			t.Errorf("message %d is there %d times", i, n)
		}
	}
}

func TestAMessageWithAKeyIsStoredOnce(t *testing.T) {
	t.Parallel()
	o, say := talk(t)
	keyed := func(key string) pipeline.Message {
		return pipeline.Message{Role: "user", Content: "by " + key, Key: key}
	}
	first := say("one", keyed("a"), keyed("b"))
	// A process that died after it wrote the file had not registered the session.
	db, err := sql.Open("sqlite3", filepath.Join(o.Home, "memoir.db"))
	must(t, err)
	_, err = db.Exec(`PRAGMA foreign_keys = ON; DELETE FROM session WHERE source = 'conversation'`)
	must(t, errors.Join(err, db.Close()))
	again := say("later", keyed("b"), keyed("c"), keyed("a"))
	text, err := os.ReadFile(files(t, o)[0])
	must(t, err)
	other, err := os.ReadFile(files(t, o)[1])
	must(t, err)
	for _, key := range []string{"a", "b", "c"} {
		if n := strings.Count(string(text)+string(other), `"content":"by `+key+`"`); n != 1 {
			t.Errorf("the message with key %s is there %d times", key, n)
		}
	}
	if again.Session != first.Session || again.Stored != 1 {
		t.Errorf("%+v after %+v", again, first)
	}
	st := open(t, o.Home)
	defer st.Close()
	said, err := pipeline.Say(t.Context(), st, o, "work-0123456789ab", "one", []pipeline.Message{keyed("d"), {Role: "user", Content: "not by a", Key: "a"}})
	if memoir.CodeOf(err) != memoir.CodeUsage || said.Stored != 1 {
		t.Errorf("another text with a known key: %+v, %v", said, err)
	}
	if found, err := st.Searchable(t.Context()); err != nil || len(found) != 2 {
		t.Errorf("%d conversations are found, %v", len(found), err)
	}
}

func TestTheConversationWithTheOldestLastMessageIsDroppedFirst(t *testing.T) {
	t.Parallel()
	o, say := talk(t)
	begin := time.Now().Add(-100 * time.Hour).UTC()
	messages := func(n int, at time.Time) (out []pipeline.Message) {
		for i := range n {
			out = append(out, pipeline.Message{Role: "user", Content: fmt.Sprintf("message %d", i), At: at})
		}
		return out
	}
	say("slow", messages(1, begin)...) // it began first, and its last message is the newest
	say("short", messages(50, begin.Add(time.Hour))...)
	say("long", messages(200, begin.Add(2*time.Hour))...)
	say("slow", messages(49, begin.Add(3*time.Hour))...)
	run(t, o)
	var names []string
	for _, path := range files(t, o) {
		name, _, _ := strings.Cut(filepath.Base(path), "-")
		names = append(names, name)
	}
	if fmt.Sprint(names) != "[long long long slow]" {
		t.Errorf("kept are %v", names)
	}
}
