package prompts

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"memoir/internal/lazyregexp"
)

// frames are the tags around data in the prompts of this package, with '-' for any character that may join their words.
var frames = []string{
	"memoir-context", "transcript", "current-memory", "current-skills",
	"hand-edits", "journals", "new-sessions", "changed-sessions", "withdrawn-sessions", "raw-memories",
}

// turns are the marks, after the opening bracket, by which servers that render a chat as one
// text mark its turns: some servers also accept them in data.
var turns = []string{
	"｜", "s>", "/s>", "bos>", "eos>", "start_of_turn>", "end_of_turn>", "<SYS>>", "</SYS>>",
	"INST]", "/INST]", "SYSTEM_PROMPT]", "/SYSTEM_PROMPT]", "TOOL_CALLS]", "TOOL_RESULTS]", "/TOOL_RESULTS]",
	"AVAILABLE_TOOLS]", "/AVAILABLE_TOOLS]",
}

// special matches such a mark that begins with a bar, which is an operator elsewhere.
var special = lazyregexp.New(`^\|[a-zA-Z/]`)

// inert returns a text that can neither close nor imitate the tags around it, in any spelling,
// nor begin a turn of a chat. Otherwise it only replaces invalid UTF-8, which model APIs reject.
func inert(text string) string {
	text = strings.Map(func(r rune) rune {
		if concealed(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return replaceBrackets(text, func(bracket byte, rest string) string {
		switch {
		case bracket == '[' && begins(rest, turns):
			return "[ "
		case bracket != '[' && (begins(rest, turns) || special.MatchString(rest) || begins(tagName(rest), frames)):
			return "&lt;"
		}
		return ""
	})
}

// Untag replaces the opening bracket of the tags in a text, in any spelling, whose names a
// function accepts. A name is in lower case with '-' between words, or "|" for a mark of a chat
// template. It may include words after it: that of <system x> is "system-x".
func Untag(text string, picks func(name string) bool) string {
	return replaceBrackets(text, func(bracket byte, rest string) string {
		if bracket != '[' && picks(tagName(rest)) {
			return "‹"
		}
		return ""
	})
}

// replaceBrackets replaces characters that may open a tag or a mark by a function's result for
// the text after them; "" leaves them.
func replaceBrackets(text string, by func(bracket byte, rest string) string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
		size := 1
		switch c := text[i]; {
		case c == '<', c == '[':
		case c == 0xef && (strings.HasPrefix(text[i:], "＜") || strings.HasPrefix(text[i:], "﹤")):
			size = len("＜")
		default:
			continue
		}
		if with := by(text[i], text[i+size:]); with != "" {
			b.WriteString(text[done:i] + with)
			done = i + size
		}
	}
	return b.String() + text[done:]
}

func begins(text string, marks []string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.HasPrefix(text, mark) })
}

// tagName returns the beginning of a tag's name as a reader sees it, from the text after its bracket.
func tagName(text string) string {
	slash := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("/／\\⁄∕⧸", r) }
	if text = strings.TrimLeftFunc(text, slash); strings.HasPrefix(text, "|") {
		return "|"
	}
	const longest = 32
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
			return string(name)
		}
		if len(name) == longest {
			break
		}
	}
	return string(name)
}

// concealed reports whether a character is invisible, so that it may hide in a tag or spell
// invisible text: zero-width and bidirectional marks, tag characters, variation selectors.
func concealed(r rune) bool {
	return r >= 0x80 && unicode.In(r, unicode.Cf, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// block returns a text for use between tags: inert, and visibly empty if it is empty.
func block(text string) string {
	if text = strings.Trim(inert(text), "\n"); strings.TrimSpace(text) == "" {
		return "(none)"
	}
	return text
}

// inline returns a text for use within a line: inert, on one line, within a bound.
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

func bullets(texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("- " + inline(text) + "\n")
	}
	return b.String()
}

// steering lists the tags by which agents mark text of another author than the user: a memory
// with such a tag must not be attributed to that author.
var steering = []string{
	"system", "developer", "instructions", "user-instructions", "environment-context",
	"session-start-hook", "user-prompt-submit-hook", "hook-context", "function-calls", "function-results",
	"tool-use", "tool-result", "command-name", "command-message", "local-command-stdout", "permissions",
	"user-query", "user-message", "user-memory-input", "user-rules", "important-instructions", "extremely-important",
	"session-context", "ide-context",
	"goal-context", "codex-internal-context", "collaboration-mode", "turn-aborted", "subagent-notification",
	"task-notification", "teammate-message",
	"cross-session-message", "agent-notification", "local-command-caveat", "local-command-stderr", "command-args",
	"command-contents", "bash-input", "bash-stdout", "bash-stderr",
	"user-shell-command", "ide-selection", "ide-opened-file", "post-tool-use-hook", "pre-tool-use-hook", "hook-output",
	"hook-prompt", "skill-context",
	"persisted-output", "untrusted-context", "user-prompt-submit-context", "additional-context", "function-call",
	"function-response", "tool-call", "tool-calls", "tool-response",
	"tool-results", "invoke", "antml", "start-of-turn", "end-of-turn",
}

// Steers reports whether a tag, with a name as in Untag, marks the author of a text for agents.
func Steers(name string) bool {
	return name == "|" || strings.HasPrefix(name, "memoir") ||
		slices.ContainsFunc(steering, func(tag string) bool { return strings.HasPrefix(name+"-", tag+"-") })
}

// Plain returns the ASCII character that a character looks like: the Latin letter for a letter of another script or
// style, the base of a full-width, circled, superscript or accented form. It returns other characters unchanged.
func Plain(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	if plain, ok := lookAlikes[r]; ok {
		return plain
	}
	if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) {
		return r
	}
	var form [utf8.UTFMax]byte
	made := norm.NFKD.Properties(form[:utf8.EncodeRune(form[:], r)]).Decomposition()
	first, _ := utf8.DecodeRune(made)
	switch plain, ok := lookAlikes[first]; {
	case ok:
		return plain
	case len(made) > 0 && first > ' ' && first < utf8.RuneSelf:
		return first
	}
	return r
}

