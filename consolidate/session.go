package consolidate

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"memoir"
)

// A session is one extraction as the memory cites it.
type session struct {
	memoir.Extraction
	short      string
	date       string
	rank       int // position among the sessions, oldest first
	statements []memoir.Statement
}

// maxFindings is how many findings of one session count: the extraction lists the
// weightiest first.
const maxFindings = 10

// inPassing marks a finding that only the session's own record keeps.
const inPassing = " (in passing)"

// cite is how a line cites the session.
func (s *session) cite() string { return s.short + " " + s.date }

// arrange parses the extractions, oldest first. Their order in the input does
// not matter; empty ones are left out.
func arrange(extractions []memoir.Extraction) []*session {
	short := ShortIDs(extractions)
	var out []*session
	for _, e := range extractions {
		if e.Empty() {
			continue
		}
		s := &session{Extraction: e, short: short[e.SessionKey], date: day(e)}
		findings, all := 0, memoir.ParseStatements(e.RawMemory)
		for _, st := range all {
			if st.Kind == memoir.StatementDecision {
				if !lasting(oneLine(st.Text)) {
					continue
				}
				if !ofPerson(st.Text) {
					findings++
				}
				if findings > maxFindings && !ofPerson(st.Text) {
					continue
				}
			}
			if st.Text = oneLine(st.Text); st.Text != "" {
				st.Text = formed(st)
				s.statements = append(s.statements, st)
			}
		}
		if len(all) == 0 {
			s.statements = loose(e.RawMemory)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *session) int {
		return cmp.Or(a.EndedAt.Compare(b.EndedAt), strings.Compare(a.SessionKey, b.SessionKey))
	})
	out = slices.CompactFunc(out, func(a, b *session) bool { return a.SessionKey == b.SessionKey })
	for i, s := range out {
		s.rank = i
	}
	return out
}

// ofPerson reports whether a finding is what a person said or what the project
// asks of everyone: those are few, and count however many findings there are.
func ofPerson(text string) bool {
	for _, start := range []string{"the user: ", "the user's ", "asked “", "required in this project: ", "commits and titles "} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// loose reads a raw memory that is not in the form of statements, as language
// models write it now and then: every list entry is something known.
func loose(markdown string) []memoir.Statement {
	var out []memoir.Statement
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		text, ok := strings.CutPrefix(line, "- ")
		if !ok {
			text, ok = strings.CutPrefix(line, "* ")
		}
		if text = oneLine(text); ok && len(strings.Fields(text)) > 2 {
			out = append(out, memoir.Statement{Kind: memoir.StatementDecision, Text: text})
		}
	}
	return out
}

// cut shortens a line at a word, outside code spans.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len("…")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if space := strings.LastIndexByte(text[:end], ' '); space > limit/2 {
		end = space
	}
	head := text[:end]
	if strings.Count(head, "`")%2 == 1 {
		head = head[:strings.LastIndexByte(head, '`')]
	}
	return strings.TrimRight(head, " ,;:([") + "…"
}
