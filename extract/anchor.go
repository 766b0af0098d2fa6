package extract

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Tree is the project's working tree at the time of an extraction.
type Tree interface {
	// Look returns the text of a file; exists is also true of a directory, and of a file whose text
	// cannot be had.
	Look(path string) (text string, exists bool)
}

// Anchors finds, for each statement of an extraction's raw memory, where the session saw or wrote the pieces of it:
// values, names, flags and paths that it states, and the targets and scripts of its commands, which the
// tree, if there is one, may show as well. Of the files in which a piece stood the one that was seen
// closest to the items that the statement cites counts; if two are as close, none. Items are
// redacted. Keys are those of memoir.LineKey.
func Anchors(e memoir.Extraction, top string, items []memoir.Item, tree Tree) map[string][]memoir.Anchor {
	statements := memoir.ParseStatements(e.RawMemory)
	var all []string
	told := make([]pieces, len(statements))
	for i, st := range statements {
		told[i] = piecesOf(st, e.CWD)
		all = append(all, told[i].texts...)
		for _, r := range told[i].runs {
			all = append(all, r.entry())
		}
	}
	v := see(items, top, all)
	out := map[string][]memoir.Anchor{}
	for i, st := range statements {
		var found []memoir.Anchor
		add := func(a memoir.Anchor, ok bool) {
			covered := a.Text == "" && slices.ContainsFunc(found, func(b memoir.Anchor) bool { return a.Path == b.Path })
			if ok && a.Valid() && !covered && !slices.Contains(found, a) && len(found) < memoir.MaxAnchors {
				found = append(found, a)
			}
		}
		for _, r := range told[i].runs {
			add(v.command(r, tree))
		}
		for _, text := range told[i].texts {
			if v.named(text) == "" { // else it is the name of a file
				add(v.piece(text, st))
			}
		}
		for _, name := range told[i].paths {
			p := v.named(name)
			add(memoir.Anchor{Path: p}, p != "")
		}
		if len(found) > 0 {
			out[memoir.LineKey(st.Text)] = found
		}
	}
	return out
}

// pieces are the parts of a statement that can be looked up.
type pieces struct {
	runs  []*run // commands
	texts []string
	paths []string
}

var (
	codeSpans = lazyregexp.New("``([^`]+(?:`[^`]+)*)``|`([^`]+)`")
	pathForm  = lazyregexp.New(`^(?:\.{0,2}/)?(?:[\w@.+-]+/)+[\w@.+-]*$|^[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,9}$`)
)

