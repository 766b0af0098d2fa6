package consolidate

import (
	"html"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// A support is what sessions state: the texts from which a line of a model may quote or name a command, as folded
// returns them.
type support struct {
	words  []string // people's words: what may stand in “ ”
	stated []string // whole statements
	steps  []string // the same without environments and the output of failed commands
	gaps   bool     // a command may have placeholders
}

// supportOf returns the support of sessions by their keys. Of a session that was not selected it is what the present
// memory says of it.
func (r *renewal) supportOf(keys ...string) (all support) {
	for _, key := range keys {
		s := r.supports[key]
		if s == nil {
			s = &support{}
			if known := r.by[key]; known != nil {
				for _, st := range known.Extraction.Statements {
					s.add(st)
				}
			} else {
				for _, line := range r.lines {
					if slices.ContainsFunc(r.inputsOf(line, r.present.Citations), func(e entry) bool { return e.key == key }) {
						s.add(memoir.Statement{Text: line})
					}
				}
			}
			r.supports[key] = s
		}
		all.words, all.stated, all.steps = append(all.words, s.words...), append(all.stated, s.stated...),
			append(all.steps, s.steps...)
	}
	return all
}

func (s *support) add(st memoir.Statement) {
	if st.Kind == memoir.StatementClaim {
		return
	}
	spoken, _ := quotations(st.Text)
	if spoken = append(spoken, st.Quote); st.Signal == memoir.SignalNote || st.Signal == memoir.SignalJournal {
		spoken = append(spoken, st.Text)
	}
	for _, words := range spoken {
		s.words = append(s.words, folded(words))
	}
	whole := folded(strings.Join([]string{st.Text, st.Quote, st.Command, st.Error, st.Fix}, "\n"))
	s.stated = append(s.stated, whole)
	switch st.Kind {
	case memoir.StatementEnvironment:
	case memoir.StatementFailure:
		s.steps = append(s.steps, folded(st.Command), folded(st.Fix))
	default:
		s.steps = append(s.steps, whole)
	}
}

// backs reports whether sessions state what a line quotes and the commands that it names. script says that the whole
// line is a command, steps that a command must be one that was run or asked for.
func (s support) backs(line string, script, steps bool) bool {
	commands := s.stated
	if steps {
		commands = s.steps
	}
	line = html.UnescapeString(line)
	for _, command := range commandsIn(line, script) {
		if !holds(commands, command, s.gaps) {
			return false
		}
	}
	spoken, others := quotations(line)
	return script || !slices.ContainsFunc(spoken, func(words string) bool { return !holds(s.words, words, false) }) &&
		!slices.ContainsFunc(others, func(part string) bool { return !holds(s.stated, part, false) })
}

// backsIn is backs for a line below a heading of a memory. What people want and what is to be run was run or asked for.
// Below the headings of commands, a line without code is a command behind its purpose.
func (s support) backsIn(heading, line string) bool {
	commands := heading == headCommands || heading == headBuild
	words := Words(line)
	if commands && !strings.Contains(line, "`") {
		if _, command, ok := strings.Cut(words, ": "); ok {
			words = command
		}
		return s.backs(words, true, true)
	}
	return s.backs(words, false, commands || heading == headPreferences || heading == headWants)
}

// holds reports whether one of some texts has a part, in whole words. With gaps, other words may stand in place of its
// placeholders.
func holds(texts []string, part string, gaps bool) bool {
	parts := []string{part}
	if gaps {
		parts = strings.Split(placeholder.ReplaceAllString(part, "\x00"), "\x00")
	}
	for i, p := range parts {
		if p = folded(p); i > 0 {
			p = strings.TrimLeft(p, " ")
		}
		if i+1 < len(parts) {
			p = strings.TrimRight(p, " ")
		}
		parts[i] = p
	}
	return strings.TrimSpace(strings.Join(parts, "")) == "" || slices.ContainsFunc(texts, func(text string) bool {
		for _, p := range parts {
			_, rest, ok := strings.Cut(text, p)
			if text = rest; !ok {
				return false
			}
		}
		return true
	})
}

var placeholder = lazyregexp.New(`<[A-Za-z][\w -]*>|‹[A-Za-z][\w -]*›|\$\{?\w+\}?|…|\.\.\.|"\$@"`)

// textMarks are what a quotation may lack or have in another form.
var textMarks = strings.NewReplacer("`", " ", "*", "", "‹", "<", "›", ">", "‑", "-", "–", "-", "—", " ", "→", " ", "’", "'",
	"(", " ", ")", " ", "“", " ", "”", " ", `"`, " ", "‘", " ", "„", " ", "«", " ", "»", " ", "「", " ", "」", " ",
	"『", " ", "』", " ", "〝", " ", "〞", " ", "〟", " ", "＂", " ")

// folded returns a text in the form in which quotations are compared: memoir.Folded, without Markdown marks, quotation
// marks and the punctuation at the ends of words. A blank at each end keeps the first and the last word whole, except
// in scripts without blanks between words.
func folded(text string) string {
	words := strings.Fields(memoir.Folded(textMarks.Replace(text)))
	for i, w := range words {
		words[i] = strings.TrimRight(strings.TrimPrefix(strings.Trim(w, "'"), "..."), ".,;:!?")
	}
	runes := []rune(strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	const withoutBlanks = '\u2e80' // the scripts of East Asia begin here
	if len(runes) > 0 && runes[0] < withoutBlanks {
		runes = append([]rune{' '}, runes...)
	}
	if len(runes) > 0 && runes[len(runes)-1] < withoutBlanks {
		runes = append(runes, ' ')
	}
	return string(runes)
}

// otherWords match what a line has from elsewhere, besides “ ” and code: quotations of several words in other marks,
// addresses, options, and pipes into a shell.
var otherWords = lazyregexp.New(`„[^“”„]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|‘[^’]* [^’]*’|〝[^〞〟]*[〞〟]|＂[^＂]*＂` +
	`|\B"[^"]* [^"]*"|\B'[^']* [^']*'\B|https?://[^\s)\]>"”]+|(?:^|\s)--\w[\w-]*|\S+ *\| *(?:ba|z|da)?sh\b`)

// inCode are the marks that mean nothing in code.
var inCode = strings.NewReplacer("“", " ", "”", " ", `"`, " ", "'", " ", "‘", " ", "--", " ", "|", " ", "://", " ")

// quotations returns what stands in “ ” in a line, outside code, and otherWords. A quotation that is not closed ends
// with the line; one that is not opened begins with it.
func quotations(line string) (spoken, others []string) {
	var prose strings.Builder
	for part, code := range pieces(line) {
		if code {
			part = inCode.Replace(part)
		}
		prose.WriteString(part)
	}
	text := otherWords.ReplaceAllStringFunc(prose.String(), func(found string) string {
		others = append(others, found)
		return strings.Trim(found, "„“”")
	})
	depth, from := 0, 0
	for i, c := range text + "”" {
		switch c {
		case '“':
			if depth++; depth == 1 {
				from = i
			}
		case '”':
			last := i == len(text)
			if depth == 0 && last {
				continue
			}
			if depth = max(depth-1, 0); depth == 0 || last {
				spoken, from = append(spoken, text[from:i]), i
			}
		}
	}
	return spoken, others
}

// citedBy returns the keys of the sessions that the lines of a text cite.
func (r *renewal) citedBy(text string, lists map[string][]string) []string {
	keys := map[string]bool{}
	for l := range strings.Lines(text) {
		for _, e := range r.inputsOf(l, lists) {
			keys[e.key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}
