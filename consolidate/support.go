package consolidate

import (
	"html"
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/extract"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

// A support is what sessions state: the texts from which a line of a model may quote or name a command. Those of people
// are as sentences returns them, the others as folded does.
type support struct {
	words      []string       // people's words: what may stand in “ ”
	wishes     []memoir.Words // the sentences of preferences and tasks
	statements []string       // whole statements
	told       []string       // the same without code and people's words
	all        codes
	steps      codes // without environments and the output of failed commands
}

// codes are whole commands and other code, and prose that may have some.
type codes struct{ code, prose []string }

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

// stepsOf is supportOf for skills, which take from other members only what the person accepted in a review.
func (r *renewal) stepsOf(entries []entry) support {
	var theirs support
	dropped := map[string]bool{}
	for _, n := range r.edits {
		dropped[memoir.LineKey(memoir.WithoutTeam(memoir.LineText(n.Text)))] = n.Action == memoir.EditRemoved
	}
	own := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		s := r.by[e.key]
		if memoir.MemberOf(e.key) == "" || s == nil {
			return false
		}
		for _, st := range s.Extraction.Statements {
			if Accepted(r.in.Accepted, st) && !dropped[memoir.LineKey(LineOf(st))] {
				theirs.add(st)
			}
		}
		return true
	})
	all := r.supportOf(own)
	all.join(&theirs)
	return all
}

func (s *support) join(other *support) {
	s.words, s.statements = append(s.words, other.words...), append(s.statements, other.statements...)
	s.told, s.wishes = append(s.told, other.told...), append(s.wishes, other.wishes...)
	s.all.add(other.all.code, other.all.prose...)
	s.steps.add(other.steps.code, other.steps.prose...)
}

func (c *codes) add(code []string, prose ...string) {
	c.code, c.prose = append(c.code, code...), append(c.prose, prose...)
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
	kind := memoir.StatementPreference
	for line := range strings.Lines(text) {
		if isHeading(line) {
			if kind = ""; strings.TrimSpace(line) == headPreferences {
				kind = memoir.StatementPreference
			}
		}
		s.add(memoir.Statement{Kind: kind, Text: Words(line)})
	}
}

func (s *support) add(statements ...memoir.Statement) {
	for _, st := range statements {
		if st.Kind == memoir.StatementClaim {
			continue
		}
		words := append(spoken.FindAllString(st.Text, -1), st.Quote)
		if st.Kind == memoir.StatementPreference || st.Kind == memoir.StatementTask {
			for _, text := range append(words, st.Text) {
				s.wishes = append(s.wishes, wishesOf(text)...)
			}
		}
		if st.Signal == memoir.SignalNote || st.Signal == memoir.SignalJournal {
			words = append(words, st.Text)
		}
		for _, w := range words {
			s.words = append(s.words, sentences(w))
		}
		all := []string{st.Text, st.Quote, st.Command, st.Error, st.Fix}
		s.statements = append(s.statements, folded(strings.Join(all, "\n")))
		told := append(otherQuotes.FindAllString(strings.Map(markOf, st.Text), -1), st.Error)
		if st.By != memoir.ByPerson {
			told = append(told, spoken.ReplaceAllString(st.Text, " \x02 "))
		}
		s.told = append(s.told, folded(strings.Join(told, " \x02 ")))
		var prose strings.Builder
		ran, code := whole(st.Command, st.Fix), []string(nil)
		for part, isCode := range pieces(st.Text) {
			if isCode {
				code = append(code, whole(strings.Trim(part, "`"))...)
				part = " \x02 "
			}
			prose.WriteString(part)
		}
		s.all.add(append(code, ran...), folded(prose.String()+"\n"+st.Error))
		switch st.Kind {
		case memoir.StatementEnvironment:
		case memoir.StatementFailure:
			s.steps.add(ran)
		default:
			s.steps.add(append(code, ran...), folded(prose.String()))
		}
	}
}

// whole returns commands and the simple commands in each.
func whole(lines ...string) (out []string) {
	for _, line := range lines {
		for _, one := range append(extract.Simple(line), line) {
			if one = folded(one); one != "" {
				out = append(out, one)
			}
		}
	}
	return out
}

// have reports whether some commands are among the whole ones, or prose has them. "\x00" stands for any words. Options
// with their values and the directory of a path may be parts of one: alone they do nothing.
func (c codes) have(some ...string) bool {
	return !slices.ContainsFunc(some, func(one string) bool {
		parts := strings.Split(one, "\x00")
		first, last := folded(parts[0]), folded(parts[len(parts)-1])
		among := func(code string) bool {
			switch {
			case option.MatchString(one):
				return strings.Contains(code, first)
			case directory.MatchString(one):
				return strings.Contains(code, strings.TrimRight(first, " "))
			case len(parts) == 1:
				return code == first
			}
			return strings.HasPrefix(code, first) && strings.HasSuffix(code, last) && hold([]string{code}, parts...)
		}
		if len(parts) > 1 && first == "" {
			return true
		}
		return strings.TrimSpace(one) != "" && !hold(c.prose, parts...) && !slices.ContainsFunc(c.code, among)
	})
}

