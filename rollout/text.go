package rollout

import (
	"strings"

	"memoir/internal/lazyregexp"
)

// The forms in which our own injected block may come back in a transcript: as it
// was written, escaped for XML, or escaped inside JSON.
var ownBlocks = []struct{ opening, closing string }{
	{"<memoir-context", "</memoir-context>"},
	{"&lt;memoir-context", "&lt;/memoir-context&gt;"},
	{`\u003cmemoir-context`, `\u003c/memoir-context\u003e`},
}

// stripOwn removes what memoir itself injected, so that memory is never made of
// memory. A block whose end was cut off reaches to the end of the text.
func stripOwn(text string) string {
	if !strings.Contains(text, "memoir-context") {
		return text
	}
	for _, b := range ownBlocks {
		for from := 0; ; {
			i := strings.Index(text[from:], b.opening)
			if i < 0 {
				break
			}
			i += from
			rest := text[i+len(b.opening):]
			if rest != "" && !strings.ContainsAny(rest[:1], " \n\t>&\\/") {
				from = i + len(b.opening) // another word
				continue
			}
			j := strings.Index(rest, b.closing)
			if j < 0 {
				text = text[:i]
				break
			}
			text = text[:i] + rest[j+len(b.closing):]
			from = i
		}
	}
	return text
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

// cutElement splits off the element <tag …>…</tag> that a text begins with. An
// element that is not closed is not split off.
func cutElement(text, tag string) (inner, rest string, ok bool) {
	return cutTo(strings.Index, text, tag)
}

// cutEnvelope is cutElement for an element that a client put before a person's words. It
// reaches to the last end of its tag: a file or a page that stands in it may write an end
// too, and what it says behind that would pass for the person's.
func cutEnvelope(text, tag string) (rest string, ok bool) {
	to := strings.LastIndex
	if tag == reminder {
		to = ownEnd
	}
	_, rest, ok = cutTo(to, text, tag)
	return rest, ok
}

// reminder is the element in which clients speak for themselves. There may be several in
// a text, before and after a person's words.
const reminder = "system-reminder"

// ownEnd finds the end of an element in what follows its opening: the first end of its
// tag, and each that follows it without an opening between them.
func ownEnd(after, closing string) int {
	opening := "<" + closing[len("</"):len(closing)-1]
	end := strings.Index(after, closing)
	for end >= 0 {
		behind := end + len(closing)
		next := strings.Index(after[behind:], closing)
		if next < 0 || strings.Contains(after[behind:behind+next], opening) {
			break
		}
		end = behind + next
	}
	return end
}

// cutTo is cutElement with the end that a search finds in what follows the opening.
func cutTo(search func(after, closing string) int, text, tag string) (inner, rest string, ok bool) {
	after, ok := strings.CutPrefix(text, "<"+tag)
	if !ok || after == "" || after[0] != '>' && after[0] != ' ' && after[0] != '\n' {
		return "", text, false
	}
	closing := "</" + tag + ">"
	if word, _, isPhrase := strings.Cut(tag, " "); isPhrase {
		if !strings.Contains(after, closing) {
			closing = "</" + word + ">"
		}
	}
	open := strings.IndexByte(after, '>')
	end := search(after, closing)
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

// removeReminders takes what clients say for themselves out of a text.
func removeReminders(text string) string {
	const opening, closing = "<" + reminder, "</" + reminder + ">"
	var b strings.Builder
	for done, from, last := 0, 0, strings.LastIndex(text, closing); ; {
		i := strings.Index(text[from:], opening)
		if i += from; i < from || i > last {
			b.WriteString(text[done:])
			return b.String()
		}
		from = i + len(opening)
		if !strings.ContainsAny(text[from:from+1], "> \n") {
			continue // another word
		}
		if rest, ok := cutEnvelope(text[i:], reminder); ok {
			b.WriteString(text[done:i])
			done = len(text) - len(rest)
			from = done
		} else { // the first bracket is that of an end
			from += strings.Index(text[from:], closing) + len(closing)
		}
	}
}

// cutElements splits off what clients put before a person's words: every leading element
// whose tag is listed. It says how many there were, those of one tag in a row as one.
func cutElements(text string, tags []string) (rest string, n int) {
	rest = strings.TrimLeft(text, " \t\r\n")
next:
	for {
		if strings.HasPrefix(rest, "<") {
			for _, tag := range tags {
				if after, ok := cutEnvelope(rest, tag); ok {
					rest, n = strings.TrimLeft(after, " \t\r\n"), n+1
					continue next
				}
			}
		}
		return rest, n
	}
}

func hasAnyPrefix(text string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// leadingInt reads the digits (with sign) that a text begins with.
func leadingInt(text string) (int, bool) {
	negative := strings.HasPrefix(text, "-")
	if negative {
		text = text[1:]
	}
	n, i := 0, 0
	for ; i < len(text) && i < 10 && text[i] >= '0' && text[i] <= '9'; i++ {
		n = n*10 + int(text[i]-'0')
	}
	if i == 0 {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}
