package main

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"strings"

	"memoir/memory"
)

// A history is what became of the files of a tree in a later one.
type history struct {
	files map[string]string // of the later tree
	went  map[string]string // of files that are not there: what git says they were renamed to, "" if they were removed
}

// between reads git's diff of the trees a and b below a directory; files are those of b.
func between(ctx context.Context, dir string, files map[string]string) (*history, error) {
	h := &history{files, map[string]string{}}
	out, err := git(ctx, dir, "-c", "core.quotePath=false", "diff", "--no-index", "--name-status", "-M", "-l0", "a", "b")
	for line := range strings.Lines(out) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); f[0] == "D" {
			h.went[strings.TrimPrefix(f[1], "a/")] = ""
		} else if f[0][0] == 'R' {
			h.went[strings.TrimPrefix(f[1], "a/")] = strings.TrimPrefix(f[2], "b/")
		}
	}
	return h, err
}

// truth is the verdict on a piece: "" if there is none. Touched reports whether its line was edited. What stood
// on a line that was edited is stale, unless a line of the file has it still or again; a name that
// stands in another file of the directory has moved. Of a file that was removed, or renamed and rewritten,
// nobody can say whether a text that stands elsewhere is the same.
func (h *history) truth(a piece) (state memory.State, touched bool) {
	to, left := h.went[a.Path]
	kin := func(name string) bool { return path.Ext(name) == path.Ext(a.Path) }
	own := cmp.Or(to, a.Path)
	kept := a.Text == "" || strings.Contains("\n"+h.files[own]+"\n", "\n"+a.line+"\n")
	stands := kept || h.stands(a, func(name string) bool { return name == own })
	switch {
	case left && to == "" && (a.Text == "" || !h.stands(a, kin)):
		return memory.Gone, true
	case left && to != "" && stands:
		return memory.Moved, true
	case left:
		return "", true
	case stands:
		return memory.Fresh, !kept
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
