package extract

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/model"
	"memoir/prompts"
)

// The fields of an answer.
const (
	fieldMemory  = "raw_memory"
	fieldSummary = "rollout_summary"
	fieldSlug    = "rollout_slug"
	fieldHistory = "history_entry"
	fieldUpdate  = "memory_update" // another name of fieldMemory, with which the other two may be missing
)

const (
	maxStatement = 1200 // bytes of a statement's text
	maxLines     = 500  // of a summary
	maxLine      = 2400 // bytes of one
	maxListed    = 8    // statements that an objection names
	maxHistory   = 1200 // bytes of a history entry
)

// used is the valid part of an answer. The extraction has the texts, but not yet the session's fields.
type used struct {
	memoir.Extraction
	dropped Dropped
}

// A complaint says why an answer is invalid: the reason is for people, without the answer's
// words; the objection is for the model.
type complaint struct{ reason, objection string }

// object returns a complaint without words of the answer.
func object(format string, args ...any) *complaint {
	reason := fmt.Sprintf(format, args...)
	return &complaint{reason: reason, objection: "That can't be used: " + reason + ". " + answerAgain}
}

const answerAgain = "Answer again with the whole JSON object and nothing else, by the rules that you were given."

// readAnswer makes an extraction of a model's answer, whose statements are checked against the session and
// what was shown of it. Empty texts mean that nothing was worth keeping.
func readAnswer(text string, a *inquiry, s shown) (used, *complaint) {
	session := a.session
	fields, bad := readFields(text)
	if bad != nil {
		return used{}, bad
	}
	if strings.TrimSpace(fields[fieldMemory]) == "" {
		if strings.TrimSpace(fields[fieldSummary]) == "" {
			return used{}, nil
		}
		return used{}, object("%s is empty and %s is not; both are, if nothing is worth keeping", fieldMemory, fieldSummary)
	}
	ev := newEvidence(a, s.items)
	var out used
	kept, why := out.checkMemory(fields[fieldMemory], ev)
	if len(kept) == 0 || out.dropped.Unplaced > len(kept) { // for example with translated headings
		return used{}, noStatements(why, out.dropped.Unplaced)
	}
	out.Statements = kept
	heading, body := out.checkSummary(fields[fieldSummary], ev)
	if out.Title = plainTitle(shorten(heading, maxTitle)); heading == "" {
		out.Title = title(session, kept)
	}
	name := strings.TrimSpace(fields[fieldSlug])
	if len(name) < 3 || len(name) > 2*maxSlug {
		name = out.Title
	}
	out.RolloutSlug = slug(name, session.ID)
	if body == "" {
		body = "\n" + out.RawMemory()
	}
	out.RolloutSummary = summaryHead(session, out.Title) + body
	entry := stamp.ReplaceAllString(strings.Join(strings.Fields(fields[fieldHistory]), " "), "")
	if ev.invalidLine(entry) {
		out.dropped.Summary++
	} else {
		out.HistoryEntry = shorten(ev.attributed(entry, 0, len(s.items)), maxHistory)
	}
	if err := Check(out.Extraction, a.all); err != nil {
		return used{}, object("%v", err)
	}
	return out, nil
}

// stamp matches a time at the beginning of a history entry; the session's own time is used instead.
var stamp = lazyregexp.New(`^\[[\d:T. Z-]+\]\s*`)

func readFields(text string) (map[string]string, *complaint) {
	names := []string{fieldMemory, fieldSummary, fieldSlug, fieldHistory, fieldUpdate}
	raw, err := model.Object(text, names)
	if err != nil {
		return nil, object("%v", err)
	}
	update := raw[fieldMemory] == nil && raw[fieldUpdate] != nil
	if update {
		raw[fieldMemory] = raw[fieldUpdate]
	}
	out := map[string]string{}
	for _, name := range names[:4] {
		value, ok := raw[name]
		if !ok && (update || name == fieldHistory) {
			continue
		}
		if !ok {
			return nil, object("the field %s is missing", name)
		}
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return nil, object("the field %s is not a string", name)
		}
		if len(s) > MaxRawMemory {
			return nil, object("the field %s has %d bytes, more than %d", name, len(s), MaxRawMemory)
		}
		out[name] = clean(s)
	}
	return out, nil
}

