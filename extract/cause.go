package extract

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Words in headings and labels of the part of a text that says why, in a post and in an answer, and of the part that
// says what is left to do.
var (
	causeWords = []string{"root cause", "cause", "why", "problem", "motivation"}
	foundWords = causeWords[:2]
	toPerson   = []string{"i'll", "me", "you", "your", "please"}
	openWords  = []string{"remaining", "not done", "left", "next steps", "follow-up", "follow-ups"}
)

// Bounds of a line of MEMORY.md and of the first sentence of a cause, in bytes, and of the words of its heading: one
// with more is a sentence.
const (
	MaxLine    = 500
	maxPart    = 300
	maxHeading = 4
)

// under returns the sentences of the first part of a text below a heading with some words, and the number of those
// before its last paragraph. A heading is a heading of Markdown, a line with a colon at its end, or a label at the
// beginning of a paragraph. A later paragraph that begins with a reference to an issue ends the part.
func under(text string, words []string) (out []string, last int) {
	open := ""
	for _, p := range paragraphs(straight.Replace(clean(text))) {
		heading, rest := p.heading, labels(strings.ReplaceAll(p.text, "**", ""))
		label, after, ok := strings.Cut(rest, ": ")
		if stated.MatchString(rest) && slices.Contains(words, causeWords[0]) {
			heading = causeWords[0]
		} else if ok && titles(label, words) {
			heading, rest = label, after
		}
		all := sentences(rest)
		if open != "" && (heading != open || len(all) > 0 && refers.MatchString(all[0])) {
			break
		}
		if !titles(heading, words) {
			continue
		}
		open, last = heading, len(out)
		for _, s := range all {
			if !strings.HasSuffix(s, ":") && !trailer(s) {
				out = append(out, s)
			}
		}
	}
	return out, last
}

// refers matches a reference to an issue.
var refers = lazyregexp.New(`#\d|https?://`)

// stated matches the beginning of a sentence that states a cause.
var stated = lazyregexp.New(`(?i)^(?:the )?(?:root cause|cause|problem) (?:was|is) `)

func titles(heading string, words []string) bool {
	return len(strings.Fields(heading)) <= maxHeading && hasAny(lowerWords(heading), words...)
}

// firstOf returns the first two whole sentences of a text, "" if the first one is too long.
func firstOf(sentences []string, _ int) string {
	return wholeSentences(sentences[:min(len(sentences), 2)], maxPart)
}

// cause says in whole sentences why a post was made: the first one, the last one with code before the remedy, and the
// remedy, which ends the only paragraph or is the last one as far as there is room. It is "" of a plan, whose problem
// may not be the one that was found.
func (p post) cause() string {
	all, last := under(p.body, causeWords)
	if p.kind == postPlan || len(all) == 0 || len(all[0]) > maxPart {
		return ""
	}
	if last == 0 || last == len(all) {
		last = len(all) - 1
	}
	kept := []int{0}
	if last == 0 {
		return excerpt(all, kept)
	}
	fits := func(kept ...int) bool { return len(excerpt(all, kept)) <= MaxLine-len(p.label()+said) }
	for i := last - 1; i > 0; i-- {
		if strings.Contains(all[i], "`") && fits(0, i, last) {
			kept = append(kept, i)
			break
		}
	}
	for i := last; i < len(all) && fits(append(slices.Clone(kept), i)...); i++ {
		kept = append(kept, i)
	}
	return excerpt(all, kept)
}

// omitted marks in a quotation where sentences were left out.
const omitted = " …"

// excerpt returns the sentences with some indexes, in ascending order, with a mark where others stand between or after
// them.
func excerpt(all []string, kept []int) string {
	text := ""
	for n, i := range kept {
		if n > 0 {
			text += " "
		}
		if text += all[i]; i+1 < len(all) && (n+1 == len(kept) || kept[n+1] != i+1) {
			text += omitted
		}
	}
	return text
}

