package extract

import (
	"strconv"
	"strings"

	"memoir"
)

// headings of a rollout summary, in order; the procedures are left to
// consolidation.
var headings = []struct {
	kind memoir.StatementKind
	text string
}{
	{memoir.StatementTask, "What was asked"},
	{memoir.StatementOutcome, "What was done"},
	{memoir.StatementPreference, "What the user wants"},
	{memoir.StatementFailure, "Failures and fixes"},
	{memoir.StatementDecision, "Findings"},
	{memoir.StatementCommand, "Commands that worked"},
	{memoir.StatementFile, "Files"},
	{memoir.StatementEnvironment, "Environment"},
}

// summary writes a session's readable summary; numbers in brackets are items.
func summary(in Input, e memoir.Extraction, kept []memoir.Statement) string {
	return summaryHead(in, e, kept) + summarySections(kept)
}

// headFields are what summaryHead may say of a session.
var headFields = []string{"date", "session", "directory", "branch", "outcome"}

// summaryHead is the title and what the session was.
func summaryHead(in Input, e memoir.Extraction, kept []memoir.Statement) string {
	var b strings.Builder
	b.WriteString("# " + plainTitle(e.Title) + "\n\n")
	field := func(name, value string) {
		if value = shorten(clean(value), 200); value != "" {
			b.WriteString("- " + name + ": " + value + "\n")
		}
	}
	if !in.Session.UpdatedAt.IsZero() {
		field("date", in.Session.UpdatedAt.UTC().Format("2006-01-02"))
	}
	field("session", string(in.Session.Source)+" "+in.Session.ID)
	field("directory", in.Session.CWD)
	field("branch", in.Session.Branch)
	for _, s := range kept {
		if s.Kind == memoir.StatementOutcome {
			status, _, _ := strings.Cut(s.Text, " ")
			field("outcome", status)
			break
		}
	}
	return b.String()
}

func summarySections(kept []memoir.Statement) string {
	var b strings.Builder
	for _, h := range headings {
		first := true
		n := 0
		for _, s := range kept {
			if s.Kind != h.kind {
				continue
			}
			if first {
				b.WriteString("\n## " + h.text + "\n\n")
				first = false
			}
			n++
			if h.kind == memoir.StatementTask {
				b.WriteString(strconv.Itoa(n) + ". ")
			} else {
				b.WriteString("- ")
			}
			b.WriteString(s.Text + cite(s.Items) + "\n")
		}
	}
	return b.String()
}

func cite(items []int) string {
	if len(items) == 0 {
		return ""
	}
	parts := make([]string, len(items))
	for i, n := range items {
		parts[i] = strconv.Itoa(n)
	}
	return " [" + strings.Join(parts, ", ") + "]"
}

// plainTitle keeps a title from being anything but a heading's text.
func plainTitle(s string) string {
	if s = strings.TrimLeft(s, "#-*+> "); s != "" {
		return s
	}
	return "Session"
}
