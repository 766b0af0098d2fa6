package extract

import (
	"strings"
	"unicode"

	"memoir"
)

// plainPath reports whether a path is below the session's root and has ordinary characters
// only: a file name could contain an instruction.
func plainPath(p string) bool {
	return p != "" && p[0] != '/' && p[0] != '~' && !strings.HasPrefix(p, "..") &&
		!strings.ContainsFunc(p, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@()[]$", r)
		})
}

// editedFiles is the signal of changed files.
func editedFiles(s *session) []candidate {
	at := map[string]int{}
	var out []candidate
	for _, e := range s.edits {
		if !plainPath(e.path) {
			continue
		}
		i, ok := at[e.path]
		if !ok {
			i = len(out)
			at[e.path] = i
			c := state(signalEdited, memoir.StatementFile, code(e.path))
			c.paths, c.Paths = []string{e.path}, []string{e.path}
			out = append(out, c)
		}
		out[i].Times++
		out[i].Items = append(out[i].Items, e.item)
	}
	for i := range out {
		out[i].Items = ends(out[i].Items)
	}
	return out
}
