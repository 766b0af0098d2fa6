package search

import (
	"fmt"
	"strings"
	"time"

	"memoir"
	"memoir/store"
)

// kind is the kind of a passage: the lowest bits of its number in the index.
type kind uint8

const (
	memoryKind    kind = iota
	summaryKind        // a rollout summary
	statementKind      // of a raw memory
	claimKind          // what only the agent claimed
	typedKind          // what a person typed
	agentKind          // what the agent said
	dayKind            // the day on which a session began: no place in it
	historyKind        // a paragraph of a project's history
)

// sources are the kinds as hits name them.
var sources = [...]string{SourceMemory, "summary", "statement", "claim", "typed", "agent", "agent", SourceHistory}

// alone reports whether passages of a kind are ranked one by one, and not as a document together.
func (k kind) alone() bool { return k == memoryKind || k == historyKind }

// passage is what is found: a line, a statement or a message. Neighbours in a document are neighbours in
// what it was made of.
type passage struct {
	kind kind
	text string
	line int // of a file, from 1
	item int // of a session; 0: not known
	at   time.Time
}

// maxPassages bounds the passages of one document, since their place has 13 bits of a passage's number.
const maxPassages = 1 << 13

// gap keeps passages from being neighbours.
var gap = make([]passage, len(nearness))

// dates are the forms in which a day is asked for.
const dates = "2006-01-02 2 January 2006"

// passagesOf are the passages of a session: the day of its beginning, its messages in their order, then its statements.
func passagesOf(d store.Said) []passage {
	var out []passage
	at := d.EndedAt
	if len(d.Messages) > 0 && !d.Messages[0].At.IsZero() {
		at = d.Messages[0].At
	}
	if !at.IsZero() { // people ask for what was said on a day
		out = append(out, passage{kind: dayKind, text: at.UTC().Format(dates), at: at})
		out = append(out, gap...)
	}
	for _, m := range d.Messages {
		p := passage{kind: agentKind, text: m.Text, item: m.Item, at: m.At}
		if m.Typed {
			p.kind = typedKind
		}
		out = append(out, p)
	}
	out = append(out, gap...)
	for _, s := range memoir.ParseStatements(d.RawMemory) {
		p := passage{kind: statementKind, text: s.Text, at: d.EndedAt}
		if s.Kind == memoir.StatementClaim {
			p.kind = claimKind
		}
		if len(s.Items) > 0 {
			p.item = s.Items[0]
		}
		out = append(out, p)
	}
	return out[:min(len(out), maxPassages)]
}

// linesOf are the first lines of a file of a memory that say something, everyLine all of them.
func linesOf(text string, k kind) []passage {
	out := everyLine(text, k)
	return out[:min(len(out), maxPassages)]
}

func everyLine(text string, k kind) []passage {
	var out []passage
	head := strings.HasPrefix(text, "session: ") // of a rollout summary
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		head = head && line != ""
		preamble := n <= 3 && strings.HasPrefix(line, "From ") // what a memory was made from
		if line != "" && !head && !preamble && !strings.HasPrefix(line, "#") {
			out = append(out, passage{kind: k, text: line, line: n})
		}
	}
	return out
}

// headed reads the head of a rollout summary: which session it is about, and when that ended.
func headed(text string) (key string, ended time.Time) {
	var id, agent, at string
	if _, err := fmt.Sscanf(text, "session: %s\nagent: %s\nended: %s\n", &id, &agent, &at); err != nil {
		return "", ended
	}
	ended, _ = time.Parse(time.RFC3339, at)
	return memoir.SessionKey(memoir.Source(agent), id), ended
}
