package secrets

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zricethezav/gitleaks/v8/config"
)

// Most of gitleaks' rules require a quote, white space, a semicolon, an escaped line break or the end of the text
// after a secret, and a word boundary before it. In transcripts, a secret also stands in lists, calls, addresses,
// tags and tables, and at the end of a sentence. A token with a fixed prefix can stand anywhere.
const (
	boundary = `(?:[\x60'"\s;]|\\[nr]|$)`
	spaced   = `(?:\s|\z)`
	wider    = `(?:[\x60'"\s;,)&<>\]}|\\:*]|[.!?](?:[\x60'"\s)]|$)|$)`
	widest   = `(?:[^A-Za-z0-9+.(]|\.(?:[^A-Za-z0-9]|$)|$)`

	wordStart = `\b(`
	// tokenHead also allows an underscore (Markdown emphasis) or a URL escape before a token. {1} keeps locate from
	// splitting the alternation.
	tokenHead = `(?:\b|_|%[0-9A-Fa-f]{2}){1}(`
)

// asNames lists the rules that stay unchanged, since they also match names of variables and functions:
// s.ReadUint16LengthPrefixed has the form of a Vault token.
var asNames = []string{"generic-api-key", "vault-service-token"}

// plainForms lists the rules that keep their beginning, since their secrets look like other data: a number, a commit
// hash, base64 of zero bytes.
var plainForms = []string{"facebook-access-token", "sourcegraph-access-token", "square-access-token"}

// widen lets rules find secrets before more characters, and tokens also after more characters. The new ends include
// the old ones, so the findings of gitleaks remain.
func widen(c *config.ViperConfig) {
	for i := range c.Rules {
		r := &c.Rules[i]
		if slices.Contains(asNames, r.ID) {
			continue
		}
		end := wider
		if flags, token, ok := strings.Cut(r.Regex, wordStart); ok && (flags == "" || flags == "(?i)") &&
			!slices.Contains(plainForms, r.ID) {
			r.Regex, end = flags+tokenHead+token, widest
		}
		head, ok := strings.CutSuffix(r.Regex, boundary)
		if !ok {
			head, ok = strings.CutSuffix(r.Regex, spaced)
		}
		if ok && !strings.HasSuffix(head, `")`) { // a quoted secret ends with its quote
			r.Regex = head + end
		}
	}
}

// maxBehind is the number of characters after an anchor's literal that are compared with anchor.behind before its
// automata run. The comparison excludes most positions, and an automaton that no position needs is never built.
const maxBehind = 3

// byteSet is a set of ASCII characters.
type byteSet [2]uint64

