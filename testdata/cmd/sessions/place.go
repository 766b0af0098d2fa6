package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"memoir"
	"memoir/rollout"
)

// Bounds of one run of an agent.
const (
	runTime  = 5 * time.Minute
	stopTime = 10 * time.Second // between the request to stop and the order
)

// place is where one agent runs: an empty home, a repository to work in, and
// the mock model.
type place struct {
	dir  string // holds the others
	home string
	work string
	url  string
	path string // PATH
	env  []string
}

// newPlace makes the directories of an agent below dir.
func newPlace(dir, url, path string) (place, error) {
	dir, err := filepath.EvalSymlinks(dir) // agents record the real path
	if err != nil {
		return place{}, err
	}
	p := place{dir: dir, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work"), url: url, path: path}
	for _, d := range []string{p.home, p.work, p.temp()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return place{}, err
		}
	}
	if err := writeFile(filepath.Join(p.work, "Makefile"), "all:\n"); err != nil {
		return place{}, err
	}
	for _, arguments := range [][]string{
		{"init", "--quiet", "--initial-branch", branch}, {"add", "."},
		{"-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "--message", "begin"},
	} {
		git := exec.Command("git", arguments...)
		git.Dir, git.Env = p.work, p.environment()
		if out, err := git.CombinedOutput(); err != nil {
			return place{}, fmt.Errorf("git %s: %w\n%s", arguments[0], err, out)
		}
	}
	return p, nil
}

// branch is what the repository is on.
const branch = "main"

func (p place) temp() string { return filepath.Join(p.dir, "tmp") }

// environment is all that an agent is told; the proxy that nobody plays keeps
// what it may want from elsewhere on this machine.
func (p place) environment() []string {
	const nobody = "http://127.0.0.1:9"
	return append([]string{"HOME=" + p.home, "PATH=" + p.path, "TMPDIR=" + p.temp(), "TERM=xterm-256color", "LANG=C.UTF-8",
		"HTTP_PROXY=" + nobody, "HTTPS_PROXY=" + nobody, "http_proxy=" + nobody, "https_proxy=" + nobody,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost"}, p.env...)
}

// run runs a command to its end, or, if until names a file, until that exists:
// then it is told to stop. It returns what was printed.
func (p place) run(ctx context.Context, until, command string, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, arguments...)
	cmd.Dir, cmd.Env = p.work, p.environment()
	// The head of a process group, which ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }()
	stopped := make(chan bool, 1)
	go func() {
		there := until != "" && appears(ctx, until)
		stopped <- there
		if there {
			cancel()
		}
	}()
	err := cmd.Wait()
	cancel()
	if there := <-stopped; there {
		return out.String(), nil
	}
	if err == nil && until != "" {
		err = errors.New("ended by itself")
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", filepath.Base(command), strings.Join(arguments, " "), err, tail(out.String()))
	}
	return out.String(), err
}

// appears waits for a file.
func appears(ctx context.Context, path string) bool {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}

// tail is the end of what a program printed.
func tail(s string) string {
	const most = 2000
	if len(s) > most {
		s = "…" + s[len(s)-most:]
	}
	return strings.TrimSpace(s)
}

func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

// session is what the readers make of one session.
type session struct {
	head  rollout.Head
	items []memoir.Item
	stats rollout.Stats
}

// collect reads every session below a home directory, in order of creation.
// What cannot be read is said in problems.
func collect(ctx context.Context, home string) (sessions []session, problems []string, err error) {
	env := rollout.Env{Home: home}
	threads := map[string][]rollout.Part{}
	err = rollout.Walk(ctx, env, func(entry rollout.Entry) error {
		head, err := rollout.Probe(entry)
		if err != nil {
			problems = append(problems, err.Error())
			return nil
		}
		key := memoir.SessionKey(head.Source, head.ID)
		threads[key] = append(threads[key], rollout.Part{Path: entry.Path, Head: head})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, parts := range threads {
		parts = rollout.Assemble(parts)
		s := session{head: parts[0].Head}
		s.stats, err = rollout.Read(ctx, parts, func(it memoir.Item) error {
			s.items = append(s.items, it)
			return nil
		})
		if err != nil {
			problems = append(problems, err.Error())
		}
		sessions = append(sessions, s)
	}
	slices.SortFunc(sessions, func(a, b session) int { return a.head.CreatedAt.Compare(b.head.CreatedAt) })
	slices.Sort(problems)
	return sessions, problems, nil
}