// label names a post by its title and day: what it says held then.
func (p post) label() string { return p.shown() + " (" + p.name() + " of " + p.day + ")" }

// said joins the label of a post to what it says of the time before it.
const said = " said why: "

// causes is the signal of why commits and pull requests were made and issues filed, in their last state: what the
// session posted says so in a section. A pull request stands for the commit of its title. An issue without such a
// section begins with its problem.
func causes(s *session) []candidate {
	var out []candidate
	pulls := map[string]bool{}
	for _, p := range slices.Backward(s.posts) {
		why, signal := p.cause(), signalCause
		if p.kind == postIssue {
			if signal = signalIssue; why == "" {
				if all := strings.Split(statements(p.paragraphs(), maxBody), "; "); len(all[0]) < maxPart {
					why = excerpt(all, []int{0})
				}
			}
		}
		if p.void || why == "" || pulls[p.title] {
			continue
		}
		pulls[p.title] = true
		c := state(signal, memoir.StatementFinding, p.label()+said+why, p.items()...)
		c.Cause = why
		out = append(out, c)
	}
	slices.Reverse(out)
	return out
}

// found is the signal of causes that the agent names in a closing answer. Such a cause is a finding if the same
// request or the next one changed a file and then passed a check, nobody objected and no other cause was named
// later; else it is a claim. A pull request or commit that says why stands for it.
func found(s *session) []candidate {
	var out []candidate
	causes := map[*turn]string{}
	for _, t := range s.turns {
		if why := firstOf(under(t.final.text, foundWords)); why != "" {
			causes[t] = why
		}
	}
	all := s.requests()
	for i, r := range all {
		until := math.MaxInt
		if i+2 < len(all) {
			until = all[i+2].item
		}
		for _, t := range r.turns {
			why := causes[t]
			if !named.MatchString(why) || !strings.HasSuffix(why, ".") { // else a list of steps
				continue
			}
			kind, title := memoir.StatementClaim, "found and fixed on "+s.day(t.final.item)+": "
			if s.bornOut(r.item, until, t.final.item) && !slices.ContainsFunc(s.turns, func(later *turn) bool {
				return later.final.item > t.final.item && later.final.item < until && causes[later] != ""
			}) {
				kind = memoir.StatementFinding
			}
			p := cmp.Or(s.became(r.item, t.final.item), s.became(t.final.item, until))
			if p != nil {
				if p.cause() != "" {
					continue
				}
				title = p.label() + " fixed what was found then: "
			}
			c := state(signalFound, kind, title+why, t.final.item)
			c.Cause = why
			out = append(out, c)
		}
	}
	return out
}

// bornOut reports whether the work in [from, until) bears out a cause that an answer there names, and nobody objects.
func (s *session) bornOut(from, until, answer int) bool {
	edited, passed := math.MaxInt, false
	for _, item := range s.edits {
		if item >= from && item < until {
			edited = min(edited, item)
		}
	}
	for _, r := range s.runs {
		purpose, _ := r.purpose()
		passed = passed || r.item > edited && r.item < until && Checks(purpose) && r.status == statusPassed
	}
	return passed && !slices.ContainsFunc(s.turns, func(t *turn) bool {
		return t.ask.item > answer && t.ask.item < until && len(t.ask.own) > 0 && corrects(t.ask.own)
	})
}

// openEnds is the signal of what the closing answer of the session names as left to do. Offers and questions
// address the person; they are no open ends.
func openEnds(s *session) []candidate {
	if len(s.turns) == 0 {
		return nil
	}
	var out []candidate
	last := s.turns[len(s.turns)-1].final
	open, _ := under(last.text, openWords)
	for _, text := range open {
		if len(text) <= maxPart && !strings.HasSuffix(text, "?") && !hasAny(lowerWords(text), toPerson...) {
			out = append(out, state(signalOpen, memoir.StatementOpen, text, last.item))
		}
	}
	return out
}
