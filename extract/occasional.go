package extract

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"memoir"
)

const (
	maxOccasional = 4 // statements of such commands in a session
	manyRuns      = 2 // runs from which an unknown command matters
)

// occasional lists commands of no known kind that recur in a session, and those
// that changed something on the repository's host.
func occasional(r *reading) []found {
	type tally struct {
		text    string
		items   []int
		mutates bool
		sought  bool // another form of it gave nothing just before
	}
	var order []*tally
	byText := map[string]*tally{}
	for k, run := range r.runs {
		if run.failed || run.unknown || k+1 < len(r.runs) && run.inVain(r.runs[k+1]) {
			continue
		}
		for i, s := range run.parts {
			if s.script || i > 0 && run.parts[i-1].after == "|" {
				continue
			}
			text, mutates := uncommon(s, r.root)
			if text == "" {
				continue
			}
			t := byText[text]
			if t == nil {
				t = &tally{text: text}
				byText[text] = t
				order = append(order, t)
			}
			t.mutates = t.mutates || mutates
			t.sought = t.sought || k > 0 && r.runs[k-1].inVain(run)
			if n := len(t.items); n == 0 || t.items[n-1] != run.item {
				t.items = append(t.items, run.item)
			}
		}
	}
	order = slices.DeleteFunc(order, func(t *tally) bool { return len(t.items) < manyRuns && !t.mutates && !t.sought })
	slices.SortStableFunc(order, func(a, b *tally) int {
		if a.mutates != b.mutates {
			if a.mutates {
				return -1
			}
			return 1
		}
		return cmp.Compare(len(b.items), len(a.items))
	})
	var out []found
	for _, t := range order[:min(len(order), maxOccasional)] {
		text := code(t.text) + " works"
		if len(t.items) > 1 {
			text += fmt.Sprintf(" (ran %d times)", len(t.items))
		}
		weight := 1.6 + 0.3*float64(min(len(t.items), 4))
		if t.mutates {
			weight += 0.8
		}
		out = append(out, found{memoir.Statement{Kind: memoir.StatementCommand, Text: text, Items: firstAndLast(t.items, 3)}, weight})
	}
	return out
}

// inVain reports whether a run printed nothing and the next runs the same program on
// the same thing with other options: it did not give what was looked for.
func (r *run) inVain(next *run) bool {
	if len(r.parts) == 0 || len(next.parts) == 0 || r.line == next.line || strings.TrimSpace(r.output) != "" || next.failed {
		return false
	}
	a, b := operands(r.parts[0].words), operands(next.parts[0].words)
	return len(a) > 2 && slices.Equal(a, b)
}

// operands are a program, its subcommand and the first thing that it is told to work on.
func operands(words []string) []string {
	var out []string
	for _, w := range words {
		if len(out) == 3 {
			break
		}
		if !strings.HasPrefix(w, "-") {
			out = append(out, w)
		}
	}
	return out
}

// uncommon renders a simple command that is none of the known ones.
func uncommon(s simple, root string) (text string, mutates bool) {
	program := unquote(s.words[0])
	base := path.Base(program)
	switch {
	case base == "gh" || base == "glab":
		return hostCommand(s.words)
	case readers()[base] || compound[base] || base == "git" || interpreter(base) || changers()[base] != nil || subcommandUse()[base] != nil || programUse()[base] != "":
		return "", false
	case strings.ContainsAny(program, "$*=(){}<>`~:;'\"") || strings.HasPrefix(program, "/") || strings.HasPrefix(program, "..") || len(base) < 2 || !lowercase(base):
		return "", false
	case len(s.words) < 2 || asksAbout(s.words[1:]):
		return "", false
	}
	if word, _ := next(s.words[1:]); word == "list" || word == "ls" || word == "show" || word == "view" || word == "status" || word == "info" || word == "version" || word == "help" || word == "search" {
		return "", false
	}
	if _, use := classify(s.words); use != "" {
		return "", false
	}
	text = rendered(s, root)
	if len(text) > 120 || strings.ContainsAny(text, "$") {
		return "", false
	}
	return text, false
}

func lowercase(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}
