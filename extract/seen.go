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
	top    string // the project's top directory; paths are relative to it
	pieces map[string][]string
	stands map[string]map[string]*stand // by piece and path; the piece "" is the path alone
	parser *shellParser
}

// A stand is where a piece was seen in a file.
type stand struct {
	items []int
	line  string // the first that held it
	at    int    // its offset in the line
}

// see reads the files that items show, for pieces of text that stand on one line.
func see(items []memoir.Item, top string, pieces []string) *seen {
	v := &seen{top: strings.TrimRight(top, "/"), pieces: map[string][]string{},
		stands: map[string]map[string]*stand{}, parser: newShellParser()}
	for _, p := range pieces {
		if _, word := leadingWord(p); word != "" && v.stands[p] == nil {
			v.stands[p] = map[string]*stand{}
			v.pieces[word] = append(v.pieces[word], p)
		}
	}
	v.stands[""] = map[string]*stand{}
	for i := range items {
		if it := &items[i]; it.Kind == memoir.ItemTool && !it.Failed || it.Origin == memoir.OriginShell {
			v.item(it)
		}
	}
	return v
}

// apart reports whether a character is none of the words by which pieces are found.
func apart(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// leadingWord is the first word of a text, which begins at an offset.
func leadingWord(text string) (at int, word string) {
	rest := strings.TrimLeftFunc(text, apart)
	if end := strings.IndexFunc(rest, apart); end >= 0 {
		return len(text) - len(rest), rest[:end]
	}
	return len(text) - len(rest), rest
}

func (v *seen) item(it *memoir.Item) {
	if diff, ok := EditOf(it); ok {
		v.edited(it, diff)
		return
	}
	if it.Shell() || it.Origin == memoir.OriginShell {
		v.shell(it)
		return
	}
	name := ""
	if strings.HasPrefix(it.Input, "{") && gjson.Valid(it.Input) {
		name = firstText(gjson.Parse(it.Input), "file_path", "path", "filePath", "absolute_path", "file", "notebook_path")
	}
	if tool := strings.ToLower(it.Tool); strings.Contains(tool, "grep") || strings.Contains(tool, "search") {
		v.listed(it.N, it.CWD, it.Output)
	} else if it.Output != "" {
		v.shows(it.N, v.relative(it.CWD, name), it.Output)
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

// shell enters what a command line wrote, removed and printed.
func (v *seen) shell(it *memoir.Item) {
	runs, wrote := v.parser.parse(clean(it.Input), it.CWD)
	for _, w := range wrote {
		v.shows(it.N, v.relative("", w.path), w.text)
	}
	sources := 0
	for _, r := range runs {
		if !r.filter {
			sources++
		}
	}
	for _, r := range runs {
		if words := r.words(); !r.dynamic && len(words) > 1 && !v.takes(it.N, r, words) && !r.filter && sources == 1 {
			v.prints(it, r, words)
		}
	}
}

// takes enters the files that a command removes or moves, and reports whether it is such a command.
func (v *seen) takes(item int, r *run, words []string) bool {
	if words[0] == "git" && len(words) > 2 {
		words = words[1:]
	}
	switch last := len(words) - 1; {
	case words[0] == "rm":
		for _, w := range words[1:] {
			v.gone(v.relative(r.dir, w), true)
		}
	case words[0] == "mv" && last > 1:
		v.gone(v.relative(r.dir, words[last-1]), true)
		v.shows(item, v.relative(r.dir, words[last]), "")
	default:
		return false
	}
	return true
}

// prints enters what a command printed of a file, or of many.
func (v *seen) prints(it *memoir.Item, r *run, words []string) {
	last := words[len(words)-1]
	switch {
	case r.target != "":
	case readers[r.program] && len(words) == 2, searchers[r.program] && path.Ext(last) != "":
		v.shows(it.N, v.relative(r.dir, last), it.Output)
	case finders[r.program], words[0] == "git" && words[1] == "grep":
		v.listed(it.N, r.dir, it.Output)
	}
}

// hit is a line of what a search prints: path, line number if it is told, text.
var hit = lazyregexp.New(`^([\w@.+/-]*[\w@+-][./][\w@+/.-]*):(?:\d+[:-])?(.*)$`)

// listed enters the lines of a search's output.
func (v *seen) listed(item int, dir, output string) {
	for line := range strings.Lines(output) {
		if strings.IndexByte(line, ':') < 0 {
			continue
		}
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
	add := func(piece, line string, at int) {
		s := v.stands[piece][name]
		if s == nil {
			s = &stand{line: line, at: at}
			v.stands[piece][name] = s
		}
		if n := len(s.items); n == 0 || s.items[n-1] != item {
			s.items = append(s.items, item)
		}
	}
	add("", "", 0)
	v.each(text, func(piece string, at int) {
		from, to := strings.LastIndexByte(text[:at], '\n')+1, len(text)
		if end := strings.IndexByte(text[at:], '\n'); end >= 0 {
			to = at + end
		}
		add(piece, text[from:to], at-from)
	})
}

// each calls found for each piece that stands in a text, with its offset.
func (v *seen) each(text string, found func(piece string, at int)) {
	for from := 0; from < len(text) && len(v.pieces) > 0; {
		gap, word := leadingWord(text[from:])
		from += gap
		for _, p := range v.pieces[word] {
			at := from - strings.Index(p, word)
			if at < 0 || !strings.HasPrefix(text[at:], p) {
				continue
			}
			if whole, ok := memoir.Token(text[:min(len(text), at+len(p)+3)], p, at); ok && whole == at {
				found(p, at)
			}
		}
		from += len(word)
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
	if name == "" || v.known(name) {
		return name
	}
	found := ""
	for p := range v.stands[""] {
		switch {
		case !strings.HasSuffix(p, "/"+name):
		case found != "":
			return ""
		default:
			found = p
		}
	}
	return found
}
