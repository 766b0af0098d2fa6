package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"memoir/rollout"
	"memoir/testdata/mockmodel"
)

// runOne holds all conversations with an agent and reads what it left.
func runOne(ctx context.Context, a agent, command, path string, keep bool) (r row) {
	r = row{agent: a, version: "unknown", sessions: "-"}
	defer func() {
		if r.verdict == "" {
			r.verdict = "ok"
			if n := len(r.differences); n > 0 {
				r.verdict = fmt.Sprintf("%d differences", n)
			}
		}
	}()
	dir, err := os.MkdirTemp("", "memoir-sessions-"+string(a.source)+"-")
	if err != nil {
		r.differ("%v", err)
		return r
	}
	defer func() {
		if keep || len(r.differences) > 0 || r.verdict != "" {
			r.home = dir
			return
		}
		os.RemoveAll(dir)
	}()
	t := truth{source: a.source, kind: a.kind, forkKind: a.forkKind, late: a.late, begin: time.Now().Add(-time.Second)}
	held, err := hold(ctx, &r, a, &t, dir, command, path)
	if err != nil {
		r.differ("%v", err)
		return r
	}
	t.end = time.Now().Add(time.Second)
	if rollout.AgentOf(a.source) == nil {
		r.verdict = "no reader"
		return r
	}
	sessions, problems, err := collect(ctx, filepath.Join(filepath.Dir(t.work), "home"))
	if err != nil {
		r.differ("%v", err)
		return r
	}
	for _, p := range problems {
		r.note("not read: %s", p)
	}
	r.sessions = fmt.Sprint(len(sessions))
	compareAll(&r.finding, t, held, sessions)
	return r
}

// hold holds the conversations and returns those that the agent could hold.
func hold(ctx context.Context, r *row, a agent, t *truth, dir, command, path string) ([]conversation, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	all := conversations(filepath.Join(dir, "work"))
	server, err := mockmodel.Start(script(all))
	if err != nil {
		return nil, err
	}
	defer func() {
		server.Close()
		for _, call := range server.Calls() {
			if call.Status != http.StatusOK {
				r.note("the mock model answered %d to %s", call.Status, call.Path)
			}
		}
	}()
	p, err := newPlace(dir, server.URL, path)
	if err != nil {
		return nil, err
	}
	t.work = p.work
	if p.env, err = a.configure(p); err != nil {
		return nil, err
	}
	printed, err := p.run(ctx, "", command, "--version")
	if err != nil {
		return nil, err
	}
	r.version = versionOf(printed)
	say := func(until string, arguments []string) error {
		_, err := p.run(ctx, until, command, arguments...)
		return err
	}
	turns := all[talk].turns
	if err := say("", a.prompt(turns[0].Prompt)); err != nil {
		return nil, err
	}
	if err := say("", a.resume(turns[1].Prompt)); err != nil {
		return nil, err
	}
	held := []conversation{all[talk]}
	if a.fork != nil {
		if err := say("", a.fork(all[branchedOff].turns[0].Prompt, firstID(ctx, p.home))); err != nil {
			return nil, err
		}
		held = append(held, all[branchedOff])
	}
	if err := say(filepath.Join(p.work, started), a.prompt(all[interrupted].turns[0].Prompt)); err != nil {
		return nil, err
	}
	if err := say("", a.prompt(all[ownRun].turns[0].Prompt)); err != nil {
		return nil, err
	}
	held = append(held, all[interrupted], all[ownRun])
	if a.helps {
		if err := say("", a.prompt(all[helped].turns[0].Prompt)); err != nil {
			return nil, err
		}
		held = append(held, all[helped], all[helper])
	}
	return held, nil
}

// firstID is the id of the first session below a home directory.
func firstID(ctx context.Context, home string) string {
	sessions, _, err := collect(ctx, home)
	if err != nil || len(sessions) == 0 {
		return ""
	}
	return sessions[0].head.ID
}

// node is the interpreter that is installed where the one on PATH is too old for
// an agent.
const (
	node    = "node@24.21.0"
	oldNode = 22
)

// install has npm put an agent into its own directory below prefix.
func install(ctx context.Context, a agent, prefix string, latest bool, log io.Writer) error {
	packages := a.packages
	if latest {
		packages = nil
		for _, p := range a.packages {
			packages = append(packages, p[:strings.LastIndexByte(p, '@')]+"@latest")
		}
	}
	return npm(ctx, filepath.Join(prefix, string(a.source)), log, packages...)
}

func npm(ctx context.Context, dir string, log io.Writer, packages ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	arguments := append([]string{"install", "--prefix", dir, "--no-fund", "--no-audit", "--loglevel=error"}, packages...)
	cmd := exec.CommandContext(ctx, "npm", arguments...)
	cmd.Dir = os.TempDir() // npm takes a package's name for a directory beside it
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm install %s: %w", strings.Join(packages, " "), err)
	}
	return nil
}

// installNode provides an interpreter that all agents run with.
func installNode(ctx context.Context, prefix string, log io.Writer) error {
	out, err := exec.CommandContext(ctx, "node", "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "v"), ".")
	if n, _ := strconv.Atoi(major); err == nil && n >= oldNode {
		return nil
	}
	return npm(ctx, filepath.Join(prefix, "node"), log, node)
}

// find returns an agent's command and the PATH to run it with; "" if it is not
// installed. It looks below prefix, for one agent a directory or all in one,
// then on PATH.
func find(a agent, prefix string) (command, path string) {
	var dirs []string
	if prefix != "" {
		for _, d := range []string{filepath.Join(prefix, string(a.source)), prefix} {
			dirs = append(dirs, filepath.Join(d, "node_modules", ".bin"), filepath.Join(d, "bin"))
		}
		dirs = append(dirs, filepath.Join(prefix, "node", "node_modules", ".bin"))
	}
	path = strings.Join(append(dirs, os.Getenv("PATH")), string(os.PathListSeparator))
	for _, d := range dirs {
		if command, err := exec.LookPath(filepath.Join(d, a.command)); err == nil {
			return command, path
		}
	}
	command, err := exec.LookPath(a.command)
	if err != nil {
		return "", path
	}
	return command, path
}

var versionForm = regexp.MustCompile(`\d+\.\d+\.\d+[^\s)]*`)

// versionOf is the version in what --version prints.
func versionOf(printed string) string {
	if v := versionForm.FindString(printed); v != "" {
		return strings.TrimSuffix(v, ".")
	}
	return "unknown"
}
