package memoir

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"memoir/internal/lazyregexp"
)

// Folded returns a text in the form that is compared with a person's search text: in lower case and one Unicode form,
// without invisible characters, each run of space and line breaks as one blank.
func Folded(text string) string {
	space := false
	return strings.Map(func(r rune) rune {
		again := space
		switch {
		case r == '\u00ad' || r == '\ufeff' || r >= '\u200b' && r <= '\u200f' || r >= '\u2060' && r <= '\u2064':
			return -1
		case !unicode.IsSpace(r):
			space = false
			return unicode.ToLower(r)
		}
		if space = true; again {
			return -1
		}
		return ' '
	}, norm.NFKC.String(text))
}

// Map returns what f returns for each of all, in their order; it is never nil.
func Map[T, U any](all []T, f func(T) U) []U {
	out := make([]U, len(all))
	for i, one := range all {
		out[i] = f(one)
	}
	return out
}

// LinesHolding returns the numbers, from 1, of the lines of a text that contain a folded text
// or a part of it. An occurrence may span lines, but not an empty one.
func LinesHolding(text, folded string) []int {
	if folded == "" {
		return nil
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(Folded(line)))
	}
	holds := map[int]bool{}
	for from, first := range lines {
		whole := first
		for to := from; lines[to] != ""; {
			// The occurrence must begin in the first line and end in the last one.
			at := strings.LastIndex(whole[:min(len(whole), len(first)+len(folded)-1)], folded)
			if at >= 0 && at+len(folded) > len(whole)-len(lines[to]) {
				for n := from; n <= to; n++ {
					holds[n+1] = true
				}
			}
			if to++; to == len(lines) || len(whole) >= len(first)+len(folded)-1 {
				break
			}
			whole += " " + lines[to]
		}
	}
	return slices.Sorted(maps.Keys(holds))
}

// RuleKey returns the same key for rules that differ only in letter case, punctuation and code marks.
func RuleKey(text string) string {
	return strings.Join(strings.FieldsFunc(Folded(text), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c)
	}), " ")
}

// IsHeading reports whether a line is a heading of Markdown.
func IsHeading(line string) bool {
	marks := len(line) - len(strings.TrimLeft(line, "#"))
	return marks >= 1 && marks <= 6 && len(line) > marks && line[marks] == ' '
}

// PlainWords returns the words of a text in lower-case ASCII letters and digits, without accents.
func PlainWords(text string) []string {
	return strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r == '\'' || r == '’' || unicode.Is(unicode.Mn, r):
			return -1
		}
		return ' '
	}, norm.NFKD.String(strings.ToLower(text))))
}

// MaxMarks bounds the combining marks of a character in displayed and published text: scripts
// need no more. Further marks would cover the lines above and below.
const MaxMarks = 5

// WithoutFloods removes the combining marks of a text that exceed MaxMarks on one character.
func WithoutFloods(text string) string {
	marks := 0
	return strings.Map(func(r rune) rune {
		if marks++; r < 0x300 || !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		if marks > MaxMarks {
			return -1
		}
		return r
	}, text)
}

// Hidden reports whether a character is invisible: controls, format characters
// (zero-width, bidirectional, tags), variation selectors, fillers.
func Hidden(r rune) bool {
	switch {
	case r < 0x80:
		return r < ' ' || r == 0x7f
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false // format characters by category, but visible
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) ||
		r == '\u2800' || 0xE0000 <= r && r <= 0xE0FFF
}

// sequences matches what controls a terminal: control sequences, strings such as titles and links that end on
// the same line, and the short forms.
var sequences = lazyregexp.New(`(?:\x1b\[|\x{9b})[ -?]*[@-~]` +
	`|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\n]*?(?:\x07|\x1b\\|\x{9c})` +
	`|\x1b[ -/]+[0-~]?|\x1b[0-~]`)

// lineEnds normalises line ends. A bare carriage return would overwrite its line on a terminal.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n",
	"\v", "\n", "\f", "\n")

// Visible removes control characters with the sequences that they introduce, invisible characters, and floods
// of combining marks on one character.
func Visible(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.ContainsFunc(text, func(r rune) bool { return r == 0x1b || r >= 0x80 && r < 0xa0 }) {
		text = sequences.ReplaceAllString(text, "")
	}
	return WithoutHidden(lineEnds.Replace(text))
}

// plain reports whether a character is one of those in nearly all texts that Visible leaves: ASCII, Latin, and the
// marks, arrows, boxes and symbols of terminals.
func plain(r rune) bool {
	return r >= ' ' && r < 0x7f || r == '\n' || r == '\t' || r >= 0xa0 && r < 0x300 && r != 0xad ||
		r >= 0x2010 && r < 0x2028 || r >= 0x2100 && r < 0x2800
}

