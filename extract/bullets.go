package extract

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	var parts []string // of the statement that is being read
	flush := func() {
		text, items := cutCitations(strings.Join(strings.Fields(strings.Join(parts, " ")), " "), exists)
		switch {
		case text == "":
		case kind != "":
			out = append(out, memoir.Statement{Kind: kind, Text: text, Items: items})
		case len(items) > 0:
			unplaced++
		}
		parts = nil
	}
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		if k, ok := kindHeading(line); ok {
			flush()
			kind = k
			continue
		}
		entry, ok := bulletText(line)
		switch {
		case ok:
			flush()
			parts = append(parts, entry)
		case line == "" || strings.HasPrefix(line, "```"):
			flush()
		case len(parts) > 0:
			parts = append(parts, line)
		}
	}
	flush()
	return out, unplaced
}

// kindHeading reads a heading; the kind is empty if none has its name.
func kindHeading(line string) (memoir.StatementKind, bool) {
	name, heading := strings.CutPrefix(line, "#")
	bold := strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimSuffix(line, ":"), "**")
	if !heading && !bold {
		return "", false
	}
	name = singular(strings.Trim(name, "#*: "))
	for _, kind := range memoir.StatementKinds {
		if strings.EqualFold(name, singular(string(kind))) {
			return kind, true
		}
	}
	return "", heading
}

func singular(name string) string { return strings.TrimRight(name, "sS") }

// bulletText is the text behind the mark of a list's entry.
func bulletText(line string) (string, bool) {
	if mark, size := utf8.DecodeRuneInString(line); strings.ContainsRune("-*+•–・", mark) {
		if space, _ := utf8.DecodeRuneInString(line[size:]); unicode.IsSpace(space) {
			return strings.TrimSpace(line[size:]), true
		}
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits > 0 && digits < 4 {
		for _, mark := range []string{". ", ") "} {
			if rest, ok := strings.CutPrefix(line[digits:], mark); ok {
				return strings.TrimSpace(rest), true
			}
		}
	}
	return "", false
}

// cutCitations splits the items off the end of a statement: [1, 2], [1][2], [3-5],
// [items 1 and 2], with a full stop behind or not, and in the brackets that are written
// in Chinese and Japanese.
func cutCitations(text string, exists func(n int) bool) (string, []int) {
	var items []int
	rest := text
	if at := wideCitations.FindStringIndex(text); at != nil {
		rest = text[:at[0]] + narrow.Replace(text[at[0]:])
	}
	for {
		end := strings.TrimRight(rest, " .;,")
		open := strings.LastIndexByte(end, '[')
		if open < 0 || !strings.HasSuffix(end, "]") {
			break
		}
		numbers := citedNumbers(end[open+1:len(end)-1], exists)
		if numbers == nil {
			break
		}
		items = append(items, numbers...)
		rest = end[:open]
	}
	if items == nil {
		return text, nil
	}
	slices.Sort(items)
	items = slices.Compact(items)
	return strings.TrimSpace(rest), items[:min(len(items), maxCitedItems)]
}

var (
	wideCitations = lazyregexp.New(`(?:[【［〔\[][0-9０-９、，,;；\s–-]+[】］〕\]][\s.。,，;；]*)+$`)
	narrow        = strings.NewReplacer("【", "[", "［", "[", "〔", "[", "】", "]", "］", "]", "〕", "]",
		"、", ",", "，", ",", "；", ";", "。", ".",
		"０", "0", "１", "1", "２", "2", "３", "3", "４", "4",
		"５", "5", "６", "6", "７", "7", "８", "8", "９", "9")
)

// citedNumbers reads what stands in brackets; nil if it is no list of items.
func citedNumbers(text string, exists func(n int) bool) []int {
	var out []int
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
		word = strings.TrimLeft(strings.ToLower(word), "#")
		if word == "item" || word == "items" || word == "and" {
			continue
		}
		first, last, isRange := strings.Cut(strings.ReplaceAll(word, "–", "-"), "-")
		from, err := strconv.Atoi(first)
		if err != nil || from < 1 || len(first) > 9 {
			return nil
		}
		to := from
		if isRange {
			if to, err = strconv.Atoi(last); err != nil || to < from || to-from > maxRange {
				return nil
			}
		}
		for n := from; n <= to; n++ {
			if n == from || n == to || exists(n) {
				out = append(out, n)
			}
		}
		if len(out) > 4*maxRange {
			return nil
		}
	}
	return out
}
