package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"memoir"
	"memoir/extract"
	"memoir/rollout"
)

// A state is the files of a history at one time, as lines by path.
type state map[string][]string

// replayEdits makes a history of the edits of each session below a directory, if there is one, and replays it.
func (t *tally) replayEdits(ctx context.Context, dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	return rollout.WalkDir(ctx, dir, func(e rollout.Entry) error {
		head, err := rollout.Probe(e)
		if err != nil || head.Kind != memoir.KindMain { // other files are no sessions
			return nil
		}
		states := []state{{}}
		_, err = rollout.Read(ctx, []rollout.Part{{Path: e.Path, Head: head}}, func(it memoir.Item) error {
			states = edited(states, &it)
			return nil
		})
		if err != nil || len(states) < 5 {
			return err
		}
		return t.replay(ctx, len(states), 12, []int{1, 4, 16}, func(n int, dir string) error {
			files := fstest.MapFS{}
			for name, lines := range states[n] {
				files[name] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
			}
			return os.CopyFS(dir, files)
		})
	})
}

// edited adds a state for each change of a call. What one takes out and no earlier one wrote stood there from
// the beginning.
func edited(states []state, it *memoir.Item) []state {
	diff, ok := extract.EditOf(it)
	if !ok || it.Failed {
		return states
	}
	for _, part := range strings.Split("\n"+diff, "\n*** ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		_, name, _ := strings.Cut(head, ": ")
		name = strings.Trim(filepath.ToSlash(filepath.Clean("/"+strings.TrimPrefix(name, it.CWD))), "/")
		for hunk := range strings.SplitSeq(body, "@@") {
			next := maps.Clone(states[len(states)-1])
			at := len(next[name])
			var fresh []string
			for line := range strings.SplitSeq(hunk, "\n") {
				if text, ok := strings.CutPrefix(line, "+"); ok {
					fresh = append(fresh, text)
				} else if text, ok := strings.CutPrefix(line, "-"); ok {
					if at = slices.Index(next[name], text); at < 0 {
						for _, before := range append(states, next) {
							before[name] = append(slices.Clip(before[name]), text)
						}
						at = len(next[name]) - 1
					}
					next[name] = slices.Concat(next[name][:at], next[name][at+1:])
				}
			}
			next[name] = slices.Insert(slices.Clip(next[name]), min(at, len(next[name])), fresh...)
			states = append(states, next)
		}
	}
	return states
}