// WithoutHidden removes invisible characters except line feeds and tabs, and floods of combining marks.
func WithoutHidden(text string) string {
	return WithoutFloods(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && Hidden(r) {
			return -1
		}
		return r
	}, text))
}

// Cut shortens a text to a number of characters, the last of which is an ellipsis.
func Cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// CutBytes shortens a text to at most a number of bytes, at the end of which is a mark.
func CutBytes(text string, most int, mark string) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:max(most-len(mark), 0)], "") + mark
}

const maxTitle = 80

// ShortTitle cuts a title for display, at a word if possible. The title must be redacted
// before, since a part of a secret is not recognised.
func ShortTitle(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	runes := []rune(title)
	if len(runes) <= maxTitle {
		return title
	}
	cut := string(runes[:maxTitle-1])
	if end := strings.LastIndexByte(cut, ' '); end > len(cut)/2 {
		cut = cut[:end]
	}
	return cut + "…"
}

// fillers are words that do not change the meaning of a statement.
var fillers = SetOf(`a an the and or but of to in on at for with by from as is are was were be been it its this that
	these those so then than please also just ok okay i you we me my our your will would should can could do does did
	done has have had when if into up out there here must always ensure prefer each every`)

// negations reject the words after them, up to the end of the clause.
var negations = SetOf(`never not no don't dont doesn't avoid stop without longer cannot can't mustn't shouldn't`)

// SetOf returns the set of the words of a list.
func SetOf(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// CodeSpan writes a text as a code span of Markdown.
func CodeSpan(text string) string {
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	marks := "``"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + " " + text + " " + marks
}

// HasMail reports whether a text has an address of mail, or a person's account at a host, which looks the same.
func HasMail(text string) bool { return mail.MatchString(text) }

var mail = lazyregexp.New(`[\w.+-]+@[A-Za-z][\w-]*(?:\.[\w-]+)*\.[A-Za-z]{2,}(?:[^\w:/@-]|$)`)

// Words are the words of a text, sorted, each once.
type Words []string

// WordsOf returns the words of a text without fillers and without plural and tense endings. Words that a
// negation rejects begin with "!".
func WordsOf(text string) Words {
	var out Words
	negative := false
	for clause := range strings.FieldsFuncSeq(strings.ReplaceAll(text, ". ", "; "), clauseEnd) {
		negative = false
		for _, w := range split(clause) {
			mark := ""
			if negative {
				mark = "!"
			}
			switch {
			case negations[w]:
				negative = true
			case w == "but":
				negative = false
			case fillers[w]:
			case w[0] >= 0x80: // a script without spaces: compare by pairs of characters
				runes := []rune(w)
				for i := range max(1, len(runes)-1) {
					out = append(out, mark+string(runes[i:min(i+2, len(runes))]))
				}
			default:
				out = append(out, mark+stem(w))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func clauseEnd(r rune) bool { return strings.ContainsRune(",;:()!?—\n", r) }

// split returns the words of a text in lower case, in order.
func split(text string) []string {
	var out []string
	text = strings.NewReplacer("’", "'", "instead of", "not", "rather than", "not", "make sure", "").Replace(
		strings.ToLower(text))
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./#'", r)
	}) {
		if w = strings.TrimRight(strings.Trim(w, "_./#'"), "-"); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// stem removes common English endings of a plain word, and what is doubled or dropped before them ("tagging").
func stem(w string) string {
	if strings.ContainsAny(w, "-_./#0123456789") {
		return w
	}
	if base, ok := strings.CutSuffix(w, "ies"); ok && len(base) >= 3 {
		return base + "y"
	}
	for _, ends := range [][]string{{"es", "s"}, {"ing", "ed"}} {
		for _, end := range ends {
			if base, ok := strings.CutSuffix(w, end); ok && (len(base) >= 3 || base == "us" || end == "s" && len(base) == 2) {
				w = base
				break
			}
		}
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] {
		w = w[:n-1]
	}
	if len(w) > 2 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

// Alike is the share of all words of two texts that both have.
func (a Words) Alike(b Words) float64 {
	both := a.Shared(b)
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}

// Shared counts the words that two texts share.
func (a Words) Shared(b Words) (n int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			n++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return n
}

// Repeats reports whether one of two texts has nearly all words of the other.
func (a Words) Repeats(b Words) bool {
	least := min(len(a), len(b))
	return least > 0 && (a.Shared(b)*5 >= least*4 || a.Alike(b) >= 0.5)
}

// Dollars returns an amount of US dollars, not below 0, with four decimals, or with as many as its first digit needs.
func Dollars(amount float64) string {
	decimals := 4
	for least := 0.0001; amount > 0 && amount < least && decimals < 12; least /= 10 {
		decimals++
	}
	return "$" + strconv.FormatFloat(amount, 'f', decimals, 64)
}
