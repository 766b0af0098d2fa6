package model

import (
	"strings"
	"unicode"

	"memoir/internal/lazyregexp"
)

// masked stands for a key in a server's words.
const masked = "[key]"

// shownOfKey is how many bytes at either end of a key give it away. Servers repeat
// a refused key as its two ends with stars between them.
const shownOfKey = 4

// word is what a key, or what a server shows of it, is written as.
var word = lazyregexp.New(`[^\s"'` + "`" + `,;:()<>{}\[\]=&?/]+`)

// maskKey takes a key, and words that start like it or show its end, out of a text.
func maskKey(text, key string) string {
	if key == "" {
		return text
	}
	if len(key) >= shownOfKey {
		text = strings.ReplaceAll(text, key, masked)
	}
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if startsLike(w, key) || endsLike(w, key) {
			return masked
		}
		return w
	})
}

// startsLike reports whether a word begins as the key does; a key too short to be one
// is looked for as a whole word.
func startsLike(w, key string) bool {
	if len(key) < shownOfKey {
		return w == key
	}
	n := 0
	for n < len(w) && n < len(key) && w[n] == key[n] {
		n++
	}
	return n >= shownOfKey
}

// endsLike reports whether a word hides its middle and ends as the key does.
func endsLike(w, key string) bool {
	if len(key) < shownOfKey {
		return false
	}
	hides := strings.ContainsAny(w, "*•…") || strings.Contains(w, "..")
	return hides && strings.HasSuffix(strings.TrimRight(w, "."), key[len(key)-shownOfKey:])
}

// plain makes one short line of foreign text: no control characters, which a
// terminal would obey, at most maxMessage bytes. The key is taken out before the
// text is cut, since half a key is not recognised.
func plain(text, key string) string {
	text = strings.ToValidUTF8(text[:min(len(text), 16*maxMessage)], "")
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	text = maskKey(strings.Join(strings.Fields(text), " "), key)
	if len(text) <= maxMessage {
		return text
	}
	const more = "…"
	cut := maxMessage - len(more)
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	if blank := strings.LastIndexByte(text[:cut+1], ' '); blank > 0 {
		cut = blank // nobody would know what is left of a secret
	}
	return text[:cut] + more
}
