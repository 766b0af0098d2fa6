package secrets

import "strings"

// tails tells what must go for the findings in a text, each to where its token ends. Many of
// them may stand in one long word: where that ends is looked for once.
type tails struct {
	text string
	last extent // from where the last token was seen to go on, and to where
	told int    // where the last long value ends that was told
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

// maxTail is how much of a word, in bytes, may go on behind each of the findings in it and be
// remembered with all of them. Tokens are shorter.
const maxTail = 256

// value returns the end of what is to be remembered of the span of a finding. Of one word that
// goes on and on only the first finding is remembered with all that follows, those behind it
// as they were found: else a word of thousands of tokens would be remembered from each of
// them to its end. All of the word goes nevertheless.
func (t *tails) value(f finding, start, end int) int {
	if _, strict := f.strict(t.text); end-strict > maxTail {
		if t.told == end {
			return strict
		}
		t.told = end
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
	before := text[max(0, start-maxNameApart):start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	name := strings.TrimRight(before, " \t")
	if len(name) == 0 || name[len(name)-1] != ':' && name[len(name)-1] != '=' || len(before) == maxNameApart {
		return end
	}
	name = strings.TrimLeft(strings.TrimRight(name[:len(name)-1], " \t"), margin+"-+#")
	if name == "" || strings.IndexFunc(name, func(c rune) bool { return c > '~' || !nameChar(byte(c)) && c != '.' && c != '/' && c != ' ' }) >= 0 {
		return end
	}
	to := end
	for to < len(text) && strings.IndexByte(" \t\r\n", text[to]) < 0 {
		to++
	}
	if line := skip(text, to, " \t\r"); line < len(text) && text[line] != '\n' && text[line] != '#' {
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
