package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/model/modeltest"
	"memoir/model/modeltest/scribe"
	"memoir/testdata"
)

// A behaviour is what a model does with question n of its phase.
type behaviour = func(w wire, n int, q scribe.Question, good modeltest.Step) modeltest.Step

// A fate is what becomes of the job that a model answered badly.
type fate struct {
	exit  int    // exit code of the run
	job   string // done, error (to be tried again) or pending (given back, no attempt used)
	error string // in status, and in what is said
	kept  bool   // the answer, for inspection
	free  bool   // an error that used up no attempt
}

func done() fate { return fate{exit: exitDone, job: "done"} }

func failed(message string) fate { return fate{exit: exitPartly, job: "error", error: message} }

func refused(message string) fate {
	return fate{exit: exitPartly, job: "error", error: message, kept: true}
}

// ended is the fate where the fault is the model's: the run ends, and nobody is blamed.
func ended(message string) fate { return fate{exit: exitFailed, job: "pending", error: message} }

// postponed is the fate where the server is to blame: the job waits, and no attempt is used.
func postponed(message string) fate {
	return fate{exit: exitPartly, job: "error", error: message, free: true}
}

// unserved is postponed where it is plain at once that nobody will be served. A run in
// which nothing else was done has failed.
func unserved(phase scribe.Phase, message string) fate {
	f := postponed(message)
	if phase == scribe.Extract {
		f.exit = exitFailed
	}
	return f
}

// A bad way in which a model answers one phase.
type bad struct {
	name  string
	phase scribe.Phase
	step  behaviour
	fate  fate
	calls int    // of the phase; 0: any number
	more  string // settings of the provider
	other bool   // if it is done: with another memory than a model makes that answers well

	// asides are calls that the API refuses for their form. The call that is then made in
	// another form counts as one with them.
	asides int
	// estimated says that of calls that broke, or timed out, no tokens were told: those
	// are entered with an estimate.
	estimated bool
}

// writeSession writes a session in which a person said things, and the agent ran commands.
func writeSession(t *testing.T, dir string, day int, said, ran []string) {
	t.Helper()
	writeSessionIn(t, dir, "/srv/open/app", day, day, said, ran)
}

