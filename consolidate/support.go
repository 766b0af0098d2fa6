package consolidate

import (
	"html"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// A support is what sessions state: the texts from which a line of a model may quote or name a command, as folded
// returns them.
type support struct {
	words      []string // people's words: what may stand in “ ”
	statements []string // whole statements
	steps      []string // the same without environments and the output of failed commands
}

// supportOf returns the support of sessions.
func (r *renewal) supportOf(entries []entry) (all support) {
	seen := map[*session]bool{nil: true} // it was not selected
	for _, e := range entries {
		s := r.by[e.key]
		if seen[s] {
			continue
		}
		if seen[s] = true; s.support == nil {
			s.support = &support{}
			s.support.add(s.Extraction.Statements...)
		}
		all.join(s.support)
	}
	return all
}

func (s *support) join(other *support) {
	s.words, s.statements = append(s.words, other.words...), append(s.statements, other.statements...)
	s.steps = append(s.steps, other.steps...)
}

// cites returns the sessions that the lines of a text cite.
func (r *renewal) cites(text string, lists map[string][]string) (all []entry) {
	for l := range strings.Lines(text) {
		all = append(all, r.inputsOf(l, lists)...)
	}
	return all
}

var spoken = lazyregexp.New(`“[^“”]*”`)

// addText adds a text that was checked, or that a person wrote.
func (s *support) addText(text string) {
	for line := range strings.Lines(text) {
		s.add(memoir.Statement{Text: Words(line)})
	}
}

func (s *support) add(statements ...memoir.Statement) {
	for _, st := range statements {
		if st.Kind == memoir.StatementClaim {
			continue
		}
		words := append(spoken.FindAllString(st.Text, -1), st.Quote)
		if st.Signal == memoir.SignalNote || st.Signal == memoir.SignalJournal {
			words = append(words, st.Text)
		}
		for _, w := range words {
			s.words = append(s.words, folded(w))
		}
		whole := folded(strings.Join([]string{st.Text, st.Quote, st.Command, st.Error, st.Fix}, "\n"))
		s.statements = append(s.statements, whole)
		switch st.Kind {
		case memoir.StatementEnvironment:
		case memoir.StatementFailure:
			s.steps = append(s.steps, folded(st.Command), folded(st.Fix))
		default:
			s.steps = append(s.steps, whole)
		}
	}
}

// backs reports whether sessions state what a line below a heading quotes, and the commands that it names. What people
// want and what is to be run was run or asked for; a line without code below a heading of commands is a command behind
// its purpose.
func (s support) backs(heading, line string) bool {
	line = html.UnescapeString(Words(line))
	commands, known := commandsIn(line, false), s.statements
	switch heading {
	case headCommands, headBuild:
		if known = s.steps; !strings.Contains(line, "`") {
			commands = append(commands, line[strings.Index(line, ": ")+1:])
		}
	case headPreferences, headWants:
		known = s.steps
	}
	return hold(known, commands...) && s.quotes(line)
}

// unbacked reports whether the sessions of a line of MEMORY.md do not back it. A line that was there holds if one of
// its sessions was not selected.
func (r *renewal) unbacked(entries []entry, heading, line string, kept bool) bool {
	unknown := func(e entry) bool { return r.by[e.key] == nil }
	return !(kept && slices.ContainsFunc(entries, unknown)) && !r.supportOf(entries).backs(heading, line)
}

// backsStep is backs for a line of a skill; script says that the whole line is a command. Placeholders of a command,
// and what is joined to them, may be anything.
func (s support) backsStep(line string, script bool) bool {
	for _, command := range commandsIn(html.UnescapeString(line), script) {
		if !hold(s.steps, strings.Split(placeholder.ReplaceAllString(command, "\x00"), "\x00")...) {
			return false
		}
	}
	return script || s.quotes(html.UnescapeString(line))
}

var placeholder = lazyregexp.New(`\S*(?:<[A-Za-z][\w -]*>|‹[A-Za-z][\w -]*›|\$\{?\w+\}?|…|\.\.\.|"\$@")\S*`)

// otherWords match what a line has from elsewhere, besides “ ” and code: quotations of several words in other marks,
// addresses, options, and pipes into a shell.
var otherWords = lazyregexp.New(`„[^“”„]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|‘[^’]* [^’]*’|〝[^〞〟]*[〞〟]|＂[^＂]*＂` +
	`|\B"[^"]* [^"]*"|\B'[^']* [^']*'\B|https?://[^\s)\]>"”]+|(?:^|\s)--\w[\w-]*|\S+ *\| *(?:ba|z|da)?sh\b`)

var inCode = strings.NewReplacer("“", " ", "”", " ", `"`, " ", "'", " ", "‘", " ", "--", " ", "|", " ", "://", " ")

// quotes reports whether sessions have what stands in “ ” in a line as people's words, and its otherWords. If the marks
// are not in pairs, that is the whole line.
func (s support) quotes(line string) bool {
	var prose strings.Builder
	for part, code := range pieces(line) {
		if code {
			part = inCode.Replace(part)
		}
		prose.WriteString(part)
	}
	var others []string
	text := otherWords.ReplaceAllStringFunc(prose.String(), func(found string) string {
		others = append(others, found)
		return strings.Trim(found, "„“”")
	})
	words := spoken.FindAllString(text, -1)
	if strings.ContainsAny(spoken.ReplaceAllString(text, ""), "“”") {
		words = []string{text}
	}
	return hold(s.words, words...) && hold(s.statements, others...)
}

// hold reports whether some texts have all of some parts, in whole words.
func hold(texts []string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool {
		part = folded(part)
		return part != "" && !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) })
	})
}

// textMarks are what a quotation may lack or have in another form.
var textMarks = strings.NewReplacer("`", " ", "*", "", "‹", "<", "›", ">", "‑", "-", "–", "-", "—", " ", "→", " ",
	"’", "'", "(", " ", ")", " ", "“", " ", "”", " ", `"`, " ", "‘", " ", "„", " ", "«", " ", "»", " ", "「", " ", "」", " ",
	"『", " ", "』", " ", "〝", " ", "〞", " ", "〟", " ", "＂", " ")

// folded returns a text in the form in which quotations are compared: memoir.Folded, without marks and the punctuation
// at the ends of words. A blank at each end keeps the first and the last word whole, except in the scripts without
// blanks between words, those of East Asia.
func folded(text string) string {
	words := strings.Fields(memoir.Folded(textMarks.Replace(text)))
	for i, w := range words {
		words[i] = strings.TrimRight(strings.TrimPrefix(strings.Trim(w, "'"), "..."), ".,;:!?")
	}
	text = strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	return blankBefore.ReplaceAllString(blankBehind.ReplaceAllString(text, "$1 "), " $1")
}

var (
	blankBefore = lazyregexp.New(`^([^\x{2e80}-\x{10ffff}])`)
	blankBehind = lazyregexp.New(`([^\x{2e80}-\x{10ffff}])$`)
)
