package secrets

import "strings"

// A reading is a way to read a text. It reports false if the text stays as it is.
type reading func(text string) (view, bool)

// readings are those in which keys and values may stand apart otherwise.
func (set *ruleSet) readings() [9]reading {
	return [...]reading{resolve, unmarked, unquoted, submitted, undoubled, set.unmasked, seen, unshelled, separated}
}

// references are what HTML and XML write for characters that separate words.
var references = map[string]byte{
	"quot": '"', "#34": '"', "#x22": '"', "apos": '\'', "#39": '\'', "#039": '\'', "#x27": '\'', "lt": '<', "#60": '<',
	"gt": '>', "#62": '>', "amp": '&', "#38": '&', "#61": '=', "#x3d": '=', "#58": ':', "#10": '\n', "nbsp": ' ', "#160": ' ',
}

// unmarked reads text with references replaced by what they stand for. It reports false
// if it has neither a quote nor a bracket among them.
func unmarked(text string) (view, bool) {
	if strings.IndexByte(text, '&') < 0 || !strings.Contains(text, "&quot;") && !strings.Contains(text, "&lt;") && !strings.Contains(text, "&#") {
		return view{}, false
	}
	return rewrite(text, "&", func(rest string) (c byte, length int) {
		end := strings.IndexByte(rest[:min(len(rest), 8)], ';')
		if end < 0 {
			return 0, 0
		}
		return references[strings.ToLower(rest[1:end])], end + 1
	})
}

// unquoted reads text with the escapes of URLs replaced by what they stand for. It
// reports false if there is neither a quote, an equals sign nor a colon among them.
func unquoted(text string) (view, bool) {
	if !hasEscapes(text) {
		return view{}, false
	}
	return rewrite(text, "%", unescapeURL)
}

// submitted is unquoted with plus signs as spaces, as forms are sent. It reports false if
// there is none.
func submitted(text string) (view, bool) {
	if strings.IndexByte(text, '+') < 0 || !hasEscapes(text) {
		return view{}, false
	}
	spaces := 0
	v, changed := rewrite(text, "%+", func(rest string) (c byte, length int) {
		if rest[0] == '%' {
			return unescapeURL(rest)
		}
		if len(rest) > 1 && strings.IndexByte(" \t\n\"=", rest[1]) < 0 && inForm(text[:len(text)-len(rest)], rest) {
			spaces++
			return ' ', 1
		}
		return 0, 0
	})
	return v, changed && spaces > 0
}

func hasEscapes(text string) bool {
	return strings.IndexByte(text, '%') >= 0 &&
		(strings.Contains(text, "%22") || strings.Contains(text, "%27") || strings.Contains(text, "%3"))
}

// unescapeURL returns what an escape that begins a text stands for, and its length.
func unescapeURL(text string) (c byte, length int) {
	if strings.HasPrefix(text, "%0A") || strings.HasPrefix(text, "%0a") {
		return '\n', 3
	}
	if c = codePoint(text[1:], 2); c == escapeChar {
		c = 0
	}
	return c, 3
}

// maxForm bounds the bytes beside a plus sign that are looked at.
const maxForm = 120

// inForm reports whether the word that two parts of a text are of has an escape of a URL, and
// none for a space.
func inForm(before, behind string) bool {
	before = before[max(0, len(before)-maxForm):]
	before = before[strings.LastIndexAny(before, " \t\n\"'<>")+1:]
	behind = behind[:min(len(behind), maxForm)]
	if end := strings.IndexAny(behind, " \t\n\"'<>"); end >= 0 {
		behind = behind[:end]
	}
	if strings.Contains(before, "%20") || strings.Contains(behind, "%20") {
		return false
	}
	for _, part := range []string{before, behind} {
		if at := strings.IndexByte(part, '%'); at >= 0 && hexPair(part, at+1) >= 0 {
			return true
		}
	}
	return false
}

// unshelled reads text with the quotes that a shell has in what it quotes: a quotation that
// ends, a quote that is quoted in another way, and the next quotation. It reports false if
// there is none.
func unshelled(text string) (view, bool) {
	if strings.IndexByte(text, '\'') < 0 || !strings.Contains(text, backslashed) && !strings.Contains(text, requoted) {
		return view{}, false
	}
	return rewrite(text, "'", func(rest string) (c byte, length int) {
		switch {
		case strings.HasPrefix(rest, backslashed):
			return '\'', len(backslashed)
		case strings.HasPrefix(rest, requoted):
			return '\'', len(requoted)
		}
		return 0, 0
	})
}

const (
	backslashed = `'\''`
	requoted    = `'"'"'`
)

// rewrite reads text with each sequence that one of some characters begins, and of which read says
// what it stands for and its length, replaced by that; 0 stands for itself.
func rewrite(text, begins string, read func(rest string) (c byte, length int)) (view, bool) {
	var v view
	out := make([]byte, 0, len(text))
	from := 0 // what is copied up to
	for at := 0; ; {
		i := strings.IndexAny(text[at:], begins)
		if i < 0 {
			break
		}
		at += i
		c, length := read(text[at:])
		if c == 0 {
			at++
			continue
		}
		out = append(out, text[from:at]...)
		v.mark(len(out), at+length-1)
		out = append(out, c)
		at += length
		from = at
	}
	v.text = string(append(out, text[from:]...))
	return v, len(v.marks) > 0
}
