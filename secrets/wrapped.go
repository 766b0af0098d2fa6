package secrets

import (
	"strings"
	"unicode/utf8"
)

const (
	minAlike   = 6   // bytes that the beginnings of two lines have in common
	minWrapped = 40  // bytes of a line that a terminal may have broken
	minJoined  = 20  // bytes of a secret that is taken together from two lines
	maxJoined  = 16  // lines that one secret may stand on
	maxAround  = 400 // bytes of a line that are looked at
	minWord    = 3   // letters of a word that stands alone, at least
	maxWord    = 13  // and fewer than these of any
)

// tokenChar tells which characters secrets of one word are made of.
var tokenChar = func() (set [256]bool) {
	set = base64Char
	set['.'], set['='], set['~'], set[':'] = true, true, true, true
	return set
}()

// margin is what stands before the second half of a line that was broken: indentation,
// the bar of a quotation or of a box.
const margin = " \t>|│"

// findWrapped returns the findings that appear when lines are joined that were broken
// in the middle of a word, as terminals do and shells allow after a backslash. A line
// can have been broken only if the lines beside it are not longer.
func (set *ruleSet) findWrapped(text string) []finding {
	var found []finding
	before, start := 0, 0 // the width of the line before, and where this one begins
	for {
		length := strings.IndexByte(text[start:], '\n')
		if length < 0 {
			return found
		}
		end := start + length
		if length >= minWrapped && length >= before && broken(text, start, end) {
			f, reach := set.findJoined(text, start)
			found = append(found, f...)
			if reach > end+1 {
				before, start = 0, reach
				continue
			}
		}
		before, start = length, end+1
	}
}

// broken reports whether a word with a digit may go on from one line to the next, which is
// not longer, unless a backslash says that it goes on.
func broken(text string, start, end int) bool {
	full := end - start
	end = trimBreak(text, start, end)
	if text[end] != '\\' {
		after := len(text) - (start + full + 1)
		if i := strings.IndexByte(text[start+full+1:], '\n'); i >= 0 {
			after = i
		}
		if after > full && utf8.RuneCountInString(text[start+full+1:][:after]) > utf8.RuneCountInString(text[start:][:full]) {
			return false
		}
	}
	at := end
	for at > start && tokenChar[text[at-1]] {
		at--
	}
	if at == end {
		return false
	}
	next := end + strings.IndexByte(text[end:], '\n') + 1
	next += len(text[next:]) - len(strings.TrimLeft(text[next:], margin))
	to := next
	for to < len(text) && tokenChar[text[to]] && to-next < minJoined {
		to++
	}
	word := text[at:end]
	if len(word) < minJoined && strings.IndexByte(".:", word[len(word)-1]) >= 0 { // of a sentence
		return false
	}
	return to > next && end-at+to-next >= minJoined && !named(text[next:]) && !begins(text[next:]) && !apartFrom(text, start, at, end, next) &&
		(strings.ContainsAny(text[at:end], "0123456789") || strings.ContainsAny(text[next:to], "0123456789"))
}

// apartFrom reports whether a line has nothing to do with the word that the line before it
// ends in, from at to end: it is longer than that line, which can then not have been broken;
// or one of both words is an ordinary one, a mark of a list, or the first cell of a row.
func apartFrom(text string, start, at, end, next int) bool {
	broke := end + strings.IndexByte(text[end:], '\n')
	after := nextLine(text, broke+1)
	if after-broke-2 > broke-start && text[end] != '\\' {
		return true
	}
	if ordinaryWord(text[at:end]) && (at == start || strings.IndexByte(" \t\"'", text[at-1]) >= 0) {
		return true
	}
	to := next
	for to < len(text) && tokenChar[text[to]] {
		to++
	}
	word := text[next:to]
	if strings.Trim(word, "-+*") == "" {
		return true
	}
	if beginAlike(text[start:broke], text[broke+1:]) {
		return true
	}
	return to < len(text) && (text[to] == '\t' || text[to] == ' ' && ordinaryWord(word))
}

