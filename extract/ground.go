package extract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

const (
	maxVerbatims  = 24 // verbatim parts of a statement; one with more is rejected
	minPart       = 4  // least bytes of the longest part of a shortened quotation
	maxCitedItems = 32 // items that a statement cites
	maxRange      = 64 // items of a range such as 12-20
	copied        = 20 // bytes in one text, but not in another, that count as copied
)

// evidence is the session that a model was shown, prepared to check its statements.
type evidence struct {
	items []reading
	at    map[int]int // index by number
	texts []string    // of the items, normalised by loose
	whole string      // of the whole session, also of what was not shown

	tool, typed  string       // shown tool results; people's texts
	done, spoken string       // typed and the executed commands; done and the agent's words
	orders       memoir.Words // words of people's lines that read like an instruction to an agent
}

func newEvidence(a *inquiry, items []reading) *evidence {
	ev := &evidence{items: items, at: make(map[int]int, len(items))}
	var whole, person, input, tool, agent strings.Builder
	s := a.session
	whole.WriteString(strings.Join([]string{s.CWD, s.Branch, s.ID, string(s.Source)}, "\n"))
	for i, it := range items {
		for _, n := range append(it.same, it.N) {
			ev.at[n] = i
		}
		ev.texts = append(ev.texts, loose(textOf(it.Item)))
		if it.Kind == memoir.ItemTool || it.Origin == memoir.OriginInjected {
			tool.WriteString("\n" + it.Output + "\n" + it.Text)
		}
	}
	for _, it := range a.all {
		whole.WriteString(textOf(it))
		switch {
		case it.Origin.ByPerson():
			person.WriteString("\n" + it.Text + "\n" + it.Input)
		case it.Shell(): // search patterns and file contents are not executed
			input.WriteString("\n" + it.Input)
		case it.Kind != memoir.ItemTool && it.Origin != memoir.OriginInjected:
			agent.WriteString("\n" + it.Text)
		}
	}
	ev.whole = loose(whole.String()) + strings.Join(ev.texts, "")
	ev.tool, ev.typed = loose(tool.String()), loose(person.String())
	ev.done = ev.typed + loose(input.String())
	ev.spoken = ev.done + loose(agent.String())
	for line := range strings.Lines(person.String()) {
		if prompts.Instructs(line) {
			ev.orders = append(ev.orders, memoir.WordsOf(line)...)
		}
	}
	slices.Sort(ev.orders)
	return ev
}

func textOf(it memoir.Item) string {
	text := strings.Join([]string{it.Text, it.Tool, it.Input, it.Output, it.CWD, it.Branch}, "\n")
	if it.Exit != nil {
		text += fmt.Sprintf("\nexit %d\x00exit code %[1]d\x00exit status %[1]d", *it.Exit)
	}
	return text + "\n"
}

// shown returns those of some items that were shown; an item equal to one that was shown counts as that one.
func (ev *evidence) shown(items []int) (out []int) {
	for _, n := range items {
		if i, ok := ev.at[n]; ok && !slices.Contains(out, ev.items[i].N) {
			out = append(out, ev.items[i].N)
		}
	}
	slices.Sort(out)
	return out
}

// around returns the range of indices from the item before the first cited one to the item after the last.
func (ev *evidence) around(cited []int) (from, to int) {
	return max(ev.at[slices.Min(cited)]-1, 0), min(ev.at[slices.Max(cited)]+2, len(ev.items))
}

// unsupported returns the first verbatim part of a statement that the session does not have; empty if it has all.
// Quotations must be in the cited items, next to them or between them. Names and commands may be anywhere in the
// session, if one part of a statement with a command is near.
func (ev *evidence) unsupported(st memoir.Statement) string {
	all := verbatims(st)
	if len(all) > maxVerbatims {
		return all[maxVerbatims].text
	}
	from, to := ev.around(st.Items)
	near := strings.Join(ev.texts[from:to], "")
	anchored := slices.ContainsFunc(all, func(v verbatim) bool { return v.in(near) })
	for _, v := range all {
		if command := strings.Contains(v.text, " "); !v.in(near) && (v.quoted || command && !anchored || !v.in(ev.whole)) {
			return v.text
		}
	}
	return ""
}

