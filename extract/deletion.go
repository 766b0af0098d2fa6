package extract

import (
	"path"
	"strings"

	"memoir"
)

// A deletion is a file that a call removed, or renamed if to is not empty.
type deletion struct{ from, to string }

// deletions reads the files that a call removed or renamed: from its command
// line, its patch, and what a commit printed.
func deletions(it *memoir.Item) []deletion {
	var out []deletion
	if strings.Contains(it.Input, "*** Delete File: ") || strings.Contains(it.Input, "*** Move to: ") {
		out = append(out, patchedAway(it.Input)...)
	}
	if !it.Shell() {
		return out
	}
	if strings.Contains(it.Input, "rm ") || strings.Contains(it.Input, "mv ") {
		for _, s := range splitShell(clean(it.Input)) {
			out = append(out, removal(s.words)...)
		}
	}
	if strings.Contains(it.Output, "delete mode ") || strings.Contains(it.Output, "rename ") {
		for line := range strings.Lines(it.Output) {
			line = strings.TrimSpace(line)
			if rest, ok := strings.CutPrefix(line, "delete mode "); ok {
				if _, p, ok := strings.Cut(rest, " "); ok {
					out = append(out, deletion{from: p})
				}
			} else if rest, ok := strings.CutPrefix(line, "rename "); ok && strings.Contains(rest, " => ") {
				out = append(out, renaming(rest))
			}
		}
	}
	return out
}

// removal reads "rm a b", "git rm a" and "mv a b".
func removal(words []string) []deletion {
	if len(words) > 0 && unquote(words[0]) == "git" {
		words = words[1:]
	}
	if len(words) < 2 {
		return nil
	}
	verb := unquote(words[0])
	var files []string
	for _, w := range words[1:] {
		if w = unquote(w); !strings.HasPrefix(w, "-") && looksLikeFile(w) {
			files = append(files, w)
		}
	}
	var out []deletion
	switch {
	case verb == "rm":
		for _, f := range files {
			out = append(out, deletion{from: f})
		}
	case verb == "mv" && len(files) == 2:
		to := files[1]
		if path.Ext(to) == "" { // into a directory
			to = path.Join(to, path.Base(files[0]))
		}
		out = append(out, deletion{files[0], to})
	}
	return out
}

// renaming reads "a/{b => c}/d (97%)" and "a => b".
func renaming(line string) deletion {
	if i := strings.LastIndex(line, " ("); i > 0 {
		line = line[:i]
	}
	before, rest, braced := strings.Cut(line, "{")
	if inner, after, ok := strings.Cut(rest, "}"); braced && ok {
		from, to, _ := strings.Cut(inner, " => ")
		return deletion{path.Clean(before + from + after), path.Clean(before + to + after)}
	}
	from, to, _ := strings.Cut(line, " => ")
	return deletion{from, to}
}
