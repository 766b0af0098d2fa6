// Command deliver measures what agents are told after a failed command. It replays the sessions below a directory, or
// those of bench/memory, in order of time: before each session, memoir runs over those that had ended, and at each
// failure its hook is called.
//
// It prints a JSON line for each failure: the session and the item, whether an earlier session of the project has the
// same failure and a passing command after it, and the text, if there is one. Whether a text is right is for a reader.
// Read main.go first, then truth.go (which failures have an earlier fix).
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/bench/memory/scenario"
	"memoir/bench/memory/transcript"
	"memoir/rollout"
)

func main() {
	dir := flag.String("sessions", "", "the directory of the sessions (default: those of bench/memory)")
	program := flag.String("memoir", "", "the memoir to measure (default: built from ./cmd/memoir)")
	flag.Parse()
	if err := replay(context.Background(), *dir, *program); err != nil {
		fmt.Fprintln(os.Stderr, "deliver:", err)
		os.Exit(1)
	}
}

// A session is a main session with its items and files.
type session struct {
	memoir.Session
	items    []memoir.Item
	failures []failure
}

// A line is what is printed of a failure.
type line struct {
	Session string `json:"session"`
	Item    int    `json:"item"`
	Command string `json:"command"`
	Error   string `json:"error"`
	Earlier string `json:"earlier_fix,omitempty"` // the session that has one
	Text    string `json:"text"`
}

// A bench is a home and the directory of the sessions that its memory may know.
type bench struct {
	program, temp string
	projects      map[string]string // by session
}

func replay(ctx context.Context, dir, program string) error {
	b := bench{program: program, projects: map[string]string{}}
	var err error
	if b.temp, err = os.MkdirTemp("", "deliver-*"); err != nil {
		return err
	}
	defer os.RemoveAll(b.temp)
	if dir == "" {
		dir = filepath.Join(b.temp, "written")
		err = write(dir)
	}
	sessions, errRead := read(ctx, dir)
	if err = cmp.Or(err, errRead); err != nil || len(sessions) == 0 {
		return cmp.Or(err, fmt.Errorf("no sessions below %q", dir))
	}
	if err = b.build(ctx); err == nil {
		err = b.findProjects(ctx, dir)
	}
	if err != nil {
		return err
	}
	n, fixed, got, others := 0, 0, 0, 0
	done := map[string]bool{}
	print := json.NewEncoder(os.Stdout)
	print.SetEscapeHTML(false)
	for _, s := range sessions {
		if len(s.failures) == 0 {
			continue
		}
		before := slices.DeleteFunc(slices.Clone(sessions), func(e *session) bool {
			return e == s || e.UpdatedAt.After(s.CreatedAt)
		})
		if err := b.learn(ctx, before, done); err != nil {
			return err
		}
		for _, f := range s.failures {
			l := line{Session: s.Key(), Item: f.item.N, Command: f.item.Input, Error: f.message}
			l.Earlier = earlierFix(before, b.projects, s, f)
			if l.Text, err = b.tell(ctx, s, f); err != nil {
				return err
			}
			n++
			switch {
			case l.Earlier != "" && l.Text != "":
				fixed, got = fixed+1, got+1
			case l.Earlier != "":
				fixed++
			case l.Text != "":
				others++
			}
			if err := print.Encode(l); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(os.Stderr, "%d failures; %d with an earlier fix, %d of them got a text; %d others got one\n", n, fixed,
		got, others)
	return nil
}

// build builds the program, unless there is one.
func (b *bench) build(ctx context.Context) error {
	if b.program != "" {
		return nil
	}
	b.program = filepath.Join(b.temp, "memoir")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", b.program, "./cmd/memoir").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// write writes the sessions of bench/memory to a new directory.
func write(dir string) error {
	projects, err := scenario.ReadAll("bench/memory/sessions")
	if err = cmp.Or(err, os.Mkdir(dir, 0o700)); err != nil {
		return err
	}
	return transcript.SaveAll(dir, projects)
}

// read returns the main sessions below a directory in order of time, with their failures.
func read(ctx context.Context, dir string) (out []*session, err error) {
	threads := map[string][]rollout.Part{}
	err = rollout.WalkDir(ctx, dir, func(e rollout.Entry) error {
		head, err := rollout.Probe(e)
		if err != nil || head.Kind != memoir.KindMain { // other files are no sessions
			return nil
		}
		key := memoir.SessionKey(head.Source, head.ID)
		threads[key] = append(threads[key], rollout.Part{Path: e.Path, Head: head})
		return nil
	})
	for _, parts := range threads {
		if parts = rollout.Assemble(parts); len(parts) == 0 {
			continue
		}
		h := parts[0].Head
		s := &session{Session: memoir.Session{ID: h.ID, Source: h.Source, CWD: h.CWD, CreatedAt: h.CreatedAt,
			UpdatedAt: parts[len(parts)-1].Head.UpdatedAt}}
		for _, p := range parts {
			s.Files = append(s.Files, memoir.File{Path: p.Path})
		}
		if _, err := rollout.Read(ctx, parts, func(it memoir.Item) error {
			s.items = append(s.items, it)
			return nil
		}); err != nil {
			return nil, err
		}
		s.failures = failures(s.items)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *session) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.Key(), b.Key()))
	})
	return out, err
}

