package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// maxPasses bounds how often a text is searched again after a replacement. The second pass rarely finds anything.
const maxPasses = 8

// Redact replaces the secrets in text by "[REDACTED:rule-id]" and counts the replacements by rule. It also replaces
// further occurrences of a secret of at least 8 bytes, unless it is a password that may be an ordinary word.
// Overlapping findings have one replacement, named by the most specific rule. A replacement keeps the number of line
// breaks. JSON stays valid, as a whole text or line by line. Redacting the result again changes nothing.
func (s *Scanner) Redact(text string) (string, Counts) {
	counts := Counts{}
	return s.rules().redact(text, all(text), counts, nil, false), counts
}

// redact redacts part p of a text, whose rest is only context, including the secrets in known. If known is not nil, it
// adds the secrets found in the text to known. clean says that no rule finds anything in the text.
func (set *ruleSet) redact(text string, p extent, counts Counts, known *knownSet, clean bool) string {
	for pass := range maxPasses {
		var found []finding
		if pass > 0 || !clean {
			found = set.search(text)
		}
		if len(found) == 0 && known.empty() {
			break
		}
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
		for _, s := range known.occurrences(text) {
			if !set.isMarker(text, s.start, s.end) {
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

// quotes removes the quotes inside a shell word.
var quotes = strings.NewReplacer(`"`, "", "'", "")

// span is a byte range of a text that is redacted.
type span struct {
	start, end int
	rule       *rule
}

func wordChar(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || lowerASCII(c) >= 'a' && lowerASCII(c) <= 'z'
}

// tidy trims a span. White space and quotes around a secret stay, and so do escape sequences at its edges, since
// transcripts have JSON inside JSON.
func tidy(text string, start, end int) (int, int) {
	within := trimExtent(text, extent{start, end}, " \t\r\n")
	start, end = within.start, within.end
	if end-start >= 2 && text[start] == text[end-1] && strings.IndexByte("\"'`", text[start]) >= 0 {
		start, end = start+1, end-1
	} else if start > 0 && start < end && text[start-1] == text[end-1] && strings.IndexByte("\"'`", text[end-1]) >= 0 {
		end-- // the closing one alone
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

// mergeSpans sorts spans and merges those that overlap, under the most specific rule, or else the rule with the
// longest span.
func mergeSpans(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.rule.rank, b.rule.rank),
			cmp.Compare(a.rule.RuleID, b.rule.RuleID))
	})
	merged := spans[:0]
	longest := 0 // length of the span whose rule the last merged span has
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
