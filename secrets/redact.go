package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// maxPasses bounds how often a text is scanned again after something was taken
// out of it. The second pass nearly always finds nothing.
const maxPasses = 8

// Redact replaces the secrets in text by "[REDACTED:rule-id]" and counts the
// replacements by rule. Every further occurrence of a secret of 8 bytes or more goes
// too, except of a password that may be an ordinary word. Where findings overlap there is one replacement, named by
// the most
// specific rule. A replacement keeps the number of line breaks, and JSON, whole or
// one value a line, stays JSON. Redacting the result again changes nothing.
func (s *Scanner) Redact(text string) (string, Counts) {
	counts := Counts{}
	return s.rules().redact(text, all(text), counts, nil), counts
}

// redact takes the secrets out of a part of a text, remembers all that are found in known
// where that is not nil, and removes from the part what known already held.
func (set *ruleSet) redact(text string, p part, counts Counts, known *knownSet) string {
	for pass := range maxPasses {
		parts := []view{{text: text}}
		if pass > 0 {
			parts = besideMarkers(text)
		}
		found := set.searchParts(text, parts)
		if len(found) == 0 && known.empty() {
			break
		}
		before := known.size()
		if known == nil {
			known = newKnownSet()
		}
		spans := make([]span, 0, len(found))
		tails := tails{text: text}
		for _, f := range found {
			start, end := tails.span(f)
			if start >= end || set.isMarker(text, start, end) {
				continue
			}
			spans = append(spans, span{start: start, end: end, rule: f.rule})
			end = tails.value(f, end)
			known.add(text[start:end], f.rule)
			known.addParts(text[start:end], f.rule)
			if f.hidden != "" {
				known.add(f.hidden, f.rule)
			}
			if f.rule.rank == rankExtra && strings.ContainsAny(text[start:end], `"'`) {
				known.add(quotes.Replace(text[start:end]), f.rule)
			}
		}
		if known.size() > before {
			parts = []view{{text: text}}
		}
		for _, v := range parts {
			for _, s := range known.occurrences(v.text) {
				s.start, s.end = v.raw(s.start), v.rawEnd(s.end)
				spans = append(spans, s)
			}
		}
		if len(spans) == 0 {
			break
		}
		text, p = replaceKeepingJSON(text, p, mergeSpans(spans), counts)
	}
	return text[p.start:p.end]
}

// besideMarkers returns the parts of a text that stand beside what was replaced in it: the rest
// is as it was when it was searched.
func besideMarkers(text string) []view {
	v := view{text: text}
	for at := 0; ; at += len(markerOpen) {
		i := strings.Index(text[at:], markerOpen)
		if i < 0 {
			return v.windows()
		}
		at += i
		v.mark(at, at, 0)
	}
}

// searchParts is search in parts of a text.
func (set *ruleSet) searchParts(text string, parts []view) []finding {
	if len(parts) == 1 && len(parts[0].text) == len(text) {
		return set.search(text)
	}
	var found []finding
	for _, v := range parts {
		for _, f := range set.search(v.text) {
			found = append(found, v.place(f, text))
		}
	}
	return found
}

// quotes takes from a word of a shell the quotes that its parts stand in.
var quotes = strings.NewReplacer(`"`, "", "'", "")

// span is a part of a text that must go.
type span struct {
	start, end int
	rule       *rule
}

func wordChar(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || lowerASCII(c) >= 'a' && lowerASCII(c) <= 'z'
}

// tidy keeps a span from tearing what surrounds it: quotes around a secret stay,
// and so does every escape sequence at its edges, since transcripts hold much JSON
// inside of JSON.
func tidy(text string, start, end int) (int, int) {
	for start < end && strings.IndexByte(" \t\r\n", text[start]) >= 0 {
		start++
	}
	for start < end && strings.IndexByte(" \t\r\n", text[end-1]) >= 0 {
		end--
	}
	if end-start >= 2 && text[start] == text[end-1] && strings.IndexByte("\"'`", text[start]) >= 0 {
		start, end = start+1, end-1
	}
	if end < len(text) {
		for end > start && text[end-1] == '\\' {
			end--
		}
	}
	slashes := 0
	for slashes < start && text[start-1-slashes] == '\\' {
		slashes++
	}
	if slashes%2 == 1 && start < end && strings.IndexByte(`nrtbf"`, text[start]) >= 0 {
		start++
	}
	return start, end
}

// mergeSpans sorts spans and makes one of those that overlap, under the rule that
// names it best: the most specific, then the one with the longest span.
func mergeSpans(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), compareRules(a.rule, b.rule))
	})
	merged := spans[:0]
	longest := 0 // of the spans that became the last merged one, whose rule it has
	for _, s := range spans {
		if n := len(merged); n > 0 && s.start < merged[n-1].end {
			last := &merged[n-1]
			better := cmp.Or(cmp.Compare(s.rule.rank, last.rule.rank), cmp.Compare(longest, s.end-s.start),
				cmp.Compare(s.rule.RuleID, last.rule.RuleID))
			if better < 0 {
				last.rule, longest = s.rule, s.end-s.start
			}
			last.end = max(last.end, s.end)
			continue
		}
		merged = append(merged, s)
		longest = s.end - s.start
	}
	return merged
}

func compareRules(a, b *rule) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.RuleID, b.RuleID))
}
