package extract

import (
	"encoding/json"
	"fmt"
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
// answer's words, and the objection for the model that gave it.
type complaint struct{ reason, objection string }

// object makes an objection that has no word of the answer in it.
func object(format string, args ...any) *complaint {
	reason := fmt.Sprintf(format, args...)
	return &complaint{reason: reason, objection: "That can't be used: " + reason + ". " + answerAgain}
}

const answerAgain = "Answer again with the whole JSON object and nothing else, by the rules that you were given."

// readAnswer makes an extraction of a model's answer: what it says of the session
// is held against the items that were shown. No texts mean that nothing was worth keeping.
func readAnswer(text string, session memoir.Session, items []memoir.Item) (used, *complaint) {
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
	ev := newEvidence(session, items)
	var out used
	read, unplaced := readStatements(fields[fieldMemory], ev.shows)
	out.dropped.Unplaced = unplaced
	kept, why := out.hold(read, ev)
	if len(kept) == 0 {
		return used{}, noStatements(why)
	}
	if unplaced > len(kept) { // as where a model translated them
		names := make([]string, len(memoir.StatementKinds))
		for i, kind := range memoir.StatementKinds {
			names[i] = "## " + string(kind)
		}
		return used{}, object("%d statements stand under other headings than those that were named. The headings are these, "+
			"in these words whatever the language of the statements: %s", unplaced, strings.Join(names, ", "))
	}
	return out.write(fields, kept, session, ev)
}

// write makes the texts of an extraction.
func (u used) write(fields map[string]string, kept []memoir.Statement, session memoir.Session, ev *evidence) (
	used, *complaint,
) {
	out := u
	out.kept = len(kept)
	out.RawMemory = memoir.FormatStatements(kept)
	heading, lines := readSummary(fields[fieldSummary])
	out.Title = plainTitle(shorten(heading, maxTitle))
	if heading == "" || prompts.Instructs(heading) && !ev.gaveInstruction(heading) {
		out.Title = title(session, kept)
	}
	name := strings.TrimSpace(fields[fieldSlug])
	if len(name) < 3 || len(name) > 2*maxSlug {
		name = out.Title
	}
	out.RolloutSlug = slug(name, session.ID)
	body := out.holdSummary(lines, ev)
	if body == "" {
		body = summarySections(kept)
	}
	out.RolloutSummary = summaryHead(session, out.Extraction, kept) + body
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
func (u *used) hold(statements []memoir.Statement, ev *evidence) (kept []memoir.Statement, why []string) {
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
