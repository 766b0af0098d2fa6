package extract

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"memoir"
)

const (
	maxTitle = 80
	maxSlug  = 60
)

// title names a session after what was asked first, else after what came of it.
func title(s memoir.Session, kept []memoir.Statement) string {
	for _, k := range kept {
		if k.Kind == memoir.StatementTask {
			return asTitle(k.Text)
		}
	}
	if text := shorten(clean(s.Title), maxTitle); text != "" || len(kept) == 0 {
		return asTitle(text)
	}
	return asTitle(kept[0].Text)
}

// asTitle makes a title of a line of Markdown.
func asTitle(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("`*[]\"“”", r):
			return -1
		case r == '<':
			return '‹'
		case r == '>':
			return '›'
		}
		return r
	}, shortLinks(text))
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

var openings = []string{"ok, ", "ok ", "okay, ", "okay ", "alright, ", "alright ", "hey ", "hey, ", "hi, ",
	"hi ", "so, ", "hmm, ", "bro, ", "bro ", "dude, ", "dude ", "btw, ", "btw ", "please ", "can you please ",
	"can you ", "could you please ", "could you ", "would you ", "i want you to ", "i'd like you to ",
	"i'd like to ", "pasted: "}

// shortLinks replaces addresses by the part of them that tells them apart.
func shortLinks(text string) string {
	text = labels(text)
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

// labels replaces links by their labels; the label of a link to a file becomes code.
func labels(text string) string {
	var b strings.Builder
	for {
		mid := strings.Index(text, "](")
		if mid < 0 {
			break
		}
		open := strings.LastIndexByte(text[:mid], '[')
		end := strings.IndexByte(text[mid:], ')')
		if open < 0 || end < 0 {
			b.WriteString(text[:mid+2])
			text = text[mid+2:]
			continue
		}
		label := text[open+1 : mid]
		if strings.HasPrefix(text[mid+2:], "/") && !strings.Contains(label, "`") {
			label = code(label)
		}
		b.WriteString(text[:open] + label)
		text = text[mid+end+1:]
	}
	return b.String() + text
}

// slug makes a file name's part of a title: at most 60 bytes of [a-z0-9-]. A
// title without Latin letters falls back to the end of the thread id.
func slug(title, id string) string {
	var b strings.Builder
	dash := false
	for _, r := range norm.NFKD.String(strings.ToLower(title)) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		} else if r != '\'' && r != '’' && !unicode.Is(unicode.Mn, r) {
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
	return "session-" + idTail(id)
}

// idTail is the end of a thread id, of letters and digits.
func idTail(id string) string {
	var tail strings.Builder
	for _, r := range strings.ToLower(id) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			tail.WriteRune(r)
		}
	}
	t := tail.String()
	return t[max(0, len(t)-12):]
}

// summaryHead is the title and what the session was.
func summaryHead(session memoir.Session, title string) string {
	var b strings.Builder
	b.WriteString("# " + plainTitle(title) + "\n\n")
	field := func(name, value string) {
		if value = shorten(clean(value), 200); value != "" {
			b.WriteString("- " + name + ": " + value + "\n")
		}
	}
	if !session.UpdatedAt.IsZero() {
		field("date", session.UpdatedAt.UTC().Format("2006-01-02"))
	}
	field("session", string(session.Source)+" "+session.ID)
	field("directory", session.CWD)
	field("branch", session.Branch)
	return b.String()
}

// plainTitle keeps a title from being anything but a heading's text.
func plainTitle(s string) string {
	if s = strings.TrimLeft(s, "#-*+> "); s != "" {
		return s
	}
	return "Session"
}
