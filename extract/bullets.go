package extract

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"memoir"
	"memoir/internal/lazyregexp"
)

const (
	maxCitedItems = 32 // items that a statement cites
	maxRange      = 64 // items of a range such as 12-20
)

// readStatements reads the raw memory that a model wrote. Beyond what
// memoir.ParseStatements takes, it knows other bullets and levels of headings, statements
// of several lines, and other forms of citations. Of a range of items it takes the ends,
// and between them those that there are. Unplaced are statements under no heading of those
// that there are, as where a model translated them.
func readStatements(markdown string, exists func(n int) bool) (out []memoir.Statement, unplaced int) {
	var kind memoir.StatementKind
	open := "" // the statement that is being read
	flush := func() {
		text, items := cutCitations(strings.Join(strings.Fields(open), " "), exists)
		switch {
		case text == "":
		case kind != "":
			out = append(out, memoir.Statement{Kind: kind, Text: text, Items: items})
		case len(items) > 0:
			unplaced++
		}
		open = ""
	}
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "#"); ok {
			flush()
			kind = kindNamed(name)
		} else if mark := bulletMark.FindString(line); mark != "" {
			flush()
			open = line[len(mark):]
		} else if line == "" || strings.HasPrefix(line, "```") {
			flush()
		} else if open != "" {
			open += " " + line
		}
	}
	flush()
	return out, unplaced
}

var bulletMark = lazyregexp.New(`^(?:[-*+•–・]|\d{1,3}[.)])[\s\p{Zs}]+`)

// kindNamed is the kind that a heading names, in the singular or plural; empty if none has its name.
func kindNamed(heading string) memoir.StatementKind {
	bare := func(name string) string { return strings.TrimRight(strings.Trim(name, "#*: "), "sS") }
	for _, kind := range memoir.StatementKinds {
		if strings.EqualFold(bare(heading), bare(string(kind))) {
			return kind
		}
	}
	return ""
}

var (
	citations = lazyregexp.New(`(?:\s*[\[【［〔](?:[\s\p{Zs}\p{Nd}#,;、，；–-]|items?|and)+[\]】］〕][\s.;,。，；]*)+$`)
	citation  = lazyregexp.New(`\s?\[\d[\d ,;–-]*\]`)
	numbers   = lazyregexp.New(`(\d+)(?:[–-](\d+))?`)
)

// cutCitations splits the items off the end of a statement: [1, 2], [1][2], [3-5],
// [items 1 and 2], with a full stop behind or not, and in the brackets and digits that are
// written in Chinese and Japanese.
func cutCitations(text string, exists func(n int) bool) (string, []int) {
	at := citations.FindStringIndex(text)
	if at == nil {
		return text, nil
	}
	items := citedNumbers(text[at[0]:], exists)
	if items == nil {
		return text, nil
	}
	slices.Sort(items)
	items = slices.Compact(items)
	return strings.TrimSpace(text[:at[0]]), items[:min(len(items), maxCitedItems)]
}

// citedNumbers are the items that citations name; nil if they name none, or a range that is none.
func citedNumbers(text string, exists func(n int) bool) []int {
	var out []int
	for _, m := range numbers.FindAllStringSubmatch(norm.NFKC.String(text), 4*maxRange) {
		from, err := strconv.Atoi(m[1])
		to := from
		if m[2] != "" && err == nil {
			to, err = strconv.Atoi(m[2])
		}
		if err != nil || from < 1 || to < from || to-from > maxRange {
			return nil
		}
		for n := from; n <= to; n++ {
			if n == from || n == to || exists(n) {
				out = append(out, n)
			}
		}
	}
	return out
}
