package rollout

import (
	"strings"
	"unicode/utf8"

	"memoir/lazyregexp"
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
	end := strings.Index(after, closing)
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

// removeElements takes every closed element of a tag out of a text.
func removeElements(text, tag string) string {
	opening := "<" + tag
	for from := 0; ; {
		i := strings.Index(text[from:], opening)
		if i < 0 {
			return text
		}
		i += from
		_, rest, ok := cutElement(text[i:], tag)
		if !ok {
			from = i + len(opening)
			continue
		}
		text, from = text[:i]+rest, i
	}
}

// cutElements splits off every leading element whose tag is listed, and says how
// many there were.
func cutElements(text string, tags []string) (rest string, n int) {
	rest = strings.TrimLeft(text, " \t\r\n")
next:
	for {
		if strings.HasPrefix(rest, "<") {
			for _, tag := range tags {
				if _, after, ok := cutElement(rest, tag); ok {
					rest, n = strings.TrimLeft(after, " \t\r\n"), n+1
					continue next
				}
			}
		}
		return rest, n
	}
}

// maxTitle is how many runes of a title are kept here: far more than is shown, so
// that a secret in it is whole, and found, when the title is redacted and cut.
const maxTitle = 2000

// firstLine returns the first line of a text that is not blank, cut at white space
// to maxTitle runes.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		line = strings.Join(fields, " ")
		if utf8.RuneCountInString(line) <= maxTitle {
			return line
		}
		cut := string([]rune(line)[:maxTitle])
		if end := strings.LastIndexByte(cut, ' '); end > 0 {
			return cut[:end]
		}
		return "" // one word without end is data
	}
	return ""
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
