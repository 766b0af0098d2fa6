package secrets

import "strings"

// valueEnd returns where the value ends that a span ends inside of, on a line that has
// nothing but a name and a value of one word. What rules take for the end of a password,
// a bracket or a comma, is a part of it there.
func valueEnd(text string, start, end int) int {
	if start >= end || end == len(text) || strings.IndexByte("|<(){}[]&;,=\"'`", text[end]) < 0 {
		return end
	}
	from := strings.LastIndexByte(text[:start], '\n') + 1
	before := text[max(from, start-maxNameApart):start]
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
