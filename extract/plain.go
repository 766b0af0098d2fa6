package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes foreign text safe to quote: no terminal sequences, no control or
// invisible format characters except line feeds and tabs, no HTML comments, and
// the tags of memoir's own frames in other brackets, so that a quotation cannot
// close the frame in which it is injected.
func clean(text string) string {
	if !needsCleaning(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		from := i
		for i < len(text) && harmless[text[i]] {
			i++
		}
		if b.WriteString(text[from:i]); i == len(text) {
			break
		}
		c := text[i]
		switch {
		case c == 0x1b:
			i += escapeLen(text[i:])
			continue
		case c == '<' && strings.HasPrefix(text[i:], "<!--"):
			if end := strings.Index(text[i:], "-->"); end >= 0 {
				i += end + 3
			} else {
				i += 4
			}
			continue
		case c == '<' && frameTag(text[i:]):
			b.WriteString("‹")
			i++
			continue
		case c == '\r':
			b.WriteByte('\n')
			if i++; i < len(text) && text[i] == '\n' {
				i++
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		case r == '\u2028' || r == '\u2029':
			b.WriteByte('\n')
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// harmless are the bytes that stay as they are, whatever follows.
var harmless = func() (set [256]bool) {
	for c := range 0x7f {
		set[c] = c >= 0x20 && c != '<' || c == '\n' || c == '\t'
	}
	return set
}()

func needsCleaning(text string) bool {
	foreign := false
	for i := range len(text) {
		c := text[i]
		switch {
		case harmless[c]:
		case c < 0x80, c == 0xc2, c == 0xe2, c == 0xef, c == 0xf3:
			return true
		default:
			foreign = true
		}
	}
	return foreign && !utf8.ValidString(text)
}

// escapeLen is the length of the terminal sequence that s begins with.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[': // control sequence: parameters, then one final byte
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 {
				return i
			}
		}
		return len(s)
	case ']': // operating system command: up to BEL or ESC \
		for i := 2; i < len(s) && s[i] != '\n'; i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b {
				return min(i+2, len(s))
			}
		}
		return 2
	}
	return 2
}

func frameTag(s string) bool {
	s = strings.TrimPrefix(s[1:], "/")
	return len(s) >= 7 && strings.EqualFold(s[:7], "memoir-")
}

// plainAngles writes the brackets of tags and type arguments as ‹ and ›, so that
// they stay readable where nothing may be a tag. Comparisons and arrows stay.
func plainAngles(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var b strings.Builder
	open := 0
	var last rune
	for i, r := range text {
		switch {
		case r == '<' && opensTag(text[i+1:]):
			open++
			b.WriteRune('‹')
		case r == '>' && open > 0 && last != '-' && last != '=':
			open--
			b.WriteRune('›')
		default:
			if r == '‹' {
				open++ // clean wrote it
			}
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// opensTag reports whether what follows a '<' makes it a bracket rather than a comparison.
func opensTag(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return r == '/' || r == '!' || r == '?' || r == '|' || r == '&' || r == '_' || r == '<' || unicode.IsLetter(r)
}

// shorten cuts a line of Markdown to at most limit bytes at the end of a clause
// or word, never inside a code span or link, and marks the cut.
func shorten(line string, limit int) string {
	line = balance(strings.Join(strings.Fields(line), " "))
	if len(line) <= limit {
		return line
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(line[cut]) {
		cut--
	}
	if end := clauseEnd(line[:cut]); end > limit*3/5 {
		cut = end
	} else if space := strings.LastIndexByte(line[:cut], ' '); space > limit/2 {
		cut = space
	}
	head := line[:cut]
	if strings.Count(head, "`")%2 == 1 {
		open := strings.LastIndexByte(head, '`')
		if open >= limit/3 {
			head = head[:open]
		} else {
			head += "`"
		}
	}
	if open := strings.LastIndexByte(head, '['); open > limit/3 && !strings.Contains(head[open:], ")") && strings.Contains(line[open:], "](") {
		head = head[:open]
	}
	return strings.TrimRight(head, " ,;:([-—–*_\"'“") + "…"
}

// clauseEnd is the offset after the last separator of clauses in s, 0 if none.
func clauseEnd(s string) int {
	end := 0
	for _, sep := range []string{"; ", ". ", ", ", " — ", " – ", ": ", " ("} {
		if i := strings.LastIndex(s, sep); i > end {
			end = i
		}
	}
	return end
}

// balance closes or removes a code mark or emphasis that has no partner.
func balance(line string) string {
	if strings.Count(line, "`")%2 == 1 {
		i := strings.LastIndexByte(line, '`')
		line = line[:i] + line[i+1:]
	}
	if strings.Contains(line, "**") {
		line = strings.ReplaceAll(line, "**", "")
	}
	return line
}

// code renders text as a Markdown code span.
func code(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}

// quote renders a person's words in quotation marks.
func quote(text string) string { return "“" + strings.Trim(text, `"“” `) + "”" }