// beginAlike reports whether two lines begin in the same way, as those of a log or a list.
func beginAlike(a, b string) bool {
	a, b = strings.TrimLeft(a, margin), strings.TrimLeft(b, margin)
	if !strings.ContainsAny(a, " \t") {
		return false // nothing but a piece of what was broken
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= minAlike
}

// ordinaryWord reports whether a word is one of a text or a name in it: of letters, a first
// one in upper case at most, with dashes, underscores or dots between its parts.
func ordinaryWord(word string) bool {
	if len(word) < 4 {
		return false
	}
	for i := range len(word) {
		switch c := word[i]; {
		case c >= 'a' && c <= 'z', i == 0 && c >= 'A' && c <= 'Z':
		case i > 0 && i+1 < len(word) && (c == '-' || c == '_' || c == '.'):
		case i+1 == len(word) && (c == '.' || c == ':'):
		default:
			return false
		}
	}
	return true
}

// named reports whether a line begins with a name and what it is set to, as in YAML or a
// file of settings: it goes on with nothing.
func named(text string) bool {
	at := 0
	for at < len(text) && (text[at]|0x20 >= 'a' && text[at]|0x20 <= 'z' || at > 0 && (text[at] == '_' || text[at] == '-' || text[at] == '.' || text[at] >= '0' && text[at] <= '9')) {
		at++
	}
	if at == 0 || at == len(text) {
		return false
	}
	if rest := strings.TrimLeft(text[at:], " \t"); len(rest) < len(text)-at { // a word that was broken is not followed by what sets it
		return rest != "" && (rest[0] == '=' || rest[0] == ':')
	}
	after := byte('\n')
	if at+1 < len(text) {
		after = text[at+1]
	}
	space := after == ' ' || after == '\t' || after == '\r' || after == '\n'
	if name := text[:at]; text[at] == '=' && space && len(name) > minWord && (name == strings.ToLower(name) || name == strings.ToUpper(name)) {
		return !strings.ContainsAny(name, "0123456789")
	}
	return text[at] == ':' && space || text[at] == '=' && !space && after != '=' // that ends base64
}

// begins reports whether a line begins with a word or the mark of a list: what is left of a
// word without sense seldom looks like one.
func begins(line string) bool {
	at := 0
	for at < len(line) && line[at] >= '0' && line[at] <= '9' {
		at++
	}
	if at == 0 && strings.HasPrefix(line, "-") || at > 0 && at <= 2 && strings.HasPrefix(line[at:], ".") {
		return len(line) > at+1 && line[at+1] == ' '
	}
	if at > 0 {
		return false
	}
	if line[0] >= 'A' && line[0] <= 'Z' {
		at++
	}
	for at < len(line) && line[at] >= 'a' && line[at] <= 'z' {
		at++
	}
	if at == 0 || at >= maxWord {
		return false
	}
	rest := strings.TrimLeft(line[at:], " \t\r")
	switch {
	case rest == "" || rest[0] == '\n':
		return at >= minWord
	case len(rest) < len(line)-at: // prose, or a command and its arguments
		return at >= minWord || rest[0] >= 'a' && rest[0] <= 'z'
	}
	return strings.IndexByte(".,:;)", rest[0]) >= 0
}

// trimBreak takes from a line what ends it.
func trimBreak(text string, start, end int) int {
	if end > start && text[end-1] == '\r' {
		end--
	}
	for end > start && strings.HasSuffix(text[start:end], "│") {
		end = start + len(strings.TrimRight(text[start:end], " │"))
	}
	if end > start && text[end-1] == '\\' {
		end--
	}
	return end
}

// findJoined joins a line with those that it goes on in and returns the findings that
// reach over a break, and the start of the last of these lines.
func (set *ruleSet) findJoined(text string, start int) (found []finding, last int) {
	type piece struct{ joined, text int }
	var pieces []piece
	var b strings.Builder
	last = start
	for range maxJoined {
		end := len(text)
		if i := strings.IndexByte(text[last:], '\n'); i >= 0 {
			end = last + i
		}
		from := last
		if len(pieces) > 0 {
			from += len(text[from:]) - len(strings.TrimLeft(text[from:], margin))
		} else if end-from > maxAround {
			from = end - maxAround
		}
		pieces = append(pieces, piece{b.Len(), from})
		if end == len(text) || end-last < minWrapped || !broken(text, last, end) {
			b.WriteString(text[from:min(end, from+maxAround)])
			break
		}
		b.WriteString(text[from:trimBreak(text, from, end)])
		last = end + 1
	}
	joined := b.String()
	at := func(offset int) int {
		i := len(pieces) - 1
		for pieces[i].joined > offset {
			i--
		}
		return pieces[i].text + offset - pieces[i].joined
	}
	for _, f := range set.find(joined) {
		from, to := f.strict(joined)
		over := false
		for _, p := range pieces[1:] {
			over = over || from < p.joined && p.joined < to
		}
		if !over || to-from < minJoined || f.rule.rank == rankGeneric || set.isMarker(joined, from, to) {
			continue
		}
		start, end := at(from), at(to-1)+1
		found = append(found, finding{
			rule: f.rule, text: text, hidden: joined[from:to],
			matchStart: start, matchEnd: end, start: start, end: end,
		})
	}
	return found, last
}
