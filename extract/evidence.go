package extract

import (
	"fmt"
	"maps"
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
	at    map[int]int  // index by number
	cited map[int]bool // the items that may be cited; nil: all
	roots []string     // directories that a path may be told from
	facts looseText    // what was shown of the session besides its items
	texts []looseText  // of the items; made when asked for
	whole looseText    // all of them

	spoken *voices // made when asked for
}

// looseText is a text as loose writes it.
type looseText struct{ as, lower string }

func newLooseText(text string) looseText { return looseText{text, strings.ToLower(text)} }

func newEvidence(s memoir.Session, items []memoir.Item) *evidence {
	ev := &evidence{items: items, at: make(map[int]int, len(items)), texts: make([]looseText, len(items))}
	ev.facts = newLooseText(loose(strings.Join([]string{s.CWD, s.Branch, s.ID, string(s.Source)}, "\n")) + "\x00")
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

// evidenceOf is what bears out an answer to what a model was shown. Where some of the session
// was read before, that are also the items of then: what is known of them was copied
// from there. Cited may be those that it was shown, and those that were cited then.
func evidenceOf(in Input, s shown, known *earlier) *evidence {
	if known == nil {
		return newEvidence(in.Session, s.items)
	}
	fresh := s.items[s.again:]
	before := in.Items[:len(in.Items)-len(after(in.Items, known.since))]
	ev := newEvidence(in.Session, slices.Concat(before, fresh))
	ev.cited = maps.Clone(known.cited)
	for _, it := range s.items {
		ev.cited[it.N] = true
	}
	return ev
}

// shows reports whether an item was shown, or may be cited as if it were.
func (ev *evidence) shows(n int) bool {
	_, ok := ev.at[n]
	return ok && (ev.cited == nil || ev.cited[n])
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
// empty if there is none. A part is borne out by the items that are cited, those next to
// them and between them, and by what the agent said in answer to a person's words that are. Where
// one part is, the others may also stand further up: citations name the items that matter most.
func (ev *evidence) strange(st memoir.Statement) string {
	all := verbatims(copied(st))
	if len(all) > maxVerbatims {
		return all[maxVerbatims].text
	}
	near, upTo := ev.around(st.Items)
	anchored := false
	var far []verbatim
	for _, l := range all {
		in := func(part string) bool {
			return slices.ContainsFunc(near, func(i int) bool { return ev.textOf(i).holds(part, l.quoted) })
		}
		if st.Kind == memoir.StatementProcedure &&
			slices.ContainsFunc(near, func(i int) bool { return inOrder(l.text, ev.items[i].Input) }) {
			anchored = true
			continue
		}
		switch {
		case ev.found(l, in):
			anchored = true
		case !ev.found(l, func(part string) bool { return ev.facts.holds(part, l.quoted) || in(part) }):
			far = append(far, l)
		}
	}
	for _, l := range far {
		if !anchored || !ev.found(l, func(part string) bool {
			for i := range upTo {
				if ev.textOf(i).holds(part, l.quoted) {
					return true
				}
			}
			return ev.facts.holds(part, l.quoted)
		}) {
			return l.text
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

// inOrder reports whether the words of a step are those of a call, in their order: a
// procedure leaves out what the call was pointed at.
func inOrder(step, input string) bool {
	words := strings.Fields(step)
	if len(words) < 2 || len(words) > 12 {
		return false
	}
	for word := range strings.FieldsSeq(input) {
		if len(words) > 0 && word == words[0] {
			words = words[1:]
		}
	}
	return len(words) == 0
}

// around lists the items by which a statement that cites some is borne out, as indices in
// order, and tells the end of what a person could have read when the last of them
// was written.
func (ev *evidence) around(cited []int) (near []int, upTo int) {
	for _, n := range cited {
		i := ev.at[n]
		near = append(near, i-1, i, i+1)
		if ev.items[i].Origin.ByPerson() {
			for j := i + 1; j < len(ev.items) && !ev.items[j].Origin.ByPerson(); j++ {
				if ev.items[j].Kind == memoir.ItemMessage {
					near = append(near, j)
				}
			}
		}
	}
	if len(cited) > 1 {
		for i := ev.at[slices.Min(cited)]; i < ev.at[slices.Max(cited)]; i++ {
			near = append(near, i)
		}
	}
	slices.Sort(near)
	near = slices.DeleteFunc(slices.Compact(near), func(i int) bool { return i < 0 || i >= len(ev.items) })
	if len(near) > 0 {
		upTo = near[len(near)-1] + 1
	}
	return near, upTo
}

// strangeAnywhere reports whether a line has a verbatim part that no item has.
func (ev *evidence) strangeAnywhere(line string) bool {
	all := verbatims(line)
	if len(all) == 0 {
		return false
	}
	if ev.whole.as == "" {
		var b strings.Builder
		b.WriteString(ev.facts.as)
		for i := range ev.items {
			b.WriteString(ev.textOf(i).as)
		}
		ev.whole = newLooseText(b.String())
	}
	return len(all) > maxVerbatims || slices.ContainsFunc(all, func(l verbatim) bool {
		return !ev.found(l, func(part string) bool { return ev.whole.holds(part, l.quoted) })
	})
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
		gaps := leftOut.ReplaceAllString(form, "\x00")
		if l.quoted {
			gaps = strings.NewReplacer("; ", "\x00", " — ", "\x00").Replace(gaps) // where lines were joined
		}
		parts := strings.Split(gaps, "\x00")
		longest := slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) })
		if len(parts) > 1 && len(strings.TrimSpace(longest)) >= minPart &&
			!slices.ContainsFunc(parts, func(p string) bool { return !in(loose(p)) }) {
			return true
		}
	}
	return false
}

// listMarks begin the lines of a list or of a quotation, which one that quotes it leaves out.
var listMarks = newPattern(`(?m)^[ \t]*(?:(?:[-*+•>]|\d{1,3}[.)])[ \t]+)+`)

// leftOut is what stands for something else: an ellipsis, <name>, N for a number, and what
// is written in the place of a secret.
var leftOut = newPattern(`\[REDACTED:[\w-]*\]|\[?(?:…|\.\.\.)\]?|<[A-Za-z][\w -]*>|\bN\b`)

// minPart is how many bytes the longest part of a shortened quotation has at least.
const minPart = 4

// holds reports whether a loose text holds another; words may be written in other case.
func (t looseText) holds(part string, words bool) bool {
	return strings.Contains(t.as, part) || words && strings.Contains(t.lower, strings.ToLower(part))
}

// textOf is what an item says, loosely: as it stands, and as JSON in it means it.
func (ev *evidence) textOf(i int) looseText {
	if ev.texts[i].as == "" {
		it := ev.items[i]
		text := strings.Join([]string{it.Text, it.Tool, it.Input, it.Output, it.CWD, it.Branch}, "\n")
		if it.Exit != nil {
			text += fmt.Sprintf("\nexit %d\x00exit code %[1]d\x00exit status %[1]d", *it.Exit)
		}
		flat := loose(text) + "\x00" // which no part holds
		if strings.Contains(text, `\`) {
			text = unescape.Replace(text)
			flat += loose(text) + "\x00"
		}
		if listMarks.MatchString(text) {
			flat += loose(listMarks.ReplaceAllString(text, "")) + "\x00"
		}
		ev.texts[i] = newLooseText(flat)
	}
	return ev.texts[i]
}

var unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`, `\\`, `\`, `\/`, `/`, `\u003c`, "<",
	`\u003e`, ">", `\u0026`, "&")

// loose drops the space of a text with Markdown's marks, and levels what typographers
// write in another way, and those who make text safe to show.
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
		return r
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
