package extract

import (
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Anchors sets the anchors of an extraction's statements. An anchor is a place in a file where the session saw or wrote
// a piece of the statement: a value, name, flag or path, or the target or script of a command. If a piece was in
// several files, the one seen closest to the cited items counts; with a tie, none does. Targets and scripts may also be
// in the current working tree: look, unless it is nil, returns the text of a file there. Items must be redacted.
// It also marks the statements that the project's own files say, as the session saw them.
func Anchors(e memoir.Extraction, top string, items []memoir.Item,
	look func(path string) (text string, exists bool),
) {
	v := &seen{top: strings.TrimRight(top, "/"), sightings: map[string]map[string][]sighting{"": {}},
		pieces: map[string][]string{}, parser: newShellParser()}
	v.own = Own{Dir: v.relative("", e.CWD), Files: map[string]string{}}
	statements := e.Statements
	parts := make([]pieces, len(statements))
	for i, st := range statements {
		parts[i] = piecesOf(st, e.CWD)
		for _, r := range parts[i].runs {
			_, entry := r.entryIn()
			v.enter(entry)
		}
		for _, text := range parts[i].texts {
			v.enter(text)
		}
	}
	for i := range items {
		if it := &items[i]; it.Kind == memoir.ItemTool && !it.Failed || it.Origin == memoir.OriginShell {
			v.look(it)
		}
	}
	for i, st := range statements {
		var found []memoir.Anchor
		add := func(a memoir.Anchor, ok bool) {
			covered := a.Text == "" && slices.ContainsFunc(found, func(b memoir.Anchor) bool { return a.Path == b.Path })
			if ok && a.Valid() && !covered && !slices.Contains(found, a) && len(found) < memoir.MaxAnchors {
				found = append(found, a)
			}
		}
		for _, r := range parts[i].runs {
			add(v.command(r, look))
		}
		for _, text := range parts[i].texts {
			if v.named(text) == "" { // else it is the name of a file
				add(v.piece(text, st))
			}
		}
		for _, name := range parts[i].paths {
			p := v.named(name)
			add(memoir.Anchor{Path: p}, p != "")
		}
		statements[i].Anchors, statements[i].Stands = found, v.own.In(st)
	}
}

// pieces are the parts of a statement that can be found in files.
type pieces struct {
	runs  []*run // commands
	texts []string
	paths []string
}

var (
	codeSpans = lazyregexp.New("``([^`]+(?:`[^`]+)*)``|`([^`]+)`")
	pathForm  = lazyregexp.New(`^(?:\.{0,2}/)?(?:[\w@.+-]+/)+[\w@.+-]*$|^[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,9}$`)
)

// piecesOf returns the pieces of a statement: all words in code spans, and other words that look like code.
func piecesOf(st memoir.Statement, dir string) (out pieces) {
	parser := newShellParser()
	rest := st.Text
	for _, m := range codeSpans.FindAllStringSubmatch(st.Text, -1) {
		span := strings.TrimSpace(m[1] + m[2])
		rest = strings.Replace(rest, m[0], " ", 1)
		runs, _ := parser.parse(span, join(dir, st.Dir))
		isCommand := st.Kind == memoir.StatementCommand
		for _, r := range runs {
			_, entry := r.entryIn()
			ran := isCommand || strings.Contains(span, " ") && strings.Contains(r.script(), "/")
			if entry != "" || isCommand || ran && r.script() != "" {
				out.runs, isCommand = append(out.runs, r), true
			}
		}
		if !isCommand {
			all := strings.Fields(span)
			for _, w := range all {
				if len(all) == 1 || w[0] != '-' { // an option in a command concerns its program
					out.word(w, len(all) == 1)
				}
			}
		}
	}
	if st.Kind != memoir.StatementCommand {
		for _, w := range strings.Fields(rest) {
			out.word(w, false)
		}
	}
	return out
}

func (p *pieces) word(w string, whole bool) {
	w = strings.Trim(w, ",;:!?\"'“”‘’()[]{}<>*=…")
	w = strings.TrimRight(w, ".")
	name, _, _ := strings.Cut(w, "(")
	if before, value, ok := strings.Cut(w, "="); ok && before != "" && !strings.Contains(w, "://") {
		p.word(before, whole)
		w, name = value, value
	}
	letters := strings.IndexFunc(name, unicode.IsLetter) >= 0
	switch {
	case len(name) < 2 || len(name) > 80 || strings.Contains(w, "://") || !pieceForm.MatchString(name),
		strings.Contains(w, "REDACTED"):
	case memoir.IsValue(strings.TrimLeft(w, "^~>")):
		if value := strings.TrimRight(strings.TrimLeft(w, "^~>="), "-+/"); !dateForm.MatchString(value) {
			p.texts = append(p.texts, value)
		}
	case pathForm.MatchString(w) && letters:
		p.paths = append(p.paths, w)
		if !strings.Contains(w, "/") && len(w) > 4 {
			p.texts = append(p.texts, name) // a member, as in config.timeout
		}
	case len(name) >= 4 && letters && (whole || coded.MatchString(name)):
		p.texts = append(p.texts, name)
	}
}

// pieceForm matches the characters of pieces; after a hash, only colours.
var pieceForm = lazyregexp.New(`^(?:[\w$@.:/+%*-]+|#[0-9A-Fa-f]{3,8})$`)

var dateForm = lazyregexp.New(`^\d{4}-\d\d-\d\d`)

// coded matches forms of code: a flag, or a name of several parts, but not a brand such as TypeScript.
var coded = lazyregexp.New(`^--|_|::|^[a-z][A-Z]|^[^A-Z].*[a-z][A-Z]|[a-z][A-Z].*[a-z][A-Z]`)

// plainWord matches words that could be in any text.
var plainWord = lazyregexp.New(`^.[a-z]{0,10}$`)

// maxHolders bounds the files of a piece: with more, it does not identify one.
const maxHolders = 8

// piece returns the anchor of a text in a statement. A value that follows its key twice has
// none: one of them may change.
func (v *seen) piece(text string, st memoir.Statement) (memoir.Anchor, bool) {
	name, sightings := v.closest(text, st)
	if len(sightings) == 0 {
		return memoir.Anchor{}, false
	}
	first, value := sightings[0], memoir.IsValue(text)
	a := memoir.Anchor{Path: name, Text: text}
	if key := first.key(); value || key != "" && speaksOf(st.Text, key) {
		a.Key = key
	}
	switch {
	case a.Key != "":
		again := func(s sighting) bool { return s.item == first.item && s.key() == a.Key }
		return a, a.In(first.line) == memoir.Present && !(value && slices.ContainsFunc(sightings[1:], again)) &&
			(strings.Trim(text, digits) != "" || speaksOf(st.Text, first.line))
	case value: // a number without its key means nothing
		return a, strings.Contains(text, ".")
	}
	return a, !plainWord.MatchString(text)
}

// closest returns the file in which a piece was seen closest to the cited items, with its
// sightings there; none if several files are as close or more than maxHolders have it.
func (v *seen) closest(text string, st memoir.Statement) (name string, found []sighting) {
	best, tie := -1, false
	for p, sightings := range v.sightings[text] {
		far := -1
		for _, s := range sightings {
			for _, cited := range st.Items {
				if d := max(s.item-cited, cited-s.item); far < 0 || d < far {
					far = d
				}
			}
		}
		if strings.Contains(st.Text, p) {
			far = -1
		}
		switch {
		case found == nil || far < best:
			name, found, best, tie = p, sightings, far, false
		case far == best:
			tie = true
		}
	}
	if tie || len(v.sightings[text]) > maxHolders {
		return "", nil
	}
	return name, found
}

const digits = "0123456789"

var phrase = lazyregexp.New(`^\S+ +\w`)

var keyEnd = lazyregexp.New("([A-Za-z_][\\w./-]*)([\\s:=\"'`@~^<>(]+)$")

// key returns the name to which a sighted piece is assigned; empty if there is none.
func (s sighting) key() string {
	m := keyEnd.FindStringSubmatch(s.line[:s.at])
	if m == nil || len(m[1]) < 2 {
		return ""
	}
	_, given := memoir.Given(m[2] + s.line[s.at:])
	switch {
	case given == "",
		!memoir.IsValue(given) && phrase.MatchString(s.line[s.at:]),                       // the first of several words
		strings.Trim(given, digits) == "" && m[2] == " " && m[1] == strings.ToLower(m[1]): // prose counts things
		return ""
	}
	return m[1]
}

// speaksOf reports whether a statement has a word of a name or a line.
func speaksOf(statement, line string) bool {
	return memoir.WordsOf(statement).Shared(memoir.WordsOf(line)) > 0
}

// script returns the first path in a command: the program, its script, or a file or directory
// argument; empty if there is none.
func (r *run) script() string {
	for _, w := range append([]string{r.program}, r.args...) {
		w = strings.TrimSuffix(w, "/...")
		inside := !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "..") && strings.Trim(w, "./") != ""
		if inside && pathForm.MatchString(w) {
			return w
		}
	}
	return ""
}

// command returns the anchor of a command: its target or script, in a file of the session or the
// working tree.
func (v *seen) command(r *run, look func(string) (string, bool)) (memoir.Anchor, bool) {
	files, entry := r.entryIn()
	if entry == "" {
		files = strings.Fields(r.script())
	}
	in, _ := r.option(inDir...)
	for _, file := range files {
		a := memoir.Anchor{Path: v.relative(join(r.dir, in), file), Text: entry}
		if entry != "" && v.sightings[entry][a.Path] != nil || entry == "" && a.Path != "" && v.named(a.Path) == a.Path {
			return a, true
		}
		if look != nil && a.Path != "" {
			content, exists := look(a.Path)
			if exists && (entry == "" || a.In(content) == memoir.Present) {
				return a, true
			}
		}
	}
	if look != nil && entry == "" {
		return v.word(r, look)
	}
	return memoir.Anchor{}, false
}
