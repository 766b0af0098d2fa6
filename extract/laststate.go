package extract

import (
	"encoding/json"
	"path"
	"strings"
	"unicode"

	"memoir"
)

// A ledger is what became of names and files in a session: the last item at which
// each was written, and the last at which it was taken away.
type ledger struct {
	added   map[string]int // identifier -> item of the last edit that wrote it
	removed map[string]int // identifier -> item of the last edit that took it away
	gone    map[string]int // base name of a file -> item at which it was removed or renamed
	moved   map[string]string
	stems   map[string]int // like gone: the name without its ending, letters and digits alone
}

func newLedger() ledger {
	return ledger{map[string]int{}, map[string]int{}, map[string]int{}, map[string]string{}, map[string]int{}}
}

// minName is how long a name is at least that the ledger keeps.
const minName = 4

// enter notes one tool call.
func (l *ledger) enter(it *memoir.Item) {
	if it.Failed {
		return
	}
	old, fresh := rewritten(it.Input)
	if old != "" || fresh != "" {
		l.write(it.N, old, fresh)
	}
	for _, line := range deletions(it) {
		l.remove(line.from, line.to, it.N)
	}
}

func (l *ledger) write(item int, old, fresh string) {
	have := map[string]bool{}
	names(fresh, func(name string) {
		have[name] = true
		l.added[name] = item
	})
	names(old, func(name string) {
		if !have[name] {
			l.removed[name] = item
		}
	})
}

func (l *ledger) remove(from, to string, item int) {
	from = strings.TrimRight(from, "/")
	base := path.Base(from)
	if from == "" || base == "." || base == "/" || strings.ContainsAny(base, "*?$`") || path.Base(to) == base && to != "" {
		if to != "" {
			l.moved[from] = to
		}
		return
	}
	l.gone[base] = item
	if to != "" {
		l.moved[from] = to
	}
	if stem := letters(strings.TrimSuffix(base, path.Ext(base))); len(stem) >= 2*minName {
		l.stems[stem] = item
	}
}

// past reports whether what a text said at an item speaks of a file that was
// removed since, or mostly of names that the edits since took away.
func (l *ledger) past(text string, item int) bool {
	all, away := 0, 0
	for i, span := range strings.Split(text, "`") {
		if i%2 == 0 {
			continue
		}
		span = strings.TrimSpace(span)
		if l.gone[path.Base(span)] > item {
			return true
		}
		names(span, func(name string) {
			all++
			if l.removed[name] > item && l.added[name] < l.removed[name] || l.stems[strings.ToLower(name)] > item && l.added[name] < l.stems[strings.ToLower(name)] {
				away++
			}
		})
	}
	return away > 0 && away*2 >= all
}

// taken reports whether an edit behind an item wrote a name that a text puts in
// code marks: what the text proposes was done then, as far as one can see.
func (l *ledger) taken(text string, item int) bool {
	found := false
	for i, span := range strings.Split(text, "`") {
		if i%2 == 1 {
			names(span, func(name string) { found = found || l.added[name] > item })
		}
	}
	return found
}

// names calls f for each name in a text of code.
func names(text string, f func(string)) {
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(name) >= minName && !(name[0] >= '0' && name[0] <= '9') {
			f(name)
		}
	}
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// rewritten returns the text that an edit took away and the text that it put
// there: of an editing tool's arguments or of a patch. Of a whole file that is
// written only the new text is known.
func rewritten(input string) (old, fresh string) {
	if strings.Contains(input, "*** Begin Patch") {
		return patchLines(input)
	}
	if !strings.HasPrefix(strings.TrimSpace(input), "{") {
		return "", ""
	}
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(input), &args) != nil {
		return "", ""
	}
	old, fresh = pair(args)
	var list []map[string]json.RawMessage
	if json.Unmarshal(args["edits"], &list) == nil {
		for _, one := range list {
			o, f := pair(one)
			old, fresh = old+"\n"+o, fresh+"\n"+f
		}
	}
	return old, fresh
}

func pair(args map[string]json.RawMessage) (old, fresh string) {
	get := func(keys ...string) (s string) {
		for _, k := range keys {
			if json.Unmarshal(args[k], &s) == nil && s != "" {
				return s
			}
		}
		return ""
	}
	return get("old_string", "oldText", "old_str", "oldString"), get("new_string", "newText", "new_str", "newString", "content", "file_text")
}

// patchLines returns the lines that a patch takes away and those that it adds.
func patchLines(input string) (old, fresh string) {
	if strings.Count(input, "\n") < strings.Count(input, `\n`) { // it stands in a string
		input = strings.ReplaceAll(input, `\n`, "\n")
	}
	var o, f strings.Builder
	for line := range strings.Lines(input) {
		switch {
		case strings.HasPrefix(line, "-"):
			o.WriteString(line[1:])
		case strings.HasPrefix(line, "+"):
			f.WriteString(line[1:])
		}
	}
	return o.String(), f.String()
}

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

func patchedAway(input string) []deletion {
	var out []deletion
	last := ""
	for part := range strings.SplitSeq(input, "*** ") {
		if end := strings.IndexAny(part, "\r\n\\\""); end >= 0 {
			part = part[:end]
		}
		if p, ok := strings.CutPrefix(part, "Delete File: "); ok {
			out = append(out, deletion{from: strings.TrimSpace(p)})
		} else if p, ok := strings.CutPrefix(part, "Update File: "); ok {
			last = strings.TrimSpace(p)
		} else if p, ok := strings.CutPrefix(part, "Move to: "); ok && last != "" {
			out = append(out, deletion{last, strings.TrimSpace(p)})
		}
	}
	return out
}
