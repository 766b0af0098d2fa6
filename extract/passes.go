package extract

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"memoir"
)

// A session is read in one pass or in several: each after the first is shown what was
// written down so far, and the items that follow. A session that grew is read in the
// same way, from what an earlier extraction says.

const (
	contextShare = 8    // of the budget of a pass, the part that may go to items shown again
	contextMost  = 1000 // tokens of them at most
	knownMost    = 2    // of a budget, the part that what is known may take at most
	passMargin   = 64   // tokens that a day and a directory said again take at most, about
	usualKnown   = 6000 // bytes that are usually known of a session in its later passes
)

// Extract reads what is to be read of the session, pass by pass. One that fails fails all:
// a session is not half read.
func (x llm) Extract(ctx context.Context, in Input) (memoir.Extraction, memoir.Usage, error) {
	w := x.walk(&in)
	told := Report{Session: in.Session.Key(), Grown: w.known != nil}
	var used memoir.Usage
	var out memoir.Extraction
	for len(w.rest) > 0 {
		a, err := x.begin(&w, in)
		if err != nil {
			return memoir.Extraction{}, used, err
		}
		shown, got, err := x.ask(ctx, a)
		used = used.Add(a.used)
		told.Calls += a.calls
		if err != nil {
			return memoir.Extraction{}, used, err
		}
		told.count(shown, got)
		w.passed(a, got.Extraction)
		if !got.Empty() {
			out = got.Extraction
		}
	}
	told.Grown = told.Grown && !w.afresh
	if out.Empty() && w.known != nil && w.known.less {
		out = w.known.rest(in)
	}
	if x.Report != nil {
		x.Report(told)
	}
	return x.finish(out, in.Session), used, nil
}

// Estimator is an Extractor that can say what it would ask.
type Estimator interface {
	// Estimate returns how many calls a session takes if each is answered well, and
	// the bytes that are asked in all of them.
	Estimate(in Input) (calls int, bytes int64, err error)
}

var _ Estimator = llm{}

// Estimate walks through the session without asking.
func (x llm) Estimate(in Input) (calls int, bytes int64, err error) {
	w := x.walk(&in)
	for len(w.rest) > 0 {
		a, err := x.begin(&w, in)
		if err != nil {
			return 0, 0, err
		}
		q, err := x.request(a, a.show())
		if err != nil {
			return 0, 0, err
		}
		calls++
		bytes += int64(len(q.System) + len(q.Input) + len(q.Schema))
		var got memoir.Extraction
		if w.known == nil && len(a.items) > 0 {
			known := strings.Repeat("x", usualKnown)
			got.RawMemory = fmt.Sprintf("## %s\n- %s [%d]\n", memoir.StatementTask, known, a.items[0].N)
		}
		w.passed(a, got)
	}
	return calls, bytes, nil
}

// A walk is the way through a session.
type walk struct {
	known  *earlier      // of the items that were read; nil: nothing
	rest   []memoir.Item // that are to be read, without noise
	passes int           // that may still be made
	afresh bool          // what was known left no room, and all is read in one pass
}

// walk begins a way through a session, whose texts it cleans.
func (x llm) walk(in *Input) walk {
	in.Items = readable(in.Items)
	w := walk{rest: in.Items, passes: max(x.Passes, 1)}
	if in.Earlier != nil && in.Earlier.Model != BuiltinName { // which finds less than a reader would
		if rest := after(in.Items, in.Since); len(rest) > 0 {
			if w.known = newEarlier(*in.Earlier, in.Since, in.Items); w.known != nil {
				w.rest = rest
			}
		}
	}
	w.rest = quiet(w.rest)
	return w
}

// begin is the next pass. Where what is known would take too much of its budget, and of
// every later one, the session is read in one pass from the start.
func (x llm) begin(w *walk, in Input) (*inquiry, error) {
	a := &inquiry{in: in, output: x.MaxOutput, known: w.known}
	var err error
	if a.budget, err = x.budget(in.Session, nil); err != nil {
		return nil, err
	}
	if w.known != nil && a.budget > 0 && !w.known.fit(a.budget/knownMost) {
		w.known, a.known, w.rest, w.passes, w.afresh = nil, nil, quiet(in.Items), 1, true
	}
	if w.known != nil {
		if a.budget, err = x.budget(in.Session, w.known); err != nil {
			return nil, err
		}
		a.context = contextOf(in.Items[:len(in.Items)-len(after(in.Items, w.known.since))], a.budget)
	}
	room := a.budget
	if room > 0 && len(a.context) > 0 {
		room = max(room-memoir.Tokens(render(a.context))-passMargin, 1)
	}
	a.items = w.rest[:nextPass(w.rest, room, w.passes)]
	return a, nil
}