var (
	option    = lazyregexp.New(`^-{1,2}[A-Za-z][^\x00;&|]*$`)
	directory = lazyregexp.New(`^~?/[\w.-][\w./-]*/$`)
)

// backs reports whether sessions state what a line below a heading quotes, and the commands that it names. What people
// want and what is to be run was run or asked for; a line without code below a heading of commands is a command behind
// its purpose, as is a single word of code. An order is a wish, unless it was kept from the present memory.
func (s support) backs(heading, line string, kept bool) bool {
	wish := heading == headPreferences || prompts.Instructs(line)
	if wish && !kept && !s.wants(line) {
		return false
	}
	line = html.UnescapeString(Words(line))
	commands, known := commandsIn(line, false, false), s.all
	switch heading {
	case headCommands:
		known = s.steps
		if !strings.Contains(line, "`") {
			commands = append(commands, line[strings.Index(line, ": ")+1:])
		}
	case headPreferences:
		known = s.steps
	}
	return known.have(commands...) && s.quotes(line)
}

// unbacked reports whether the sessions of a line of MEMORY.md do not back it. A line that was there holds if one of
// its sessions was not selected.
func (r *renewal) unbacked(entries []entry, heading, line string, kept bool) bool {
	unknown := func(e entry) bool { return r.by[e.key] == nil }
	return !(kept && slices.ContainsFunc(entries, unknown)) && !r.supportOf(entries).backs(heading, line, kept)
}

// wants reports whether a line is a wish of a person, perhaps in another form: it or each of its sentences has the
// words of a person's statement or a sentence of it, each wanted or rejected as there.
func (s support) wants(line string) bool {
	parts := wishesOf(Words(line))
	unwanted := func(part memoir.Words) bool {
		return !slices.ContainsFunc(s.wishes, func(wish memoir.Words) bool { return slices.Equal(part, wish) })
	}
	return !unwanted(parts[0]) || !slices.ContainsFunc(parts[1:], unwanted)
}

// wishesOf returns the words of a text, and those of each of its sentences.
func wishesOf(text string) (all []memoir.Words) {
	for one := range strings.SplitSeq(text+"\x00"+sentenceEnd.ReplaceAllString(text, "\x00"), "\x00") {
		if words := memoir.WordsOf(one); len(words) > 0 || len(all) == 0 {
			all = append(all, words)
		}
	}
	return all
}

// backsStep is backs for a line of a skill; script says that the whole line is a command. Placeholders of a command,
// and what is joined to them, may be anything.
func (s support) backsStep(line string, script bool) bool {
	line = html.UnescapeString(line)
	for _, command := range commandsIn(line, script, true) {
		if !s.steps.have(placeholder.ReplaceAllString(command, "\x00")) {
			return false
		}
	}
	return script && !strings.HasPrefix(line, "#") || s.quotes(line)
}

var placeholder = lazyregexp.New(
	`[\w./=:@-]*(?:<[A-Za-z][\w -]*>|‹[A-Za-z][\w -]*›|\$\{?\w+\}?|…|\.\.\.|"\$@")[\w./=:@-]*`)

// otherQuotes match quotations in marks other than “ ”, in ASCII marks and single ones of several words. otherWords
// match what else a line has from elsewhere, besides code: addresses, options, absolute paths, pipes into a shell, and
// commands in prose.
var (
	otherQuotes = lazyregexp.New(`„[^“”„]*[“”]|＂[^＂]*＂|‚[^‘’]*[‘’]|‘[^’]* [^’]*’|’[^’]* [^’]*’\B|\B"[^"]* [^"]*"` +
		`|\B'[^']* [^']*'\B|[‹<]\pL[^‹›<>=]* [^‹›<>=]*[›>]|[‹<](?:q|blockquote|cite)\b[^›>]*[›>][^‹<]*`)
	otherWords = lazyregexp.New(`https?://[^\s)\]>"”]+|(?:^|\s)-{1,2}[A-Za-z][\w-]*|(?:^|\s)[~/][\w.-]*/[\w./-]+` +
		`|\S+ *\| *(?:ba|z|da)?sh\b|\b(?:sudo|doas) +\S+(?: +[\w@./-]+)?` +
		`|\b(?:npm|npx|pnpm|yarn|bunx?|pip3?|pipx|uvx?|cargo|apt(?:-get)?|brew|curl|wget|rm|chmod|ssh) +` +
		`(?:(?:install|add|run|exec|i) +)?[\w@./-]+` +
		`|\b(?:run|execute|call) +(?:make|go|just|task|git|docker|node|python3?|bash|sh) +[\w@./-]+`)
	verb     = lazyregexp.New(`^(?:run|execute|call) +`)
	pairs    = lazyregexp.New("``+|''+|,,+|´+|`")
	wordSpan = lazyregexp.New("^`+ ?[a-z][a-z0-9-]* ?`+$")
	inCode   = lazyregexp.New(`[“”"'‘’|<‹]|://`)
	inShell  = lazyregexp.New(`\s[-/~]+`)
)

