package secrets

import "strings"

const (
	minWrapped = 40  // bytes of a line that a terminal may have broken
	minJoined  = 20  // bytes of a secret that is taken together from two lines
	maxJoined  = 16  // lines that one secret may stand on
	maxAround  = 400 // bytes of a line that are looked at
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

// broken reports whether a word with a digit may go on from one line to the next.
func broken(text string, start, end int) bool {
	end = trimBreak(text, start, end)
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
	return to > next && end-at+to-next >= minJoined && !named(text[next:]) &&
		(strings.ContainsAny(text[at:end], "0123456789") || strings.ContainsAny(text[next:to], "0123456789"))
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
	after := byte('\n')
	if at+1 < len(text) {
		after = text[at+1]
	}
	space := after == ' ' || after == '\t' || after == '\r' || after == '\n'
	return text[at] == ':' && space || text[at] == '=' && !space && after != '=' // that ends base64
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
