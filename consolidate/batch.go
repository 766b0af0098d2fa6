package consolidate

import (
	"cmp"
	"fmt"
	"slices"
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
	listEntry      = 12   // tokens that a session takes in the list of those that are new
	comparedTokens = 200  // of a session that is shown for comparison
	maxStatement   = 4000 // bytes of a statement that is shown
)

// fit takes as many of the sessions that are due, oldest first and whole, as a
// number of tokens holds; one that is too long alone gives its weightiest
// statements. Half as much again may go to the weightiest statements of the other
// sessions, newest first, for the sake of comparison.
func (r *renewal) fit(room int) batch {
	var b batch
	var statements, summaries []string
	for _, s := range r.due {
		text, summary := block(s, statementsOf(s.Extraction)), summaryBlock(s)
		size := memoir.Tokens(text) + memoir.Tokens(summary) + listEntry
		if b.tokens+size > room {
			if len(b.sessions) > 0 {
				break
			}
			summary = ""
			if size = memoir.Tokens(text) + listEntry; size > room {
				text = weightiest(s, room-listEntry)
				size = memoir.Tokens(text) + listEntry
			}
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
	due := map[*session]bool{}
	for _, s := range r.due {
		due[s] = true
	}
	left := min(room-b.tokens, b.tokens/2)
	for _, s := range slices.Backward(r.sessions) {
		if due[s] {
			continue
		}
		if left < comparedTokens/4 {
			break
		}
		text := weightiest(s, min(left, comparedTokens))
		if size := memoir.Tokens(text); text != "" && size <= left {
			statements = append(statements, text)
			left -= size
			b.tokens += size
		}
	}
	b.statements, b.summaries = strings.Join(statements, "\n"), strings.Join(summaries, "\n")
	return b
}

// block shows statements of a session without the numbers of their items, and without
// claims that nothing verified: those never reach a memory.
func block(s *session, statements []memoir.Statement) string {
	var plain []memoir.Statement
	for _, st := range statements {
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

// weights say which statements are kept where not all can be.
var weights = map[memoir.StatementKind]int{
	memoir.StatementPreference: 10, memoir.StatementFailure: 8, memoir.StatementCommand: 7, memoir.StatementDecision: 6,
	memoir.StatementFinding: 6, memoir.StatementRefuted: 6, memoir.StatementOutcome: 5, memoir.StatementOpen: 5,
	memoir.StatementProcedure: 4, memoir.StatementEnvironment: 4, memoir.StatementTask: 3, memoir.StatementFile: 1,
}

// weightiest shows the weightiest statements of a session within a number of
// tokens, in their order; empty if none fits.
func weightiest(s *session, room int) string {
	all := statementsOf(s.Extraction)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[all[b].Kind], weights[all[a].Kind]) })
	bytes := room*4 - len(head(s)) - 60
	kept := make([]bool, len(all))
	headed := map[memoir.StatementKind]bool{}
	n := 0
	for _, i := range order {
		size := len(all[i].Text) + 3
		if !headed[all[i].Kind] {
			size += len(all[i].Kind) + 6
		}
		if size <= bytes && all[i].Kind != memoir.StatementClaim {
			bytes -= size
			kept[i], headed[all[i].Kind] = true, true
			n++
		}
	}
	if n == 0 {
		if len(all) == 0 || bytes <= comparedTokens {
			return ""
		}
		first := all[order[0]] // a piece of the weightiest says more than nothing
		first.Text = cut(first.Text, bytes-60)
		return block(s, []memoir.Statement{first})
	}
	var some []memoir.Statement
	for i, st := range all {
		if kept[i] {
			some = append(some, st)
		}
	}
	text := block(s, some)
	if left := len(all) - n; left > 0 {
		text += fmt.Sprintf("\n(%s of lesser weight left out)\n", plural(left, "statement"))
	}
	return text
}
