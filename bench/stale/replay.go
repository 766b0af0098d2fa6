package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"memoir"
	"memoir/extract"
	"memoir/memory"
)

// git runs git in a repository, with another index than its own if one is given.
func git(ctx context.Context, repo, index string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", repo}, args...)...)
	if index != "" {
		cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+index)
	}
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}

// replay makes statements at some commits, evenly spread, and judges their anchors so many commits
// later, and at the end.
func (t *tally) replay(ctx context.Context, repo string, starts int, later []int) error {
	list, err := git(ctx, repo, "", "rev-list", "--first-parent", "--reverse", "HEAD")
	if err != nil {
		return err
	}
	commits := strings.Fields(list)
	for i := range min(starts, len(commits)-1) {
		at := (i + 1) * len(commits) / (min(starts, len(commits)-1) + 1)
		_, files, done, err := checkout(ctx, repo, commits[at])
		if err != nil {
			return err
		}
		done()
		anchors := t.state(files)
		last := at
		for _, k := range append(slices.Clone(later), len(commits)) {
			end := min(at+k, len(commits)-1)
			if end == last {
				continue
			}
			last = end
			if err := t.judge(ctx, repo, commits[at], commits[end], anchors); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkout writes the files of a commit below a directory, which done removes, and returns their texts.
func checkout(ctx context.Context, repo, commit string) (dir string, files map[string]string, done func(), err error) {
	if dir, err = os.MkdirTemp("", "stale-*"); err != nil {
		return "", nil, nil, err
	}
	index := dir + ".index"
	defer os.Remove(index)
	if _, err = git(ctx, repo, index, "read-tree", commit); err == nil {
		_, err = git(ctx, repo, index, "checkout-index", "-a", "--prefix="+dir+"/")
	}
	files = map[string]string{}
	if err == nil {
		err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
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
	return dir, files, func() { _ = os.RemoveAll(dir) }, err
}

// A piece is an anchor with the line of the file, from 1, on which it was read; 0 is the file itself.
type piece struct {
	memoir.Anchor
	kind string
	line int
}

// Forms of lines that state something: a name that gets a value, a name that is defined, a target of make.
var forms = []struct {
	kind, files string
	line        *regexp.Regexp
	statement   memoir.StatementKind
	text        string
}{
	{"target", "Makefile", regexp.MustCompile(`^([a-z][\w-]+):(?:\s|$)`), memoir.StatementCommand,
		"check: `make NAME` in `DIR`"},
	{"name", "*", regexp.MustCompile(`^(?:export |pub |async )*(?:func|function|class|def|type|fn|struct)\s+` +
		`(?:\([^)]*\)\s*)?([A-Za-z_]\w{5,60})`), memoir.StatementFinding, "`NAME` is where this is done"},
	{"value", "*", regexp.MustCompile(`^[\s"'-]*(?:const |var |let |export |ENV |ARG )?([A-Za-z_][\w.-]{2,40})["']?\s*` +
		`(?::=|=|:|\s)\s*["']?(v?\d[\w.+-]{0,40})(?:[^\w.+-]|$)`), memoir.StatementFinding, "`NAME` is `VALUE`"},
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
	say := func(kind memoir.StatementKind, text string, at piece) {
		if key := memoir.LineKey(text); from[key] == (piece{}) {
			from[key] = at
			statements = append(statements, memoir.Statement{Kind: kind, Text: text, Items: []int{len(items)}})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name][:min(len(files[name]), maxFile)]
		input, _ := json.Marshal(map[string]string{"file_path": "/repo/" + name}) // a text always encodes
		items = append(items, memoir.Item{N: len(items) + 1, Kind: memoir.ItemTool, Tool: "Read", Input: string(input),
			Output: content, CWD: "/repo"})
		say(memoir.StatementFile, "`"+name+"` (3 edits)", piece{memoir.Anchor{Path: name}, "path", 0})
		most := len(statements) + maxOfFile
		for i, line := range strings.Split(content, "\n") {
			for _, form := range forms {
				fits, _ := path.Match(form.files, path.Base(name))
				if m := form.line.FindStringSubmatch(line); fits && m != nil && len(statements) < most {
					text := strings.NewReplacer("NAME", m[1], "VALUE", m[len(m)-1], "DIR", path.Dir(name)).Replace(form.text)
					say(form.statement, text, piece{memoir.Anchor{Path: name}, form.kind, i + 1})
				}
			}
		}
	}
	e := memoir.Extraction{RawMemory: memoir.FormatStatements(statements), CWD: "/repo"}
	found := extract.Anchors(e, "/repo", items, nil)
	for _, st := range statements {
		at := from[memoir.LineKey(st.Text)]
		before := len(out)
		for _, a := range found[memoir.LineKey(st.Text)] {
			if a.Path == at.Path && (a.Text == "") == (at.line == 0) {
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

// judge compares memoir's verdict on anchors of one commit in the tree of another with git's.
func (t *tally) judge(ctx context.Context, repo, from, to string, anchors []piece) error {
	dir, files, done, err := checkout(ctx, repo, to)
	if err != nil {
		return err
	}
	defer done()
	h, err := between(ctx, repo, from, to, files)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(anchors, perCheck) {
		tree, err := memory.OpenTree(dir)
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
			t.compare(part[i], h, said)
		}
		_ = tree.Close()
	}
	return nil
}

func (t *tally) compare(a piece, h *history, said memory.Checked) {
	truth, touched := h.truth(a)
	if truth == "" {
		return
	}
	t.n[verdict{a.kind, truth, said.State}]++
	if h.renamed[a.Path] != "" && truth == memory.Moved {
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
		t.misses = append(t.misses, fmt.Sprintf("%s: %s, not %s: %s:%d %+q key %q %s", a.kind, truth, said.State, a.Path,
			a.line, a.Text, a.Key, said.At))
	}
}