// passed goes on behind a pass.
func (w *walk) passed(a *inquiry, got memoir.Extraction) {
	w.rest = w.rest[len(a.items):]
	w.passes--
	if len(w.rest) == 0 {
		return
	}
	last := a.items[len(a.items)-1].N
	if !got.Empty() {
		w.known = newEarlier(got, last, a.in.Items)
	} else if w.known != nil {
		w.known.since = last
	}
}

// show is what the model sees.
func (a *inquiry) show() shown {
	tokens := a.budget
	if tokens > 0 && len(a.context) > 0 {
		tokens = max(tokens-memoir.Tokens(render(a.context)), 1)
	}
	s := fitShown(a.items, tokens)
	if len(a.context) > 0 {
		s.again = len(a.context)
		s.items = slices.Concat(a.context, s.items)
		s.text = render(s.items)
	}
	return s
}

// nextPass is how many of some items the next pass reads, when each can take a number of
// tokens and there may be so many passes; never 0 of some. They get about as much each, and
// end before what a person says where they can. When there are too few, each gets more than
// it can take, to be fitted.
func nextPass(items []memoir.Item, room, passes int) int {
	if room <= 0 || passes <= 1 {
		return len(items)
	}
	sizes := make([]int, len(items))
	all := 0
	var r renderer
	for i, it := range items {
		sizes[i] = min(memoir.Tokens(r.line(it)), room) // one that is larger is fitted
		all += sizes[i]
	}
	needed := min((all+room-1)/room, passes)
	if needed <= 1 {
		return len(items)
	}
	goal := (all + needed - 1) / needed
	most := max(room, goal)
	within, turn, sum := 1, 0, 0
	for i := 1; i < len(items); i++ { // the pass would have the items before i
		sum += sizes[i-1]
		if sum > most {
			break
		}
		if sum <= goal {
			within = i
		}
		if items[i].Origin.ByPerson() && 4*sum >= 3*goal && (turn == 0 || sum <= goal) {
			turn = i
		}
	}
	if turn > 0 {
		return turn
	}
	return within
}

// contextOf is a few of the items that were read before: what a person said, and the words of the
// agent that the next ones may answer.
func contextOf(before []memoir.Item, budget int) []memoir.Item {
	tokens := contextMost
	if budget > 0 {
		tokens = min(tokens, budget/contextShare)
	}
	last := len(before) - 1
	for last >= 0 && (before[last].Kind != memoir.ItemMessage || before[last].Origin.ByPerson()) {
		last--
	}
	var out []memoir.Item
	for i, it := range before {
		if it.Origin.ByPerson() || i == last {
			out = append(out, it)
		}
	}
	return fitShown(out, tokens).items
}

// after are the items behind a number.
func after(items []memoir.Item, n int) []memoir.Item {
	i, _ := slices.BinarySearchFunc(items, n+1, func(it memoir.Item, n int) int { return it.N - n })
	return items[i:]
}

// earlier is what is known of a session's first items from reading them before.
type earlier struct {
	since      int                // the last item that it is about
	extraction memoir.Extraction  // as it was made
	statements []memoir.Statement // of it, that hold as far as code can tell
	body       string             // of its summary, without the head that code wrote
	less       bool               // something of it was set aside
	cited      map[int]bool       // items
}

