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
