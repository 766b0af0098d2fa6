package secrets

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	markerOpen  = "[REDACTED:"
	markerClose = "]"
	maxLabel    = 64 // bytes of a rule's id in a marker
)

// marker is what stands for a secret that a rule found.
func marker(r *rule) string { return markerOpen + r.label + markerClose }

// isMarker reports whether text[start:end] consists of markers, whole or in part,
// so that there is nothing in it to redact. Only the id of a rule makes a marker:
// other brackets hide nothing.
func (set *ruleSet) isMarker(text string, start, end int) bool {
	for start < end {
		from := max(0, start-len(markerOpen)-maxLabel)
		open := strings.LastIndex(text[from:min(len(text), start+len(markerOpen))], markerOpen)
		if open += from; open < from || open > start {
			return false
		}
		length := strings.Index(text[open:min(len(text), open+len(markerOpen)+maxLabel+1)], markerClose)
		if length < 0 || open+length < start || !set.labels[text[open+len(markerOpen):open+length]] {
			return false
		}
		start = open + length + len(markerClose)
		for start < end && (text[start] == '\n' || text[start] == '\r') { // kept for the sake of the line count
			start++
		}
	}
	return true
}

// maskOpen begins what stands for a secret, ours or that of another program.
const maskOpen = "[REDACTED"

// unmasked reads text without the markers that a word goes on before or behind, and with
// what stands in brackets that are none: what hides behind a marker is looked at as if it
// stood alone. It reports false if there are none of these.
func (set *ruleSet) unmasked(text string) (view, bool) {
	at := strings.Index(text, maskOpen)
	if at < 0 {
		return view{}, false
	}
	var v view
	var out []byte
	from := 0 // what is copied up to
	drop := func(start, end int) {
		out = append(out, text[from:start]...)
		from = end
		v.mark(len(out), end)
	}
	for at >= 0 {
		next := at + len(maskOpen)
		if end := strings.Index(text[next:min(len(text), next+maxLabel+2)], markerClose); end >= 0 {
			end += next + len(markerClose)
			switch inside := strings.TrimPrefix(text[next:end-len(markerClose)], ":"); {
			case inside != "" && !set.labels[inside]:
				drop(at, end-len(markerClose)-len(inside))
				drop(end-len(markerClose), end)
			case at > 0 && wordChar(text[at-1]) || end < len(text) && wordChar(text[end]):
				drop(at, end)
			}
			next = end
		}
		if at = strings.Index(text[next:], maskOpen); at >= 0 {
			at += next
		}
	}
	v.text = string(append(out, text[from:]...))
	return v, len(v.marks) > 0
}

// hint masks a secret: enough to recognise it by, too little to use it.
func hint(secret string) string {
	n := min(4, utf8.RuneCountInString(secret)/5)
	shown := make([]rune, 0, n)
	for _, c := range secret {
		if len(shown) == n {
			break
		}
		if !strconv.IsPrint(c) {
			c = '.'
		}
		shown = append(shown, c)
	}
	return string(shown) + "… (" + strconv.Itoa(len(secret)) + " bytes)"
}