// newEarlier is the earlier extraction of what a session held up to an item, nil if
// it is of no use. What it says of later items is set aside: those are not as they
// were. So are numbers of items that are no longer held.
func newEarlier(e memoir.Extraction, since int, items []memoir.Item) *earlier {
	held := make(map[int]bool, len(items))
	for _, it := range items {
		if it.N <= since {
			held[it.N] = true
		}
	}
	out := &earlier{since: since, extraction: e, cited: map[int]bool{}}
	statements, _ := readStatements(e.RawMemory, func(n int) bool { return held[n] })
	for _, st := range statements {
		if len(st.Items) == 0 || slices.ContainsFunc(st.Items, func(n int) bool { return n > since }) {
			out.less = true
			continue
		}
		all := len(st.Items)
		st.Items = slices.DeleteFunc(st.Items, func(n int) bool { return !held[n] })
		out.less = out.less || len(st.Items) < all
		if len(st.Items) == 0 {
			continue
		}
		for _, n := range st.Items {
			out.cited[n] = true
		}
		out.statements = append(out.statements, st)
	}
	if len(out.statements) == 0 {
		return nil
	}
	out.body = out.summaryBody()
	return out
}

// summaryBody is the summary without the head that code wrote, and without lines about
// items that are not as they were.
func (p *earlier) summaryBody() string {
	_, lines := readSummary(p.extraction.RolloutSummary)
	for len(lines) > 0 && slices.ContainsFunc(headFields, func(name string) bool {
		return strings.HasPrefix(lines[0], "- "+name+": ")
	}) {
		lines = lines[1:]
	}
	lines = slices.DeleteFunc(lines, func(line string) bool {
		for _, cited := range citation.FindAllString(line, -1) {
			numbers := citedNumbers(strings.Trim(cited, " []"), func(n int) bool { return n > p.since })
			if slices.ContainsFunc(numbers, func(n int) bool { return n > p.since }) {
				return true
			}
		}
		return false
	})
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// memory is what a model is shown of its statements.
func (p *earlier) memory() string { return memoir.FormatStatements(p.statements) }

// summary is what a model is shown of its summary.
func (p *earlier) summary() string {
	if p.body == "" {
		return ""
	}
	return "# " + plainTitle(p.extraction.Title) + "\n\n" + p.body + "\n"
}

// tokens is how many it takes of a budget.
func (p *earlier) tokens() int { return memoir.Tokens(p.memory()) + memoir.Tokens(p.summary()) }

// fit leaves the summary out where it would take more than a number of tokens; false if it
// still takes more.
func (p *earlier) fit(tokens int) bool {
	if p.tokens() > tokens {
		p.body = ""
	}
	return p.tokens() <= tokens
}

// says reports whether a statement stands in it word for word.
func (p *earlier) says(st memoir.Statement) bool {
	return p != nil && slices.ContainsFunc(p.statements, func(e memoir.Statement) bool {
		return e.Kind == st.Kind && e.Text == st.Text
	})
}

// lost is which of its statements none of some others stands for: by an item that both cite
// under the same heading, or by their words.
func (p *earlier) lost(kept []memoir.Statement) []memoir.Statement {
	words := make([]map[string]bool, len(kept))
	for i, st := range kept {
		words[i] = contentWords(st.Text)
	}
	var out []memoir.Statement
	for _, e := range p.statements {
		own := contentWords(e.Text)
		stands := false
		for i, st := range kept {
			sameItem := e.Kind == st.Kind && slices.ContainsFunc(e.Items,
				func(n int) bool { return slices.Contains(st.Items, n) })
			if stands = sameItem || e.Text == st.Text || overlap(own, words[i]) >= 0.6; stands {
				break
			}
		}
		if !stands {
			out = append(out, e)
		}
	}
	return out
}

// join keeps what an answer lost beside what it says, as far as a raw memory holds it: what
// was known first.
func (p *earlier) join(lost, kept []memoir.Statement) []memoir.Statement {
	out := slices.Concat(lost, kept)
	for len(out) > len(kept) && (len(out) > maxStatements || len(memoir.FormatStatements(out)) > MaxRawMemory) {
		out = out[1:]
	}
	return out
}

// rest is the extraction as far as it holds, of a session whose new items change
// nothing of it.
func (p *earlier) rest(in Input) memoir.Extraction {
	e := memoir.Extraction{RawMemory: p.memory(), RolloutSlug: p.extraction.RolloutSlug, Title: p.extraction.Title}
	if e.Title == "" {
		e.Title = title(in.Session, p.statements)
	}
	e.RolloutSlug = slug(e.RolloutSlug, in.Session.ID)
	body := summarySections(p.statements)
	if p.body != "" {
		body = "\n" + p.body + "\n"
	}
	e.RolloutSummary = summaryHead(in, e, p.statements) + body
	return e
}
