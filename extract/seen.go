package extract

import (
	"path"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// seen is what a session saw of the project's files: at which items which piece of text stood in
// which file, as far as it still does when the session ends.
type seen struct {
	top    string                        // the project's top directory; paths are relative to it
	stands map[string]map[string][]stand // by piece and path; the piece "" is the path alone
	pieces map[string][]string           // by their first word
	parser *shellParser
}

// A stand is where a piece was seen in a file.
type stand struct {
	item int
	line string
	at   int // the offset in the line
}

// look enters what an item shows of the files.
func (v *seen) look(it *memoir.Item) {
	if diff, ok := EditOf(it); ok {
		v.edited(it, diff)
		return
	}
	if it.Shell() || it.Origin == memoir.OriginShell {
		v.shell(it)
		return
	}
	if tool := strings.ToLower(it.Tool); strings.Contains(tool, "grep") || strings.Contains(tool, "search") {
		v.listed(it.N, it.CWD, it.Output)
	} else if it.Output != "" {
		v.shows(it.N, v.relative(it.CWD, firstText(gjson.Parse(it.Input), pathArguments...)), it.Output)
	}
}

// edited enters a patch.
func (v *seen) edited(it *memoir.Item, diff string) {
	for _, part := range strings.Split("\n"+diff, "\n*** ")[1:] {
		head, lines, _ := strings.Cut(part, "\n")
		verb, name, _ := strings.Cut(head, ": ")
		name = v.relative(it.CWD, name)
		switch {
		case name == "":
		case verb == "Delete File":
			v.gone(name, true)
		case verb == "Move to": // the file that the lines before are of
		default:
			if verb == "Add File" {
				v.gone(name, false)
			}
			var fresh strings.Builder
			for line := range strings.Lines(lines) {
				if strings.HasPrefix(line, "-") {
					v.each(line[1:], func(piece string, _ int) { delete(v.stands[piece], name) })
				} else if strings.HasPrefix(line, "+") {
					fresh.WriteString(line[1:])
				}
			}
			v.shows(it.N, name, fresh.String())
		}
	}
}

// readers print the one file that they are given, searchers lines of the last one.
var (
	readers   = words("cat head tail nl bat less more")
	searchers = words("sed head tail grep rg awk")
	finders   = words("grep rg ag ack")
)

// shell enters what a command line wrote, removed and printed. What several commands printed is nobody's.
func (v *seen) shell(it *memoir.Item) {
	runs, wrote := v.parser.parse(clean(it.Input), it.CWD)
	for _, w := range wrote {
		v.shows(it.N, v.relative("", w.path), w.text)
	}
	var sources []*run
	for _, r := range runs {
		names, to := r.removes()
		for _, name := range names {
			v.gone(v.relative(r.dir, name), true)
		}
		if to != "" {
			v.shows(it.N, v.relative(r.dir, to), "")
		}
		if !r.filter {
			sources = append(sources, r)
		}
	}
	if len(sources) == 1 && !sources[0].dynamic && sources[0].target == "" {
		v.prints(it, sources[0])
	}
}

// prints enters what a command printed of a file, or of many.
func (v *seen) prints(it *memoir.Item, r *run) {
	words := r.words()
	last := words[len(words)-1]
	switch {
	case readers[r.program] && len(words) == 2, searchers[r.program] && path.Ext(last) != "":
		v.shows(it.N, v.relative(r.dir, last), it.Output)
	case finders[r.program], r.program == "git" && len(words) > 1 && words[1] == "grep":
		v.listed(it.N, r.dir, it.Output)
	}
}

// hit is a line of what a search prints: path, line number if it is told, text.
var hit = lazyregexp.New(`^([\w@.+/-]*[\w@+-][./][\w@+/.-]*):(?:\d+[:-])?(.*)$`)

// listed enters the lines of a search's output.
func (v *seen) listed(item int, dir, output string) {
	for line := range strings.Lines(output) {
		if m := hit.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			v.shows(item, v.relative(dir, m[1]), m[2])
		}
	}
}

// shows enters that a text stands in a file.
func (v *seen) shows(item int, name, text string) {
	if name == "" {
		return
	}
	v.stands[""][name] = append(v.stands[""][name], stand{item: item})
	v.each(text, func(piece string, at int) {
		from := strings.LastIndexByte(text[:at], '\n') + 1
		line, _, _ := strings.Cut(text[from:], "\n")
		v.stands[piece][name] = append(v.stands[piece][name], stand{item, line, at - from})
	})
}

// apart reports whether a character is none of the words by which pieces are found.
func apart(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// enter has a piece looked for.
func (v *seen) enter(piece string) {
	if words := strings.FieldsFunc(piece, apart); len(words) > 0 && v.stands[piece] == nil {
		v.stands[piece] = map[string][]stand{}
		v.pieces[words[0]] = append(v.pieces[words[0]], piece)
	}
}

// each calls found for each piece that stands in a text, with its offset. It goes over the text once,
// since a session shows megabytes and states hundreds of pieces.
func (v *seen) each(text string, found func(piece string, at int)) {
	for from, end := 0, 0; from < len(text); from = end + 1 {
		for end = from; end < len(text) && !apart(rune(text[end])); {
			end++
		}
		for _, p := range v.pieces[text[from:end]] {
			at := from - strings.Index(p, text[from:end])
			if at < 0 {
				continue
			}
			if i, ok := memoir.Token(text[:min(len(text), end+len(p)+8)], p, at); ok && i == at {
				found(p, at)
			}
		}
	}
}

// gone enters that a file was removed, or that none of its text stays.
func (v *seen) gone(name string, removed bool) {
	for piece, paths := range v.stands {
		if piece != "" || removed {
			delete(paths, name)
		}
	}
}

// relative expresses a path relative to the top directory; "" if it does not lie below it.
func (v *seen) relative(dir, name string) string {
	name = join(dir, strings.TrimSpace(name))
	if strings.HasPrefix(name, "/") {
		if v.top == "" || !strings.HasPrefix(name, v.top+"/") {
			return ""
		}
		name = name[len(v.top)+1:]
	}
	if !(memoir.Anchor{Path: name}).Valid() || strings.HasPrefix(name, "~") {
		return ""
	}
	return name
}

// named finds the one file of the session that a statement names by its path or the end of it, or the
// directory that it names.
func (v *seen) named(name string) string {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if strings.HasPrefix(name, "/") {
		name = v.relative("", name)
	}
	var ends []string
	for p := range v.stands[""] {
		if p == name || strings.HasPrefix(p, name+"/") {
			return name
		}
		if strings.HasSuffix(p, "/"+name) {
			ends = append(ends, p)
		}
	}
	if name == "" || len(ends) != 1 {
		return ""
	}
	return ends[0]
}