func (s byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

// behind returns the ASCII characters that can follow an anchor's literals in a match, one set for each of the next
// maxBehind characters. The list ends early if a match can end. It ignores assertions, so a set may be too large.
// The expression from begins with the literal.
func behind(from *syntax.Regexp, literals []string) []byteSet {
	prog, err := syntax.Compile(from.Simplify())
	if err != nil {
		return nil
	}
	sets := make([]byteSet, maxBehind)
	for _, literal := range literals {
		at := []uint32{uint32(prog.Start)}
		for _, c := range literal {
			at, _ = read(prog, at, func(inst *syntax.Inst) bool {
				return inst.MatchRune(c) || c >= 'a' && c <= 'z' && inst.MatchRune(c+'A'-'a')
			})
		}
		for n := range sets {
			var ends bool
			at, ends = read(prog, at, func(inst *syntax.Inst) bool {
				for c := range rune(utf8.RuneSelf) {
					if inst.MatchRune(c) {
						sets[n][c>>6] |= 1 << (c & 63)
					}
				}
				return true
			})
			if ends {
				sets = sets[:n]
				break
			}
		}
	}
	if len(sets) == 0 {
		return nil
	}
	return sets
}

// read returns the successors of the instructions for which wanted reports true, with all assertions taken as true.
// matched reports whether the program can match before it reads a character.
func read(prog *syntax.Prog, from []uint32, wanted func(*syntax.Inst) bool) (to []uint32, matched bool) {
	var c closure
	reached, matched := c.of(prog, from, ^syntax.EmptyOp(0))
	known := map[uint32]bool{}
	for _, pc := range reached {
		inst := &prog.Inst[pc]
		if wanted(inst) && !known[inst.Out] {
			known[inst.Out] = true
			to = append(to, inst.Out)
		}
	}
	return to, matched
}

// stands reports whether the text at an offset can follow the literal in a match. It reports true for a character
// outside ASCII and at the end of the text.
func (a *anchor) stands(text string, at int) bool {
	for n, set := range a.behind {
		if at+n >= len(text) || text[at+n] >= utf8.RuneSelf {
			return true
		}
		if !set.has(text[at+n]) {
			return false
		}
	}
	return true
}

// tails computes the spans of the findings in a text. Many findings can lie in one long word, so it remembers the
// end of the last token.
type tails struct {
	text string
	last extent // range of the last search for the end of a token
}

// span returns the byte range that a finding redacts: its secret, up to the end of the token or value. It is the
// whole match if gitleaks' secret is a fragment, such as four digits of a UUID in the URL of a webhook.
func (t *tails) span(f finding) (start, end int) {
	start, end = f.strict(t.text)
	switch f.rule.rank {
	case rankSpecific:
		end = t.tokenEnd(start, end)
	case rankExtra:
		end = valueEnd(t.text, start, end)
	}
	return start, end
}

// strict returns the span without the rest of the token or value after the finding.
func (f finding) strict(text string) (start, end int) {
	start, end = f.start, f.end
	if start >= end || f.rule.fragment()[f.group] {
		start, end = f.matchStart, f.matchEnd
	}
	return tidy(text, start, end)
}

// maxTail bounds the part of a token after a finding that is remembered with it, in bytes. A longer token is
// redacted as a whole, and the finding is remembered alone.
const maxTail = 256

// value returns the end of the part of a finding's span that is remembered.
func (t *tails) value(f finding, end int) int {
	if _, strict := f.strict(t.text); end-strict > maxTail {
		return strict
	}
	return end
}

// tokenEnd returns the end of the token that a span ends in. A rule for a fixed length matches only the beginning of
// a longer token, and the rest must not stay. A part after a dot belongs to the token if it has a digit and at least
// minRepeated bytes.
func (t *tails) tokenEnd(start, end int) int {
	text := t.text
	if start >= end || end == len(text) || !wordChar(text[end-1]) {
		return end
	}
	if t.last.start <= end && end <= t.last.end {
		return t.last.end
	}
	from := end
	end = wordEnd(text, end)
	for end < len(text) && text[end] == '.' {
		next := wordEnd(text, end+1)
		if next-end <= minRepeated || !strings.ContainsAny(text[end:next], "0123456789") {
			break
		}
		end = next
	}
	t.last = extent{from, end}
	return end
}

// wordEnd returns the end of the word of letters, digits, dashes and underscores that continues at an offset,
// without dashes at its end.
func wordEnd(text string, at int) int {
	end := at
	for ; at < len(text) && (wordChar(text[at]) || text[at] == '-'); at++ {
		if text[at] != '-' {
			end = at + 1
		}
	}
	return end
}

// valueEnd returns the end of the value that a span ends in, if its line has only a name and a value of one word.
// There, a bracket or comma is part of the password, although rules end the secret before it.
func valueEnd(text string, start, end int) int {
	if start >= end || end == len(text) || strings.IndexByte("|<(){}[]&;,=\"'`", text[end]) < 0 {
		return end
	}
	before := text[max(0, start-maxHead):start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	name := strings.TrimRight(before, " \t")
	if len(name) == 0 || name[len(name)-1] != ':' && name[len(name)-1] != '=' || len(before) == maxHead {
		return end
	}
	name = strings.TrimLeft(strings.TrimRight(name[:len(name)-1], " \t"), margin+"-+#")
	strange := func(c rune) bool { return c > '~' || !nameChar(byte(c)) && c != '.' && c != '/' && c != ' ' }
	if name == "" || strings.ContainsFunc(name, strange) {
		return end
	}
	to := end
	for to < len(text) && strings.IndexByte(" \t\r\n", text[to]) < 0 {
		to++
	}
	if rest := strings.TrimLeft(text[to:], " \t\r"); rest != "" && rest[0] != '\n' && rest[0] != '#' {
		return end // more than one word
	}
	rest := strings.TrimRight(text[end:to], ",;)}]\"'`|")
	switch {
	case rest == "", settings(rest), strings.Contains(rest, "</"), strings.ContainsRune(rest, '\\'):
		return end
	}
	return end + len(rest)
}

// settings reports whether rest begins with a separator, a name, and = or :, as in a form: `&name=value`.
func settings(rest string) bool {
	at := 1
	for at < len(rest) && (nameChar(rest[at]) || rest[at] == '.') {
		at++
	}
	return strings.IndexByte("&;,|", rest[0]) >= 0 && at > 1 && at < len(rest) && (rest[at] == '=' || rest[at] == ':')
}
