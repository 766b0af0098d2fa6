package consolidate

import (
	"strings"

	"memoir"
)

// A batch is what one question shows of the sessions.
type batch struct {
	sessions       []*session // those that are folded in, oldest first
	fresh, changed []string   // as they are cited
	statements     string
	summaries      string
	tokens         int
}

const (
	listEntry    = 12   // tokens that a session takes in the list of those that are new
	maxStatement = 4000 // bytes of a statement that is shown
)

// fit takes as many of the sessions that are due, oldest first and whole, as a
// number of tokens holds. Of one that is too long alone the beginning is shown: what was
// asked, what came of it, preferences, failures.
func (r *renewal) fit(room int) batch {
	var b batch
	var statements, summaries []string
	for _, s := range r.due {
		text, summary := block(s), summaryBlock(s)
		size := memoir.Tokens(text) + memoir.Tokens(summary) + listEntry
		if b.tokens+size > room {
			if len(b.sessions) > 0 {
				break
			}
			const left = "…\n(the rest is left out)\n"
			if most := 4*(room-listEntry) - len(left); len(text) > most {
				text = strings.ToValidUTF8(text[:max(most, 0)], "") + left
			}
			size, summary = memoir.Tokens(text)+listEntry, ""
		}
		b.sessions = append(b.sessions, s)
		b.tokens += size
		if statements = append(statements, text); summary != "" {
			summaries = append(summaries, summary)
		}
		if r.known[s.SessionKey] {
			b.changed = append(b.changed, s.cite())
		} else {
			b.fresh = append(b.fresh, s.cite())
		}
	}
	b.statements, b.summaries = strings.Join(statements, "\n"), strings.Join(summaries, "\n")
	return b
}

// block shows the statements of a session without the numbers of their items, and without
// claims that nothing verified: those never reach a memory.
func block(s *session) string {
	var plain []memoir.Statement
	for _, st := range statementsOf(s.Extraction) {
		if st.Kind != memoir.StatementClaim {
			text := cut(strings.Join(strings.Fields(st.Text), " "), maxStatement)
			plain = append(plain, memoir.Statement{Kind: st.Kind, Text: text})
		}
	}
	return head(s) + "\n" + strings.ReplaceAll(memoir.FormatStatements(plain), "## ", "### ")
}

func head(s *session) string { return "## " + s.cite() + ": " + cut(s.asked(), 100) + "\n" }

// summaryBlock shows what Phase 1 told of a session.
func summaryBlock(s *session) string {
	text := strings.TrimSpace(s.RolloutSummary)
	if text == "" {
		return ""
	}
	return head(s) + "\n" + text + "\n"
}
