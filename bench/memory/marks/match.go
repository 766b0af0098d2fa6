package marks

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Fold takes letter case and runs of white space out of a text.
func Fold(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// Match is the line of a text that says most of a mark.
type Match struct {
	Line   string // as it stands, "" if no line meets any list
	Met    int    // lists it meets
	States bool   // it meets them all, and nothing of unless
}

// Find looks for a mark in lines. The first line that states it is found, else the
// first of those that meet most lists.
func (m Mark) Find(lines []Line) Match {
	var best Match
	for _, line := range lines {
		met := 0
		for _, list := range m.Needs {
			if holdsOne(line.folded, list) {
				met++
			}
		}
		if met == len(m.Needs) && !holdsOne(line.folded, m.Unless) {
			return Match{line.Text, met, true}
		}
		if met > best.Met {
			best = Match{line.Text, met, false}
		}
	}
	return best
}

// Survives reports whether a proof stands in a text: of each list one string,
// verbatim but for white space. Folded by white space alone is the text.
func (n Needs) Survives(text string) bool {
	return !slices.ContainsFunc(n, func(list []string) bool {
		return !slices.ContainsFunc(list, func(s string) bool { return strings.Contains(text, FoldSpace(s)) })
	})
}

// FoldSpace makes each run of white space one blank.
func FoldSpace(text string) string { return strings.Join(strings.Fields(text), " ") }

func holdsOne(folded string, list []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(folded, Fold(s)) })
}

// Decode reads one YAML document strictly. What is wrong is named with file and line,
// as an error with memoir.CodeInvalid.
func Decode(path string, data []byte, out any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(out); err != nil {
		return Errorf(path, "%v", err)
	}
	return nil
}

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
