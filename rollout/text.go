package rollout

import (
	"slices"
	"strconv"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// ownBlock matches memoir's injected block in the forms in which a transcript may have it: plain, escaped for
// XML, or escaped in JSON. A block without its end reaches to the end of the text.
var ownBlock = lazyregexp.New(`(?s)<memoir-context(?:[ \n\t>&\\/].*?(?:</memoir-context>|\z)|\z)|` +
	`&lt;memoir-context(?:[ \n\t>&\\/].*?(?:&lt;/memoir-context&gt;|\z)|\z)|` +
	`\\u003cmemoir-context(?:[ \n\t>&\\/].*?(?:\\u003c/memoir-context\\u003e|\z)|\z)`)

// stripOwn removes the blocks that memoir injected, so that memory is not made from memory.
func stripOwn(text string) string {
	if !strings.Contains(text, "memoir-context") {
		return text
	}
	return ownBlock.ReplaceAllString(text, "")
}

// dataURL matches a data URL, mostly of a pasted image.
var dataURL = lazyregexp.New(`(data:[a-zA-Z0-9.+/-]*(?:;[a-zA-Z0-9=.+-]+)*;base64,)[A-Za-z0-9+/=_%-]{128,}`)

// withoutData shortens data URLs in a text to their type.
func withoutData(text string) string {
	if !strings.Contains(text, ";base64,") {
		return text
	}
	return dataURL.ReplaceAllString(text, "${1}…")
}

// plainCommand matches a slash command that was recorded as it was typed.
var plainCommand = lazyregexp.New(`^/[a-z][\w:.-]*(?: [^\n]*)?$`)

// words emits a text of the user's role without the client's additions: the elements in envelopes before a
// person's text, and reminders.
func (e *emitter) words(origin memoir.Origin, full string, envelopes []string, w where) {
	own := stripAdded(full, envelopes)
	if origin == memoir.OriginTyped && plainCommand.MatchString(own) {
		origin = memoir.OriginSlashCommand
	}
	e.user(origin, own, w)
}

// stripAdded removes the additions of memoir and the client from a text.
func stripAdded(full string, envelopes []string) (own string) {
	return strings.TrimSpace(cutElements(removeReminders(stripOwn(full)), envelopes))
}

// reminder matches the start of an element with a client's own text. A text may have several, before and after a
// person's words.
var reminder = lazyregexp.New(`<system-reminder[> \n]`)

// removeReminders removes the clients' own texts from a text. An element reaches to the last end tag before the
// next element begins: a file in it may contain an end tag as well, and the text after that must not pass for the
// person's. An element without an end tag includes the next one; the last one without any stays.
func removeReminders(text string) string {
	const closing = "</system-reminder>"
	if !strings.Contains(text, closing) {
		return text
	}
	var b strings.Builder
	done, open := 0, false
	openings := append(reminder.FindAllStringIndex(text, -1), []int{len(text)})
	for i, opening := range openings[:len(openings)-1] {
		if !open {
			b.WriteString(text[done:opening[0]])
			done, open = opening[0], true
		}
		if end := strings.LastIndex(text[opening[0]:openings[i+1][0]], closing); end >= 0 {
			done, open = opening[0]+end+len(closing), false
		}
	}
	b.WriteString(text[done:])
	return b.String()
}

// cutElement splits a text after the element <tag …>…</tag> at its beginning; ok is false if there is no such
// complete element.
func cutElement(text, tag string) (inner, rest string, ok bool) {
	return cutTo(strings.Index, text, tag)
}

// cutEnvelope is cutElement for an element of a client before a person's text. The element reaches to its last
// end tag, since its content may contain one.
func cutEnvelope(text, tag string) (rest string, ok bool) {
	_, rest, ok = cutTo(strings.LastIndex, text, tag)
	return rest, ok
}

// cutTo is cutElement with the end tag that search finds.
func cutTo(search func(after, closing string) int, text, tag string) (inner, rest string, ok bool) {
	after, ok := strings.CutPrefix(text, "<"+tag)
	if !ok || after == "" || after[0] != '>' && after[0] != ' ' && after[0] != '\n' {
		return "", text, false
	}
	closing := "</" + tag + ">"
	open, end := strings.IndexByte(after, '>'), search(after, closing)
	if open < 0 || end < open {
		return "", text, false
	}
	return after[open+1 : end], after[end+len(closing):], true
}

// element returns the content of the first <tag>…</tag> in a text.
func element(text, tag string) (string, bool) {
	i := strings.Index(text, "<"+tag)
	if i < 0 {
		return "", false
	}
	inner, _, ok := cutElement(text[i:], tag)
	return inner, ok
}

// cutElements removes all leading elements with one of the tags.
func cutElements(text string, tags []string) (rest string) {
	rest = strings.TrimLeft(text, " \t\r\n")
next:
	for strings.HasPrefix(rest, "<") {
		for _, tag := range tags {
			if after, ok := cutEnvelope(rest, tag); ok {
				rest = strings.TrimLeft(after, " \t\r\n")
				continue next
			}
		}
		break
	}
	return rest
}

func hasAnyPrefix(text string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// leadingInt reads the digits (with sign) that a text begins with, ten at most.
func leadingInt(text string) (int, bool) {
	end := 0
	for end < min(len(text), 10) && (text[end] >= '0' && text[end] <= '9' || end == 0 && text[0] == '-') {
		end++
	}
	n, err := strconv.Atoi(text[:end])
	return n, err == nil
}
