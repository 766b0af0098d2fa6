package rollout

import (
	"slices"
	"strconv"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// ownBlock is our own injected block in the forms in which it may come back in a
// transcript: as it was written, escaped for XML, or escaped inside JSON. One whose end was
// cut off reaches to the end of the text.
var ownBlock = lazyregexp.New(`(?s)<memoir-context(?:[ \n\t>&\\/].*?(?:</memoir-context>|\z)|\z)|` +
	`&lt;memoir-context(?:[ \n\t>&\\/].*?(?:&lt;/memoir-context&gt;|\z)|\z)|` +
	`\\u003cmemoir-context(?:[ \n\t>&\\/].*?(?:\\u003c/memoir-context\\u003e|\z)|\z)`)

// stripOwn removes what memoir itself injected, so that memory is never made of
// memory.
func stripOwn(text string) string {
	if !strings.Contains(text, "memoir-context") {
		return text
	}
	return ownBlock.ReplaceAllString(text, "")
}

// dataURL is a URL that holds what it names: a picture that was pasted, mostly.
var dataURL = lazyregexp.New(`(data:[a-zA-Z0-9.+/-]*(?:;[a-zA-Z0-9=.+-]+)*;base64,)[A-Za-z0-9+/=_%-]{128,}`)

// withoutData shortens the URLs in a text that hold data to what they say it is.
func withoutData(text string) string {
	if !strings.Contains(text, ";base64,") {
		return text
	}
	return dataURL.ReplaceAllString(text, "${1}…")
}

// plainCommand is a command that was recorded as it was typed.
var plainCommand = lazyregexp.New(`^/[a-z][\w:.-]*(?: [^\n]*)?$`)

// words gives a text of the user's role without what the client added to it: the elements
// in envelopes before a person's words, and its own remarks.
func (e *emitter) words(origin memoir.Origin, full string, envelopes []string, w where) {
	own := stripAdded(full, envelopes)
	if origin == memoir.OriginTyped && plainCommand.MatchString(own) {
		origin = memoir.OriginSlashCommand
	}
	e.user(origin, own, w)
}

// stripAdded takes what memoir and the client added to a person's words off a text.
func stripAdded(full string, envelopes []string) (own string) {
	return strings.TrimSpace(cutElements(removeReminders(stripOwn(full)), envelopes))
}

// reminder opens the element in which clients speak for themselves. There may be several
// in a text, before and after a person's words.
var reminder = lazyregexp.New(`<system-reminder[> \n]`)

// removeReminders takes what clients say for themselves out of a text. An element reaches
// to the last end of its tag before the next one opens: a file or a page that stands in it
// may write an end too, and what it says behind that would pass for the person's. One that
// has no end contains the next one; what has no end at all stays.
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

// cutElement splits off the element <tag …>…</tag> that a text begins with. An
// element that is not closed is not split off.
func cutElement(text, tag string) (inner, rest string, ok bool) {
	return cutTo(strings.Index, text, tag)
}

// cutEnvelope is cutElement for an element that a client put before a person's words. It
// reaches to the last end of its tag, as what stands in it may write one.
func cutEnvelope(text, tag string) (rest string, ok bool) {
	_, rest, ok = cutTo(strings.LastIndex, text, tag)
	return rest, ok
}

// cutTo is cutElement with the end that a search finds in what follows the opening.
func cutTo(search func(after, closing string) int, text, tag string) (inner, rest string, ok bool) {
	after, ok := strings.CutPrefix(text, "<"+tag)
	if !ok || after == "" || after[0] != '>' && after[0] != ' ' && after[0] != '\n' {
		return "", text, false
	}
	closing := "</" + tag + ">"
	if word, _, isPhrase := strings.Cut(tag, " "); isPhrase && !strings.Contains(after, closing) {
		closing = "</" + word + ">"
	}
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

// cutElements splits off what clients put before a person's words: every leading element
// whose tag is listed.
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