// writeSessionIn writes the nth session, which went on in a directory.
func writeSessionIn(t *testing.T, dir, cwd string, nth, day int, said, ran []string) {
	t.Helper()
	id := fmt.Sprintf("0b1c7a52-0000-4000-8000-0000000%05d", nth)
	var b strings.Builder
	n := 0
	entry := func(role, content string) {
		kind, message := role, fmt.Sprintf(`{"role":"user","content":%s}`, content)
		if role == "assistant" {
			message = fmt.Sprintf(`{"id":"m%d","role":"assistant","content":%s}`, n, content)
		}
		parent := "null"
		if n > 0 {
			parent = fmt.Sprintf(`"%d-e%d"`, nth, n-1)
		}
		fmt.Fprintf(&b, `{"type":%q,"uuid":"%d-e%d","parentUuid":%s,"sessionId":%q,"cwd":%q,"timestamp":"2026-05-%02dT10:%02d:%02dZ","message":%s}`+"\n",
			kind, nth, n, parent, id, cwd, day, n/60, n%60, message)
		n++
	}
	for _, text := range said {
		entry("user", fmt.Sprintf("%q", text))
		entry("assistant", fmt.Sprintf(`[{"type":"text","text":%q}]`, "Understood, that is noted."))
	}
	for i, line := range ran {
		entry("assistant", fmt.Sprintf(`[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":%q}}]`, i, line))
		entry("user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","content":"ok, all of it"}]`, i))
	}
	entry("assistant", `[{"type":"text","text":"Everything that was asked for is in place."}]`)
	path := filepath.Join(dir, id+".jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, time.May, day, 10, 30, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

const byHand = "- ask Ann before a deploy"

// A published state with work to do: three sessions are in the memory, which a person
// edited, and a fourth is new.
type published struct {
	dir, sessions string
	files         map[string]string // the live memory
	after         map[string]string // as it is once a model that answers well was asked about the fourth
	spent         memoir.Usage
}

func (p published) home() string { return filepath.Join(p.dir, "home") }

// unpublished is one that begins, without sessions, in a directory that all tests share.
func unpublished(t *testing.T) published {
	t.Helper()
	dir, err := os.MkdirTemp("", "memoir-scene-")
	if err != nil {
		t.Fatal(err)
	}
	removeAtTheEnd(dir)
	p := published{dir: dir, sessions: filepath.Join(dir, "sessions")}
	if err := os.Mkdir(p.sessions, 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

var withWork = once(func(t *testing.T) published {
	p := unpublished(t)
	for day := 1; day <= 3; day++ {
		var said []string
		for _, part := range []string{"queue", "parser", "printer"} {
			said = append(said, fmt.Sprintf("Always keep the %s of layer %d free of global state.", part, day))
		}
		writeSession(t, p.sessions, day, said, []string{"make check", "make lint", fmt.Sprintf("make layer%d", day)})
	}
	server := wires[1].start(t, well)
	s := scene{t: t, home: p.home(), sessions: p.sessions, user: t.TempDir()}
	s.asks(wires[1].provider(server.URL, ""))
	s.run(exitDone)
	for name := range s.memory() {
		if !strings.HasSuffix(name, "/MEMORY.md") {
			continue
		}
		path := filepath.Join(s.home, "projects", filepath.Dir(name), "memory", "MEMORY.md")
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(content), "## User preferences\n\n", "## User preferences\n\n"+byHand+"\n", 1)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.run(exitDone)
	p.files = s.memory()
	p.spent = counted(server)
	s.addsUp(s.status(), p.spent)
	if len(p.files) < 3 || !strings.Contains(p.files[fileOf(p.files, "MEMORY.md")], byHand) {
		t.Fatalf("published: %v", p.files)
	}
	writeSession(t, p.sessions, 4, []string{"Never log the body of a request.", "From now on name branches after their issue."}, []string{"make check", "make release"})
	whole := scene{t: t, home: filepath.Join(t.TempDir(), "home"), sessions: p.sessions, user: s.user}
	copyTree(t, p.home(), whole.home)
	whole.run(exitDone)
	p.after = whole.memory()
	if cmp.Equal(p.files, p.after) {
		t.Fatal("the fourth session changes nothing")
	}
	return p
})

// sceneDirs are removed when all tests have ended.
var sceneDirs struct {
	sync.Mutex
	all []string
}

func removeAtTheEnd(dir string) {
	sceneDirs.Lock()
	defer sceneDirs.Unlock()
	sceneDirs.all = append(sceneDirs.all, dir)
}

// fileOf is the path of the only file of a name.
func fileOf(files map[string]string, name string) string {
	for path := range files {
		if strings.HasSuffix(path, "/"+name) {
			return path
		}
	}
	return ""
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	// Where a person's files are read-only, the program made them so.
	if err := fs.WalkDir(os.DirFS(from), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(filepath.Join(to, filepath.FromSlash(name)), info.Mode().Perm())
	}); err != nil {
		t.Fatal(err)
	}
}

// secret is one that a bad answer holds: nothing of it may be kept.
var secret = sync.OnceValue(func() string {
	value, _, _ := testdata.Fake("github-pat")
	return value
})

// misbehave has a model answer each new question of a phase badly, and well once all
// was looked at.
func misbehave(t *testing.T, cases []bad) {
	for i, b := range cases {
		w := wires[i%len(wires)]
		t.Run(b.name+" over "+w.api, func(t *testing.T) {
			t.Parallel()
			var healed atomic.Bool
			var asked atomic.Int64
			server := w.start(t, func(_ int, q scribe.Question, good modeltest.Step) modeltest.Step {
				if healed.Load() || q.Phase != b.phase {
					return good
				}
				return b.step(w, int(asked.Add(1))-1, q, good)
			})
			b.happens(t, w.provider(server.URL, b.more), func() memoir.Usage {
				used := counted(server)
				used.Calls -= b.asides
				return used
			}, func() { healed.Store(true) })
			if n := int(asked.Load()); b.calls > 0 && n != b.calls {
				t.Errorf("it was asked %d times, not %d", n, b.calls)
			}
		})
	}
}

// happens runs into a bad model, looks at what became of the job, and runs again when
// the model answers well.
func (b bad) happens(t *testing.T, provider string, counted func() memoir.Usage, heal func()) {
	t.Helper()
	p := withWork(t)
	s := newScene(t, p.sessions, provider)
	copyTree(t, p.home(), s.home)
	s.run(b.fate.exit)
	now, files := s.status(), s.memory()
	b.addsUp(s, now, p.spent.Add(counted()))
	switch {
	case b.fate.job != "done":
		if diff := cmp.Diff(p.files, files); diff != "" {
			t.Errorf("the memory has changed:\n%s", diff)
		}
	case !b.other:
		if diff := cmp.Diff(p.after, files); diff != "" {
			t.Errorf("not the memory that a good answer makes:\n%s", diff)
		}
	}
	s.safe(files)
	if len(now.Dead)+len(now.Running) > 0 {
		t.Errorf("status: %+v", now)
	}
	switch b.fate.job {
	case "done":
		if len(now.Failed) > 0 || now.Jobs["pending"]+now.Jobs["error"] > 0 {
			t.Errorf("status: %+v", now)
		}
	case "pending":
		if len(now.Failed) > 0 || now.Jobs["pending"] != 1 {
			t.Errorf("status: %+v", now)
		}
	case "error":
		if len(now.Failed) != 1 || now.Jobs["error"] != 1 {
			t.Errorf("status: %+v", now)
			break
		}
		job := now.Failed[0]
		attempts := 1
		if b.fate.free {
			attempts = 0
		}
		if job.Kind != string(b.phase) || job.Attempts != attempts || job.Next == nil || !job.Next.After(time.Now().Add(-time.Hour)) || !strings.Contains(job.Error, b.fate.error) {
			t.Errorf("status says %+v, not %q", job, b.fate.error)
		}
	}
	kept := s.kept()
	if (len(kept) == 1) != b.fate.kept || len(kept) > 1 {
		t.Errorf("%d answers are kept:\n%s", len(kept), kept)
	}
	for _, answer := range kept {
		if strings.Contains(answer, secret()) {
			t.Errorf("a secret is kept:\n%s", answer)
		}
	}

	heal()
	if b.fate.job == "error" {
		if code, _, said := s.memoir("retry", "--all"); code != exitDone {
			t.Errorf("retry: %d\n%s", code, said)
		}
	}
	s.run(exitDone)
	now, files = s.status(), s.memory()
	b.addsUp(s, now, p.spent.Add(counted()))
	if diff := cmp.Diff(p.after, files); diff != "" && !b.other {
		t.Errorf("once it answers well:\n%s", diff)
	}
	if len(now.Jobs) != 1 || now.Jobs["done"] == 0 {
		t.Errorf("once it answers well: %+v", now)
	}
}

// addsUp is that of the scene, but for what is estimated.
func (b bad) addsUp(s scene, now statusJSON, want memoir.Usage) {
	s.t.Helper()
	if total := now.UsageBy.Total; b.estimated && total.InputTokens >= want.InputTokens && total.OutputTokens >= want.OutputTokens {
		want.InputTokens, want.OutputTokens = total.InputTokens, total.OutputTokens
		want.Cost = price.Cost(want)
	}
	s.addsUp(now, want)
}

// safe checks that nothing of an answer left its place: no file has a strange name, and
// no text plays a frame or holds a secret.
func (s scene) safe(files map[string]string) {
	s.t.Helper()
	for name, text := range files {
		if strings.Contains(name, "..") || strings.Contains(name, " ") || strings.ContainsAny(name, `\:`) {
			s.t.Errorf("strange name: %q", name)
		}
		told := !strings.HasSuffix(name, "/raw_memories.md") && !strings.Contains(name, "/rollout_summaries/") // to agents
		for part, anywhere := range map[string]bool{"<memoir-context": true, "</memoir-context": true, "\x1b": true, secret(): true, "</transcript": false, "<raw-memories": false} {
			if (anywhere || told) && strings.Contains(text, part) {
				s.t.Errorf("%s holds %q", name, part)
			}
		}
	}
	top, err := os.ReadDir(s.home)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, entry := range top {
		switch name := entry.Name(); {
		case strings.HasPrefix(name, databaseName), name == "projects", name == "log", strings.HasPrefix(name, "."), name == "README.md":
		default:
			s.t.Errorf("strange file in the home: %s", name)
		}
	}
}
