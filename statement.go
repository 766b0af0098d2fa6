package memoir

import (
	"strconv"
	"strings"
)

// StatementKind is the section of a statement in a raw memory.
type StatementKind string

// The kinds of a statement; the value is the section's heading in Markdown.
const (
	StatementTask        StatementKind = "Task"        // a request with its result
	StatementOutcome     StatementKind = "Outcome"     // delivered work: a commit, a pull request, an approved plan
	StatementPreference  StatementKind = "Preferences" // a person's rule or correction
	StatementFailure     StatementKind = "Failures"    // a failure with its remedy
	StatementCommand     StatementKind = "Commands"    // a command that passed
	StatementDecision    StatementKind = "Decisions"   // a choice with its reason
	StatementFinding     StatementKind = "Findings"    // a cause that was found, a fact about the repository
	StatementRefuted     StatementKind = "Refuted"     // a wrong hypothesis with the evidence against it
	StatementFile        StatementKind = "Files"       // an important file
	StatementEnvironment StatementKind = "Environment" // versions, services, quirks
	StatementProcedure   StatementKind = "Procedure"   // ordered steps as actually run
	StatementOpen        StatementKind = "Open"        // unfinished work

	// StatementClaim is a statement that only the agent's own words support. It can be found
	// by searching and never reaches MEMORY.md or memory_summary.md.
	StatementClaim StatementKind = "Claims of the agent, not verified"
)

// StatementKinds lists the kinds in the order of their sections.
var StatementKinds = []StatementKind{
	StatementTask, StatementOutcome, StatementPreference, StatementFailure, StatementCommand,
	StatementDecision, StatementFinding, StatementRefuted, StatementFile, StatementEnvironment,
	StatementProcedure, StatementOpen, StatementClaim,
}

// The built-in extractor begins some statements with a mark, which the built-in
// consolidator reads.
const (
	// CorrectionMark begins a preference that corrected the agent. It counts as lasting only if
	// several sessions have it.
	CorrectionMark = "corrected: "
	// RequiredMark begins a statement of the environment about a requirement of the
	// repository's hooks or files.
	RequiredMark = "required: "
)

// Statement is one statement of a raw memory with the items that support it.
type Statement struct {
	Kind  StatementKind
	Text  string // one line of Markdown
	Items []int  // item numbers of the session, ascending
}

// FormatStatements writes statements as the Markdown of a raw memory: a section per kind, a
// bullet per statement, with its items in brackets at the end:
//
//	## Commands
//	- `go test ./...` passes (ran 3 times) [12, 40]
func FormatStatements(statements []Statement) string {
	var b strings.Builder
	for _, kind := range StatementKinds {
		first := true
		for _, s := range statements {
			if s.Kind != kind {
				continue
			}
			if first {
				if b.Len() > 0 {
					b.WriteByte('\n')
				}
				b.WriteString("## " + string(kind) + "\n")
				first = false
			}
			b.WriteString("- " + strings.Join(strings.Fields(s.Text), " "))
			for i, n := range s.Items {
				if i == 0 {
					b.WriteString(" [")
				} else {
					b.WriteString(", ")
				}
				b.WriteString(strconv.Itoa(n))
			}
			if len(s.Items) > 0 {
				b.WriteByte(']')
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// ParseStatements reads the format of FormatStatements, with the deviations of language
// models: it skips unknown sections and prose, and accepts missing citations.
func ParseStatements(markdown string) []Statement {
	var out []Statement
	var kind StatementKind
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			kind = ""
			for _, k := range StatementKinds {
				if strings.EqualFold(string(k), strings.TrimSpace(heading)) {
					kind = k
				}
			}
			continue
		}
		text, ok := strings.CutPrefix(line, "- ")
		if !ok || kind == "" {
			continue
		}
		text, items := cutItems(strings.TrimSpace(text))
		if text != "" {
			out = append(out, Statement{Kind: kind, Text: text, Items: items})
		}
	}
	return out
}

// cutItems splits a trailing "[1, 2]" off a statement's text.
func cutItems(text string) (string, []int) {
	open := strings.LastIndexByte(text, '[')
	if open < 0 || !strings.HasSuffix(text, "]") {
		return text, nil
	}
	var items []int
	for field := range strings.SplitSeq(text[open+1:len(text)-1], ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 {
			return text, nil
		}
		items = append(items, n)
	}
	return strings.TrimSpace(text[:open]), items
}
