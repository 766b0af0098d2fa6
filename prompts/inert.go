package prompts

import (
	"strings"
	"unicode"

	"memoir/lazyregexp"
)

// frames are the tags that hold data in the prompts of this package.
var frames = lazyregexp.New(`(?i)[<＜﹤]([\s\p{Z}]*[/／\\]?[\s\p{Z}]*(?:memoir-context|transcript|earlier-memory|earlier-summary|current-memory|current-summary|current-skills|` +
	`hand-edits|new-sessions|changed-sessions|withdrawn-sessions|raw-memories|rollout-summaries))`)

// inert makes a text unable to close or to imitate the tags around it. It is
// otherwise left as it is, broken UTF-8 apart, which no model's interface takes.
func inert(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.ContainsFunc(text, concealed) {
		text = strings.Map(func(r rune) rune {
			if concealed(r) {
				return -1
			}
			return r
		}, text)
	}
	return frames.ReplaceAllString(text, "&lt;$1")
}

// concealed reports whether a character shows nothing and may stand within a tag or spell
// what no reader sees: zero-width and bidirectional marks, tag characters, variation selectors.
func concealed(r rune) bool {
	return r >= 0x80 && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// block is a text between tags: inert, and visibly empty if it is.
func block(text string) string {
	if text = strings.Trim(inert(text), "\n"); strings.TrimSpace(text) == "" {
		return "(none)"
	}
	return text
}

// inline is a text within a line: inert, on one line, within a bound.
func inline(text string) string {
	const most = 300
	text = strings.Join(strings.FieldsFunc(inert(text), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	if text == "" {
		return "unknown"
	}
	return text
}

// bullets lists texts, one a line.
func bullets(texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("- " + inline(text) + "\n")
	}
	return b.String()
}

// Framed reports whether a text holds one of the tags that hold data in prompts.
func Framed(text string) bool { return frames.MatchString(text) }
