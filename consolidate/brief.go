package consolidate

import (
	"slices"
	"strings"

	"memoir"
)

// A briefing holds at most so many lines of each sort, and lines of so many bytes.
const (
	briefManner    = 7
	briefRules     = 12
	briefCommands  = 6
	briefFailures  = 4
	briefDecisions = 7
	briefOpen      = 2
	briefLine      = 230
	briefRule      = 400 // bytes of what a person wants, which is worth most
)

// staleDays is after how many days an open end is no longer told, if the project has
// newer sessions.
const staleDays = 14

// Headings of the briefing.
const (
	headManner = "## How the user works"
	headWants  = "## What the user wants"
	headBuild  = "## Build, test, run"
	headAvoid  = "## Failures to avoid"
	headWorth  = "## What to know"
	headEnds   = "## Open ends"
	headMap    = "## Where to look"
)

// summary renders memory_summary.md, a briefing of whole lines within a number of
// tokens that lets a new agent act: how the user works, what always and never to do,
// which commands to use, what goes wrong and what helps, what was decided, of each
// the best only, and a map of MEMORY.md, whose text is given, with words to search it
// for. A fifth of the room is kept for the map.
func (k *knowledge) summary(name string, skills []memoir.Skill, memory string, tokens int) string {
	limit := tokens * 4
	head := "# " + projectName(name) + ": what earlier sessions taught\n"
	budget := limit - len(head)
	parts := []*section{}
	fill := func(heading string, share int, rows []string) {
		s := &section{heading: heading}
		left := share - len(heading) - 3
		for _, r := range rows {
			if len(r)+1 > left {
				continue // a shorter one may still fit
			}
			s.add(r, 0)
			left -= len(r) + 1
		}
		if len(s.lines) > 0 {
			parts = append(parts, s)
			for _, l := range s.lines {
				budget -= len(l.text) + 1
			}
			budget -= len(heading) + 3
		}
	}
	index := table(skills, memory)
	mapped := 0
	for _, r := range index {
		mapped += len(r) + 1
	}
	reserve := min(mapped+len(headMap)+3, budget/5)
	share := func(percent int) int { return max(0, min(budget-reserve, limit*percent/100)) }
	fill(headManner, share(20), k.manners())
	fill(headWants, share(35), k.rules())
	var uses []string
	for _, c := range preferred(k.commands, briefCommands) {
		uses = append(uses, briefed(c.use(), c))
	}
	fill(headBuild, share(20), uses)
	var wrong []string
	for _, r := range remedies(k.failures) {
		if len(wrong) < briefFailures {
			wrong = append(wrong, briefed(r.text, r.claim))
		}
	}
	fill(headAvoid, share(20), wrong)
	fill(headWorth, share(35), k.decisions())
	fill(headEnds, share(8), k.ends())
	fill(headMap, budget, index)
	var b strings.Builder
	b.WriteString(head)
	for _, s := range parts {
		b.WriteString("\n" + s.heading + "\n\n")
		for _, l := range s.lines {
			b.WriteString(l.text + "\n")
		}
	}
	if text := b.String(); len(text) <= limit {
		return text
	}
	return wholeLines(b.String(), limit)
}

// briefed is a line of the briefing, which cites the newest session alone.
func briefed(text string, c *claim) string { return "- " + text + " " + citations(c.from, 1) }

// manners tell what the user asks for time and again and how they go about it.
func (k *knowledge) manners() []string {
	var out []string
	for _, c := range slices.Concat(k.requests, k.manner) {
		out = append(out, briefed(c.text, c))
	}
	for _, c := range k.preferences {
		if text, ok := repeated(c.text); ok && elsewhere(c.text) == "" && !k.requested(text) {
			out = append(out, briefed(text, c))
		}
	}
	return out[:min(briefManner, len(out))]
}

// repeated is a preference that tells of a request made again and again in one
// session, without what the agent ran for it.
func repeated(text string) (string, bool) {
	if !strings.HasPrefix(text, "asked for ") && !strings.HasPrefix(text, "asks again") {
		return "", false
	}
	text, _, _ = strings.Cut(text, " — each time")
	return text, true
}

// requested reports whether the recurring requests hold what a line quotes.
func (k *knowledge) requested(text string) bool {
	_, quote, _ := strings.Cut(text, "“")
	quote, _, _ = strings.Cut(quote, "”")
	return slices.ContainsFunc(k.requests, func(c *claim) bool {
		_, request, _ := strings.Cut(c.text, "“")
		return alikeAsk(strings.TrimSuffix(request, "”"), quote)
	})
}

// rules are what always to do and never to do: the user's words, then what the
// project asks of everyone.
func (k *knowledge) rules() []string {
	var out []string
	add := func(text string, c *claim) {
		if text = whole(text, briefRule); text != "" && elsewhere(c.text) == "" && len(out) < briefRules {
			out = append(out, briefed(text, c))
		}
	}
	for _, c := range k.preferences {
		if _, ok := repeated(c.text); !ok {
			add(standing(c.text), c)
		}
	}
	for _, c := range k.lasting() {
		if ofProject(c.text) {
			add(c.text, c)
		}
	}
	return out
}

// ofProject reports whether a finding is what the project asks of everyone.
func ofProject(text string) bool {
	return strings.HasPrefix(text, "required in this project: ") || strings.HasPrefix(text, "commits and titles ")
}

// lasting are the findings about this repository, the weightiest first.
func (k *knowledge) lasting() []*claim {
	var out []*claim
	for _, g := range k.known {
		if !strings.HasPrefix(g.name, foreignArea) {
			out = append(out, g.claims...)
		}
	}
	byValue(out)
	return out
}

// decisions are the weightiest findings that can be read alone.
func (k *knowledge) decisions() []string {
	var fit []*claim
	texts := map[*claim]string{}
	for _, c := range k.lasting() {
		text, _, ended := strings.Cut(c.text, sinceChanged)
		if said, ok := strings.CutPrefix(text, "the user: "); ok {
			quote, _, _ := strings.Cut(said, "”")
			if said = standing(said); said == "" || (strings.Contains(quote, "?") || wish.MatchString(quote)) && !strings.Contains(said, "agreed: ") {
				continue
			}
			text = "the user: " + said
		}
		if ended || ofProject(c.text) || elsewhere(c.text) != "" {
			continue
		}
		if text = whole(strings.TrimSpace(text), briefLine); text != "" {
			fit = append(fit, c)
			texts[c] = text
		}
	}
	var out []string
	for _, c := range spread(fit, briefDecisions) {
		if len(out) < briefDecisions {
			out = append(out, briefed(texts[c], c))
		}
	}
	return out
}

// ends are the open ends of late.
func (k *knowledge) ends() []string {
	var out []string
	for _, c := range k.open {
		if k.last.EndedAt.Sub(c.newest().EndedAt).Hours() > staleDays*24 || elsewhere(c.text) != "" || len(out) == briefOpen {
			continue
		}
		out = append(out, briefed(cut(c.text, briefLine), c))
	}
	return out
}

// spread takes claims so that no session gives more than a third of them while
// others have something to say.
func spread(claims []*claim, most int) []*claim {
	count := map[*session]int{}
	var first, rest []*claim
	for _, c := range claims {
		if count[c.newest()]++; count[c.newest()] <= max(2, most/3) {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	return append(first, rest...)
}

// wholeLines keeps as many lines of a text as fit.
func wholeLines(text string, limit int) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if b.Len()+len(l) > limit {
			break
		}
		b.WriteString(l)
	}
	return b.String()
}
