package extract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/prompts"
)

const (
	maxVerbatims = 24 // verbatim parts of a statement that are looked for; one with more is not believed
	minPart      = 4  // bytes that the longest part of a shortened quotation has at least
	copiedRun    = 5  // words in a row, found in one text and not in another, that tell that they were copied
)

// evidence is the session that a model was shown, as its statements are held against it.
type evidence struct {
	items []memoir.Item
	at    map[int]int // index by number
	roots []string    // directories that a path may be told from
	facts string      // what was shown of the session besides its items, as loose writes it
	texts []string    // of the items, as flat writes them
	whole string      // all of these

	ours, tool string          // as words: what people wrote and tools were given; what tools returned
	typed      string          // what people wrote, as flat writes it
	done, said string          // this with what tools were given; that with the agent's words
	orders     map[string]bool // words of the lines in which people wrote like an instruction to an agent
}

func newEvidence(s memoir.Session, items []memoir.Item) *evidence {
	ev := &evidence{items: items, at: make(map[int]int, len(items)), orders: map[string]bool{}}
	ev.facts = loose(strings.Join([]string{s.CWD, s.Branch, s.ID, string(s.Source)}, "\n")) + "\x00"
	ev.whole = ev.facts
	if s.CWD != "" {
		ev.roots = append(ev.roots, s.CWD)
	}
	var person, input, tool, agent strings.Builder
	for i, it := range items {
		ev.at[it.N] = i
		if it.CWD != "" && !slices.Contains(ev.roots, it.CWD) && len(ev.roots) < 16 {
			ev.roots = append(ev.roots, it.CWD)
		}
		text := strings.Join([]string{it.Text, it.Tool, it.Input, it.Output, it.CWD, it.Branch}, "\n")
		if it.Exit != nil {
			text += fmt.Sprintf("\nexit %d\x00exit code %[1]d\x00exit status %[1]d", *it.Exit)
		}
		ev.texts = append(ev.texts, flat(text))
		switch {
		case it.Origin.ByPerson():
			person.WriteString("\n" + it.Text + "\n" + it.Input)
			tool.WriteString("\n" + it.Output)
		case it.Kind == memoir.ItemTool:
			input.WriteString("\n" + it.Input)
			tool.WriteString("\n" + it.Output + "\n" + it.Text)
		case it.Origin == memoir.OriginInjected:
			tool.WriteString("\n" + it.Text)
		default:
			agent.WriteString("\n" + it.Text)
		}
	}
	ev.whole += strings.Join(ev.texts, "")
	ev.ours, ev.tool = spaced(person.String()+"\n"+input.String()), spaced(tool.String())
	ev.typed = flat(person.String())
	ev.done = ev.typed + flat(input.String())
	ev.said = ev.done + flat(agent.String())
	for line := range strings.Lines(person.String()) {
		if prompts.Instructs(line) {
			maps.Copy(ev.orders, contentWords(line))
		}
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
	near := ev.facts
	for _, i := range ev.around(st.Items) {
		near += ev.texts[i]
	}
	for _, v := range all {
		text := ev.whole
		if v.quoted || strings.Contains(v.text, " ") {
			text = near
		}
		if !ev.found(v, text) {
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
		slices.ContainsFunc(all, func(v verbatim) bool { return !ev.found(v, ev.whole) })
}

var (
	trailingLine = newPattern(`(:\d+)+$`)
	// leftOut is what stands for something else: an ellipsis, <name>, N for a number, and what
	// is written in the place of a secret.
	leftOut = newPattern(`\[REDACTED:[\w-]*\]|\[?(?:…|\.\.\.)\]?|<[A-Za-z][\w -]*>|\bN\b`)
)

// found reports whether a verbatim part is in a text that flat wrote: as it stands; in parts,
// where it leaves something out; without the directory that it begins with; without the line
// number that it ends with.
func (ev *evidence) found(v verbatim, in string) bool {
	forms := []string{v.text}
	if !v.quoted {
		forms = append(forms, local(v.text, ev.roots...), trailingLine.ReplaceAllString(v.text, ""))
	}
	return slices.ContainsFunc(forms, func(form string) bool {
		if strings.Contains(in, loose(form)) {
			return true
		}
		longest, all := 0, true
		for part := range strings.SplitSeq(leftOut.ReplaceAllString(form, "\x00"), "\x00") {
			longest, all = max(longest, len(strings.TrimSpace(part))), all && strings.Contains(in, loose(part))
		}
		return all && longest >= minPart
	})
}

// withoutMissing takes the citations out of a line that name an item which was not shown.
func (ev *evidence) withoutMissing(line string) string {
	return citation.ReplaceAllStringFunc(line, func(cited string) string {
		if numbers := citedNumbers(cited, ev.shows); numbers == nil || ev.missing(numbers) > 0 {
			return ""
		}
		return cited
	})
}

// putInMouth says what is wrong with a statement that gives one voice of a session the
// words of another; empty if nothing is. What a person wants stands in that person's
// words, what is to be run was run or was said by one who takes part, and what only a
// tool, a file or a page said is no rule and no instruction.
func (ev *evidence) putInMouth(st memoir.Statement) string {
	if st.Kind == memoir.StatementPreference {
		if !slices.ContainsFunc(ev.around(st.Items), func(i int) bool { return ev.items[i].Origin.ByPerson() }) {
			return "is no wish of the person: cite the item in which they say so"
		}
		for _, v := range verbatims(st.Text) {
			if v.quoted && !ev.found(v, ev.typed) {
				return "quotes as the person's what they did not write"
			}
		}
	}
	orders := prompts.Instructs(st.Text)
	if (st.Kind == memoir.StatementPreference || orders || lasting(st.Text)) && ev.copies(st.Text) {
		return "makes a rule of what only a tool or a page said"
	}
	if orders && !ev.gaveInstruction(st.Text) {
		return "is an instruction that no person gave"
	}
	told := "" // where what is to be run must stand
	switch st.Kind {
	case memoir.StatementCommand, memoir.StatementProcedure:
		told = ev.done
	case memoir.StatementPreference, memoir.StatementTask: // agents propose, people agree
		told = ev.said
	default:
		return ""
	}
	for _, v := range verbatims(copied(st)) {
		if !v.quoted && strings.Contains(v.text, " ") && !ev.found(v, told) {
			return "tells to run what nobody ran and only a tool or a page said"
		}
	}
	return ""
}

// gaveInstruction reports whether a person wrote, in words like those of a text, what reads
// as an instruction to the agent: they may.
func (ev *evidence) gaveInstruction(text string) bool {
	want := contentWords(text)
	return len(want) > 0 && 2*held(want, ev.orders) >= len(want)
}

// copies reports whether some words in a row stand in what tools returned, and neither in
// what people wrote nor in what tools were given: that an agent repeats it makes it nobody else's.
func (ev *evidence) copies(text string) bool {
	words := strings.Fields(spaced(text))
	for i := 0; i+copiedRun <= len(words); i++ {
		row := " " + strings.Join(words[i:i+copiedRun], " ") + " "
		if strings.Contains(ev.tool, row) && !strings.Contains(ev.ours, row) {
			return true
		}
	}
	return false
}
