package extract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memoir"
	"memoir/model"
	"memoir/prompts"
)

// The fields of an answer.
const (
	fieldMemory  = "raw_memory"
	fieldSummary = "rollout_summary"
	fieldSlug    = "rollout_slug"
)

const (
	maxStatements = 200  // of an answer
	maxStatement  = 1200 // bytes of a statement's text
	maxLines      = 500  // of a summary
	maxLine       = 2400 // bytes of one
	maxListed     = 8    // statements that an objection names
)

// used is what can be used of an answer. The extraction has its texts, and nothing of
// the session yet.
type used struct {
	memoir.Extraction
	kept    int // statements
	dropped Dropped
}

// A complaint is why an answer can't be used: the reason for a person, without the
// answer's words, and the objection for the model that gave it. Mended is what is used
// if the model insists; nil: nothing can be.
type complaint struct {
	reason, objection string
	mended            *used
}

// object makes an objection that has no word of the answer in it.
func object(format string, args ...any) *complaint {
	reason := fmt.Sprintf(format, args...)
	return &complaint{reason: reason, objection: "That can't be used: " + reason + ". " + answerAgain}
}

const answerAgain = "Answer again with the whole JSON object and nothing else, by the rules that you were given."

// readAnswer makes an extraction of a model's answer: what it says of the session
// is held against what was shown of it. No texts mean that nothing was worth keeping, or that
// nothing is to be changed of what is known.
func readAnswer(text string, in Input, s shown, known *earlier) (used, *complaint) {
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
	ev := evidenceOf(in, s, known)
	var out used
	read, unplaced := readStatements(fields[fieldMemory], ev.shows)
	out.dropped.Unplaced = unplaced
	kept, why := out.hold(read, ev, known)
	if len(kept) == 0 {
		return used{}, noStatements(why)
	}
	whole, bad := out.write(fields, kept, in, ev)
	if bad != nil {
		return whole, bad
	}
	if known != nil {
		if lost := known.lost(kept); 2*len(lost) > len(known.statements) {
			return used{}, forgetful(lost, out.mend(fields, lost, kept, in, ev, known))
		}
	}
	if unplaced > len(kept) {
		return used{}, underOtherHeadings(unplaced, whole)
	}
	return whole, nil
}

// mend makes of an answer that is about the new items alone one about the whole session.
func (u used) mend(
	fields map[string]string, lost, kept []memoir.Statement, in Input, ev *evidence, known *earlier,
) *used {
	fields = maps.Clone(fields)
	fields[fieldSlug] = known.extraction.RolloutSlug
	heading, lines := readSummary(fields[fieldSummary])
	if known.extraction.Title != "" {
		heading = known.extraction.Title
	}
	later := strings.Join(lines, "\n")
	for _, body := range []string{known.body + "\n\n" + later, later, ""} { // as long as it may be
		fields[fieldSummary] = "# " + heading + "\n\n" + body
		if mended, bad := u.write(fields, known.join(lost, kept), in, ev); bad == nil {
			return &mended
		}
	}
	return nil
}

// write makes the texts of an extraction.
func (u used) write(fields map[string]string, kept []memoir.Statement, in Input, ev *evidence) (used, *complaint) {
	out := u
	out.kept = len(kept)
	out.RawMemory = memoir.FormatStatements(kept)
	heading, lines := readSummary(fields[fieldSummary])
	out.Title = plainTitle(shorten(heading, maxTitle))
	if heading == "" || prompts.Instructs(heading) && !ev.gaveInstruction(heading) {
		out.Title = title(in.Session, kept)
	}
	name := strings.TrimSpace(fields[fieldSlug])
	if len(name) < 3 || len(name) > 2*maxSlug {
		name = out.Title
	}
	out.RolloutSlug = slug(name, in.Session.ID)
	body := out.holdSummary(lines, ev)
	if body == "" {
		body = summarySections(kept)
	}
	out.RolloutSummary = summaryHead(in, out.Extraction, kept) + body
	if len(out.RawMemory) > MaxRawMemory || len(out.RolloutSummary) > MaxRolloutSummary {
		return used{}, object("it is too long: %s may have %d bytes, %s %d", fieldMemory, MaxRawMemory, fieldSummary,
			MaxRolloutSummary)
	}
	if err := Check(out.Extraction, ev.items); err != nil {
		return used{}, &complaint{reason: "it breaks a rule of extractions", objection: err.Error() + ". " + answerAgain}
	}
	return out, nil
}

// readFields reads the three texts of an answer. Null is an empty text.
func readFields(text string) (map[string]string, *complaint) {
	names := []string{fieldMemory, fieldSummary, fieldSlug}
	raw, err := model.Object(text, names)
	if err != nil {
		return nil, object("%v", err)
	}
	out := map[string]string{}
	for _, name := range names {
		value, ok := raw[name]
		if !ok {
			return nil, object("the field %s is missing", name)
		}
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return nil, object("the field %s is no text", name)
		}
		most := map[string]int{fieldMemory: MaxRawMemory, fieldSummary: MaxRolloutSummary, fieldSlug: 4096}[name]
		if len(s) > most {
			return nil, object("the field %s has %d bytes, more than %d", name, len(s), most)
		}
		out[name] = clean(s)
	}
	return out, nil
}

