package extract

import (
	"strings"
	"unicode"

	"memoir"
)

const (
	maxTitle = 80
	maxSlug  = 60
)

// title names a session after what was asked first, else after what came of it.
func title(s memoir.Session, kept []memoir.Statement) string {
	text := ""
	for _, k := range kept {
		if k.Kind == memoir.StatementTask {
			text = strings.TrimSuffix(k.Text, mendedLater)
			break
		}
	}
	if text == "" {
		text = shorten(clean(s.Title), maxTitle)
	}
	if text == "" && len(kept) > 0 {
		text = kept[0].Text
	}
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune("`*[]\"“”", r) {
			return -1
		}
		return r
	}, plainAngles(shortLinks(text)))
	return shorten(withoutOpening(text), maxTitle)
}

// withoutOpening strips the words with which people begin to ask.
func withoutOpening(text string) string {
	for again := true; again; {
		again = false
		for _, o := range openings {
			if len(text) > len(o)+8 && strings.EqualFold(text[:len(o)], o) {
				text, again = strings.TrimLeft(text[len(o):], " ,"), true
			}
		}
	}
	return text
}

var openings = []string{"ok, ", "ok ", "okay, ", "okay ", "alright, ", "alright ", "hey ", "hey, ", "hi, ", "hi ", "so, ", "hmm, ", "bro, ", "bro ", "dude, ", "dude ", "btw, ", "btw ", "please ", "can you please ", "can you ", "could you please ", "could you ", "would you ", "i want you to ", "i'd like you to ", "i'd like to ", "pasted: "}

// shortLinks replaces addresses by the part of them that tells them apart.
func shortLinks(text string) string {
	text = labels(tidy(text))
	fields := strings.Fields(text)
	for i, w := range fields {
		trimmed := strings.Trim(w, "()[]<>,.")
		if rest, ok := strings.CutPrefix(trimmed, "https://"); ok {
			rest, _, _ = strings.Cut(rest, "?")
			rest, _, _ = strings.Cut(rest, "#")
			parts := strings.Split(strings.Trim(rest, "/"), "/")
			if len(parts) > 4 {
				parts = append(parts[1:3:3], parts[len(parts)-2:]...)
			} else if len(parts) > 1 {
				parts = parts[1:]
			}
			fields[i] = strings.Replace(w, trimmed, strings.Join(parts, "/"), 1)
		}
	}
	return strings.Join(fields, " ")
}

// labels replaces links by their labels.
func labels(text string) string {
	for {
		mid := strings.Index(text, "](http")
		if mid < 0 {
			return text
		}
		open := strings.LastIndexByte(text[:mid], '[')
		end := strings.IndexByte(text[mid:], ')')
		if open < 0 || end < 0 {
			return text
		}
		text = text[:open] + text[open+1:mid] + text[mid+end+1:]
	}
}

// slug makes a file name's part of a title: at most 60 bytes of [a-z0-9-]. A
// title without Latin letters falls back to the end of the thread id.
func slug(title, id string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(fold(title)) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		} else if r != '\'' && r != '’' {
			dash = true
		}
		if b.Len() >= maxSlug {
			break
		}
	}
	s := b.String()
	if len(s) > maxSlug {
		s = s[:maxSlug]
	}
	if len(s) == maxSlug {
		if i := strings.LastIndexByte(s, '-'); i > maxSlug/2 {
			s = s[:i]
		}
	}
	s = strings.Trim(s, "-")
	if len(s) >= 3 && strings.ContainsFunc(s, unicode.IsLetter) {
		return s
	}
	var tail strings.Builder
	for _, r := range strings.ToLower(id) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			tail.WriteRune(r)
		}
	}
	t := tail.String()
	return "session-" + t[max(0, len(t)-12):]
}

// fold replaces the commonest accented Latin letters by their base letters.
func fold(s string) string {
	return latin.Replace(s)
}

var latin = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "ae", "Ö", "oe", "Ü", "ue", "ß", "ss", "é", "e", "è", "e", "ê", "e", "ë", "e", "à", "a", "á", "a", "â", "a",
	"ã", "a", "å", "a", "ç", "c", "ñ", "n", "í", "i", "ì", "i", "î", "i", "ï", "i", "ó", "o", "ò", "o", "ô", "o", "õ", "o", "ø", "o", "ú", "u", "ù", "u", "û", "u", "É", "e", "È", "e", "À", "a", "Ç", "c", "Ñ", "n",
	"ý", "y", "š", "s", "č", "c", "ž", "z", "ř", "r", "ě", "e", "ł", "l", "ą", "a", "ę", "e", "ś", "s", "ć", "c", "ń", "n", "ż", "z", "ź", "z")
