package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

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
	t := truth{agent: a, begin: time.Now().Add(-time.Second)}
	held, err := hold(ctx, &r, &t, dir, command, path)
	if err != nil {
		r.differ("%v", err)
		return r
	}
	t.end = time.Now().Add(time.Second)
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
func hold(ctx context.Context, r *row, t *truth, dir, command, path string) ([]conversation, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	all := conversations(filepath.Join(dir, "work"))
	server := mockmodel.Start(script(all))
	defer func() {
		server.Close()
		for _, call := range server.Calls() {
			if call.Step.Status != 0 {
				r.note("the mock model answered %d to %s", call.Step.Status, call.Path)
			}
		}
	}()
	p, err := newPlace(dir, server.URL, path)
	if err != nil {
		return nil, err
	}
	t.work = p.work
	if p.env, err = t.configure(p); err != nil {
		return nil, err
	}
	printed, err := p.run(ctx, "", command, "--version")
	if err != nil {
		return nil, err
	}
	r.version = versionOf(printed)
	held := []conversation{all[talk]}
	type prompt struct {
		until     string // the file whose appearance ends the run
		arguments []string
		held      []conversation
	}
	turns := all[talk].turns
	prompts := []prompt{{"", t.prompt(turns[0].Prompt), nil}, {"", t.resume(turns[1].Prompt), nil},
		{filepath.Join(p.work, started), t.prompt(all[interrupted].turns[0].Prompt), all[interrupted : interrupted+1]},
		{"", t.prompt(all[ownRun].turns[0].Prompt), all[ownRun : ownRun+1]}}
	if t.helps {
		prompts = append(prompts, prompt{"", t.prompt(all[helped].turns[0].Prompt), all[helped : helper+1]})
	}
	for i, one := range prompts {
		if _, err := p.run(ctx, one.until, command, one.arguments...); err != nil {
			return nil, err
		}
		held = append(held, one.held...)
		if i == 1 && t.fork != nil {
			arguments := t.fork(all[branchedOff].turns[0].Prompt, firstID(ctx, p.home))
			if _, err := p.run(ctx, "", command, arguments...); err != nil {
				return nil, err
			}
			held = append(held, all[branchedOff])
		}
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