// lookAlikes maps letters of other scripts to the Latin ones that they look like.
var lookAlikes = map[rune]rune{
	'а': 'a', 'е': 'e', 'о': 'o', 'с': 'c', 'р': 'p', 'х': 'x', 'у': 'y', 'і': 'i', 'ѕ': 's', 'ј': 'j', 'һ': 'h',
	'ԁ': 'd', 'ո': 'n', 'ԛ': 'q', 'ԝ': 'w', 'м': 'm', 'т': 't', 'к': 'k', 'в': 'b', 'н': 'h', 'г': 'r', 'п': 'n',
	'ӏ': 'l', 'ѵ': 'v', 'ү': 'y', 'ҽ': 'e', 'օ': 'o', 'ս': 'u', 'ռ': 'n', 'ց': 'g', 'հ': 'h', 'լ': 'l', 'ք': 'p',
	'А': 'A', 'В': 'B', 'Е': 'E', 'К': 'K', 'М': 'M', 'Н': 'H', 'О': 'O', 'Р': 'P', 'С': 'C', 'Т': 'T', 'Х': 'X',
	'І': 'I', 'Ѕ': 'S', 'Ј': 'J', 'Ү': 'Y', 'Ԁ': 'D',
	'ο': 'o', 'ι': 'i', 'α': 'a', 'ν': 'v', 'ρ': 'p', 'υ': 'u', 'τ': 't', 'κ': 'k', 'ε': 'e', 'η': 'n', 'χ': 'x',
	'σ': 'o', 'ϲ': 'c', 'ϳ': 'j',
	'Ι': 'I', 'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Η': 'H', 'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T',
	'Υ': 'Y', 'Χ': 'X', 'Ζ': 'Z', 'Ϲ': 'C',
	'ⲟ': 'o', 'ⲥ': 'c', 'ⲣ': 'p', 'ⲧ': 't', 'ⲓ': 'i', 'Ꭰ': 'D', 'Ꭱ': 'R', 'Ꭲ': 'T', 'Ꭼ': 'E', 'Ꮇ': 'M', 'Ꮋ': 'H',
	'Ꮪ': 'S', 'Ꮯ': 'C', 'Ꮲ': 'P', 'Ꭵ': 'i', 'ꓳ': 'O', 'ꓢ': 'S', 'ꓚ': 'C', 'ꓔ': 'T', 'ꓰ': 'E', 'ꓲ': 'I',
	'ſ': 's', '\u212a': 'K', 'ı': 'i', 'ɩ': 'i', 'ɑ': 'a', 'ɡ': 'g', 'ⅼ': 'l', 'ƚ': 'l', 'ɫ': 'l', 'ø': 'o', 'đ': 'd',
	'℮': 'e', 'ʋ': 'u',
	'İ': 'İ', // a letter of its own, beside which an ASCII one begins a word
	'ᴀ': 'a', 'ʙ': 'b', 'ᴄ': 'c', 'ᴅ': 'd', 'ᴇ': 'e', 'ꜰ': 'f', 'ɢ': 'g', 'ʜ': 'h', 'ɪ': 'i', 'ᴊ': 'j', 'ᴋ': 'k',
	'ʟ': 'l', 'ᴍ': 'm', 'ɴ': 'n', 'ᴏ': 'o', 'ᴘ': 'p', 'ʀ': 'r', 'ꜱ': 's', 'ᴛ': 't', 'ᴜ': 'u', 'ᴠ': 'v', 'ᴡ': 'w',
	'ʏ': 'y', 'ᴢ': 'z',
}
