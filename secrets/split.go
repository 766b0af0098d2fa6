package secrets

import (
	"slices"
	"strings"
)

// A terminal, a mail or a person may break a line in the middle of a value. A second view of the text joins the lines
// at which the words on both sides can be one value.

// A value has at least so many bytes before and after the end of the line.
const minBefore, minAfter = 8, 4

// findSplit returns the findings that go over the end of a line. A value that a rule finds before the end of its line
// goes on only if the next line has nothing else.
func (set *ruleSet) findSplit(text string, found []finding) (split []finding) {
	v, ok := withoutBreaks(text)
	if !ok {
		return nil
	}
	for _, w := range v.windows() {
		whole, _ := set.findRules(w.text)
		for _, f := range whole {
			f = w.place(f, text)
			if !strings.Contains(text[f.start:f.end], "\n") {
				continue
			}
			rest, _, _ := strings.Cut(text[f.end:], "\n")
			alone := strings.Trim(rest, " \t\r\"'`,;)]}") == ""
			if alone || !slices.ContainsFunc(found, func(g finding) bool { return g.start == f.start && g.end > g.start }) {
				split = append(split, f)
			}
		}
	}
	return split
}

// withoutBreaks returns a view of a text without the ends of lines in the middle of a value.
func withoutBreaks(text string) (view, bool) {
	w := viewWriter{text: text}
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return w.view()
		}
		before := at + i
		at = before + 1
		for before > 0 && broken[text[before-1]] {
			before--
		}
		if before > 0 && text[before-1] != '.' && valueChar[text[before-1]] {
			if after := len(text) - len(strings.TrimLeft(text[at:], " \t")); goesOver(text, before, after) {
				w.replace(before, after-before, "")
				at = after
			}
		}
	}
}

// goesOver reports whether a value that ends at an offset, where a line ends, can go on at another.
func goesOver(text string, before, after int) bool {
	from, to := before, after
	for from > 0 && valueChar[text[from-1]] {
		from--
	}
	if before-from < minBefore {
		return false
	}
	for to < len(text) && valueChar[text[to]] {
		to++
	}
	return to-after >= minAfter && endsValue(text[to:]) && (random(text[from:before]) || random(text[after:to]))
}

// random reports whether a word is more than letters.
func random(word string) bool { return strings.ContainsAny(word, "0123456789") || scrambled(word) }

// endsValue reports whether a value can end before a text. A name or the first column of a row is none, unlike base64
// with its padding.
func endsValue(rest string) bool {
	behind := strings.TrimLeft(rest, "=")
	next := strings.TrimLeft(behind, " \t")
	return next == "" || strings.IndexByte(":=(", next[0]) < 0 && len(behind)-len(next) < 2 &&
		(behind == rest || strings.IndexByte(" \t\r\n\"'`;,\\", behind[0]) >= 0)
}

// broken contains the characters by which a shell or a mail marks the end of a broken line.
var broken = [256]bool{'\r': true, '\\': true, '=': true}

// valueChar contains the characters of most tokens and keys.
var valueChar = func() (set [256]bool) {
	for c := range set {
		set[c] = nameChar(byte(c)) || strings.IndexByte("+/.~", byte(c)) >= 0
	}
	return set
}()
