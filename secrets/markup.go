package secrets

import "strings"

// readings are the ways to read a text in which keys and values may stand apart otherwise.
var readings = []func(text string) (view, bool){resolve, unmarked, unquoted}

// references are what HTML and XML write for characters that separate words.
var references = map[string]byte{
	"quot": '"', "#34": '"', "#x22": '"', "apos": '\'', "#39": '\'', "#039": '\'', "#x27": '\'', "lt": '<', "#60": '<',
	"gt": '>', "#62": '>', "amp": '&', "#38": '&', "#61": '=', "#x3d": '=', "#58": ':', "#10": '\n', "nbsp": ' ', "#160": ' ',
}

// unmarked reads text with references replaced by what they stand for. It reports false
// if it has neither a quote nor a bracket among them.
func unmarked(text string) (view, bool) {
	if !strings.Contains(text, "&quot;") && !strings.Contains(text, "&lt;") && !strings.Contains(text, "&#") {
		return view{}, false
	}
	return rewrite(text, '&', func(rest string) (c byte, length int) {
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
	if strings.IndexByte(text, '%') < 0 {
		return view{}, false
	}
	if !strings.Contains(text, "%22") && !strings.Contains(text, "%3") {
		return view{}, false
	}
	return rewrite(text, '%', func(rest string) (c byte, length int) {
		if strings.HasPrefix(rest, "%0A") || strings.HasPrefix(rest, "%0a") {
			return '\n', 3
		}
		if c = codePoint(rest[1:], 2); c == escapeChar {
			c = 0
		}
		return c, 3
	})
}

// rewrite reads text with each sequence that a character begins, and of which read says
// what it stands for and its length, replaced by that; 0 stands for itself.
func rewrite(text string, begins byte, read func(rest string) (c byte, length int)) (view, bool) {
	var v view
	out := make([]byte, 0, len(text))
	from := 0 // what is copied up to
	for at := 0; ; {
		i := strings.IndexByte(text[at:], begins)
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
