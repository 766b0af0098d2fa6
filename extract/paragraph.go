package extract

import "strings"

// A paragraph is a part of a Markdown text on one line, with what stands above it.
type paragraph struct {
	heading string // the heading, or the line with a colon at its end, above it
	text    string
	bullet  bool
}

// paragraphs splits a Markdown text. Fences, quotations, tables and rules are left out.
func paragraphs(text string) []paragraph {
	var out []paragraph
	heading, fence, open := "", false, false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			fence, open = !fence, false
		case fence:
		case trimmed == "" || strings.Trim(trimmed, "-*_= ") == "":
			open = false
		case trimmed[0] == '|' || trimmed[0] == '>' || trimmed[0] == '<':
			open = false
		case trimmed[0] == '#':
			heading, open = strings.Trim(trimmed, "#*: "), false
		case strings.HasPrefix(trimmed, "**") && strings.HasSuffix(strings.TrimRight(trimmed, ":"), "**") &&
			strings.Count(trimmed, "**") == 2:
			heading, open = strings.Trim(trimmed, "*: "), false
		case listItem(trimmed):
			_, rest, _ := strings.Cut(trimmed, " ")
			rest = strings.TrimPrefix(strings.TrimPrefix(rest, "[x] "), "[ ] ")
			out, open = append(out, paragraph{heading, strings.TrimSpace(rest), true}), true
		case strings.HasSuffix(trimmed, ":") && len(trimmed) < 90 && !open:
			heading = strings.Trim(trimmed, "*: ")
			out, open = append(out, paragraph{heading, trimmed, false}), false
		case open:
			out[len(out)-1].text += " " + trimmed
		default:
			out, open = append(out, paragraph{heading, trimmed, false}), true
		}
	}
	return out
}

// section reports whether the paragraph stands under a heading that holds one of some words.
func (p paragraph) section(names ...string) bool {
	return p.heading != "" && hasAny(lowerWords(p.heading), names...)
}