// checkMemory returns the statements of a raw memory that the items support, and why it dropped the others.
func (u *used) checkMemory(markdown string, ev *evidence) (kept []memoir.Statement, why []string) {
	var read []memoir.Statement
	read, u.dropped.Unplaced = ev.readStatements(markdown)
	for _, st := range read {
		st.Text = shorten(st.Text, maxStatement)
		problem, count, cited := "", &u.dropped.Ungrounded, st.Items
		if st.Items = ev.shown(cited); len(cited) == 0 {
			problem, count = "cites no item", &u.dropped.Uncited
		} else if len(st.Items) == 0 {
			problem, count = fmt.Sprintf("cites item %d, which is not in the transcript", cited[0]), &u.dropped.Missing
		} else if unnamed(st) {
			problem = "copies nothing from the transcript: put the command or the path itself in backticks"
		} else if unsupported := ev.unsupported(st); unsupported != "" {
			problem = fmt.Sprintf("has %q, which is not in or near the items that it cites", shorten(unsupported, 80))
		} else {
			problem, count = ev.misattributed(st), &u.dropped.Foreign
			if short := onlyCommand(st); problem != "" && short != st.Text {
				st.Text = short // what else it says of the command, only a tool said
				problem = ev.misattributed(st)
			}
		}
		if problem == "" {
			from, to := ev.around(st.Items)
			if st.Kind == memoir.StatementProcedure { // its name is a request, which it need not cite
				from, to = 0, len(ev.items)
			}
			st.Text = Titled(ev.attributed(st.Text, from, to))
			fill(&st)
			kept = append(kept, st)
			continue
		}
		*count++
		if len(why) < maxListed {
			why = append(why, fmt.Sprintf("- under %s: “%s” %s", st.Kind, shorten(st.Text, 120), problem))
		}
	}
	return kept, why
}

// onlyCommand returns the text of a command up to its code span.
func onlyCommand(st memoir.Statement) string {
	span := codeSpan.FindStringIndex(st.Text)
	if st.Kind != memoir.StatementCommand || span == nil {
		return st.Text
	}
	return st.Text[:span[1]]
}

// noStatements returns the complaint about a raw memory with no valid statement, or too few.
func noStatements(why []string, unplaced int) *complaint {
	if unplaced > 0 || len(why) == 0 {
		bad := object("%s has too few statements, and %d under other headings than those that were named. A statement is a "+
			"line that begins with \"- \", with its items in brackets. The headings are these, in these words whatever the "+
			"language: %q", fieldMemory, unplaced, memoir.StatementKinds)
		bad.reason = fieldMemory + " has no usable statement"
		return bad
	}
	return &complaint{
		reason: "the session shows none of what it says",
		objection: "That can't be used: the transcript shows none of these statements.\n" + strings.Join(why, "\n") +
			"\nState only what the items show, cite them, and copy commands, paths, flags and quotations from them. " +
			answerAgain + " All texts are empty if nothing is worth keeping.",
	}
}

// checkSummary splits a summary into its title and its valid lines (see invalidLine). The body is
// empty if no line of text is left.
func (u *used) checkSummary(text string, ev *evidence) (heading, body string) {
	var b strings.Builder
	prose, n := false, 0
	for line := range strings.Lines(ev.attributed(text, 0, len(ev.items))) {
		line = strings.TrimRight(line, " \t\r\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			continue // fenced text is ordinary text, and an open fence would swallow the rest
		}
		title, isTitle := strings.CutPrefix(line, "# ")
		switch n++; {
		case n > maxLines || ev.invalidLine(line):
			u.dropped.Summary++
		case isTitle && heading == "" && !prose:
			heading = strings.TrimSpace(title)
		default:
			prose = prose || line != "" && !strings.HasPrefix(line, "#")
			b.WriteString(shorten(line, maxLine) + "\n")
		}
	}
	if !prose {
		return heading, ""
	}
	return heading, "\n" + strings.TrimSpace(b.String()) + "\n"
}

