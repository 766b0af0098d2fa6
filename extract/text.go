package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir"
	"memoir/internal/lazyregexp"
)

// clean makes foreign text safe to quote: visible, without HTML comments. It changes the brackets
// of memoir's own tags, so that a quotation can't close the frame in which it is injected.
func clean(text string) string {
	text = memoir.Visible(text)
	if strings.Contains(text, "<!--") {
		text = comment.ReplaceAllString(text, "")
	}
	return frame.ReplaceAllString(text, "‹$1")
}

var (
	comment = lazyregexp.New(`(?s)<!--(?:.*?-->)?`)
	frame   = lazyregexp.New(`(?i)<(/?memoir-)`)
)

// shorten cuts a line of Markdown to at most limit bytes, at the end of a clause or word, never
// inside a code span or the label of a link, and marks the cut.
func shorten(line string, limit int) string {
	line = balance(strings.Join(strings.Fields(line), " "))
	if len(line) <= limit {
		return line
	}
	head := strings.ToValidUTF8(line[:limit-len("…")], "")
	clause := max(strings.LastIndex(head, ". "), strings.LastIndex(head, ", "), strings.LastIndex(head, "; "),
		strings.LastIndex(head, ": "), strings.LastIndex(head, " ("))
	if space := strings.LastIndexByte(head, ' '); clause > limit*3/5 {
		head = head[:clause]
	} else if space > limit/2 {
		head = head[:space]
	}
	if open := strings.LastIndexByte(head, '`'); strings.Count(head, "`")%2 == 1 && open >= limit/3 {
		head = head[:open]
	} else if strings.Count(head, "`")%2 == 1 {
		head += "`"
	}
	if open := strings.LastIndexByte(head, '['); open > limit/3 && !strings.Contains(head[open:], ")") {
		head = head[:open]
	}
	return strings.TrimRight(head, " ,;:([-—–*_\"'“") + "…"
}

// balance removes an unpaired code mark, and all marks of strong emphasis.
func balance(line string) string {
	if strings.Count(line, "`")%2 == 1 {
		i := strings.LastIndexByte(line, '`')
		line = line[:i] + line[i+1:]
	}
	return strings.ReplaceAll(line, "**", "")
}

func code(text string) string { return memoir.CodeSpan(strings.Join(strings.Fields(text), " ")) }

func quote(text string) string {
	return "“" + straight.Replace(strings.Trim(text, `"“” `)) + "”"
}

// straight replaces the marks of a person's words: other text has straight quotes.
var straight = strings.NewReplacer("“", `"`, "”", `"`)

func quoteTitle(title string) string {
	return `"` + strings.Trim(strings.ReplaceAll(straight.Replace(title), `"`, "'"), " ") + `"`
}

// untitled matches a commit or pull request with its title, without quotation marks, and what follows.
var untitled = lazyregexp.New(
	`(?:^|→ )(?:commit|committed|pull request|approved plan)(?: #?[0-9a-f]+)?: ([^"“”]*?)(?: — |$)`)

// Titled puts the titles of commits and pull requests in a statement into straight quotes, so that an order in a title
// reads as a title. It leaves a title with quotation marks.
func Titled(text string) string {
	m := untitled.FindStringSubmatchIndex(text)
	if m == nil || m[2] == m[3] {
		return text
	}
	return text[:m[2]] + quoteTitle(text[m[2]:m[3]]) + text[m[3]:]
}

// OnlyTitle reports whether a line names a commit, pull request or plan by its title and says no more.
func OnlyTitle(line string) bool { return onlyTitle.MatchString(line) }

var onlyTitle = lazyregexp.New(`^(?:commit|pull request|approved plan)(?: #?\w+)?: "[^"]*"$`)

// notEnds are words after which a full stop ends no sentence.
var notEnds = map[string]bool{
	"e.g": true, "i.e": true, "etc": true, "vs": true, "cf": true, "approx": true, "ca": true,
	"z.b": true, "d.h": true, "bzw": true, "p.ex": true, "mr": true, "dr": true, "no": true, "resp": true,
}

// sentences splits a paragraph at the ends of sentences outside code spans.
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
			if end := sentenceEnd(text, i); end > 0 && i >= start {
				add(end)
			}
		}
	}
	add(len(text))
	return out
}

// sentenceEnd returns the offset after the sentence that the mark at an offset ends, 0 if it does not end one.
func sentenceEnd(text string, mark int) int {
	end := mark + 1
	for end < len(text) && strings.IndexByte(`.!?)"'*`, text[end]) >= 0 {
		end++
	}
	if end < len(text) && text[end] != ' ' {
		return 0
	}
	if strings.HasSuffix(strings.TrimRight(text[:mark], "."), "/") { // of a path: ./...
		return 0
	}
	if text[mark] == '.' && strings.Trim(text[mark+1:end], ")") == "" {
		word := strings.ToLower(text[strings.LastIndexByte(text[:mark], ' ')+1 : mark])
		if notEnds[strings.Trim(word, "(*_")] || len(word) == 1 && unicode.IsLetter(rune(word[0])) {
			return 0
		}
	}
	return end
}

// A paragraph is a part of a Markdown text, joined into one line, with its heading.
type paragraph struct {
	heading string // the heading, or the line with a colon at its end, above it
	text    string
	bullet  bool
}

// paragraphs splits a Markdown text. Fences, quotations, tables and rules are left out.
func paragraphs(text string) []paragraph {
	var out []paragraph
	heading, fence, open := "", false, false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			fence, open = !fence, false
		case fence:
		case trimmed == "" || strings.Trim(trimmed, "-*_= ") == "":
			open = false
		case trimmed[0] == '|' || trimmed[0] == '>' || trimmed[0] == '<':
			open = false
		case trimmed[0] == '#':
			heading, open = strings.Trim(trimmed, "#*: "), false
		case strings.HasPrefix(trimmed, "**") && strings.HasSuffix(strings.TrimRight(trimmed, ":"), "**") &&
			strings.Count(trimmed, "**") == 2:
			heading, open = strings.Trim(trimmed, "*: "), false
		case listItem(trimmed):
			_, rest, _ := strings.Cut(trimmed, " ")
			rest = strings.TrimPrefix(strings.TrimPrefix(rest, "[x] "), "[ ] ")
			out, open = append(out, paragraph{heading, strings.TrimSpace(rest), true}), true
		case strings.HasSuffix(trimmed, ":") && len(trimmed) < 90 && !open:
			heading = strings.Trim(trimmed, "*: ")
			out, open = append(out, paragraph{heading, trimmed, false}), false
		case open:
			out[len(out)-1].text += " " + trimmed
		default:
			out, open = append(out, paragraph{heading, trimmed, false}), true
		}
	}
	return out
}

func (p paragraph) section(names ...string) bool {
	return p.heading != "" && hasAny(lowerWords(p.heading), names...)
}
