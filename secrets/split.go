package secrets

import (
	"math"
	"slices"
	"strings"
)

// A terminal, a mail or a person may break a line in the middle of a value. A second view of the text joins the lines
// at which the words on both sides can be one value. What follows a value may also be a file, a name or a hash, so the
// word after the end of the line must be more likely the rest of the value.

const (
	minBefore, minAfter = 6, 4 // bytes of a value before and after the end of a line
	certain             = 4    // nats by which a word is the rest of a value that is complete without it

	// The costs of characters in a name or a text, in nats, besides those of pairs of letters.
	anyLetter, anyDigit, anySign = 2.8, 2.3, 1.5
	turn                         = 3.5 // between letters and digits, and of small letters and capitals
	newSign                      = 2.5 // for signs that the value has not
	maxTell                      = 16  // characters of a value that tell its alphabet
	shortHash                    = 12  // digits of a shortened hash, at most
)

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
			start := w.raw(f.start)
			known := slices.ContainsFunc(found, func(g finding) bool {
				return g.start == start && g.end > start && (g.rule == f.rule || f.rule.rank != rankSpecific)
			})
			f.end = w.certainEnd(f, text, known)
			f = w.place(f)
			rest, _, _ := strings.Cut(text[f.end:], "\n")
			alone := strings.Trim(rest, " \t\r\"'`,;)]}=") == ""
			if strings.Contains(text[f.start:f.end], "\n") && (alone || !known) {
				split = append(split, f)
			}
		}
	}
	return split
}

// certainEnd returns the end of the part of a finding in a view without breaks that certainly is one value. A known
// value can be complete at the end of its first line.
func (v view) certainEnd(f finding, text string, known bool) int {
	for n, m := range v.marks {
		if m.at <= f.start || m.at >= f.end || strings.HasSuffix(text[:m.raw], "\\\n") || inQuotes(v.text, f.start, f.end) {
			continue
		}
		end := len(v.text)
		if n+1 < len(v.marks) {
			end = v.marks[n+1].at
		}
		word := v.text[m.at : m.at+wordLength(v.text[m.at:end])]
		short := len(word) < minRepeated && f.rule.rank != rankSpecific
		if short || known && gain(v.text[f.start:m.at], word) < certain {
			return m.at
		}
	}
	return f.end
}

// withoutBreaks returns a view of a text without the ends of lines in the middle of a value, and without the prefix
// that both lines share.
func withoutBreaks(text string) (view, bool) {
	w := viewWriter{text: text}
	for start := 0; ; {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return w.view()
		}
		line, before := start, start+i
		start = before + 1
		for before > 0 && strings.IndexByte("\r\\=", text[before-1]) >= 0 { // a shell or a mail marks the end of a line
			before--
		}
		from := before
		for from > line && valueChar[text[from-1]] {
			from--
		}
		if before-from < minBefore || text[before-1] == '.' {
			continue
		}
		shared := sharedPrefix(text[line:from], text[start:])
		if shared > 0 { // without the name of the value
			prefix := strings.TrimRightFunc(text[line:from], notWord)
			shared = min(shared, len(strings.TrimRightFunc(prefix, func(c rune) bool { return !notWord(c) })))
		}
		after := len(text) - len(strings.TrimLeft(text[start+shared:], " \t"))
		if goesOver(text, from, before, after) {
			w.replace(before, after-before, "")
		}
	}
}

