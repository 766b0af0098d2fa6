package main

import (
	"context"
	"path"
	"regexp"
	"strconv"
	"strings"

	"memoir/memory"
)

// A history is git's diff of two trees.
type history struct {
	files   map[string]string // of the later tree
	renamed map[string]string // by former path
	deleted map[string]bool
	removed map[string]map[int]bool // lines of the former files
}

var hunk = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+`)

// between reads the diff of the trees a and b below a directory; files are those of b.
func between(ctx context.Context, dir string, files map[string]string) (*history, error) {
	h := &history{files, map[string]string{}, map[string]bool{}, map[string]map[int]bool{}}
	out, err := git(ctx, dir, "-c", "core.quotePath=false", "diff", "--no-index", "--no-prefix", "-M", "-l0", "--no-color",
		"--no-ext-diff", "-U0", "a", "b")
	name := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if m := hunk.FindStringSubmatch(line); m != nil {
			first, _ := strconv.Atoi(m[1])
			n, err := strconv.Atoi(m[2])
			if err != nil {
				n = 1
			}
			for i := range n {
				h.removed[name][first+i] = true
			}
		} else if names, ok := strings.CutPrefix(line, "diff --git a/"); ok {
			name = names[:max(strings.LastIndex(names, " a/"), strings.LastIndex(names, " b/"))] // "a/" if it was deleted
			h.removed[name] = map[int]bool{}
		} else if strings.HasPrefix(line, "deleted file mode") {
			h.deleted[name] = true
		} else if to, ok := strings.CutPrefix(line, "rename to b/"); ok {
			h.renamed[name] = to
		}
	}
	return h, err
}

// truth is git's verdict on a piece: "" if it has none. Touched reports whether its line was edited.
// What stood on a line that was removed is stale, unless a line of the file has it still or again; a
// name that stands in another file of the directory has moved. Of a file that was removed, or renamed
// and rewritten, nobody can say whether a text that stands elsewhere is the same.
func (h *history) truth(a piece) (state memory.State, touched bool) {
	to, deleted, removed := h.renamed[a.Path], h.deleted[a.Path], h.removed[a.Path][a.line]
	kin := func(name string) bool { return path.Ext(name) == path.Ext(a.Path) }
	switch {
	case deleted && (a.Text == "" || !h.stands(a, kin)):
		return memory.Gone, true
	case to != "" && (a.Text == "" || !removed || h.stands(a, func(name string) bool { return name == to })):
		return memory.Moved, true
	case deleted, to != "":
		return "", true
	case a.Text == "" || !removed:
		return memory.Fresh, a.Text == "" && len(h.removed[a.Path]) > 0
	case h.stands(a, func(name string) bool { return name == a.Path }):
		return memory.Fresh, true
	case a.kind == "value" && a.Key == "":
		return memory.Stale, true
	case h.stands(a, func(name string) bool { return kin(name) && path.Dir(name) == path.Dir(a.Path) }):
		return memory.Moved, true
	}
	return memory.Stale, true
}

// stands reports whether a piece stands on a line of files of the later tree, by another way than
// memoir's: behind what is named before it, if it has a key.
func (h *history) stands(a piece, in func(name string) bool) bool {
	text := regexp.QuoteMeta(a.Text) + `(?:$|[^\w.-]|[.-](?:$|\W)|\.[A-Za-z_])`
	if a.Key != "" {
		text = regexp.QuoteMeta(a.Key) + `\W{1,16}?` + text
	}
	form := regexp.MustCompile(`(?m)(?:^|[^\w.-]|\W-|(?:^|\D)\.)` + text)
	for name, content := range h.files {
		if in(name) && strings.Contains(content, a.Text) && strings.Contains(content, a.Key) && form.MatchString(content) {
			return true
		}
	}
	return false
}