// piecesOf finds the pieces of a statement: all words of a code span, and outside of them those that
// have a form of code.
func piecesOf(st memoir.Statement, dir string) (out pieces) {
	parser := newShellParser()
	rest := st.Text
	for _, m := range codeSpans.FindAllStringSubmatch(st.Text, -1) {
		span := strings.TrimSpace(m[1] + m[2])
		rest = strings.Replace(rest, m[0], " ", 1)
		runs, _ := parser.parse(span, join(dir, inDirectory(st.Text, m[0])))
		isCommand := st.Kind == memoir.StatementCommand
		for _, r := range runs {
			runs := isCommand || strings.Contains(span, " ") && strings.Contains(r.script(), "/")
			if r.entry() != "" || runs && r.script() != "" {
				out.runs, isCommand = append(out.runs, r), true
			}
		}
		if !isCommand {
			all := strings.Fields(span)
			for _, w := range all {
				if len(all) == 1 || w[0] != '-' { // an option of a command tells of its program
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

// inDirectory is where the built-in model says that a command ran: "`make` in `DIR`".
func inDirectory(text, span string) string {
	_, behind, _ := strings.Cut(text, span)
	if m := codeSpans.FindStringSubmatchIndex(behind); m != nil && behind[:m[0]] == " in " && m[4] >= 0 {
		return behind[m[4]:m[5]]
	}
	return ""
}

// word enters a word; whole means that it is a whole code span.
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
	case len(name) >= 4 && letters && (whole || coded(name)):
		p.texts = append(p.texts, name)
	}
}

// pieceForm is the alphabet of pieces; of what begins with a hash, only colours are any.
var pieceForm = lazyregexp.New(`^(?:[\w$@.:/+%*-]+|#[0-9A-Fa-f]{3,8})$`)

var dateForm = lazyregexp.New(`^\d{4}-\d\d-\d\d`)

// coded reports whether a word has a form that prose has not: a flag, or a name of several parts that is not
// written as TypeScript is.
func coded(w string) bool {
	if strings.HasPrefix(w, "--") || strings.Contains(w, "_") || strings.Contains(w, "::") {
		return true
	}
	humps := 0
	for i, r := range w {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(w[i-1])) {
			humps++
		}
	}
	return humps > 1 || humps == 1 && !unicode.IsUpper(rune(w[0]))
}

// maxHolders is how many files may hold a piece that still tells one of them from the others.
const maxHolders = 8

// piece is the anchor of a text that a statement tells.
func (v *seen) piece(text string, st memoir.Statement) (memoir.Anchor, bool) {
	name, s := v.closest(text, st)
	if s == nil {
		return memoir.Anchor{}, false
	}
	a := memoir.Anchor{Path: name, Text: text}
	if key := keyOf(s); memoir.IsValue(text) || key != "" && speaksOf(st.Text, key) {
		a.Key = key
	}
	switch {
	case a.Key != "":
		return a, a.In(s.line) == memoir.Present && (strings.Trim(text, digits) != "" || speaksOf(st.Text, s.line))
	case memoir.IsValue(text): // a number means nothing without what it is given to
		return a, strings.Contains(text, ".")
	}
	return a, !plainWord(text)
}

// closest is the file in which a piece was seen next to what a statement cites, nil if that is not one.
func (v *seen) closest(text string, st memoir.Statement) (name string, found *stand) {
	best, tie := -1, false
	for p, s := range v.stands[text] {
		far := -1
		for _, n := range s.items {
			for _, cited := range st.Items {
				if d := max(n-cited, cited-n); far < 0 || d < far {
					far = d
				}
			}
		}
		if strings.Contains(st.Text, p) {
			far = -1
		}
		switch {
		case found == nil || far < best:
			name, found, best, tie = p, s, far, false
		case far == best:
			tie = true
		}
	}
	if tie || len(v.stands[text]) > maxHolders {
		return "", nil
	}
	return name, found
}

// plainWord reports whether a word could stand in any text.
func plainWord(w string) bool {
	return len(w) < 12 && strings.IndexFunc(w[1:], func(r rune) bool { return !unicode.IsLower(r) }) < 0
}

const digits = "0123456789"

var phrase = lazyregexp.New(`^\S+ +\w`)

var keyEnd = lazyregexp.New("([A-Za-z_][\\w./-]*)([\\s:=\"'`@~^<>(]+)$")

// keyOf is the name that a piece is given to on the line where it was seen, empty if there is none.
func keyOf(s *stand) string {
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
	have := contentWords(statement)
	for w := range strings.FieldsFuncSeq(strings.ToLower(line), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(w) > 3 && have[w] {
			return true
		}
	}
	return have[strings.ToLower(line)]
}

// known reports whether the session saw a file, or one below a directory.
func (v *seen) known(name string) bool {
	if v.stands[""][name] != nil {
		return true
	}
	for p := range v.stands[""] {
		if strings.HasPrefix(p, name+"/") {
			return true
		}
	}
	return false
}

// entries say in which files, relative to where they run, programs find what they are told to do, and
// how it is written there.
var entries = []struct {
	programs, files string
	before, after   string
}{
	{"make gmake", "Makefile GNUmakefile makefile", "", ":"},
	{"just", "justfile Justfile .justfile", "", ":"},
	{"task", "Taskfile.yml Taskfile.yaml", "", ":"},
	{"npm pnpm yarn bun", "package.json", `"`, `":`},
	{"deno", "deno.json deno.jsonc", `"`, `":`},
	{"composer", "composer.json", `"`, `":`},
}

// scripted are words of package managers that a script's name follows, or that name one themselves.
var scripted = words("test start build lint format typecheck check dev")

// entryIn is the first target or script that a command names, and how its file writes it.
func (r *run) entryIn() (files []string, entry string) {
	for _, e := range entries {
		if !slices.Contains(strings.Fields(e.programs), r.program) {
			continue
		}
		args := r.words()[1:]
		if e.before != "" {
			if len(args) > 1 && slices.Contains([]string{"run", "run-script", "task"}, args[0]) {
				args = args[1:]
			} else if len(args) > 0 && !scripted[args[0]] {
				args = nil
			}
		}
		for _, w := range args {
			if !strings.ContainsAny(w, "=/") && strings.Trim(w, digits) != "" {
				return strings.Fields(e.files), e.before + w + e.after
			}
		}
	}
	return nil, ""
}

func (r *run) entry() string {
	_, entry := r.entryIn()
	return entry
}

// script is the first path that a command names: itself, a script that a shell or an interpreter runs,
// or a file or directory that it is applied to; empty if there is none.
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

// command is the anchor of a command: what it names, where the session or the tree shows it.
func (v *seen) command(r *run, tree Tree) (memoir.Anchor, bool) {
	dir := r.dir
	if in, ok := r.option("-C", "--directory", "--prefix"); ok {
		dir = join(dir, in)
	}
	shown := func(name, text string) bool {
		if text != "" && v.stands[text][name] != nil || text == "" && v.known(name) {
			return true
		}
		if tree == nil || !(memoir.Anchor{Path: name}).Valid() {
			return false
		}
		content, exists := tree.Look(name)
		return exists && (text == "" || memoir.Anchor{Text: text}.In(content) == memoir.Present)
	}
	files, entry := r.entryIn()
	for _, file := range files {
		a := memoir.Anchor{Path: v.relative(dir, file), Text: entry}
		if a.Path != "" && shown(a.Path, entry) {
			return a, true
		}
	}
	if name := r.script(); name != "" && entry == "" {
		a := memoir.Anchor{Path: v.relative(dir, cmp.Or(name, "."))}
		return a, a.Path != "" && shown(a.Path, "")
	}
	return memoir.Anchor{}, false
}