// sharedPrefix returns the length of the prefix that two lines share, up to a sign and with other digits: a mark, a
// number, a file or a time.
func sharedPrefix(line, next string) (n int) {
	for i := 0; i < min(len(line), len(next)) && (line[i] == next[i] || isDigit(line[i]) && isDigit(next[i])); i++ {
		if !wordChar(line[i]) {
			n = i + 1
		}
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func notWord(c rune) bool { return !wordChar(byte(c)) }

// goesOver reports whether a value from an offset up to another, where a line ends, may go on at a third one.
func goesOver(text string, from, before, after int) bool {
	to := after + wordLength(text[after:])
	return to-after >= minAfter && endsValue(text[to:]) &&
		(text[before:after] == "\\\n" || inQuotes(text, from, to) || gain(text[from:before], text[after:to]) > 0)
}

// inQuotes reports whether quotes open and close right around a part of a text.
func inQuotes(text string, from, to int) bool {
	return from > 0 && to < len(text) && text[from-1] == text[to] && strings.IndexByte("\"'`", text[to]) >= 0 &&
		(from == 1 || !valueChar[text[from-2]])
}

// wordLength returns the number of characters of a value at the beginning of a text.
func wordLength(text string) (n int) {
	for n < len(text) && valueChar[text[n]] {
		n++
	}
	return n
}

// gain returns how much more likely a word continues the value before it than that it stands for itself, in nats.
func gain(before, after string) float64 {
	after = strings.TrimPrefix(after, "0x")
	if strings.Trim(after, smallLetters) == "" && !ofHex(after) {
		return 0 // a word; what follows never gives more
	}
	tail := before[max(0, len(before)-maxTell):]
	gain := cost(after) + alphabet(tail)*float64(len(tail)) - alphabet(tail+after)*float64(len(tail+after))
	for part := range strings.FieldsFuncSeq(after, notWord) {
		n := len(part)
		hash := ofHex(part) && (n <= shortHash || n == 16 || n >= 32) // or a part of an identifier
		if name := strings.Trim(part, smallLetters) == ""; hash || name {
			gain -= max(0, cost(part)-alphabet(part)*float64(n))
		}
	}
	for _, signs := range []string{"+/", "-_", ".~", "!#*?^%"} {
		if strings.ContainsAny(after, signs) && !strings.ContainsAny(before, signs) {
			gain -= newSign
		}
	}
	digits := strings.TrimLeft(before[len(strings.TrimRight(before, hexDigits+"-")):], "-")
	whole := []int{32, 36, 40, 48, 56, 64, 96, 128} // digits of keys and hashes, and the length of a UUID
	if len(digits) >= minBefore && ofHex(strings.ReplaceAll(after, "-", "")) && !slices.Contains(whole, len(digits)) &&
		slices.Contains(whole, len(digits)+len(after)) {
		gain = max(gain, certain)
	}
	return gain
}

const hexDigits, smallLetters = "0123456789abcdef", "abcdefghijklmnopqrstuvwxyz"

func ofHex(word string) bool {
	return word != "" && strings.Trim(strings.ToLower(word), hexDigits) == ""
}

// cost returns the cost of a word of a text.
func cost(word string) (sum float64) {
	last := byte('-')
	for i := range len(word) {
		c := word[i]
		digit, letter := c >= '0' && c <= '9', !notLetter(rune(c))
		switch afterLetter := !notLetter(rune(last)); {
		case letter && afterLetter:
			sum += pairCost[int(last|0x20-'a')*26+int(c|0x20-'a')]
			if i > 1 && (last^c)&0x20 != 0 && (c <= 'Z' || word[i-2] >= 'A' && word[i-2] <= 'Z') {
				sum += turn
			}
		case letter:
			sum += anyLetter
		case digit:
			sum += anyDigit
		default:
			sum += anySign
		}
		if wasDigit := last >= '0' && last <= '9'; letter && wasDigit || digit && !notLetter(rune(last)) {
			sum += turn
		}
		last = c
	}
	return sum
}

// alphabet returns the logarithm of the number of characters of the kinds that a word has.
func alphabet(word string) float64 {
	size := 0.0
	for _, kind := range []struct {
		chars string
		size  float64
	}{
		{"0123456789", 10}, {"abcdef", 6}, {"ghijklmnopqrstuvwxyz", 20}, {"ABCDEF", 6}, {"GHIJKLMNOPQRSTUVWXYZ", 20},
		{"+/", 2}, {"-_", 2}, {".~", 2}, {"!#*?^%", 6},
	} {
		if strings.ContainsAny(word, kind.chars) {
			size += kind.size
		}
	}
	return math.Log(size)
}

// endsValue reports whether a value can end before a text. A name or the first column of a row is none, unlike base64
// with its padding.
func endsValue(rest string) bool {
	behind := strings.TrimLeft(rest, "=")
	next := strings.TrimLeft(behind, " \t")
	return next == "" || strings.IndexByte(":=(", next[0]) < 0 && len(behind)-len(next) < 2 &&
		(behind == rest || strings.IndexByte(" \t\r\n\"'`;,\\", behind[0]) >= 0)
}

// valueChar contains the characters of most tokens and keys.
var valueChar = func() (set [256]bool) {
	for c := range set {
		set[c] = nameChar(byte(c)) || strings.IndexByte("+/.~!#*?^%", byte(c)) >= 0
	}
	return set
}()
