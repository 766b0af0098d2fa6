package secrets

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zricethezav/gitleaks/v8/config"
)

// Most of gitleaks' rules want a quote, white space, a semicolon, an escaped line break or
// the end of the text behind a secret, and no letter, digit or underscore before it. In
// transcripts, secrets also stand in lists, calls, addresses, tags, tables and at the end of
// a sentence, and those that are known by their beginning anywhere.
const (
	boundary = `(?:[\x60'"\s;]|\\[nr]|$)`
	spaced   = `(?:\s|\z)`
	wider    = `(?:[\x60'"\s;,)&<>\]}|\\:*]|[.!?](?:[\x60'"\s)]|$)|$)`
	widest   = `(?:[^A-Za-z0-9+.(]|\.(?:[^A-Za-z0-9]|$)|$)`

	wordStart = `\b(`
	// Emphasis of Markdown, an escape of an address; {1} keeps anchors from being looked for in it.
	tokenHead = `(?:\b|_|%[0-9A-Fa-f]{2}){1}(`
)

// asNames are the rules that take names of variables and of functions for secrets where
// what follows is no longer white space: "s.ReadUint16LengthPrefixed(x)" is a token's form.
var asNames = []string{"generic-api-key", "vault-service-token"}

// plainForms are the rules that begin with their secret, and know it by what other things have
// too: a number, a commit's hash, base64 of some zeros.
var plainForms = []string{"facebook-access-token", "sourcegraph-access-token", "square-access-token"}

// widen lets rules find their secrets before other characters, too, and behind some. What
// gitleaks finds, they find as before: none of the characters can be part of a secret of
// these rules.
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
		if ok && !strings.HasSuffix(head, `")`) { // where the secret has its quotes, nothing is to be gained
			r.Regex = head + end
		}
	}
}

// maxBehind bounds the characters behind an anchor's literal that are looked at before its
// automata are: most places where a literal stands are told apart by these, and automata
// that no place needs are not built.
const maxBehind = 3

// byteSet is a set of characters of ASCII.
type byteSet [2]uint64

func (s byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

// behind tells which characters of ASCII may stand first, second and so on behind an
// anchor's literals. It knows no more of them than that every match has one there: a place
// without one is none. The expression begins with the literal.
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

// read returns where a program is once the instructions that are wanted have read a
// character, whatever its assertions say, and whether it may have matched before.
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

// stands reports whether what stands from an offset on, behind a literal, may be behind it
// in a match.
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

// tails tells what must go for the findings in a text, each to where its token ends. Many of
// them may stand in one long word: where that ends is looked for once.
type tails struct {
	text string
	last extent // from where the last token was seen to go on, and to where
}

// span returns what must go for a finding: its secret, or the whole match where
// gitleaks takes a mere piece for the secret, as four digits of a UUID in a webhook's
// URL, captured by a group that repeats. A token goes to its end.
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

// strict is span without what of a token goes on behind the finding.
func (f finding) strict(text string) (start, end int) {
	start, end = f.start, f.end
	if start >= end || f.rule.fragment()[f.group] {
		start, end = f.matchStart, f.matchEnd
	}
	return tidy(text, start, end)
}

// maxTail is how much of a word, in bytes, may go on behind a finding and be remembered with it. All
// of a longer one goes, of which the findings are remembered as they were found.
const maxTail = 256

// value returns the end of what is to be remembered of the span of a finding.
func (t *tails) value(f finding, end int) int {
	if _, strict := f.strict(t.text); end-strict > maxTail {
		return strict
	}
	return end
}

// tokenEnd returns where the token ends that a span ends inside of. A rule that knows its
// tokens by their beginning and a length takes the head of a longer one, whose tail would
// stay.
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

// wordEnd returns where the word of letters, digits, dashes and underscores ends that goes
// on at an offset.
func wordEnd(text string, at int) int {
	end := at
	for ; at < len(text) && (wordChar(text[at]) || text[at] == '-'); at++ {
		if text[at] != '-' {
			end = at + 1
		}
	}
	return end
}

// valueEnd returns where the value ends that a span ends inside of, on a line that has
// nothing but a name and a value of one word. What rules take for the end of a password,
// a bracket or a comma, is a part of it there.
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

// settings reports whether what follows a value begins with another name and its value, as in
// a form or a list of settings: `&name=value`.
func settings(rest string) bool {
	at := 1
	for at < len(rest) && (nameChar(rest[at]) || rest[at] == '.') {
		at++
	}
	return strings.IndexByte("&;,|", rest[0]) >= 0 && at > 1 && at < len(rest) && (rest[at] == '=' || rest[at] == ':')
}
