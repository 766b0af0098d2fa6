package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"memoir/model/modeltest"
	"memoir/testdata/mockmodel"
)

// kind is what is done with an agent: what the model says, and what happens. What goes wrong is a difference.
type kind struct {
	script mockmodel.Script
	do     func(ctx context.Context, v *visit)
}

// visit is an agent in a place of its own, with a mock model.
type visit struct {
	*row
	place
	server *modeltest.Server
	seen   int    // calls of the model that were looked at
	bin    string // the agent's command
}

// runOne does one thing with an agent, and keeps its files if there is something to see.
func runOne(ctx context.Context, a agent, k func(agent, string) kind, command, path, program string, keep bool) row {
	r := row{agent: a, version: "unknown"}
	dir, err := os.MkdirTemp("", "memoir-sessions-"+string(a.source)+"-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = (&visit{row: &r, bin: command}).do(ctx, k(a, filepath.Join(dir, "work")), dir, path, program)
	}
	if err != nil {
		r.differ("%v", err)
	}
	if keep || len(r.differences) > 0 {
		r.kept = dir
	} else {
		os.RemoveAll(dir)
	}
	return r
}

func (v *visit) do(ctx context.Context, k kind, dir, path, program string) (err error) {
	v.server = mockmodel.Start(k.script)
	defer v.server.Close()
	own := filepath.Join(dir, "bin")
	if v.place, err = newPlace(dir, v.server.URL, own+string(os.PathListSeparator)+path); err != nil {
		return err
	}
	if v.env, err = v.configure(v.place); err != nil {
		return err
	}
	printed, err := v.run(ctx, "", v.bin, "--version")
	if err != nil {
		return err
	}
	v.version = versionOf(printed)
	if program != "" {
		if err := copyFile(program, filepath.Join(own, "memoir")); err != nil {
			return err
		}
	}
	k.do(ctx, v)
	for _, call := range v.server.Calls() {
		if call.Step.Status != 0 {
			v.note("the mock model answered %d to %s", call.Step.Status, call.Path)
		}
	}
	return ctx.Err()
}

// call runs the agent, until a file is there if one is named, and returns what the model was asked meanwhile.
func (v *visit) call(ctx context.Context, until string, arguments ...string) []modeltest.Call {
	if _, err := v.run(ctx, until, v.bin, arguments...); err != nil {
		v.differ("%v", err)
	}
	calls := v.server.Calls()[v.seen:]
	v.seen += len(calls)
	return calls
}

// holding holds all conversations with an agent and reads what it left.
func holding(a agent, work string) kind {
	all := conversations(work)
	return kind{script(all), func(ctx context.Context, v *visit) {
		t := truth{agent: a, work: v.work, begin: time.Now().Add(-time.Second)}
		held := v.hold(ctx, all)
		t.end = time.Now().Add(time.Second)
		sessions, problems, err := collect(ctx, v.home)
		if err != nil {
			v.differ("%v", err)
		}
		for _, p := range problems {
			v.note("not read: %s", p)
		}
		v.sessions = len(sessions)
		compareAll(&v.finding, t, held, sessions)
	}}
}

// hold holds the conversations and returns those that the agent could hold.
func (v *visit) hold(ctx context.Context, all []conversation) []conversation {
	held, turns := []conversation{all[talk]}, all[talk].turns
	one := func(at int, until string) {
		v.call(ctx, until, v.prompt(all[at].turns[0].Prompt)...)
		held = append(held, all[at])
	}
	v.call(ctx, "", v.prompt(turns[0].Prompt)...)
	v.call(ctx, "", v.resume(turns[1].Prompt)...)
	if v.fork != nil {
		v.call(ctx, "", v.fork(all[branchedOff].turns[0].Prompt, firstID(ctx, v.home))...)
		held = append(held, all[branchedOff])
	}
	one(interrupted, filepath.Join(v.work, started))
	one(ownRun, "")
	if v.helps {
		one(helped, "")
		held = append(held, all[helper])
	}
	return held
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