// hold keeps the statements that the items bear out, and tells of the others.
func (u *used) hold(
	statements []memoir.Statement, ev *evidence, known *earlier,
) (kept []memoir.Statement, why []string) {
	type key struct {
		kind memoir.StatementKind
		text string
	}
	seen := map[key]bool{}
	for _, st := range statements {
		st.Text = shorten(st.Text, maxStatement)
		if st.Kind == memoir.StatementOutcome {
			st.Text = outcomeForm(st.Text)
		}
		problem := ""
		switch missing := ev.missing(st.Items); {
		case len(st.Items) == 0:
			u.dropped.Uncited++
			problem = "cites no item"
		case missing > 0:
			u.dropped.Missing++
			problem = fmt.Sprintf("cites item %d, which is not in the transcript", missing)
		case seen[key{st.Kind, st.Text}] || len(kept) == maxStatements:
			u.dropped.Crowded++
			problem = "is said twice, or one too many"
		case known.says(st): // its quotations were looked for when it was made
		case unnamed(st):
			u.dropped.Ungrounded++
			problem = "copies nothing from the transcript: put the command or the path itself in backticks"
		default:
			if strange := ev.strange(st); strange != "" {
				u.dropped.Ungrounded++
				problem = fmt.Sprintf("has %q, which is not in the items that it cites", shorten(strange, 80))
			} else if problem = ev.putInMouth(st); problem != "" {
				u.dropped.Foreign++
			}
		}
		if problem != "" {
			why = append(why, fmt.Sprintf("- under %s: “%s” %s", st.Kind, shorten(st.Text, 120), problem))
			continue
		}
		seen[key{st.Kind, st.Text}] = true
		kept = append(kept, st)
	}
	return kept, why
}

// noStatements is the objection to a raw memory of which nothing can be kept.
func noStatements(why []string) *complaint {
	if len(why) == 0 {
		return object("%s has no statement: lines that begin with \"- \" under the headings that were named, "+
			"each with its items in brackets", fieldMemory)
	}
	more := ""
	if n := len(why) - maxListed; n > 0 {
		why, more = why[:maxListed], fmt.Sprintf("\n- and %d more", n)
	}
	return &complaint{
		reason: "the session shows none of what it says",
		objection: "That can't be used: the transcript shows none of these statements.\n" + strings.Join(why, "\n") + more +
			"\nState only what the items show, cite them, and copy commands, paths, flags and quotations from them. " +
			answerAgain +
			" All three texts are empty if nothing is worth keeping.",
	}
}

// underOtherHeadings is the objection to an answer most of which stands under headings that
// mean nothing here. What stands under the others is used if the model insists.
func underOtherHeadings(unplaced int, rest used) *complaint {
	names := make([]string, len(memoir.StatementKinds))
	for i, kind := range memoir.StatementKinds {
		names[i] = "## " + string(kind)
	}
	c := object("%d statements stand under other headings than those that were named", unplaced)
	c.objection = "That can't be used: " + c.reason +
		". The headings are these, in these words whatever the language of the statements: " +
		strings.Join(names, ", ") + ". " + answerAgain
	c.mended = &rest
	return c
}

// forgetful is the objection to an answer without most of what was known before.
func forgetful(lost []memoir.Statement, mended *used) *complaint {
	listed, more := lost, ""
	if n := len(lost) - maxListed; n > 0 {
		listed, more = lost[:maxListed], fmt.Sprintf("\n- and %d more", n)
	}
	var b strings.Builder
	for _, st := range listed {
		b.WriteString("- under " + string(st.Kind) + ": " + shorten(st.Text, 120) + cite(st.Items) + "\n")
	}
	return &complaint{
		reason: "it loses most of what was known of the session before",
		objection: "Most of what was written down before is missing:\n" + strings.TrimSuffix(b.String(), "\n") + more +
			"\nThe raw memory is that of the whole session: keep each statement that still holds, " +
			"with its numbers, and leave out only what the new items overtook. " +
			answerAgain,
		mended: mended,
	}
}

// outcomeForm writes an outcome's status as the built-in model does: done — what.
func outcomeForm(text string) string {
	status, what, _ := strings.Cut(text, " ")
	status = strings.ToLower(strings.Trim(status, ":,.—–-*`"))
	if !slices.Contains([]string{outcomeDone, outcomePartial, outcomeFailed, outcomeUnknown}, status) {
		return text
	}
	if what = strings.TrimSpace(strings.TrimLeft(what, "—–-: ")); what == "" {
		return status
	}
	return status + " — " + what
}

// readSummary splits a summary into its title and its lines.
func readSummary(text string) (heading string, lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if rest, ok := strings.CutPrefix(line, "# "); ok && heading == "" && len(lines) == 0 {
			heading = strings.TrimSpace(rest)
			continue
		}
		if line != "" || len(lines) > 0 {
			lines = append(lines, line)
		}
	}
	return heading, lines
}

// holdSummary keeps the lines of a summary whose quotations are somewhere in the
// session. Citations of items that were not shown are taken out.
func (u *used) holdSummary(lines []string, ev *evidence) string {
	var b strings.Builder
	said := false
	u.dropped.Summary += max(len(lines)-maxLines, 0)
	for _, line := range lines[:min(len(lines), maxLines)] {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			continue // what a fence holds is text like any other, and one that is open would swallow the rest
		}
		if len(line) > maxLine {
			line = shorten(line, maxLine)
		}
		line = ev.withoutMissing(line)
		if ev.strangeAnywhere(line) || prompts.Instructs(line) && !ev.gaveInstruction(line) {
			u.dropped.Summary++
			continue
		}
		said = said || line != "" && !strings.HasPrefix(line, "#")
		b.WriteString(line + "\n")
	}
	if !said {
		return ""
	}
	return "\n" + strings.TrimSpace(b.String()) + "\n"
}

// How a session ended; the first word of an outcome.
const (
	outcomeDone    = "done"
	outcomePartial = "partial"
	outcomeFailed  = "failed"
	outcomeUnknown = "unknown"
)
