package secrets

import "strings"

// separated reads text with NULs as what stands between the arguments of a command and the
// lines of an environment, as /proc/PID/cmdline, /proc/PID/environ and `env -0` have them.
// Readers of sessions write U+FFFD for NUL. It reports false if there is neither.
func separated(text string) (view, bool) {
	if strings.IndexByte(text, 0) < 0 && !strings.Contains(text, replacement) {
		return view{}, false
	}
	return rewrite(text, "\x00"+replacement, func(rest string) (c byte, length int) {
		for {
			n := nul(rest[length:])
			if n == 0 {
				break
			}
			length += n
		}
		switch {
		case length == 0:
			return 0, 0
		case setsVariable(rest[length:]):
			return '\n', length
		}
		return ' ', length
	})
}

const replacement = "\uFFFD"

// nul measures what stands for a NUL at the beginning of a text, 0 if there is none.
func nul(text string) int {
	switch {
	case strings.HasPrefix(text, "\x00"):
		return 1
	case strings.HasPrefix(text, replacement):
		return len(replacement)
	}
	return 0
}

// setsVariable reports whether a text begins with the name of a variable and an equals sign.
func setsVariable(text string) bool {
	at := 0
	for at < len(text) && wordChar(text[at]) {
		at++
	}
	return at > 0 && at < len(text) && text[at] == '='
}
