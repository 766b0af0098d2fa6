package consolidate

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

// Passive makes Markdown safe to display and to load into an agent. Images become links. HTML elements and
// comments become text. Links that run scripts are broken. A reference to a file (@path) that leads out of the
// memory becomes code. Code is not changed if every Markdown parser treats it as code.
func Passive(text string) string {
	var b strings.Builder
	var p passivity
	for l := range strings.Lines(text) {
		body := strings.TrimRight(l, "\r\n")
		b.WriteString(p.line(body) + l[len(body):])
	}
	return b.String()
}

// A passivity makes the lines of a text passive, one after the other.
type passivity struct {
	mark    string // of the open fence; empty: none
	indent  int    // spaces before it
	unsure  bool   // parsers may differ on the end of a fence, so no later line counts as fenced
	skill   bool   // no path may be loaded
	dangles bool   // a backtick of the paragraph is not closed; a later line may close it
}

func (p *passivity) line(l string) string {
	if strings.TrimSpace(l) == "" {
		p.dangles = false
		return l
	}
	indent, mark, info := memoir.Fence(l)
	switch {
	case p.unsure:
	case p.mark != "":
		switch {
		case indent < p.indent: // ends a list entry and its fence
			p.mark, p.unsure = "", true
		case mark != "" && mark[0] == p.mark[0] && len(mark) >= len(p.mark) && info == "" && indent <= 3:
			p.mark = ""
			return l
		default:
			return l
		}
	case mark != "" && indent <= 3:
		p.mark, p.indent, p.dangles = mark, indent, false
		return l
	case strings.Contains(l, "```"), strings.Contains(l, "~~~"): // perhaps in a list or a quotation
		p.unsure = true
	}
	sure := !p.dangles && spansClose(l)
	p.dangles = p.dangles || !spansClose(l)
	return passive(l, sure && !p.unsure, p.skill)
}

// spansClose reports whether every parser finds the same code spans in a line as pieces does: each run of
// backticks is closed, and none is escaped.
func spansClose(l string) bool {
	if strings.Contains(l, "\\`") {
		return false
	}
	for part, code := range pieces(l) {
		if !code && strings.Contains(part, "`") {
			return false
		}
	}
	return true
}

// passive makes a line of prose passive. sure says that its code spans are certain, anyPath that no path may be
// loaded, wherever it leads.
func passive(l string, sure, anyPath bool) string {
	if !strings.ContainsAny(l, "<@!]") {
		return l
	}
	var b strings.Builder
	for part, code := range pieces(l) {
		if code && sure {
			b.WriteString(withoutFrames(part))
			continue
		}
		part = scripts.ReplaceAllString(images.ReplaceAllString(plainAngles(part), "! ["), "] $1")
		part = imports.ReplaceAllStringFunc(part, func(found string) string {
			at := strings.IndexByte(found, '@')
			switch before, name := found[:at], found[at:]; {
			case !anyPath && !strings.ContainsAny(name[1:2], "/~\\") && !strings.Contains(name, ".."):
				return found
			case sure:
				return before + "`" + name + "`"
			default:
				return before + "@ " + name[1:]
			}
		})
		b.WriteString(part)
	}
	return b.String()
}

var (
	images  = lazyregexp.New(`!\[`)
	scripts = lazyregexp.New(`(?i)\]((?:\(|:)\s*[<‹]?\s*(?:(?:java|vb|live)script|data` +
		`|[^\s)/?#:]*&[#a-z0-9]+;?[^\s)/?#:]*):)`)
	imports = lazyregexp.New(`(^|[\s(\[{<>"'“‘«‹,;:!*_~|–—])(@[\pL\pN_~./\\][\pL\pN_~./\\@-]*)`)
)

// inert makes a line of a skill passive, also inside of code: agents run !`command` anywhere, and the content of a
// fence that is marked with "!".
func (p *passivity) inert(line string) string {
	return strings.ReplaceAll(runFence.ReplaceAllString(p.line(line), "$1 "), "!`", "! `")
}

var runFence = lazyregexp.New("(```|~~~)[ \t]*!+")

// oneLine converts untrusted text to one line of a memory: without line breaks, control or invisible characters,
// tags outside code spans, frames of agents, and a heading mark, at most 500 bytes.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(memoir.WithoutFloods(strings.Map(shown, text))), " ")
	return cut(strings.TrimSpace(strings.TrimLeft(withoutTags(text), "#")), 500)
}

// shown removes characters that are invisible or that not every YAML parser accepts, and maps every kind of space
// to a space.
func shown(r rune) rune {
	switch {
	case unicode.IsSpace(r), r == '\u2028', r == '\u2029':
		return ' '
	case r == utf8.RuneError, memoir.Hidden(r), !unicode.IsPrint(r):
		return -1
	}
	return r
}

// withoutTags writes the brackets of tags and type arguments as ‹ and ›: of all tags outside code spans, and inside
// of tags that mark the author of a text for agents. It makes the line passive as well; see Passive.
func withoutTags(text string) string {
	return passive(text, spansClose(text), false)
}

// pieces splits a line into prose and code spans; a span comes with its marks.
func pieces(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		runs := backticks.FindAllStringIndex(text, -1)
		start := 0
		for i := 0; i < len(runs); i++ {
			open := runs[i]
			last := slices.IndexFunc(runs[i+1:], func(r []int) bool { return r[1]-r[0] == open[1]-open[0] })
			if last < 0 {
				continue
			}
			i += last + 1
			if start < open[0] && !yield(text[start:open[0]], false) || !yield(text[open[0]:runs[i][1]], true) {
				return
			}
			start = runs[i][1]
		}
		if start < len(text) {
			yield(text[start:], false)
		}
	}
}

var backticks = lazyregexp.New("`+")

// plainAngles replaces the brackets of tags and type arguments. Comparisons and arrows stay.
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

func withoutFrames(text string) string { return prompts.Untag(text, prompts.Steers) }

func unframe(text string) string {
	return prompts.Untag(text, func(name string) bool { return strings.HasPrefix(name, "memoir-") })
}

// sanitise makes a person's text safe to publish without changing its words and lines.
func sanitise(text string) string { return unframe(memoir.WithoutHidden(text)) }

// bare converts a text to plain text without code spans, tags and imports.
func bare(text string) string {
	text = strings.ReplaceAll(oneLine(strings.ReplaceAll(text, "`", "'")), "`", "") // oneLine quotes imports
	return imports.ReplaceAllStringFunc(text, func(m string) string { return strings.Replace(m, "@", "", 1) })
}