// unnamed reports whether a statement about a command, a file or a procedure has no verbatim
// part: it could be about any session.
func unnamed(st memoir.Statement) bool {
	switch st.Kind {
	case memoir.StatementCommand, memoir.StatementFile, memoir.StatementProcedure:
		return !slices.ContainsFunc(verbatims(st), func(v verbatim) bool { return loose(v.text) != "" })
	}
	return false
}

// misattributed returns the fault of a statement that attributes words to the wrong author; empty if it has none. A
// preference must cite words of the person and quote no others. A command must have been run, or written by the person
// or the agent. Text that only a tool, a file or a page had cannot be a rule or an instruction.
func (ev *evidence) misattributed(st memoir.Statement) string {
	wish, orders := st.Kind == memoir.StatementPreference, prompts.Instructs(st.Text)
	from, to := ev.around(st.Items)
	switch {
	case wish && !slices.ContainsFunc(ev.items[from:to], func(it reading) bool { return it.Origin.ByPerson() }):
		return "is not a wish of the person: cite the item in which they say it"
	case (wish || orders || lasting(st.Text)) && ev.copies(st.Text):
		return "makes a rule of words that only a tool or a page said"
	case orders && !ev.gaveInstruction(st.Text):
		return "is an instruction that no person gave"
	}
	allowed := "" // the text that commands must be in
	switch st.Kind {
	case memoir.StatementCommand, memoir.StatementProcedure:
		allowed = ev.done
	case memoir.StatementPreference, memoir.StatementTask: // agents propose, people agree
		allowed = ev.spoken
	default:
		return ""
	}
	for _, v := range verbatims(st) {
		switch {
		case wish && v.quoted && !ev.spoke(v.text, from, to):
			return "quotes the person with words that they did not write"
		case !v.quoted && strings.Contains(v.text, " ") && !v.in(allowed):
			return "names a command that nobody ran and only a tool or a page mentioned"
		}
	}
	return ""
}

// spoke reports whether a person said a text in one of the items in a range.
func (ev *evidence) spoke(text string, from, to int) bool {
	return slices.ContainsFunc(ev.items[from:to], func(it reading) bool {
		return it.Origin.ByPerson() && strings.Contains(loose(it.Text+"\n"+it.Input), loose(text))
	})
}

// attributed returns a text with straight quotes in place of “ ” around what no person said in a range of items.
func (ev *evidence) attributed(text string, from, to int) string {
	return quotation.ReplaceAllStringFunc(text, func(quoted string) string {
		if words := strings.Trim(quoted, "“”"); ev.spoke(strings.Trim(words, " .,;:!?"), from, to) {
			return quoted
		}
		return straight.Replace(quoted)
	})
}

// gaveInstruction reports whether a person wrote an instruction to the agent in words like those of a text.
func (ev *evidence) gaveInstruction(text string) bool {
	want := memoir.WordsOf(text)
	return len(want) > 0 && 2*want.Shared(ev.orders) >= len(want)
}

// copies reports whether a part of a text is in tool results, but neither in people's texts
// nor in an executed command. The agent's texts don't count, since it may repeat a result.
func (ev *evidence) copies(text string) bool {
	text = loose(text)
	for i := 0; i+copied <= len(text); i++ {
		if part := text[i : i+copied]; strings.Contains(ev.tool, part) && !strings.Contains(ev.done, part) {
			return true
		}
	}
	return false
}

// A verbatim is a part of a statement that must be copied from the session: a code span or text in quotation marks.
type verbatim struct {
	text   string
	quoted bool // words rather than code
}

var spans = lazyregexp.New("``+[^`]+``+|`[^`]*`|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|" + `\B"[^"]*"`)

// verbatims finds the verbatim parts of a statement, without the quoted name of a procedure.
func verbatims(st memoir.Statement) []verbatim {
	text := st.Text
	if st.Kind == memoir.StatementProcedure && strings.HasPrefix(text, "“") {
		if _, steps, ok := strings.Cut(text, "”:"); ok {
			text = steps
		}
	}
	var out []verbatim
	for _, span := range spans.FindAllString(text, -1) {
		if span[0] == '`' {
			out = append(out, verbatim{text: strings.Trim(span, "` ")})
		} else {
			out = append(out, verbatim{strings.Trim(span, "“”„«»「」『』\" .,;:!?"), true})
		}
	}
	return out
}

