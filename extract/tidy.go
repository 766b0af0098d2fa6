package extract

import "strings"

// tidy renders links short: a link to a file becomes its path in a code span, a
// link whose label is its address the address alone, and a link into a checkout
// loses the line number, which the next commit makes wrong.
func tidy(text string) string {
	if !strings.Contains(text, "](") {
		return text
	}
	var b strings.Builder
	for {
		open := strings.IndexByte(text, '[')
		if open < 0 {
			break
		}
		mid := strings.Index(text[open:], "](")
		if mid < 0 {
			break
		}
		mid += open
		if inner := strings.LastIndexByte(text[:mid], '['); inner > open {
			open = inner
		}
		end := strings.IndexByte(text[mid:], ')')
		if end < 0 {
			break
		}
		end += mid
		label, target := text[open+1:mid], text[mid+2:end]
		b.WriteString(text[:open])
		switch {
		case strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://"):
			if short := strings.TrimPrefix(strings.TrimPrefix(target, "https://"), "http://"); strings.Contains(label, short) || strings.Contains(label, "://") {
				b.WriteString(target)
			} else {
				b.WriteString("[" + label + "](" + target + ")")
			}
		case strings.HasPrefix(label, "`"):
			b.WriteString(label)
		case looksLikeFile(label):
			b.WriteString(code(label))
		default:
			b.WriteString(label)
		}
		text = text[end+1:]
	}
	b.WriteString(text)
	return b.String()
}

// local strips the directories of checkouts from a text, so that what one
// machine calls /home/ann/src/app/main.go reads main.go.
func local(text string, roots ...string) string {
	for _, root := range roots {
		if len(root) < 4 || !strings.Contains(text, root) {
			continue
		}
		text = strings.ReplaceAll(text, root+"/", "")
		text = strings.ReplaceAll(text, root, ".")
	}
	return text
}
