package secrets

import "strings"

// maxItems bounds the items of a list that are looked at.
const maxItems = 64

// under looks at a place where a part of a name ends, and reads what the name has more than
// one of, in brackets, in braces or on lines below it: `tokens: [a, b]`.
func (a *apart) under(at, end int) {
	text := a.text
	for end < len(text) && nameChar(text[end]) {
		end++
	}
	start := at
	for start > 0 && (nameChar(text[start-1]) || text[start-1] == '.') {
		start--
	}
	pos := end
	quoted := pos < len(text) && (text[pos] == '"' || text[pos] == '\'')
	if quoted {
		pos++
	}
	pos = skip(text, pos, " \t")
	if pos >= len(text) || text[pos] != ':' && text[pos] != '=' {
		return
	}
	pos = skip(text, pos+1, "=> \t")
	if text[end-1]|0x20 != 's' || pos == len(text) {
		return
	}
	name := extent{start, end - 1}
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
			item.value, at, ok = a.scalar(at, "\n,}]")
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
		if value, end, ok := a.scalar(pos, "\n"); ok {
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
