package hub_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"memoir"
	"memoir/config"
	"memoir/memory"
	"memoir/pipeline"
	named "memoir/project"
	"memoir/rollout"
	"memoir/secrets"
	"memoir/store"
	"memoir/team"
	"memoir/team/wire"
)

// homeVariable makes the test binary a home that lives in this directory, until its standard input ends.
const homeVariable = "MEMOIR_TEST_HOME"

// homeProjects is how many of the projects a home shares.
const homeProjects = 2

// liveIn writes the text of each line of standard input, for the project with the number before it, and synchronises.
// It says kept once the text is stored, if there is one, and then how the synchronisation ended.
func liveIn(ctx context.Context, dir string) error {
	st, err := store.Open(ctx, filepath.Join(dir, "memoir.db"), store.Options{})
	if err != nil {
		return err
	}
	scanner, err := secrets.New(secrets.Options{})
	o := team.Options{Home: dir, UserHome: dir, Store: st, Scanner: scanner,
		Settings: func(memoir.Project) (config.Settings, error) { return config.Default(), nil }}
	for lines := bufio.NewScanner(os.Stdin); err == nil && lines.Scan(); {
		key, text, _ := strings.Cut(lines.Text(), " ")
		if text != "" {
			_, err = st.AddEntry(ctx, memoir.Entry{ProjectID: named.Named(key).ID, Kind: memoir.EntryNote, Category: "fact",
				Author: memoir.AuthorUser, Text: text}, []memoir.Statement{{Kind: memoir.StatementFinding, Text: text,
				Signal: memoir.SignalModel, By: memoir.ByAgent}})
		}
		if err == nil {
			fmt.Println("kept")
			_, failed := team.Sync(ctx, o, team.Push|team.Pull)
			fmt.Printf("%s %q\n", memoir.CodeOf(failed), fmt.Sprint(failed))
		}
	}
	return errors.Join(err, st.Close())
}

// home is a directory of the client that has joined a hub, as a member of its own, and the process that lives there.
type home struct {
	*torture
	name, dir string
	ids       []string

	mu      sync.Mutex
	process *exec.Cmd // nil once it was killed, until the next step
	tell    io.WriteCloser
	says    *bufio.Reader
	steps   int
	took    time.Duration // the last step
	kept    []string
	caught  int // how often it was killed before its step had ended

	store *store.Store        // when the process has ended
	said  map[string][]string // texts that it has then, by project
}

func (x *torture) newHome(i int) *home {
	x.t.Helper()
	h := &home{torture: x, name: fmt.Sprint("home", i), dir: x.t.TempDir(), said: map[string][]string{}}
	code := x.Member(x.t, h.name, wire.Writer)
	ctx := x.t.Context()
	h.open()
	for p := range homeProjects {
		of := named.Named(project(p))
		_, err := h.store.Register(ctx, of)
		if err == nil {
			err = h.store.Share(ctx, of.ID, project(p))
		}
		if err != nil {
			x.t.Fatal(err)
		}
		h.ids = append(h.ids, of.ID)
	}
	url := "http://" + x.addresses[i%len(x.addresses)]
	if err := errors.Join(h.store.Close(), team.Join(ctx, h.dir, team.Hub{URL: url}, code, h.name)); err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() {
		if h.process != nil {
			_ = h.process.Process.Kill()
			_ = h.process.Wait()
		}
	})
	return h
}

func (h *home) open() {
	h.t.Helper()
	var err error
	if h.store, err = store.Open(h.t.Context(), filepath.Join(h.dir, "memoir.db"), store.Options{}); err != nil {
		h.t.Fatal(err)
	}
}

// work writes and synchronises now and then, until ctx ends.
func (h *home) work(ctx context.Context) {
	for ctx.Err() == nil && !h.t.Failed() {
		for at := h.pushes.Load() + tortureMachines; h.pushes.Load() < at && ctx.Err() == nil; {
			time.Sleep(time.Millisecond)
		}
		h.step(false, false)
	}
}

// step writes a text, unless it is the last step, and synchronises; kill kills the process at a random moment of that.
// While hubs are killed a synchronisation may fail at the hub, and at nothing else.
func (h *home) step(kill, last bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.repair.RLock()
	defer h.repair.RUnlock()
	if h.process == nil {
		h.start()
	}
	of, text := project(h.steps%homeProjects), ""
	if !last {
		text = fmt.Sprintf("%s found out %d", h.name, h.steps)
	}
	h.steps++
	began := time.Now()
	if kill {
		process := h.process.Process
		time.AfterFunc(rand.N(max(h.took, time.Millisecond)), func() { _ = process.Kill() })
	}
	_, err := fmt.Fprintln(h.tell, of, text)
	kept, errKept := h.says.ReadString('\n')
	if errKept == nil && !last {
		h.kept = append(h.kept, text)
	}
	synced, errSynced := h.says.ReadString('\n')
	switch err = errors.Join(err, errKept, errSynced); {
	case kill:
		_ = h.process.Wait()
		h.process = nil
		if err != nil {
			h.caught++
		}
		return
	case err != nil:
		h.t.Errorf("%s ended by itself: %v", h.name, err)
	}
	h.took = time.Since(began)
	if code, said, _ := strings.Cut(synced, " "); code != "" && (last || code != string(memoir.CodeHub)) {
		h.t.Errorf("%s: %s%s %s", h.name, kept, code, said)
	}
}

