package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"memoir"
	"memoir/bench/memory/marks"
	"memoir/bench/memory/score"
	"memoir/extract"
)

// budgets are the room, in tokens, that sessions are fitted to.
var budgets = []int{4000, 16000, 64000}

// fitScore is what survives at one budget: of the facts' proofs, by weight.
type fitScore struct {
	Budget    int          `json:"budget"` // tokens
	Sessions  int          `json:"sessions"`
	Fit       score.Recall `json:"fit"`       // extract.Fit
	HeadTail  score.Recall `json:"head_tail"` // the first 60 % and the last 40 % of as many bytes
	Unlimited score.Recall `json:"unlimited"` // the whole session
	Evidence  kept         `json:"evidence"`  // patches and error lines, whatever is marked
	Within    kept         `json:"within"`    // of the sessions in which they take at most half of the budget
	Tokens    int          `json:"tokens"`    // of what is chosen
}

func (s *fitScore) add(f marks.Fact, whole, fitted, ends string) {
	s.Unlimited.Add(f, f.Proof.Survives(whole))
	s.Fit.Add(f, f.Proof.Survives(fitted))
	s.HeadTail.Add(f, f.Proof.Survives(ends))
}

// fitReport is what survives over all sessions, and over those that exceed a budget.
type fitReport struct {
	All  []*fitScore  `json:"all"`
	Over []*fitScore  `json:"over"`
	Lost []score.Miss `json:"lost,omitempty"` // facts that do not survive in sessions over the budget
}

func newFitReport() *fitReport {
	t := &fitReport{}
	for _, budget := range budgets {
		t.All = append(t.All, &fitScore{Budget: budget})
		t.Over = append(t.Over, &fitScore{Budget: budget})
	}
	return t
}

// runFit measures extract.Fit on the real sessions.
func runFit(ctx context.Context, o options, out io.Writer) error {
	report := newFitReport()
	err := eachReal(ctx, o, func(r realSession) error {
		report.add(r)
		return nil
	})
	if !o.misses {
		report.Lost = nil
	}
	return give(o, out, report, err)
}

func (t *fitReport) add(r realSession) {
	whole, size := itemTexts(r.items), 0
	for _, it := range r.items {
		size += extract.Cost(it)
	}
	rendered := renderItems(r.items)
	for i, budget := range budgets {
		items, _ := extract.Fit(r.items, budget)
		fitted := itemTexts(items)
		ends := marks.FoldSpace(headAndTail(rendered, budget*4))
		scores := []*fitScore{t.All[i]}
		if size > budget {
			scores = append(scores, t.Over[i])
		}
		for _, s := range scores {
			s.Sessions++
			s.Evidence.add(r.items, fitted)
			if evidenceTokens(r.items) <= budget/2 {
				s.Within.add(r.items, fitted)
			}
			for _, it := range items {
				s.Tokens += extract.Cost(it)
			}
			for _, f := range r.Facts {
				s.add(f, whole, fitted, ends)
			}
		}
		for _, f := range r.Facts {
			if !f.Proof.Survives(fitted) {
				t.Lost = append(t.Lost, score.Miss{Project: "corpus", Session: r.Session, Where: fmt.Sprintf("%d tokens", budget),
					ID: f.ID, Kind: f.Kind, Weight: f.Weight, Text: f.Text, Needs: len(f.Proof)})
			}
		}
	}
}

func (t *fitReport) print(out io.Writer) {
	for _, part := range []struct {
		name   string
		scores []*fitScore
	}{{"all sessions", t.All}, {"sessions over the budget", t.Over}} {
		table(out, part.name+"\tsessions\tfit\thead and tail\tnothing left out"+
			"\tpatch and error lines\tcalls\twhere half the budget holds them\tcalls\ttokens", func(row func(string, ...any)) {
			for _, s := range part.scores {
				e, w := s.Evidence, s.Within
				row("%d tokens\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d", s.Budget, s.Sessions, recall(s.Fit), recall(s.HeadTail),
					recall(s.Unlimited),
					share(e.LinesKept, e.Lines), share(e.CallsKept, e.Calls),
					share(w.LinesKept, w.Lines), share(w.CallsKept, w.Calls), s.Tokens)
			}
		})
	}
	for _, m := range t.Lost {
		fmt.Fprintf(out, "lost at %s: %s: %s (%s, weight %d) %s\n", m.Where, m.Session, m.ID, m.Kind, m.Weight, m.Text)
	}
}

