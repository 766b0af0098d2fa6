package consolidate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"memoir"
)

// A claim is what one or more sessions say in nearly the same words.
type claim struct {
	kind    memoir.StatementKind
	text    string     // as the newest session says it
	tokens  []string   // of text; nil until they are asked for
	said    wording    // of the text spelled; see wording
	spelled string     // the text that said was made of
	from    []*session // oldest first, each once
	older   string     // what the claim replaced
	olderAt string
	runs    int // of a command, over all sessions
	order   int // of a command: its kind
	value   float64
	seq     int // order in which the claims were first met
}

// add records that a session says it too; sessions come oldest first.
func (c *claim) add(s *session, text string) {
	if n := len(c.from); n == 0 || c.from[n-1] != s {
		c.from = append(c.from, s)
	}
	if text != "" {
		c.text, c.tokens = text, nil
	}
}

// words are the tokens of the claim's text.
func (c *claim) words() []string {
	if c.tokens == nil {
		c.tokens = tokens(c.text)
	}
	return c.tokens
}

// wording is what comparisons ask of the text.
func (c *claim) wording() wording {
	if c.spelled != c.text {
		c.said, c.spelled = newWording(c.text), c.text
	}
	return c.said
}

// newest is the last session that supports the claim.
func (c *claim) newest() *session { return c.from[len(c.from)-1] }

// rate values a claim by support and recency; last is the newest session of all.
func (c *claim) rate(last *session) {
	days := last.EndedAt.Sub(c.newest().EndedAt).Hours() / 24
	c.value = 1.5*math.Log2(1+float64(len(c.from))) + 1/(1+max(days, 0)/45)
	if elsewhere(c.text) != "" {
		c.value -= 2
	}
	if telling(c.text) {
		c.value += 0.4
	}
	if c.runs > 0 {
		c.value += 0.3 * math.Log2(1+float64(c.runs))
	}
}

// line renders a claim with all its citations.
func (c *claim) line() string {
	text := c.text
	if c.older != "" {
		text += fmt.Sprintf(" (until %s: %s)", c.olderAt, c.older)
	}
	return text + " " + citations(c.from, len(c.from))
}

// citations cites sessions, the newest first; those beyond the most are counted.
func citations(from []*session, most int) string {
	if len(from) == 0 {
		return ""
	}
	sorted := slices.Clone(from)
	slices.SortFunc(sorted, func(a, b *session) int { return b.rank - a.rank })
	sorted = slices.Compact(sorted)
	var parts []string
	for i, s := range sorted {
		if i == most {
			parts = append(parts, fmt.Sprintf("+%d", len(sorted)-most))
			break
		}
		parts = append(parts, s.cite())
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// byValue orders claims: the most valuable first, then the newest, then by text.
func byValue(claims []*claim) {
	slices.SortFunc(claims, func(a, b *claim) int {
		switch {
		case a.value > b.value:
			return -1
		case a.value < b.value:
			return 1
		case a.newest().rank != b.newest().rank:
			return b.newest().rank - a.newest().rank
		}
		return cmp.Or(cmp.Compare(a.seq, b.seq), strings.Compare(a.text, b.text))
	})
}

// telling reports whether a text gives a reason or a rule, or is the user's word.
func telling(text string) bool {
	low := " " + strings.ToLower(text) + " "
	for _, w := range []string{" because ", " since ", " root cause ", " must ", " cannot ", " can't ", " requires ", " only ", " due to ", " never ", " always ", " instead of ", " depends on ", " fails ", "the user: "} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}
