package consolidate

import "strings"

const foreignMark = " (in another repository: "

// elsewhere names the other repository that a statement is about, as its text
// says; empty for the session's own.
func elsewhere(text string) string {
	_, name, ok := strings.Cut(text, foreignMark)
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(name, ")")
	return name
}
