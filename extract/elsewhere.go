package extract

import (
	"path"
	"strings"
)

// elsewhere marks a statement about another repository than the session's own:
// " (in another repository: name)". It is empty for the session's own.
func elsewhere(place string) string {
	if place == "" {
		return ""
	}
	return " (in another repository: " + strings.Map(func(r rune) rune {
		if r == '(' || r == ')' || r == '`' {
			return -1
		}
		return r
	}, place) + ")"
}

// visit notes in which repository a turn works; place is empty for the session's own.
func (t *turn) visit(place string) {
	if t.places == nil {
		t.places = map[string]int{}
	}
	t.places[place]++
}

// away names the other repository in which most of a turn's work lies, if there is one.
func (t *turn) away() string {
	best, most, all := "", 0, 0
	for place, n := range t.places {
		all += n
		if n > most || n == most && place < best {
			best, most = place, n
		}
	}
	if most*2 <= all {
		return ""
	}
	return best
}

// place names the repository that a directory belongs to, seen from a checkout of
// the session's own at root: empty if it is that one, a directory above or below
// it, or a temporary one.
func (r *reading) place(dir, root string) string {
	if root == "" {
		return ""
	}
	dir = path.Clean(dir)
	at := relative(dir, root)
	if !strings.HasPrefix(at, "/") || temporary(at) || strings.HasPrefix(root, at+"/") {
		return ""
	}
	first, name := len(r.abroad), ""
	for dir := at; dir != "/" || at == "/"; dir = path.Dir(dir) {
		if n, ok := r.abroad[dir]; ok && n < first {
			first, name = n, path.Base(dir)
		}
		if dir == "/" {
			break
		}
	}
	if name != "" {
		return name
	}
	if r.abroad == nil {
		r.abroad = map[string]int{}
	}
	r.abroad[at] = len(r.abroad)
	return path.Base(at)
}
