package extract

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir"
	"memoir/prompts"
)

// copiedRun is how many words in a row, found in one text and not in another, tell that a
// statement was copied from the first.
const copiedRun = 5

// voices are the texts of a session by whose they are.
type voices struct {
	person, input, tool string // as words: what people wrote, what tools were given and what came back
	typed, done, said   string // as flat writes them: what people wrote; with what tools were given; with what agents said

	orders map[string]bool // words of the lines in which people wrote like an instruction to an agent
}

// voices tells apart what people wrote, what agents wrote, what was run, and what came back.
func (ev *evidence) voices() *voices {
	if ev.spoken != nil {
		return ev.spoken
	}
	var person, input, tool, agent strings.Builder
	for _, it := range ev.items {
		switch {
		case it.Origin.ByPerson():
			person.WriteString("\n" + it.Text)
			if it.Kind == memoir.ItemTool {
				person.WriteString("\n" + it.Input)
				tool.WriteString("\n" + it.Output)
			}
		case it.Kind == memoir.ItemTool:
			input.WriteString("\n" + it.Input)
			tool.WriteString("\n" + it.Output + "\n" + it.Text)
		case it.Origin == memoir.OriginInjected:
			tool.WriteString("\n" + it.Text)
		default:
			agent.WriteString("\n" + it.Text)
		}
	}
	v := &voices{
		person: spaced(person.String()), input: spaced(input.String()), tool: spaced(tool.String()),
		typed: flat(person.String()), orders: map[string]bool{},
	}
	v.done = v.typed + flat(input.String())
	v.said = v.done + flat(agent.String())
	for line := range strings.Lines(person.String()) {
		if prompts.Instructs(line) {
			maps.Copy(v.orders, contentWords(line))
		}
	}
	ev.spoken = v
	return v
}

// spaced writes the words of a text in lower case with one space before and behind each;
// of scripts without spaces each character is a word.
func spaced(text string) string {
	var b strings.Builder
	b.WriteByte(' ')
	gap := true
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r):
			alone := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
			if alone && !gap {
				b.WriteByte(' ')
			}
			b.WriteRune(unicode.ToLower(r))
			if gap = alone; alone {
				b.WriteByte(' ')
			}
		case r == '\'' || r == '’': // don't is one word
		case !gap:
			b.WriteByte(' ')
			gap = true
		}
	}
	if !gap {
		b.WriteByte(' ')
	}
	return b.String()
}

// putInMouth says what is wrong with a statement that gives one voice of a session the
// words of another; empty if nothing is. What a person wants stands in that person's
// words, what is to be run was run or was said by one who takes part, and what only a
// tool, a file or a page said is no rule and no instruction.
func (ev *evidence) putInMouth(st memoir.Statement) string {
	v := ev.voices()
	if st.Kind == memoir.StatementPreference {
		if why := ev.notWished(st); why != "" {
			return why
		}
	}
	rule := st.Kind == memoir.StatementPreference || lasting(st.Text) || prompts.Instructs(st.Text)
	if rule && copies(spaced(st.Text), v) {
		return "makes a rule of what only a tool or a page said"
	}
	if prompts.Instructs(st.Text) && !ev.gaveInstruction(st.Text) {
		return "is an instruction that no person gave"
	}
	told := "" // where what is to be run must stand
	switch st.Kind {
	case memoir.StatementCommand, memoir.StatementProcedure:
		told = v.done
	case memoir.StatementPreference, memoir.StatementTask: // agents propose, people agree
		told = v.said
	default:
		return ""
	}
	for _, l := range verbatims(copied(st)) {
		if !l.quoted && strings.Contains(l.text, " ") &&
			!ev.found(l, func(part string) bool { return strings.Contains(told, part) }) {
			return "tells to run what nobody ran and only a tool or a page said"
		}
	}
	return ""
}

// notWished says why a statement is no wish of the person; empty if it is one.
func (ev *evidence) notWished(st memoir.Statement) string {
	v := ev.voices()
	near := ev.around(st.Items)
	if !slices.ContainsFunc(near, func(i int) bool { return ev.items[i].Origin.ByPerson() }) {
		return "is no wish of the person: cite the item in which they say so"
	}
	for _, l := range verbatims(st.Text) {
		if l.quoted && !ev.found(l, func(part string) bool { return strings.Contains(v.typed, part) }) {
			return "quotes as the person's what they did not write"
		}
	}
	return ""
}

// gaveInstruction reports whether a person wrote, in words like those of a text, what reads
// as an instruction to the agent: they may.
func (ev *evidence) gaveInstruction(text string) bool {
	said, want := ev.voices().orders, contentWords(text)
	return len(want) > 0 && 2*held(want, said) >= len(want)
}

// copies reports whether some words in a row stand in what tools returned, and neither in
// what people wrote nor in what tools were given: that an agent repeats it makes it nobody else's.
func copies(text string, v *voices) bool {
	words := strings.Fields(text)
	for i := 0; i+copiedRun <= len(words); i++ {
		row := " " + strings.Join(words[i:i+copiedRun], " ") + " "
		if strings.Contains(v.tool, row) && !strings.Contains(v.person, row) && !strings.Contains(v.input, row) {
			return true
		}
	}
	return false
}

// A verbatim is a part of a statement that must be copied from the session: what
// stands in a code span or in quotation marks, and flags, paths and addresses
// outside of them.
type verbatim struct {
	text   string
	quoted bool // somebody's words rather than code
}

// closers are the ends of quotations by their beginnings.
var closers = map[rune]string{'“': "”", '„': "“”", '«': "»", '「': "」", '『': "』", '"': `"`}

// literals finds the literals of a line of Markdown.
func verbatims(line string) []verbatim {
	var out []verbatim
	var prose strings.Builder
	last := ' '
	for i := 0; i < len(line); {
		if line[i] == '`' {
			marks := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			if end := strings.Index(line[i+marks:], line[i:i+marks]); end >= 0 {
				out = append(out, verbatim{text: strings.TrimSpace(line[i+marks : i+marks+end])})
				prose.WriteByte(' ')
				i += 2*marks + end
				last = '`'
				continue
			}
			i += marks
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if ends, ok := closers[r]; ok && (r != '"' || !unicode.IsLetter(last) && !unicode.IsDigit(last)) {
			rest := line[i+size:]
			if end := strings.IndexAny(rest, ends); end >= 0 {
				_, width := utf8.DecodeRuneInString(rest[end:])
				out = append(out, verbatim{strings.Trim(rest[:end], " .,;:!?"), true})
				prose.WriteByte(' ')
				i += size + end + width
				last = r
				continue
			}
		}
		prose.WriteString(line[i : i+size])
		last = r
		i += size
	}
	for word := range strings.FieldsSeq(prose.String()) {
		if word = strings.Trim(word, "()[]{}<>*_.,;:!?'‘’"); bareLiteral(word) {
			out = append(out, verbatim{text: word})
		}
	}
	return out
}

var (
	bareFlag = newPattern(`^--[A-Za-z][\w-]*(=.*)?$`)
	barePath = newPattern(`^(~|\.{1,2})?(/[\w.@+-]+){2,}/?$` +
		`|^[\w.@+-]+(/[\w.@+-]+)*/[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,4}(:\d+)?$|^https?://.`)
)

// bareLiteral reports whether a word of prose is a flag, a path or an address.
func bareLiteral(word string) bool {
	switch {
	case strings.HasPrefix(word, "--"):
		return bareFlag.MatchString(word)
	case strings.Contains(word, "/"):
		return barePath.MatchString(word)
	}
	return false
}
