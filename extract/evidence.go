package extract

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"memoir"
)

// maxVerbatims is how many verbatim parts of a statement are looked for; one with more is
// not believed.
const maxVerbatims = 24

// evidence is the session that a model was shown, as its statements are held against it.
type evidence struct {
	items []memoir.Item
	at    map[int]int // index by number
	roots []string    // directories that a path may be told from
	facts string      // what was shown of the session besides its items, as loose writes it
	texts []string    // of the items, as loose writes them; made when asked for
	whole string      // all of them; made when asked for

	spoken *voices // made when asked for
}

func newEvidence(s memoir.Session, items []memoir.Item) *evidence {
	ev := &evidence{items: items, at: make(map[int]int, len(items)), texts: make([]string, len(items))}
	ev.facts = loose(strings.Join([]string{s.CWD, s.Branch, s.ID, string(s.Source)}, "\n")) + "\x00"
	for i, it := range items {
		ev.at[it.N] = i
		if it.CWD != "" && !slices.Contains(ev.roots, it.CWD) && len(ev.roots) < 16 {
			ev.roots = append(ev.roots, it.CWD)
		}
	}
	if s.CWD != "" && !slices.Contains(ev.roots, s.CWD) {
		ev.roots = append(ev.roots, s.CWD)
	}
	return ev
}

// shows reports whether an item was shown.
func (ev *evidence) shows(n int) bool {
	_, ok := ev.at[n]
	return ok
}

// missing is the first of some items that was not shown, 0 if all were.
func (ev *evidence) missing(items []int) int {
	for _, n := range items {
		if !ev.shows(n) {
			return n
		}
	}
	return 0
}

// strange is the first verbatim part of a statement that the session does not bear out,
// empty if there is none. A command, and what a person is quoted with, stands in the items
// that are cited, next to them or between them. A name may stand anywhere in the session.
func (ev *evidence) strange(st memoir.Statement) string {
	all := verbatims(copied(st))
	if len(all) > maxVerbatims {
		return all[maxVerbatims].text
	}
	near := ev.around(st.Items)
	nearby := func(part string) bool {
		return strings.Contains(ev.facts, part) ||
			slices.ContainsFunc(near, func(i int) bool { return strings.Contains(ev.textOf(i), part) })
	}
	for _, v := range all {
		in := ev.anywhere
		if v.quoted || strings.Contains(v.text, " ") {
			in = nearby
		}
		if !ev.found(v, in) {
			return v.text
		}
	}
	return ""
}

// copied is the text of a statement in which verbatim parts are looked for. The name that
// begins a procedure is no quotation.
func copied(st memoir.Statement) string {
	if st.Kind == memoir.StatementProcedure && strings.HasPrefix(st.Text, "“") {
		if _, steps, ok := strings.Cut(st.Text, "”:"); ok {
			return steps
		}
	}
	return st.Text
}

// unnamed reports whether a statement of what can be copied from a session copies nothing
// of it: a command, a file or a procedure that no verbatim part names could be anyone's.
func unnamed(st memoir.Statement) bool {
	switch st.Kind {
	case memoir.StatementCommand, memoir.StatementFile, memoir.StatementProcedure:
		return len(verbatims(copied(st))) == 0
	}
	return false
}

// around lists the items by which a statement that cites some is borne out, as indices.
func (ev *evidence) around(cited []int) (near []int) {
	if len(cited) == 0 {
		return nil
	}
	from, to := ev.at[slices.Min(cited)], ev.at[slices.Max(cited)]
	for i := max(from-1, 0); i <= min(to+1, len(ev.items)-1); i++ {
		near = append(near, i)
	}
	// what the agent said in answer to a person's words
	if ev.items[to].Origin.ByPerson() {
		for i := to + 2; i < len(ev.items) && !ev.items[i].Origin.ByPerson(); i++ {
			if ev.items[i].Kind == memoir.ItemMessage {
				near = append(near, i)
			}
		}
	}
	return near
}

// strangeAnywhere reports whether a line has a verbatim part that no item has.
func (ev *evidence) strangeAnywhere(line string) bool {
	all := verbatims(line)
	return len(all) > maxVerbatims ||
		slices.ContainsFunc(all, func(v verbatim) bool { return !ev.found(v, ev.anywhere) })
}