// markOf returns ＂ for a quotation mark that neither is one of “ ” and ASCII's nor may be an apostrophe or a bracket.
func markOf(r rune) rune {
	if r > '~' && !strings.ContainsRune("“”„‘’‚‹›", r) && (unicode.Is(unicode.Quotation_Mark, r) ||
		'❛' <= r && r <= '❠' || '《' <= r && r <= '】' || '\U0001F676' <= r && r <= '\U0001F678') {
		return '＂'
	}
	return r
}

// quotes reports whether sessions have what stands in “ ” in a line as people's words, and its otherQuotes, otherWords
// and words of code. If the marks are not in pairs, that is the whole line.
func (s support) quotes(line string) bool {
	var prose, rest strings.Builder // rest: without options and paths in code, which are checked with their commands
	var others []string
	for part, code := range pieces(strings.Map(markOf, line)) {
		if !code {
			part = pairs.ReplaceAllString(part, "＂")
		} else if part = inCode.ReplaceAllString(part, " "); wordSpan.MatchString(part) {
			others = append(others, part)
		}
		prose.WriteString(part)
		if code {
			part = inShell.ReplaceAllString(part, " \x02")
		}
		rest.WriteString(part)
	}
	all := prose.String()
	text := otherQuotes.ReplaceAllStringFunc(all, func(found string) string { return strings.Trim(found, "„“”") })
	words := spoken.FindAllString(text, -1)
	if strings.ContainsAny(spoken.ReplaceAllString(text, ""), "“”") {
		words = []string{text}
	}
	for _, found := range otherWords.FindAllString(rest.String(), -1) {
		others = append(others, verb.ReplaceAllString(found, ""))
	}
	unsaid := func(quote string) bool { return !said(s.words, quote) }
	return !slices.ContainsFunc(words, unsaid) && hold(s.statements, others...) &&
		!slices.ContainsFunc(otherQuotes.FindAllString(all, -1), func(quote string) bool {
			return unsaid(quote) && !hold(s.told, quote)
		})
}

// sentenceEnd matches the end of a sentence, unless it is an abbreviation's or an ellipsis.
var sentenceEnd = lazyregexp.New(`[.!?]+["'”’»)\]]*(?:\s+|$)|[。！？]+|\n\s*`)

// sentences returns a text in the form in which people's words are compared: its sentences as folded returns them, each
// between two stops. A part of a sentence may say the reverse of it, so that only whole ones are quotations.
func sentences(text string) string {
	text = strings.Trim(text, "“” ")
	out, start := "\x01", 0
	for _, end := range append(sentenceEnd.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		one, stop := text[start:end[0]], text[end[0]:end[1]]
		last := one[strings.LastIndexAny(one, " \n")+1:]
		short := stop != "" && stop[0] == '.' && (len(last) < 2 || strings.Contains(last+stop[1:], "."))
		listed := strings.HasPrefix(stop, "\n") && one != "" && strings.ContainsAny(one[len(one)-1:], ":,;(-")
		if (short || listed) && end[1] < len(text) {
			continue
		}
		start = end[1]
		if one = folded(one); one != "" && strings.Contains(stop, "?") {
			one += "?"
		}
		if one != "" {
			out += one + "\x01"
		}
	}
	return out
}

// said reports whether a quotation is whole sentences of a person, perhaps but for an end that an ellipsis replaces:
// less than half of the last sentence, or behind the length at which memories are cut.
func said(words []string, quote string) bool {
	want, quote := sentences(quote), strings.TrimRight(quote, " ”\"'»’")
	bare := strings.TrimRight(quote, ".…")
	open := strings.HasPrefix(quote[len(bare):], "…") || strings.HasPrefix(quote[len(bare):], "...")
	begun := strings.TrimSuffix(sentences(bare), "\x01")
	kept := len(strings.Fields(begun[strings.LastIndex(begun, "\x01")+1:]))
	return want == "\x01" || slices.ContainsFunc(words, func(text string) bool {
		_, rest, found := strings.Cut(text, begun)
		rest, _, _ = strings.Cut(rest, "\x01")
		return strings.Contains(text, want) ||
			open && found && (len(begun) >= leastCut || kept > len(strings.Fields(rest)))
	})
}

const leastCut = 80 // bytes

// hold reports whether some texts have all of some parts, in whole words.
func hold(texts []string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool {
		part = folded(part)
		return part != "" && !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) })
	})
}

// textMarks are what a quotation may lack or have in another form.
var textMarks = strings.NewReplacer("`", " ", "*", "", "‹", "<", "›", ">", "‑", "-", "–", "-", "—", " ", "→", " ",
	"’", "'", "(", " ", ")", " ", "“", " ", "”", " ", `"`, " ", "‘", " ", "„", " ", "＂", " ")

// folded returns a text in the form in which quotations are compared: memoir.Folded, without marks and the punctuation
// at the ends of words. A blank at each end keeps the first and the last word whole, except in the scripts without
// blanks between words, those of East Asia.
func folded(text string) string {
	words := strings.Fields(memoir.Folded(textMarks.Replace(strings.Map(markOf, text))))
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
