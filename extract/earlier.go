package extract

import (
	"context"
	"slices"
	"strings"

	"memoir"
)

// A session that grew is read on: a model is shown what was written down of it, and the
// items that follow.

const (
	contextShare = 8    // of the budget, the part that may go to items shown again
	contextMost  = 1000 // tokens of them at most
	knownMost    = 2    // of a budget, the part that what is known may take at most
)

// Extract asks about the session, or about what is new of it.
func (x llm) Extract(ctx context.Context, in Input) (memoir.Extraction, memoir.Usage, error) {
	a, err := x.begin(in)
	if err != nil {
		return memoir.Extraction{}, memoir.Usage{}, err
	}
	told := Report{Session: in.Session.Key(), Grown: a.known != nil}
	var out memoir.Extraction
	if len(a.items) > 0 {
		shown, got, err := x.ask(ctx, a)
		told.Calls = a.calls
		if err != nil {
			return memoir.Extraction{}, a.used, err
		}
		told.count(shown, got)
		out = got.Extraction
	}
	if out.Empty() && a.known != nil && a.known.less {
		out = a.known.rest(a.in)
	}
	if x.Report != nil {
		x.Report(told)
	}
	return x.finish(out, in.Session), a.used, nil
}

// Estimator is an Extractor that can say what it would ask.
type Estimator interface {
	// Estimate returns how many calls a session takes if each is answered well, and
	// the bytes that are asked in all of them.
	Estimate(in Input) (calls int, bytes int64, err error)
}

var _ Estimator = llm{}

// Estimate makes the question without asking it.
func (x llm) Estimate(in Input) (calls int, bytes int64, err error) {
	a, err := x.begin(in)
	if err != nil || len(a.items) == 0 {
		return 0, 0, err
	}
	q, err := x.request(a, a.show())
	if err != nil {
		return 0, 0, err
	}
	return 1, int64(len(q.System) + len(q.Input) + len(q.Schema)), nil
}

// begin tells what is to be read of a session, whose texts it cleans. Where what is known
// would take too much of the budget, the session is read from the start.
func (x llm) begin(in Input) (*inquiry, error) {
	in.Items = readable(in.Items)
	a := &inquiry{in: in, output: x.MaxOutput, items: in.Items}
	if in.Earlier != nil && in.Earlier.Model != BuiltinName { // which finds less than a reader would
		if rest := after(in.Items, in.Since); len(rest) > 0 {
			a.known = newEarlier(*in.Earlier, in.Since, in.Items)
		}
	}
	var err error
	if a.budget, err = x.budget(in.Session, nil); err != nil {
		return nil, err
	}
	if a.known != nil && a.budget > 0 && !a.known.fit(a.budget/knownMost) {
		a.known = nil
	}
	if a.known != nil {
		if a.budget, err = x.budget(in.Session, a.known); err != nil {
			return nil, err
		}
		a.items = after(in.Items, a.known.since)
		a.context = contextOf(in.Items[:len(in.Items)-len(a.items)], a.budget)
	}
	a.items = quiet(a.items)
	return a, nil
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
