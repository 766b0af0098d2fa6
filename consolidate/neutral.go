package consolidate

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

// oneLine makes foreign text fit to be one line of a memory: no line breaks, no
// control or invisible characters, no tags outside code spans, no frames of
// agents anywhere, no mark that begins a heading, at most 500 bytes.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(memoir.WithoutFloods(strings.Map(shown, text))), " ")
	return cut(strings.TrimSpace(strings.TrimLeft(withoutTags(text), "#")), 500)
}

// shown maps a character that shows nothing, or that not every reader of YAML
// takes, to none, and every kind of space to a space.
func shown(r rune) rune {
	switch {
	case unicode.IsSpace(r), r == '\u2028', r == '\u2029':
		return ' '
	case r == utf8.RuneError, hidden(r), !unicode.IsPrint(r):
		return -1
	}
	return r
}

// hidden reports whether a character shows nothing: controls, format characters
// (zero-width, bidirectional, tags), variation selectors, fillers.
func hidden(r rune) bool {
	return r == '\u2800' ||
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// withoutTags writes the brackets of tags and type arguments as ‹ and ›: outside
// code spans of all, inside of those by which agents tell whose word a text is. What
// else of a line would load something goes as well; see Passive.
func withoutTags(text string) string {
	return prose{sure: spansClose(text)}.passive(text)
}

// pieces splits a line into prose and code spans; a span comes with its marks.
func pieces(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		start := 0
		for i := 0; i < len(text); {
			if text[i] != '`' {
				i++
				continue
			}
			marks := run(text[i:])
			end := closing(text[i+marks:], marks)
			if end < 0 {
				i += marks
				continue
			}
			end += i + marks
			if start < i && !yield(text[start:i], false) || !yield(text[i:end], true) {
				return
			}
			i, start = end, end
		}
		if start < len(text) {
			yield(text[start:], false)
		}
	}
}

// run counts the backticks that a text begins with.
func run(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// closing is the offset behind the next run of exactly that many backticks, -1 if
// there is none.
func closing(text string, marks int) int {
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		n := run(text[i:])
		i += n
		if n == marks {
			return i
		}
	}
	return -1
}

// plainAngles replaces brackets that open a tag or type arguments, and those that
// close them. Comparisons and arrows stay.
func plainAngles(text string) string {
	var b strings.Builder
	open := 0
	var last rune
	for i, r := range text {
		switch {
		case r == '<' && bracketed(text[i+1:]):
			open++
			b.WriteRune('‹')
		case r == '>' && open > 0 && last != '=' && (last != '-' || strings.HasSuffix(text[:i], "--")):
			open--
			b.WriteRune('›')
		default:
			if r == '‹' {
				open++
			}
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

func bracketed(rest string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
	return strings.ContainsRune("/!?|&_<\\", r) || unicode.IsLetter(r) && rest[0] != ' '
}

var tagOpening = lazyregexp.New(`<[</\\ ]*(\||[A-Za-z][A-Za-z_-]*)`)

// withoutFrames replaces the bracket before every tag that steers agents.
func withoutFrames(text string) string {
	return tagOpening.ReplaceAllStringFunc(text, func(tag string) string {
		if name := strings.ToLower(strings.TrimLeft(tag, `</\ `)); name == "|" || prompts.Steers(name) {
			return "‹" + strings.ReplaceAll(tag[1:], "<", "‹")
		}
		return tag
	})
}

// unframe replaces the angle bracket before tags of memoir's own frames.
func unframe(text string) string {
	return tagOpening.ReplaceAllStringFunc(text, func(tag string) string {
		if name := strings.ToLower(strings.TrimLeft(tag, `</\ `)); strings.HasPrefix(name, "memoir-") {
			return strings.ReplaceAll(tag, "<", "‹")
		}
		return tag
	})
}

// tame makes what a person wrote safe to publish: its words and lines stay.
func tame(text string) string {
	return unframe(memoir.WithoutFloods(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && hidden(r) {
			return -1
		}
		return r
	}, text)))
}

// bare makes a text fit for where nothing is Markdown: no code spans, no tags, no imports.
func bare(text string) string {
	text = strings.ReplaceAll(oneLine(strings.ReplaceAll(text, "`", "'")), "`", "") // those that are left are of imports
	return imports.ReplaceAllStringFunc(text, func(m string) string { return strings.Replace(m, "@", "", 1) })
}

// codeSpan writes a command as a code span.
func codeSpan(text string) string {
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	marks := "``"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + " " + text + " " + marks
}
