package secrets

import "strings"

const maxEscaped = 400 // bytes beside a secret that are looked at

// breaksOff reports whether a part of a text that rules take for one word goes over the end
// of a line, in a text that is escaped: it is found as it should be where the escapes are
// resolved. A backslash and an n alone may be a part of a password.
func breaksOff(text string, start, end int) bool {
	part := text[start:end]
	if !hasBreak(part) {
		return false
	}
	if strings.HasSuffix(part, `\n`) {
		return true
	}
	from, to := max(0, start-maxEscaped), min(len(text), end+maxEscaped)
	from += strings.LastIndexByte(text[from:start], '\n') + 1
	if i := strings.IndexByte(text[end:to], '\n'); i >= 0 {
		to = end + i
	}
	before, behind := text[from:start], text[end:to]
	return hasEscape(before) || hasEscape(behind) || strings.HasPrefix(strings.TrimLeft(before, " \t"), `"`)
}

// hasBreak reports whether a text has an escaped end of a line.
func hasBreak(text string) bool {
	return strings.Contains(text, `\n`) || strings.Contains(text, `\r`)
}

func hasEscape(text string) bool {
	return hasBreak(text) || strings.Contains(text, `\"`) || strings.Contains(text, `\t`) || strings.Contains(text, `\u00`)
}