func (h *home) start() {
	h.process = exec.Command(os.Args[0])
	h.process.Env, h.process.Stderr = append(os.Environ(), homeVariable+"="+h.dir), os.Stderr
	tell, err := h.process.StdinPipe()
	says, errSays := h.process.StdoutPipe()
	if err = errors.Join(err, errSays, h.process.Start()); err != nil {
		h.t.Error(err)
	}
	h.tell, h.says = tell, bufio.NewReader(says)
}

// end synchronises for the last time, ends the process, and reads what the home has said. A text is lost if the process
// had kept it; of one that it was writing when it was killed, nobody knows.
func (h *home) end() {
	h.step(false, true)
	if err := errors.Join(h.tell.Close(), h.process.Wait()); err != nil {
		h.t.Errorf("%s: %v", h.name, err)
	}
	h.process = nil
	h.open()
	h.t.Cleanup(func() { _ = h.store.Close() })
	for of, all := range h.has() {
		for text := range all {
			if own, ok := strings.CutPrefix(text, h.name+": "); ok {
				h.said[of] = append(h.said[of], own)
			}
		}
	}
	for _, text := range h.kept {
		if !slices.Contains(slices.Concat(slices.Collect(maps.Values(h.said))...), text) {
			h.t.Errorf("%s has lost %q", h.name, text)
		}
	}
	if _, waiting, err := h.store.Shares(h.t.Context()); waiting > 0 || err != nil {
		h.t.Errorf("%d sessions wait in the outbox of %s: %v", waiting, h.name, err)
	}
}

// has returns how often the home has what it and others said, by project.
func (h *home) has() map[string]map[string]int {
	all, err := h.store.Stated(h.t.Context(), memoir.StatementFinding, memoir.StatementFinding)
	if err != nil {
		h.t.Error(err)
	}
	has := map[string]map[string]int{}
	for p := range homeProjects {
		has[project(p)] = map[string]int{}
		for _, e := range all {
			who := memoir.MemberOf(e.SessionKey)
			if who == "" {
				who = h.name
			}
			for _, st := range e.Statements {
				if e.ProjectID == h.ids[p] {
					has[project(p)][who+": "+st.Text]++
				}
			}
		}
	}
	return has
}

// compareHomes runs each home once, and compares what it then has of the hub: the generation, and the lines of
// MEMORY.md that are the team's. Each has received what others said, which its cursors have not skipped.
func (x *torture) compareHomes(machines []*pusher) {
	var first map[string]string
	caught := 0
	for _, h := range x.homes {
		caught += h.caught
		report, err := pipeline.Run(x.t.Context(), h.store, pipeline.Options{Home: h.dir, SessionsDir: x.t.TempDir(),
			Settings: config.Default(), Env: rollout.Env{Home: h.dir}, Limit: 1})
		if err != nil || report.Partly() {
			x.t.Errorf("%s: %v %+v", h.name, err, report.Phase2)
		}
		for of, got := range h.has() {
			if diff := cmp.Diff(x.wanted(of, machines), got); diff != "" {
				x.t.Errorf("%s of %s: %s", h.name, of, diff)
			}
		}
		has := map[string]string{}
		for _, id := range h.ids {
			base, err := os.ReadFile(filepath.Join(memory.At(h.dir, id).Dir(), "base.tar.zst"))
			text, errText := memory.At(h.dir, id).Open(memoir.MemoryFile)
			if err != nil || errText != nil {
				x.t.Errorf("%s has no memory: %v, %v", h.name, err, errText)
			}
			has[id+" as fetched"] = hexOf(string(base))
			for line := range strings.Lines(string(text)) {
				own := strings.HasPrefix(memoir.Citation(line), " ["+h.name+"-") // it names nobody here
				if own || strings.Contains(line, "(from the team: ") {
					has[id] += memoir.WithoutTeam(memoir.LineText(line)) + memoir.Citation(line) + "\n"
				}
			}
			if strings.Count(has[id], "\n") < 5 {
				x.t.Errorf("%s has only\n%s", h.name, text)
			}
		}
		if first == nil {
			first = has
		}
		if diff := cmp.Diff(first, has); diff != "" {
			x.t.Errorf("%s and %s differ: %s", x.homes[0].name, h.name, diff)
		}
	}
	x.t.Logf("%d lines of the team in each home; homes were killed %d times at work", strings.Count(fmt.Sprint(first), "\n"), caught)
}
