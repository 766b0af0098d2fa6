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

// listEntry is how many tokens a session takes in the list of those that are new.
const listEntry = 12

// fit takes as many of the sessions that are due, oldest first and whole, as a
// number of tokens holds; one that is too long alone gives its weightiest
// statements. Half as much again may go to the weightiest statements of the other
// sessions, newest first, for the sake of comparison.
func (r *renewal) fit(room int) batch {
	var b batch
	var statements, summaries []string
	for _, s := range r.due {
		text, summary := r.block(s, r.texts[s]), summaryBlock(s)
		size := memoir.Tokens(text) + memoir.Tokens(summary) + listEntry
		if b.tokens+size > room {
			if len(b.sessions) > 0 {
				break
			}
			summary = ""
			if size = memoir.Tokens(text) + listEntry; size > room {
				text = r.weightiest(s, room-listEntry)
				size = memoir.Tokens(text) + listEntry
			}
		}
		b.sessions = append(b.sessions, s)
		b.tokens += size
		if statements = append(statements, text); summary != "" {
			summaries = append(summaries, summary)
		}
		if r.known[s] {
			b.changed = append(b.changed, s.cite())
		} else {
			b.fresh = append(b.fresh, s.cite())
		}
	}
	left := min(room-b.tokens, b.tokens/2)
	for _, s := range slices.Backward(r.sessions) {
		if slices.Contains(r.due, s) {
			continue
		}
		text := r.weightiest(s, min(left, 200))
		if size := memoir.Tokens(text); text != "" && size <= left {
			statements = append(statements, text)
			left -= size
			b.tokens += size
		}
	}
	b.statements, b.summaries = strings.Join(statements, "\n"), strings.Join(summaries, "\n")
	return b
}

// block shows statements of a session without the numbers of their items.
func (r *renewal) block(s *session, statements []memoir.Statement) string {
	plain := make([]memoir.Statement, len(statements))
	for i, st := range statements {
		plain[i] = memoir.Statement{Kind: st.Kind, Text: cut(strings.Join(strings.Fields(st.Text), " "), 4000)}
	}
	return head(s) + strings.ReplaceAll("\n"+memoir.FormatStatements(plain), "\n## ", "\n### ")
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
var weights = map[memoir.StatementKind]float64{
	memoir.StatementPreference: worthPreference, memoir.StatementCommand: worthCommand, memoir.StatementFailure: worthFailure,
	memoir.StatementDecision: worthKnown, memoir.StatementOutcome: worthOpen, memoir.StatementProcedure: worthOpen,
	memoir.StatementEnvironment: worthEnvironment, memoir.StatementTask: worthRecent, memoir.StatementFile: worthFile,
}

// weightiest shows the weightiest statements of a session within a number of
// tokens, in their order; empty if none fits.
func (r *renewal) weightiest(s *session, room int) string {
	all := r.texts[s]
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
		if size <= bytes {
			bytes -= size
			kept[i], headed[all[i].Kind] = true, true
			n++
		}
	}
	if n == 0 && len(all) > 0 && bytes > 200 { // a piece of the weightiest says more than nothing
		first := all[order[0]]
		first.Text = cut(first.Text, bytes-60)
		return r.block(s, []memoir.Statement{first})
	}
	if n == 0 {
		return ""
	}
	var some []memoir.Statement
	for i, st := range all {
		if kept[i] {
			some = append(some, st)
		}
	}
	text := r.block(s, some)
	if left := len(all) - n; left > 0 {
		text += fmt.Sprintf("\n(%s of lesser weight left out)\n", plural(left, "statement"))
	}
	return text
}
