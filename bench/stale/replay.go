package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"memoir"
	"memoir/extract"
	"memoir/memory"
)

// git runs git in a directory. That two trees differ, which it exits with 1 for, is no error.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}

// replayCommits replays the history of a repository.
func (t *tally) replayCommits(ctx context.Context, repo string) error {
	list, err := git(ctx, repo, "rev-list", "--first-parent", "--reverse", "HEAD")
	if err != nil {
		return err
	}
	commits := strings.Fields(list)
	return t.replay(ctx, len(commits), 4, []int{5, 20, 80, 320}, func(n int, dir string) error {
		defer os.Remove(dir + ".tar")
		if _, err := git(ctx, repo, "archive", "-o", dir+".tar", commits[n]); err != nil {
			return err
		}
		return exec.CommandContext(ctx, "tar", "-xf", dir+".tar", "-C", dir).Run()
	})
}

// replay makes statements at some states of a history, evenly spread, and judges their anchors so many
// states later, and at the end. Write puts the files of a state below a directory.
func (t *tally) replay(
	ctx context.Context, states, starts int, later []int, write func(n int, dir string) error,
) error {
	dir, err := os.MkdirTemp("", "stale-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	checkout := func(n int, name string) (files map[string]string, err error) {
		to := filepath.Join(dir, name)
		if err = errors.Join(os.RemoveAll(to), os.Mkdir(to, 0o700), write(n, to)); err == nil {
			files, err = textsBelow(to)
		}
		return files, err
	}
	starts = min(starts, states-1)
	for i := range starts {
		at := (i + 1) * states / (starts + 1)
		files, err := checkout(at, "a")
		if err != nil {
			return err
		}
		anchors, last := t.state(files), at
		for _, k := range append(slices.Clone(later), states) {
			end := min(at+k, states-1)
			if end == last {
				continue
			}
			last = end
			if files, err = checkout(end, "b"); err == nil {
				err = t.judge(ctx, dir, files, anchors)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// textsBelow are the texts of the files below a directory.
func textsBelow(dir string) (map[string]string, error) {
	files := map[string]string{}
	return files, fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if bytes.IndexByte(content, 0) < 0 {
			files[name] = string(content)
		}
		return err
	})
}

// A piece is an anchor with the line of the file on which it was read, "" for the file itself.
type piece struct {
	memoir.Anchor
	kind, line string
}

// Forms of lines that state something: a name that is defined, a name that gets a value.
var forms = []struct {
	kind, text string
	line       *regexp.Regexp
}{
	{"name", "`NAME` is where this is done", regexp.MustCompile(
		`^(?:export |pub |async )*(?:func|function|class|def|type|fn|struct)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w{5,60})`)},
	{"value", "`NAME` is `VALUE`", regexp.MustCompile(
		`^[\s"'-]*(?:const |var |let |export |ENV |ARG )?([A-Za-z_][\w.-]{2,40})["']?\s*` +
			`(?::=|=|:|\s)\s*["']?(v?\d[\w.+-]{0,40})(?:[^\w.+-]|$)`)},
}

const (
	maxOfFile = 12       // statements of one file
	maxFile   = 16 << 10 // bytes of it that a session keeps
)

// state lets a session read files and state what stands there, and returns the anchors of that.
func (t *tally) state(files map[string]string) (out []piece) {
	var items []memoir.Item
	var statements []memoir.Statement
	from := map[string]piece{} // by line key
	say := func(text string, at piece) {
		if key := memoir.LineKey(text); from[key] == (piece{}) {
			from[key] = at
			st := memoir.Statement{Kind: memoir.StatementFinding, Text: text, Items: []int{len(items)}}
			statements = append(statements, st)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name][:min(len(files[name]), maxFile)]
		input, _ := json.Marshal(map[string]string{"file_path": "/repo/" + name}) // a text always encodes
		items = append(items, memoir.Item{N: len(items) + 1, Kind: memoir.ItemTool, Tool: "Read", Input: string(input),
			Output: content, CWD: "/repo"})
		say("`"+name+"` (3 edits)", piece{memoir.Anchor{Path: name}, "path", ""})
		most := len(statements) + maxOfFile
		for line := range strings.SplitSeq(content, "\n") {
			for _, form := range forms {
				if m := form.line.FindStringSubmatch(line); m != nil && len(statements) < most {
					text := strings.NewReplacer("NAME", m[1], "VALUE", m[len(m)-1]).Replace(form.text)
					say(text, piece{memoir.Anchor{Path: name}, form.kind, line})
				}
			}
		}
	}
	e := memoir.Extraction{Statements: statements, CWD: "/repo"}
	extract.Anchors(e, "/repo", items, nil)
	for _, st := range statements {
		at, before := from[memoir.LineKey(st.Text)], len(out)
		for _, a := range st.Anchors {
			if a.Path == at.Path && (a.Text == "") == (at.line == "") {
				kind := at.kind
				if kind == "value" && !memoir.IsValue(a.Text) {
					kind = "name" // to which the value is given
				}
				out = append(out, piece{a, kind, at.line})
			}
		}
		t.stated++
		t.anchored += min(1, len(out)-before)
	}
	return out
}

// perCheck is how many anchors one check looks up, as many as a summary has: what it reads is bounded.
const perCheck = 40

// judge compares memoir's verdict on anchors of the tree a below dir in the later tree b, of which these are the
// files, with git's.
func (t *tally) judge(ctx context.Context, dir string, files map[string]string, anchors []piece) error {
	h, err := between(ctx, dir, files)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(anchors, perCheck) {
		tree, err := memory.OpenTree(filepath.Join(dir, "b"))
		if err != nil {
			return err
		}
		var lines []string
		of := map[string][]memoir.Anchor{}
		for i, a := range part {
			lines = append(lines, fmt.Sprint("line ", i))
			of[memoir.LineKey(lines[i])] = []memoir.Anchor{a.Anchor}
		}
		for i, said := range tree.Check(lines, of) {
			a := part[i]
			truth, touched := h.truth(a)
			if truth == "" {
				continue
			}
			t.n[verdict{a.kind, truth, said.State}]++
			if h.went[a.Path] != "" && truth == memory.Moved {
				t.renamed++
				if said.State == memory.Moved {
					t.followed++
				}
			}
			if truth == memory.Fresh && !touched {
				t.elsewhere++
				if said.Outdated() {
					t.marked++
				}
			}
			if said.State != truth {
				t.misses = append(t.misses, fmt.Sprintf("%s: %s, not %s: %s: %+q %+q key %q %s", a.kind, truth, said.State,
					a.Path, a.line, a.Text, a.Key, said.At))
			}
		}
		tree.Close()
	}
	return nil
}