// itemTexts is what a reader of items can find a proof in, white space folded.
func itemTexts(items []memoir.Item) string {
	var b strings.Builder
	for _, it := range items {
		for _, text := range []string{it.Text, it.Input, it.Output} {
			b.WriteString(marks.FoldSpace(text) + "\n")
		}
	}
	return b.String()
}

// renderItems is the session as `memoir show` prints it.
func renderItems(items []memoir.Item) string {
	var b strings.Builder
	for _, it := range items {
		fmt.Fprintf(&b, "[%d] ", it.N)
		if it.Kind != memoir.ItemTool {
			fmt.Fprintf(&b, "%s\n%s\n\n", it.Role, it.Text)
			continue
		}
		b.WriteString(it.Tool)
		if it.Exit != nil {
			fmt.Fprintf(&b, " exit %d", *it.Exit)
		}
		for _, text := range []string{it.Input, it.Output} {
			if text != "" {
				b.WriteString("\n" + strings.TrimRight(text, "\n"))
			}
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

// headAndTail keeps the first 60 % and the last 40 % of a number of bytes.
func headAndTail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head := most * 6 / 10
	return text[:head] + "\n" + text[len(text)-(most-head):]
}

// kept counts what of the patches and failures of sessions survives: their lines, and the calls
// of which at least a third of the lines does.
type kept struct {
	Lines     int `json:"lines"`
	LinesKept int `json:"lines_kept"`
	Calls     int `json:"calls"`
	CallsKept int `json:"calls_kept"`
}

func (k *kept) add(items []memoir.Item, fitted string) {
	for _, it := range items {
		lines := evidenceLines(it)
		if len(lines) == 0 {
			continue
		}
		survive := 0
		for _, line := range lines {
			if strings.Contains(fitted, line) {
				survive++
			}
		}
		k.Lines += len(lines)
		k.LinesKept += survive
		k.Calls++
		if 3*survive >= len(lines) {
			k.CallsKept++
		}
	}
}

// evidenceTokens is what the patches and error lines of a session take.
func evidenceTokens(items []memoir.Item) int {
	bytes := 0
	for _, it := range items {
		for _, line := range evidenceLines(it) {
			bytes += len(line)
		}
	}
	return bytes / 4
}

var (
	addedLine = regexp.MustCompile(`(?m)^\+(.+)$`)
	tellsWhy  = regexp.MustCompile(`(?i)^\W*(?:error|fatal|panic|fail|exception)\b` +
		`|\b(?:error|exception|panicked|not found|no such|denied|cannot|undefined|unknown|unexpected)\b`)
)

// evidenceLines are the lines that a patch adds, or the lines that tell why a call failed; those
// of fewer than 8 characters say nothing.
func evidenceLines(it memoir.Item) (out []string) {
	if it.Kind != memoir.ItemTool {
		return nil
	}
	var lines []string
	if it.Failed {
		for line := range strings.Lines(it.Output) {
			if len(line) <= 400 && tellsWhy.MatchString(line) {
				lines = append(lines, line)
			}
		}
	} else {
		for _, match := range addedLine.FindAllStringSubmatch(patchIn(it), -1) {
			lines = append(lines, match[1])
		}
	}
	for _, line := range lines {
		if line = marks.FoldSpace(strings.TrimSpace(line)); len(line) >= 8 {
			out = append(out, line)
		}
	}
	return out
}

// patchIn is the patch that a call carries, as a diff without the lines that stay.
func patchIn(it memoir.Item) string {
	if strings.Contains(it.Input, "*** Begin Patch") {
		return it.Input
	}
	var args struct {
		Old1    string `json:"old_string"`
		New1    string `json:"new_string"`
		Old2    string `json:"oldText"`
		New2    string `json:"newText"`
		Content string `json:"content"`
		Path    string `json:"file_path"`
		Path2   string `json:"path"`
	}
	if json.Unmarshal([]byte(it.Input), &args) != nil || args.Path+args.Path2 == "" {
		return ""
	}
	old := map[string]bool{}
	for line := range strings.SplitSeq(args.Old1+args.Old2, "\n") {
		old[line] = true
	}
	var b strings.Builder
	for line := range strings.SplitSeq(args.New1+args.New2+args.Content, "\n") {
		if !old[line] {
			b.WriteString("+" + line + "\n")
		}
	}
	return b.String()
}
