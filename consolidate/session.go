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
	short      string // id as it is cited
	date       string
	rank       int // position among the sessions, oldest first
	statements []memoir.Statement
}

// cite is how a line cites the session.
func (s *session) cite() string { return s.short + " " + s.date }

// asked is what a session was about.
func (s *session) asked() string {
	if t := oneLine(s.Title); t != "" {
		return t
	}
	for _, st := range s.statements {
		if st.Kind == memoir.StatementTask {
			return cut(st.Text, 100)
		}
	}
	return "a session"
}

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
		for _, st := range statementsOf(e) {
			if st.Text = oneLine(st.Text); st.Text != "" {
				s.statements = append(s.statements, st)
			}
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

// statementsOf reads what a session states. In a raw memory without known sections,
// as language models write it now and then, every list entry is a finding.
func statementsOf(e memoir.Extraction) []memoir.Statement {
	if out := memoir.ParseStatements(e.RawMemory); len(out) > 0 {
		return out
	}
	claims := false // below the heading of what is not verified
	var out []memoir.Statement
	for line := range strings.Lines(e.RawMemory) {
		line = strings.TrimSpace(line)
		if isHeading(line) {
			claims = strings.Contains(strings.ToLower(line), "claims of the agent")
			continue
		}
		mark := listMark.FindString(line)
		if text := line[len(mark):]; mark != "" && !claims && len(strings.Fields(text)) > 2 {
			out = append(out, memoir.Statement{Kind: memoir.StatementFinding, Text: text})
		}
	}
	return out
}

// cut shortens a line to limit bytes at a word, outside code spans.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := max(0, limit-len("…"))
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
	head = strings.TrimRight(head, " ,;:([") + "…"
	if strings.Count(head, "“") > strings.Count(head, "”") {
		head += "”"
	}
	return head
}
