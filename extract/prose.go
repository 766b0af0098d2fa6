package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A block is a paragraph or list entry of Markdown prose. Code fences,
// quotations, tables and directives are not prose and make no block.
type block struct {
	text   string
	lead   string // the heading or the line with a colon that introduces it
	head   string // the bold label that it begins with
	under  string // the last heading above it, or line in bold that serves as one
	bullet bool
	indent int // columns before a list entry's mark
}

// blocks splits Markdown into blocks. With lines set, every line of a paragraph
// is a block of its own, as people type.
func blocks(text string, lines bool) []block {
	var out []block
	var cur block
	lead, under := "", ""
	flush := func() {
		bold := !cur.bullet && allBold(cur.text)
		cur.text = strings.TrimSpace(cur.text)
		if rest, ok := strings.CutPrefix(cur.text, "**"); ok && cur.bullet {
			cur.head, _, _ = strings.Cut(rest, "**")
		}
		cur.text = strings.TrimSpace(strings.ReplaceAll(cur.text, "**", ""))
		if bold {
			under = cur.text
		}
		if cur.text != "" {
			cur.lead, cur.under = lead, under
			if !cur.bullet && (bold || strings.HasSuffix(cur.text, ":")) {
				lead = strings.TrimSuffix(cur.text, ":")
			} else if !cur.bullet {
				lead = ""
			}
			out = append(out, cur)
		}
		cur = block{}
	}
	fence := ""
	for raw := range strings.Lines(text) {
		line := strings.TrimSpace(raw)
		if fence != "" {
			if strings.HasPrefix(line, fence) {
				fence = ""
			}
			continue
		}
		switch {
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			flush()
			fence = line[:3]
		case line == "":
			flush()
		case line[0] == '>', line[0] == '|', strings.HasPrefix(line, "::"), rule(line):
			flush()
		case line[0] == '#':
			if heading := strings.TrimLeft(line, "#"); heading == "" || heading[0] == ' ' {
				flush()
				lead = strings.TrimSpace(strings.ReplaceAll(heading, "**", ""))
				under = lead
			} else {
				cur.text += " " + line
			}
		default:
			if entry, ok := listEntry(line); ok {
				flush()
				cur = block{text: entry, bullet: true, indent: len(raw) - len(strings.TrimLeft(raw, " \t"))}
				continue
			}
			if lines {
				bullet := cur.bullet && raw[0] == ' '
				if !bullet {
					flush()
				}
			}
			cur.text += " " + line
		}
	}
	flush()
	return out
}

// allBold reports whether a paragraph is one line in bold.
func allBold(text string) bool {
	text = strings.TrimSpace(text)
	inner, ok := strings.CutPrefix(strings.TrimSuffix(text, ":"), "**")
	return ok && len(text) < 120 && strings.HasSuffix(inner, "**") && strings.Count(inner, "**") == 1
}

// rule reports whether a line is a horizontal rule or drawn box.
func rule(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	if r >= 0x2500 && r <= 0x259f {
		return true
	}
	return len(line) >= 3 && strings.Trim(line, "-=*_ ") == ""
}

// listEntry cuts a list's mark off a line.
func listEntry(line string) (string, bool) {
	for _, mark := range []string{"- [ ] ", "- [x] ", "- ", "* ", "+ ", "• "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	i := 0
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i > 0 && i <= 2 && i+1 < len(line) && (line[i] == '.' || line[i] == ')') && line[i+1] == ' ' {
		return strings.TrimSpace(line[i+2:]), true
	}
	return "", false
}

// notEnds are words after which a full stop ends no sentence.
var notEnds = map[string]bool{
	"e.g": true, "i.e": true, "etc": true, "vs": true, "cf": true, "approx": true, "ca": true,
	"z.b": true, "d.h": true, "bzw": true, "p.ex": true, "mr": true, "dr": true, "no": true, "resp": true,
}

// sentences splits a paragraph at the ends of sentences that stand outside code spans.
func sentences(text string) []string {
	var out []string
	start, span := 0, false
	add := func(end int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			out = append(out, s)
		}
		start = end
	}
	for i, r := range text {
		switch {
		case r == '`':
			span = !span
		case span:
		case r == '。' || r == '！' || r == '？':
			add(i + utf8.RuneLen(r))
		case r == '.' || r == '!' || r == '?':
			end := i + 1
			for end < len(text) && strings.IndexByte(`.!?)"'*`, text[end]) >= 0 {
				end++
			}
			if end < len(text) && text[end] != ' ' || end > i+1 && strings.IndexByte(".!?", text[i+1]) >= 0 && end < len(text) && text[end] != ' ' {
				continue
			}
			if r == '.' && end == i+1 {
				word := strings.ToLower(text[strings.LastIndexByte(text[:i], ' ')+1 : i])
				if notEnds[strings.Trim(word, "(*_")] || len(word) == 1 && unicode.IsLetter(rune(word[0])) {
					continue
				}
			}
			if i >= start {
				add(end)
			}
		}
	}
	add(len(text))
	return out
}

// words is a sentence in a form that phrases can be looked up in: lower case,
// straight apostrophes, one space between and around words, code spans and
// links' targets left out.
func words(text string) string {
	b := make([]byte, 1, len(text)+len(text)/8+8)
	b[0] = ' '
	span, links := false, true // links tells that a link's target may end further on
	part := func() {           // puts one space, unless there is one
		if b[len(b)-1] != ' ' {
			b = append(b, ' ')
		}
	}
	for i := 0; i < len(text); {
		c := text[i]
		if span && c != '`' {
			end := strings.IndexByte(text[i:], '`')
			if end < 0 {
				break
			}
			i += end
			continue
		}
		if lower := wordBytes[c]; lower != 0 {
			b = append(b, lower)
			i++
			continue
		}
		switch {
		case c == '`':
			if span = !span; !span {
				b = append(b, "§"...)
			} else {
				part()
			}
		case c == '(' && i > 0 && text[i-1] == ']':
			if !links {
				break
			}
			if end := strings.IndexByte(text[i:], ')'); end > 0 {
				i += end + 1
				continue
			}
			links = false
		case c == '-' || c == '_' || c == '/' || c == '.' || c == '@' || c == '+' || c == '#' || c == ':':
			if i+1 < len(text) && b[len(b)-1] != ' ' && wordByte(text[i+1]) {
				b = append(b, c)
			} else if c == ':' {
				part()
				b = append(b, ": "...)
			} else {
				part()
			}
		case c == ',' || c == ';' || c == '(' || c == ')' || c == '?' || c == '!':
			part()
			b = append(b, c, ' ')
		case c < utf8.RuneSelf:
			part()
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			switch {
			case r == '’':
				b = append(b, '\'')
			case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r):
				b = utf8.AppendRune(b, unicode.ToLower(r))
			case r == '—' || r == '–':
				part()
				b = append(append(b, text[i:i+n]...), ' ')
			default:
				part()
			}
			i += n
			continue
		}
		i++
	}
	part()
	return string(b)
}

// wordBytes are the bytes that stand for themselves in the form of words, letters
// in lower case; 0 for any other.
var wordBytes = func() (t [256]byte) {
	for c := range t {
		switch b := byte(c); {
		case b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '\'':
			t[c] = b
		case b >= 'A' && b <= 'Z':
			t[c] = b + 'a' - 'A'
		}
	}
	return t
}()

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}
