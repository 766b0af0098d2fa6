package marks

import (
	"regexp"
	"strings"
)

// Line is what a mark is looked for in: a bullet with its continuation, a paragraph, a
// heading, a row of a table. A nested bullet is a line of its own; a fence belongs to
// the line before it. Citations do not count: their numbers and dates state nothing.
type Line struct {
	Text   string // white space folded
	folded string
}

// Whole makes one line of a text: a skill is read as a whole, or not at all.
func Whole(text string) Line {
	text = FoldSpace(text)
	return Line{text, Fold(itemCitation.ReplaceAllString(sessionCitation.ReplaceAllString(text, ""), ""))}
}

var (
	sessionCitation = regexp.MustCompile(`\[[^\[\]]*\d{4}-\d{2}-\d{2}[^\[\]]*\]`) // [019e1154 2026-05-10]
	itemCitation    = regexp.MustCompile(`\[\d+(?:, ?\d+)*\]$`)                   // [12, 40], at the end
)

var (
	bullet  = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,3}[.)])\s+`)
	heading = regexp.MustCompile(`^#{1,6}\s`)
	fence   = regexp.MustCompile("^\\s*(?:```|~~~)")
)

// Lines splits Markdown.
func Lines(markdown string) []Line {
	var out []Line
	var current []string
	listed := false // current is a bullet
	end := func() {
		if text := FoldSpace(strings.Join(current, " ")); text != "" {
			out = append(out, Whole(text))
		}
		current, listed = nil, false
	}
	inFence, gap := false, false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case fence.MatchString(line):
			inFence = !inFence
		case inFence:
			current = append(current, line)
		case strings.TrimSpace(line) == "":
			gap = true
			continue
		case heading.MatchString(line):
			end()
			current = []string{strings.TrimLeft(line, "# ")}
			end()
		case bullet.MatchString(line):
			end()
			current, listed = []string{bullet.ReplaceAllString(line, "")}, true
		case strings.HasPrefix(line, "|"):
			end()
			current = []string{line}
			end()
		case gap && !(listed && strings.HasPrefix(line, "  ")):
			end()
			current = []string{line}
		default:
			current = append(current, line)
		}
		gap = false
	}
	end()
	return out
}
