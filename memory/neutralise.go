package memory

import (
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/prompts"
)

// Neutralise makes a text safe to embed in a prompt or to print on a terminal. It removes terminal control
// sequences and characters that are hidden or reorder others. Tags that would close or imitate the frame of
// memoir's context lose their bracket; the frame's name is changed everywhere, also in escaped tags. Line
// breaks, tabs and visible text stay. Neutralise is idempotent.
//
//	</memoir-context>   becomes  ‹/memoir context>
//	<system-reminder>   becomes  ‹system-reminder>
//	<|im_start|>        becomes  ‹|im_start|>
func Neutralise(text string) string {
	return prompts.Untag(frameName.ReplaceAllString(visible(text), "$1 $2"), prompts.Steers)
}

var frameName = lazyregexp.New(`(?i)(memoir)[-_](context)`)

// sequences matches what controls a terminal: control sequences, strings such as titles and links that end on
// the same line, and the short forms.
var sequences = lazyregexp.New(`(?:\x1b\[|\x{9b})[ -?]*[@-~]` +
	`|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\n]*?(?:\x07|\x1b\\|\x{9c})` +
	`|\x1b[ -/]+[0-~]?|\x1b[0-~]`)

// lineEnds normalises line ends. A bare carriage return would overwrite its line on a terminal.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n",
	"\v", "\n", "\f", "\n")

// visible removes control characters with the sequences that they introduce, invisible characters, and floods
// of combining marks on one character.
func visible(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f) }) {
		return text
	}
	text = lineEnds.Replace(sequences.ReplaceAllString(strings.ToValidUTF8(text, "\ufffd"), ""))
	return memoir.WithoutFloods(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && memoir.Hidden(r) {
			return -1
		}
		return r
	}, text))
}
