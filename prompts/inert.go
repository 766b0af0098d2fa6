package prompts

import (
	"slices"
	"strings"
	"unicode"

	"memoir/internal/lazyregexp"
)

// frames are the tags that hold data in the prompts of this package, with '-' for what may
// join their words.
var frames = []string{
	"memoir-context", "transcript", "current-memory", "current-summary", "current-skills",
	"hand-edits", "new-sessions", "changed-sessions", "withdrawn-sessions", "raw-memories", "rollout-summaries",
}

// turns are the marks by which servers that render a chat as one text tell whose turn it is,
// behind their opening bracket: some take them from data as well.
var turns = []string{
	"｜", "s>", "/s>", "bos>", "eos>", "start_of_turn>", "end_of_turn>", "<SYS>>", "</SYS>>",
	"INST]", "/INST]", "SYSTEM_PROMPT]", "/SYSTEM_PROMPT]", "TOOL_CALLS]", "TOOL_RESULTS]", "/TOOL_RESULTS]",
	"AVAILABLE_TOOLS]", "/AVAILABLE_TOOLS]",
}

// special is a mark of that kind that begins with a bar, which is an operator elsewhere.
var special = lazyregexp.New(`^\|[a-zA-Z/]`)

// inert makes a text unable to close or to imitate the tags around it, however they are
// spelled, and to begin a turn of its own. It is otherwise left as it is, broken UTF-8
// apart, which no model's interface takes.
func inert(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.ContainsFunc(text, concealed) {
		text = strings.Map(func(r rune) rune {
			if concealed(r) {
				return -1
			}
			return r
		}, text)
	}
	var b strings.Builder
	done := 0
	for i, size := nextBracket(text, 0); size > 0; i, size = nextBracket(text, i+size) {
		rest := text[i+size:]
		switch {
		case text[i] == '[' && begins(rest, turns):
			b.WriteString(text[done:i] + "[ ")
		case text[i] != '[' && (begins(rest, turns) || special.MatchString(rest) || framed(rest)):
			b.WriteString(text[done:i] + "&lt;")
		default:
			continue
		}
		done = i + size
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// nextBracket finds the next character that may open a tag or a mark, and its size; 0 if
// there is none.
func nextBracket(text string, from int) (at, size int) {
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case c == '<', c == '[':
			return i, 1
		case c == 0xef && (strings.HasPrefix(text[i:], "＜") || strings.HasPrefix(text[i:], "﹤")):
			return i, len("＜")
		}
	}
	return len(text), 0
}

func begins(text string, marks []string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(text, mark) })
}

// framed reports whether what stands behind a bracket reads as one of frames.
func framed(text string) bool {
	slash := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("/／\\⁄∕⧸", r) }
	text = strings.TrimLeftFunc(text, slash)
	const longest = len("withdrawn-sessions")
	name := make([]byte, 0, longest)
	for _, r := range text {
		switch r = unicode.ToLower(Plain(r)); {
		case r >= 'a' && r <= 'z':
			name = append(name, byte(r))
		case unicode.Is(unicode.Mn, r):
		case len(name) > 0 && name[len(name)-1] != '-' &&
			(unicode.In(r, unicode.Pd, unicode.Pc) || r == ' ' || r == '\u2212'):
			name = append(name, '-')
		default:
			return begins(string(name), frames)
		}
		if len(name) == longest {
			break
		}
	}
	return begins(string(name), frames)
}

// concealed reports whether a character shows nothing and may stand within a tag or spell
// what no reader sees: zero-width and bidirectional marks, tag characters, variation selectors.
func concealed(r rune) bool {
	return r >= 0x80 && unicode.In(r, unicode.Cf, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// block is a text between tags: inert, and visibly empty if it is.
func block(text string) string {
	if text = strings.Trim(inert(text), "\n"); strings.TrimSpace(text) == "" {
		return "(none)"
	}
	return text
}

// inline is a text within a line: inert, on one line, within a bound.
func inline(text string) string {
	const most = 300
	text = strings.Join(strings.FieldsFunc(inert(text), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	if text == "" {
		return "unknown"
	}
	return text
}

// bullets lists texts, one a line.
func bullets(texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("- " + inline(text) + "\n")
	}
	return b.String()
}

// Framed reports whether a text holds one of the tags that hold data in prompts.
func Framed(text string) bool {
	for i, size := nextBracket(text, 0); size > 0; i, size = nextBracket(text, i+size) {
		if text[i] != '[' && framed(text[i+size:]) {
			return true
		}
	}
	return false
}