// call runs memoir with the bench's home and configuration.
func (b *bench) call(ctx context.Context, home, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, b.program, append(args, "--home", filepath.Join(b.temp, home))...)
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(b.temp, "user"), "MEMOIR_MEMORIES_ENABLED=true")
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), os.Stderr
	out, err := cmd.Output()
	return string(out), err
}

func (b *bench) run(ctx context.Context, home, dir string) error {
	_, err := b.call(ctx, home, "", "run", "--sessions", dir, "--min-idle", "0", "--max-age", "0", "--all", "-q")
	return err
}

// findProjects runs memoir over all sessions, in a home of its own, to find their projects.
func (b *bench) findProjects(ctx context.Context, dir string) error {
	if err := b.run(ctx, "all", dir); err != nil {
		return err
	}
	out, err := b.call(ctx, "all", "", "sessions", "--json")
	if err != nil {
		return err
	}
	var list struct {
		Sessions []struct{ ID, Source, Project string }
	}
	err = json.Unmarshal([]byte(out), &list)
	for _, s := range list.Sessions {
		b.projects[memoir.SessionKey(memoir.Source(s.Source), s.ID)] = s.Project
	}
	return err
}

// learn lets memoir run over sessions, if some of them are new to it.
func (b *bench) learn(ctx context.Context, sessions []*session, done map[string]bool) error {
	dir, fresh := filepath.Join(b.temp, "sessions"), false
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, s := range sessions {
		for i, f := range s.Files {
			if done[f.Path] {
				continue
			}
			done[f.Path], fresh = true, true
			content, err := os.ReadFile(f.Path)
			if err != nil {
				return err
			}
			sub := filepath.Join(dir, s.ID, fmt.Sprint(i))
			if err := os.MkdirAll(sub, 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(sub, filepath.Base(f.Path)), content, 0o600); err != nil {
				return err
			}
		}
	}
	if !fresh {
		return nil
	}
	return b.run(ctx, "home", dir)
}

// tell calls the hook after a failure and returns the text that the agent gets.
func (b *bench) tell(ctx context.Context, s *session, f failure) (string, error) {
	if b.projects[s.Key()] == "" {
		return "", nil
	}
	input, err := json.Marshal(map[string]any{"hook_event_name": "PostToolUseFailure", "session_id": s.ID, "cwd": b.temp,
		"tool_name": "Bash", "tool_input": map[string]string{"command": f.item.Input}, "error": f.item.Output})
	if err != nil {
		return "", err
	}
	return b.call(ctx, "home", string(input), "inject", "--action", "--format", "plain", "--project",
		b.projects[s.Key()])
}
