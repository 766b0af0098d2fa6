package extract

import (
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
)

// conventional matches a commit's subject of the form "type(scope): subject".
var conventional = lazyregexp.New(
	`^(feat|fix|docs|chore|refactor|test|perf|ci|build|style|revert)(\([^)]+\))?!?: \S`)

// required is the signal of the repository's requirements for commits, and of edited files. Its
// wording is the same in every session, so that Phase 2 can count the sessions.
func required(s *session) []candidate {
	var out []candidate
	out = append(out, commitStyle(s)...)
	out = append(out, hooks(s)...)
	return append(out, editedFiles(s)...)
}

// commitStyle states the conventional form of subjects if all commits and pull requests have it.
func commitStyle(s *session) []candidate {
	n, item := 0, 0
	for _, p := range s.posts {
		if p.kind == postPlan || p.void {
			continue
		}
		if !conventional.MatchString(p.title) {
			return nil
		}
		n, item = n+1, p.item
	}
	if n == 0 {
		return nil
	}
	return []candidate{state(memoir.SignalRequired, memoir.StatementEnvironment,
		"commit subjects have the form type(scope): subject; the scope may be missing", item)}
}

// hooks states the hook manager that the output of a commit names.
func hooks(s *session) []candidate {
	for _, p := range []string{"husky", "lefthook", "commitlint", "lint-staged", "pre-commit"} {
		for _, q := range s.posts {
			at, found := slices.BinarySearchFunc(s.calls, q.item, func(c *call, item int) int { return c.item - item })
			if q.kind != postCommit || !found {
				continue
			}
			if output := s.calls[at].output; strings.Contains(output[:min(len(output), window)], p) {
				return []candidate{state(memoir.SignalRequired, memoir.StatementEnvironment,
					"a commit runs hooks ("+p+")", q.item)}
			}
		}
	}
	return nil
}

// plainPath reports whether a path is below the session's root and has ordinary characters
// only: a file name could contain an instruction.
func plainPath(p string) bool {
	return p != "" && p[0] != '/' && p[0] != '~' && !strings.HasPrefix(p, "..") &&
		!strings.ContainsFunc(p, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@()[]$", r)
		})
}

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
