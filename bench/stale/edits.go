package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/extract"
	"memoir/rollout"
)

// replayEdits makes a history of the edits of each session below a directory, a commit an edit, and
// replays it.
func (t *tally) replayEdits(ctx context.Context, dir string) error {
	threads := map[string][]rollout.Part{}
	err := rollout.WalkDir(ctx, dir, func(e rollout.Entry) error {
		head, err := rollout.Probe(e)
		if err == nil && head.Kind == memoir.KindMain { // other files are no sessions
			key := memoir.SessionKey(head.Source, head.ID)
			threads[key] = append(threads[key], rollout.Part{Path: e.Path, Head: head})
		}
		return nil
	})
	for _, key := range slices.Sorted(maps.Keys(threads)) {
		parts, _ := rollout.Assemble(threads[key])
		if len(parts) == 0 || err != nil {
			continue
		}
		var edits []edit
		if _, err = rollout.Read(ctx, parts, func(it memoir.Item) error {
			edits = append(edits, editsOf(it)...)
			return nil
		}); err == nil && len(edits) > 3 {
			err = t.replayStates(ctx, statesOf(edits))
		}
	}
	return err
}

// An edit takes lines out of a file and puts others in their place.
type edit struct {
	path       string
	old, fresh []string
}

func editsOf(it memoir.Item) (out []edit) {
	diff, ok := extract.EditOf(&it)
	if !ok || it.Failed {
		return nil
	}
	for _, part := range strings.Split("\n"+diff, "\n*** ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		_, name, _ := strings.Cut(head, ": ")
		name = strings.Trim(filepath.ToSlash(filepath.Clean("/"+strings.TrimPrefix(name, it.CWD))), "/")
		for hunk := range strings.SplitSeq(body, "@@") {
			e := edit{path: name}
			for line := range strings.SplitSeq(hunk, "\n") {
				if old, ok := strings.CutPrefix(line, "-"); ok {
					e.old = append(e.old, old)
				} else if fresh, ok := strings.CutPrefix(line, "+"); ok {
					e.fresh = append(e.fresh, fresh)
				}
			}
			out = append(out, e)
		}
	}
	return out
}

// statesOf are the files before the first edit and after each. What an edit takes out and no earlier one
// wrote stood there from the beginning.
func statesOf(edits []edit) []map[string][]string {
	first, now := map[string][]string{}, map[string][]string{}
	for _, e := range edits {
		for _, line := range e.old {
			if !slices.Contains(now[e.path], line) {
				first[e.path], now[e.path] = append(first[e.path], line), append(now[e.path], line)
			}
		}
		now[e.path] = e.applied(now[e.path])
	}
	states := []map[string][]string{first}
	for i, e := range edits {
		next := maps.Clone(states[i])
		next[e.path] = e.applied(next[e.path])
		states = append(states, next)
	}
	return states
}

func (e edit) applied(lines []string) []string {
	out, at := slices.Clone(lines), len(lines)
	for _, line := range e.old {
		if i := slices.Index(out, line); i >= 0 {
			out, at = slices.Delete(out, i, i+1), i
		}
	}
	return slices.Insert(out, min(at, len(out)), e.fresh...)
}

// replayStates commits states of files one after the other and replays that history.
func (t *tally) replayStates(ctx context.Context, states []map[string][]string) error {
	repo, err := os.MkdirTemp("", "stale-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(repo)
	if _, err := git(ctx, repo, "", "init", "-q"); err != nil {
		return err
	}
	for _, files := range states {
		for name, lines := range files {
			at := filepath.Join(repo, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(at, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
				return err
			}
		}
		for _, args := range [][]string{{"add", "-A", "-f"}, {"-c", "user.name=x", "-c", "user.email=x", "-c",
			"commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", "x"}} {
			if _, err := git(ctx, repo, "", args...); err != nil {
				return err
			}
		}
	}
	return t.replay(ctx, repo, 12, []int{1, 4, 16})
}