// anywhere reports whether a part, as loose writes it, stands in the session.
func (ev *evidence) anywhere(part string) bool {
	if ev.whole == "" {
		var b strings.Builder
		b.WriteString(ev.facts)
		for i := range ev.items {
			b.WriteString(ev.textOf(i))
		}
		ev.whole = b.String()
	}
	return strings.Contains(ev.whole, part)
}

var trailingLine = newPattern(`(:\d+)+$`)

// found reports whether a verbatim part is in a text: as it stands; in parts, where it
// leaves something out; without the directory that it begins with; without the line
// number that it ends with.
func (ev *evidence) found(l verbatim, in func(part string) bool) bool {
	forms := []string{l.text}
	if !l.quoted {
		if short := local(l.text, ev.roots...); short != l.text {
			forms = append(forms, short)
		}
		if bare := trailingLine.ReplaceAllString(l.text, ""); bare != l.text {
			forms = append(forms, bare)
		}
	}
	for _, form := range forms {
		if in(loose(form)) {
			return true
		}
		parts := strings.Split(leftOut.ReplaceAllString(form, "\x00"), "\x00")
		longest := slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) })
		if len(parts) > 1 && len(strings.TrimSpace(longest)) >= minPart &&
			!slices.ContainsFunc(parts, func(p string) bool { return !in(loose(p)) }) {
			return true
		}
	}
	return false
}

// leftOut is what stands for something else: an ellipsis, <name>, N for a number, and what
// is written in the place of a secret.
var leftOut = newPattern(`\[REDACTED:[\w-]*\]|\[?(?:…|\.\.\.)\]?|<[A-Za-z][\w -]*>|\bN\b`)

// minPart is how many bytes the longest part of a shortened quotation has at least.
const minPart = 4

// textOf is what an item says, loosely: as it stands, and as JSON in it means it.
func (ev *evidence) textOf(i int) string {
	if ev.texts[i] == "" {
		it := ev.items[i]
		text := strings.Join([]string{it.Text, it.Tool, it.Input, it.Output, it.CWD, it.Branch}, "\n")
		if it.Exit != nil {
			text += fmt.Sprintf("\nexit %d\x00exit code %[1]d\x00exit status %[1]d", *it.Exit)
		}
		ev.texts[i] = flat(text)
	}
	return ev.texts[i]
}

// lineMarks begin the lines of a list, a quotation or a patch, which one that quotes it leaves out.
var lineMarks = newPattern(`(?m)^[ \t]*(?:(?:[-*+•>]|\d{1,3}[.)])[ \t]+)+`)

// flat is loose of a text as it stands, with the escapes of JSON undone, and without marks of lines.
func flat(text string) string {
	out := loose(text) + "\x00" // which no part holds
	if strings.Contains(text, `\`) {
		text = unescape.Replace(text)
		out += loose(text) + "\x00"
	}
	if lineMarks.MatchString(text) {
		out += loose(lineMarks.ReplaceAllString(text, "")) + "\x00"
	}
	return out
}

var unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`, `\\`, `\`, `\/`, `/`, `\u003c`, "<",
	`\u003e`, ">", `\u0026`, "&")

// loose drops the space of a text with Markdown's marks and the case of its letters, and
// levels what typographers write in another way, and those who make text safe to show.
func loose(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.Is(unicode.Cf, r), r == '`', r == '*':
			return -1
		case r == '“', r == '”', r == '„', r == '«', r == '»':
			return '"'
		case r == '‘', r == '’':
			return '\''
		case r == '–', r == '—', r == '‑', r == '−':
			return '-'
		case r == '‹':
			return '<'
		case r == '›':
			return '>'
		}
		return unicode.ToLower(r)
	}, text)
	return strings.ReplaceAll(text, "&lt;", "<")
}

var citation = newPattern(`\s?\[\d[\d ,;–-]*\]`)

// withoutMissing takes the citations out of a line that name an item which was not shown.
func (ev *evidence) withoutMissing(line string) string {
	return citation.ReplaceAllStringFunc(line, func(cited string) string {
		numbers := citedNumbers(strings.Trim(cited, " []"), ev.shows)
		if numbers == nil || ev.missing(numbers) > 0 {
			return ""
		}
		return cited
	})
}
