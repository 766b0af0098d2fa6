package extract

import (
	"slices"
	"strings"

	"memoir"
)

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
	for len(lines) > 0 && slices.ContainsFunc(headFields, func(name string) bool { return strings.HasPrefix(lines[0], "- "+name+": ") }) {
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
	return p != nil && slices.ContainsFunc(p.statements, func(e memoir.Statement) bool { return e.Kind == st.Kind && e.Text == st.Text })
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
			sameItem := e.Kind == st.Kind && slices.ContainsFunc(e.Items, func(n int) bool { return slices.Contains(st.Items, n) })
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