// invalidLine reports whether a line cites an item or quotes text that was not shown, or is an
// instruction that no person gave.
func (ev *evidence) invalidLine(line string) bool {
	for _, cited := range citation.FindAllString(line, -1) {
		unknown := func(n int) bool { _, ok := ev.at[n]; return !ok }
		if items := ev.cited(cited); items == nil || slices.ContainsFunc(items, unknown) {
			return true
		}
	}
	all := verbatims(memoir.Statement{Text: line})
	return len(all) > maxVerbatims || slices.ContainsFunc(all, func(v verbatim) bool { return !v.in(ev.whole) }) ||
		prompts.Instructs(line) && !ev.gaveInstruction(line)
}

var (
	firstSpan   = lazyregexp.New("`([^`]+)`")
	inDirectory = lazyregexp.New("^ in `([^`]+)`")
	quotation   = lazyregexp.New(`“([^“”]+)”`)
)

// fill sets the fields of a statement that a language model wrote, from the forms that the prompt asks for.
func fill(st *memoir.Statement) {
	st.Signal = memoir.SignalModel
	span := firstSpan.FindStringSubmatchIndex(st.Text)
	code := ""
	if span != nil {
		code = strings.TrimSpace(st.Text[span[2]:span[3]])
	}
	switch st.By = memoir.ByAgent; st.Kind {
	case memoir.StatementPreference:
		st.By = memoir.ByPerson
		if m := quotation.FindStringSubmatch(st.Text); m != nil {
			st.Quote = m[1]
		}
	case memoir.StatementTask:
		st.By = memoir.ByPerson
		_, st.Outcome, _ = strings.Cut(st.Text, " → ")
	case memoir.StatementOutcome:
		st.Outcome, st.Detail, _ = strings.Cut(st.Text, " — ")
	case memoir.StatementCommand:
		if st.By = memoir.ByTool; code != "" {
			fillCommand(st, code, st.Text[:span[0]], st.Text[span[1]:])
		}
	case memoir.StatementFailure:
		st.By = memoir.ByTool
		command, rest, _ := strings.Cut(st.Text, " failed")
		message, remedy, _ := strings.Cut(rest, "; ")
		st.Command, st.Error = strings.Trim(command, "` "), strings.Trim(message, ":` ")
		st.Error, st.Cause, _ = strings.Cut(st.Error, ", as ")
		st.Signature = memoir.Signature(st.Error)
		if fix, ok := strings.CutPrefix(remedy, "fixed by "); ok {
			st.Fix = strings.Trim(fix, "` ")
		}
		if personal(st.Command, st.Fix) {
			st.Kind = memoir.StatementClaim
		}
	case memoir.StatementFile:
		if st.By = memoir.ByTool; code != "" && plainPath(code) {
			st.Paths = []string{code}
		}
	case memoir.StatementEnvironment:
		st.By = memoir.ByTool
	}
}

// fillCommand sets the fields of a command of the form "PURPOSE: `CMD` in `DIR`". It guesses a purpose that is not
// named.
func fillCommand(st *memoir.Statement, line, before, behind string) {
	st.Command = line
	if m := inDirectory.FindStringSubmatch(behind); m != nil && m[1] != "." {
		st.Dir = m[1]
	}
	st.Purpose = strings.ToLower(strings.Trim(before, ": "))
	if !purposes[st.Purpose] {
		st.Purpose = ""
		if runs, _ := newShellParser().parse(line, ""); len(runs) > 0 {
			st.Purpose, _ = runs[0].purpose()
		}
		st.Purpose = cmp.Or(st.Purpose, forRun)
	}
}

var purposes = map[string]bool{forTest: true, forLint: true, forFormat: true, forCheck: true, forBuild: true,
	forGenerate: true, forRelease: true, forSetup: true, forRun: true}

// plainPath reports whether a path is below the session's root and has ordinary characters
// only: a file name could contain an instruction.
func plainPath(p string) bool {
	return p != "" && p[0] != '/' && p[0] != '~' && !strings.HasPrefix(p, "..") &&
		!strings.ContainsFunc(p, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@()[]$", r)
		})
}
