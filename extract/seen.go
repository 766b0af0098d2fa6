package extract

import (
	"path"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// seen records where a session saw pieces of text in the project's files, without those that
// are gone when the session ends.
type seen struct {
	top       string                           // the project's top directory; paths are relative to it
	sightings map[string]map[string][]sighting // by piece and path; the piece "" is the path alone
	pieces    map[string][]string              // by their first word
	parser    *shellParser
	own       Own // what the session saw of the project's own files
}

type sighting struct {
	item int
	line string
	at   int // the offset in the line
}

// look records the file contents that an item shows.
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
		v.reads(it.N, v.relative(it.CWD, firstText(gjson.Parse(it.Input), pathArguments...)), it.Output)
	}
}

func (v *seen) edited(it *memoir.Item, diff string) {
	for _, part := range strings.Split("\n"+diff, "\n*** ")[1:] {
		head, lines, _ := strings.Cut(part, "\n")
		verb, name, _ := strings.Cut(head, ": ")
		name = v.relative(it.CWD, name)
		switch {
		case name == "":
		case verb == "Delete File":
			v.gone(name, true)
		case verb == "Move to": // belongs to the file before it
		default:
			if verb == "Add File" {
				v.gone(name, false)
			}
			var fresh strings.Builder
			for line := range strings.Lines(lines) {
				if strings.HasPrefix(line, "-") {
					delete(v.own.Files, name)
					v.each(line[1:], func(piece string, _ int) { delete(v.sightings[piece], name) })
				} else if strings.HasPrefix(line, "+") {
					fresh.WriteString(line[1:])
				}
			}
			v.reads(it.N, name, fresh.String())
		}
	}
}

// readers print their one file, searchers lines of the last one, finders lines with their paths.
var (
	readers   = memoir.SetOf("cat head tail nl bat less more")
	searchers = memoir.SetOf("sed head tail grep rg awk")
	finders   = memoir.SetOf("grep rg ag ack")
)

// shell records the files that a command line wrote, removed and printed. The output of several
// commands can't be attributed.
func (v *seen) shell(it *memoir.Item) {
	runs, wrote := v.parser.parse(clean(it.Input), it.CWD)
	for _, w := range wrote {
		v.reads(it.N, v.relative("", w.path), w.text)
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

// prints records a command's output as the text of one file or of many.
func (v *seen) prints(it *memoir.Item, r *run) {
	words := r.words()
	last := words[len(words)-1]
	switch {
	case readers[r.program] && len(words) == 2, !finders[r.program] && searchers[r.program] &&
		OwnFile(last):
		v.reads(it.N, v.relative(r.dir, last), it.Output)
	case searchers[r.program] && path.Ext(last) != "":
		v.shows(it.N, v.relative(r.dir, last), it.Output)
	case finders[r.program], r.program == "git" && len(words) > 1 && words[1] == "grep":
		v.listed(it.N, r.dir, it.Output)
	}
}

// hit matches a line of search output: path, optional line number, text.
var hit = lazyregexp.New(`^([\w@.+/-]*[\w@+-][./][\w@+/.-]*):(?:\d+[:-])?(.*)$`)

func (v *seen) listed(item int, dir, output string) {
	for line := range strings.Lines(output) {
		if m := hit.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			v.shows(item, v.relative(dir, m[1]), m[2])
		}
	}
}

// reads records the text of one file, or a part of it.
func (v *seen) reads(item int, name, text string) {
	v.shows(item, name, text)
	if OwnFile(name) && len(v.own.Files[name])+len(text) < MaxOwnFile {
		v.own.Files[name] += numbered.ReplaceAllString(text, "") + "\n"
	}
}

func (v *seen) shows(item int, name, text string) {
	if name == "" {
		return
	}
	v.sightings[""][name] = append(v.sightings[""][name], sighting{item: item})
	v.each(text, func(piece string, at int) {
		from := strings.LastIndexByte(text[:at], '\n') + 1
		line, _, _ := strings.Cut(text[from:], "\n")
		v.sightings[piece][name] = append(v.sightings[piece][name], sighting{item, line, at - from})
	})
}

// apart reports whether a character separates the words by which pieces are found.
func apart(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

func (v *seen) enter(piece string) {
	if words := strings.FieldsFunc(piece, apart); len(words) > 0 && v.sightings[piece] == nil {
		v.sightings[piece] = map[string][]sighting{}
		v.pieces[words[0]] = append(v.pieces[words[0]], piece)
	}
}

// each calls found for each piece in a text, with its offset. It scans the text once, since a
// session shows megabytes and states hundreds of pieces.
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

// gone records the removal of a file, or of its text only.
func (v *seen) gone(name string, removed bool) {
	delete(v.own.Files, name)
	for piece, paths := range v.sightings {
		if piece != "" || removed {
			delete(paths, name)
		}
	}
}

// relative returns a path relative to the top directory; "" if it is not below it.
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

// named returns the file or directory of the session with a path, or the only file whose path ends with it.
func (v *seen) named(name string) string {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if strings.HasPrefix(name, "/") {
		name = v.relative("", name)
	}
	var ends []string
	for p := range v.sightings[""] {
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
