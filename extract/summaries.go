package extract

import (
	"path"
	"slices"
	"strings"
)

// headPath is the file that a line of a summary is headed by; empty if it has none.
func headPath(text string) string {
	rest, ok := strings.CutPrefix(text, "`")
	if !ok {
		return ""
	}
	span, after, ok := strings.Cut(rest, "`")
	if !ok || !looksLikeFile(span) || !strings.HasPrefix(after, ":") && !strings.HasPrefix(after, " -") && !strings.HasPrefix(after, " (") && !strings.HasPrefix(after, " —") {
		return ""
	}
	return span
}

// onePerPath keeps of two summaries of the same work on a file the one that names
// more: where the file was not edited between them, the second says it again.
func (r *reading) onePerPath(list []found) []found {
	drop := map[int]bool{}
	last := map[string]int{} // path -> index of the line that stays
	for k, f := range list {
		p := headPath(f.Text)
		if p == "" {
			continue
		}
		i, ok := last[p]
		if !ok || list[i].Items[0] == f.Items[0] || r.fileEdited(p, list[i].Items[0], f.Items[0]) {
			last[p] = k
			continue
		}
		if len(r.lexicon.of(list[i].Text).marked()) > len(r.lexicon.of(f.Text).marked()) {
			drop[k] = true
			continue
		}
		drop[i], last[p] = true, k
	}
	if len(drop) == 0 {
		return list
	}
	k := -1
	return slices.DeleteFunc(list, func(found) bool { k++; return drop[k] })
}

// fileEdited reports whether a file was edited between two items.
func (r *reading) fileEdited(p string, from, to int) bool {
	for _, e := range r.editsAfter(from) {
		if e.item > to {
			return false
		}
		if e.path == p || path.Base(e.path) == path.Base(p) {
			return true
		}
	}
	return false
}

// filePath finds what reads as the path of a file below a directory.
var filePath = newPattern(`[\w.-]+(?:/[\w.-]+)+\.\w+`)

// truePaths puts the file that was edited where a text names one of the same name
// elsewhere, which no call of the session touched: an agent that sums up remembers
// names better than places.
func (r *reading) truePaths(text string) string {
	if len(r.edits) == 0 || !strings.Contains(text, "/") || !strings.Contains(text, ".") {
		return text
	}
	var b strings.Builder
	from := 0
	for _, at := range filePath.FindAllStringIndex(text, -1) {
		if at[0] > 0 && strings.IndexByte("/:@~$", text[at[0]-1]) >= 0 { // of an address, or from the root of the disk
			continue
		}
		b.WriteString(text[from:at[0]])
		b.WriteString(r.truePath(text[at[0]:at[1]]))
		from = at[1]
	}
	return b.String() + text[from:]
}

// truePath is the only edited file of a path's name, if no call touched the path itself.
func (r *reading) truePath(p string) string {
	if r.edited[p] > 0 || r.readsOf(p) {
		return p
	}
	only := ""
	for other := range r.edited {
		if path.Base(other) != path.Base(p) {
			continue
		}
		if only != "" {
			return p
		}
		only = other
	}
	if only == "" || strings.HasPrefix(only, "/") || strings.HasSuffix(only, "/"+p) {
		return p
	}
	return only
}

// readsOf reports whether the session read a file.
func (r *reading) readsOf(p string) bool {
	return slices.ContainsFunc(r.reads, func(e edit) bool { return e.path == p })
}
