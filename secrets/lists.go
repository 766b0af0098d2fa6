package secrets

import "strings"

// maxItems bounds the items of a list that are looked at.
const maxItems = 64

// under looks at a place where a part of a name ends, and reads what the name has more than
// one of, in brackets, in braces or on lines below it: `tokens: [a, b]`.
func (a *apart) under(at, end int) {
	text := a.text
	if end = a.words.next(text, end, len(text)); end == a.list {
		return
	}
	a.list = end
	pos := end
	quoted := pos < len(text) && (text[pos] == '"' || text[pos] == '\'')
	if quoted {
		pos++
	}
	pos = skip(text, pos, " \t")
	if pos >= len(text) || text[pos] != ':' && text[pos] != '=' {
		return
	}
	if block := skip(text, pos+1, " \t"); text[pos] == ':' && block < len(text) && (text[block] == '|' || text[block] == '>') {
		a.scalarBlock(extent{a.nameStart(at), end}, block)
		return
	}
	pos = skip(text, pos+1, "=> \t")
	if text[end-1]|0x20 != 's' || pos == len(text) {
		return
	}
	name := extent{a.nameStart(at), end - 1}
	switch text[pos] {
	case '{':
		if !quoted { // in JSON, what has such a name mostly describes them
			a.inline(name, pos+1, '{')
		}
	case '[':
		a.inline(name, pos+1, '[')
	case '\n':
		a.listed(name, pos+1)
	}
}

// scalarBlock reads a block of YAML that has one line, of one word.
func (a *apart) scalarBlock(name extent, at int) {
	next := skip(a.text, skip(a.text, at+1, "+-0123456789"), " \t\r")
	if next == len(a.text) || a.text[next] != '\n' {
		return
	}
	line := extent{next + 1, a.at.end(next + 1)}
	value := trimExtent(a.text, line, margin+"\r")
	if value.start > line.start && value.start < value.end && strings.IndexByte(value.of(a.text), ' ') < 0 {
		a.add(name, value)
	}
}

// inline reads the items between brackets, or the values of the fields between braces.
func (a *apart) inline(name extent, at int, open byte) {
	for range maxItems {
		at = skip(a.text, at, ", \t\r\n")
		if at == len(a.text) {
			return
		}
		item := field{quoted: strings.IndexByte("\"'`", a.text[at]) >= 0}
		var ok bool
		if open == '{' {
			item, at, ok = a.field(at)
		} else {
			item.value, at, ok = a.scalar(at, &a.scalars)
		}
		if !ok {
			return
		}
		a.pair(name, item.value, item.quoted)
	}
}

// listed reads the items of a list of YAML, one on each line.
func (a *apart) listed(name extent, at int) {
	for range maxItems {
		pos := skip(a.text, at, margin+"+")
		if !strings.HasPrefix(a.text[min(pos, len(a.text)):], "- ") {
			return
		}
		pos = skip(a.text, pos+1, " \t")
		if value, end, ok := a.scalar(pos, &a.items); ok {
			if v := value.of(a.text); strings.HasSuffix(v, "\"") { // of a string of JSON that the text is in
				value.end--
			}
			a.add(name, value)
			at = end
		}
		next := strings.IndexByte(a.text[at:], '\n')
		if next < 0 {
			return
		}
		at += next + 1
	}
}