// leftOut matches the marks of omitted text: an ellipsis and the mark of a redacted secret.
var leftOut = lazyregexp.New(`\[REDACTED:[\w-]*\]|\[?(?:…|\.\.\.)\]?`)

// in reports whether a text normalised by loose has a verbatim part: the whole of it, or the
// parts between its omissions.
func (v verbatim) in(text string) bool {
	if strings.Contains(text, loose(v.text)) {
		return true
	}
	longest := 0
	for part := range strings.SplitSeq(leftOut.ReplaceAllString(v.text, "\x00"), "\x00") {
		if !strings.Contains(text, loose(part)) {
			return false
		}
		longest = max(longest, len(strings.TrimSpace(part)))
	}
	return longest >= minPart
}

var unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`, `\\`, `\`, `\/`, `/`, `\u003c`, "<",
	`\u003e`, ">", `\u0026`, "&", "&lt;", "<", "\n+", "\n")

// loose normalises a text for comparison. It drops JSON escapes, the marks of added lines, space, Markdown's marks and
// the case of letters. It unifies quotation marks, apostrophes, dashes and the brackets that clean writes.
func loose(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == '`', r == '*':
			return -1
		case r < unicode.MaxASCII: // most are
		case unicode.Is(unicode.Cf, r):
			return -1
		case strings.ContainsRune("“”„«»", r):
			return '"'
		case r == '‘', r == '’':
			return '\''
		case unicode.Is(unicode.Pd, r), r == '−':
			return '-'
		case r == '‹':
			return '<'
		case r == '›':
			return '>'
		}
		return unicode.ToLower(r)
	}, unescape.Replace(text))
}

var (
	bulletMark = lazyregexp.New(`^(?:[-*+•–・]|\d{1,3}[.)])[\s\p{Zs}]+`)
	citations  = lazyregexp.New(`(?:\s*\[[\s\d#,;–-]+\][\s.;,]*)+$`)
	citation   = lazyregexp.New(`\[\d[\d ,;–-]*\]`)
	numbers    = lazyregexp.New(`(\d+)(?:[–-](\d+))?`)
)

// readStatements reads the raw memory that a model wrote. It is more tolerant than
// memoir.ParseStatements: it accepts other bullets, heading levels and forms of citations, and
// statements of several lines. It counts cited statements under an unknown heading in unplaced.
func (ev *evidence) readStatements(markdown string) (out []memoir.Statement, unplaced int) {
	var kind memoir.StatementKind
	open := "" // the current statement
	flush := func() {
		st := memoir.Statement{Kind: kind, Text: strings.Join(strings.Fields(open), " ")}
		if at := citations.FindStringIndex(st.Text); at != nil {
			if st.Items = ev.cited(st.Text[at[0]:]); st.Items != nil {
				st.Text = strings.TrimSpace(st.Text[:at[0]])
			}
		}
		switch open = ""; {
		case st.Text == "":
		case kind != "":
			out = append(out, st)
		case len(st.Items) > 0:
			unplaced++
		}
	}
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "#"); ok {
			flush()
			name = strings.Trim(name, "#*: ")
			i := slices.IndexFunc(memoir.StatementKinds, func(k memoir.StatementKind) bool {
				return strings.EqualFold(name, string(k))
			})
			if kind = ""; i >= 0 {
				kind = memoir.StatementKinds[i]
			}
		} else if mark := bulletMark.FindString(line); mark != "" {
			flush()
			open = line[len(mark):]
		} else if line == "" || strings.HasPrefix(line, "```") {
			flush()
		} else if open != "" {
			open += " " + line
		}
	}
	flush()
	return out, unplaced
}

// cited returns the items that citations name: of a range, its ends and the existing items
// between them. It returns nil if they name no item or an invalid range.
func (ev *evidence) cited(text string) []int {
	var out []int
	for _, m := range numbers.FindAllStringSubmatch(text, 4*maxRange) {
		from, err := strconv.Atoi(m[1])
		to := from
		if m[2] != "" && err == nil {
			to, err = strconv.Atoi(m[2])
		}
		if err != nil || from < 1 || to < from || to-from > maxRange {
			return nil
		}
		for n := from; n <= to; n++ {
			if _, ok := ev.at[n]; ok || n == from || n == to {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxCitedItems)]
}
