package memoir

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoir/internal/lazyregexp"
)

// An Anchor is the place where a session saw or wrote a piece of its statement. If the piece is
// no longer there, the statement is out of date.
type Anchor struct {
	Path string `json:"path"`           // slash-separated, relative to the project's top directory
	Text string `json:"text,omitempty"` // the exact piece, of one line; empty: the path alone
	Key  string `json:"key,omitempty"`  // the name to which the text is assigned: "go" of "go 1.26"
}

// Bounds of anchors.
const (
	MaxAnchors    = 4   // of a statement, and of a line
	maxAnchorPath = 255 // bytes
	maxAnchorText = 100 // bytes of text and of key
)

// Valid reports whether an anchor is within the bounds and contains no redacted text, and its path
// is below the top directory and outside .git.
func (a Anchor) Valid() bool {
	odd := func(r rune) bool { return r == '\\' || r == utf8.RuneError || unicode.IsControl(r) || Hidden(r) }
	first, _, _ := strings.Cut(a.Path, "/")
	return fs.ValidPath(a.Path) && a.Path != "." && len(a.Path) <= maxAnchorPath &&
		len(a.Text) <= maxAnchorText && len(a.Key) <= maxAnchorText && !strings.EqualFold(first, ".git") &&
		!strings.ContainsFunc(a.Path+a.Text+a.Key, odd) && !strings.Contains(a.Path+a.Text+a.Key, "[REDACTED:")
}

// Standing is the state of an anchor's text in a file.
type Standing int

// The standings of an anchor.
const (
	Absent   Standing = iota // neither the text nor its key with another one
	Replaced                 // its key has another text
	Present
)

// In returns the state of the anchor's text in a file's content. A text with a key must be assigned to
// the key. In a file without the key it may be anywhere, unless it is a short number.
func (a Anchor) In(content string) Standing {
	at, ok := Token(content, a.Key, 0)
	if !ok {
		short := len(a.Text) < 4 && strings.Trim(a.Text, "0123456789") == ""
		if _, ok = Token(content, a.Text, 0); ok && !(short && a.Key != "") {
			return Present
		}
		return Absent
	}
	standing := Absent
	for ; ok; at, ok = Token(content, a.Key, at+1) {
		behind := at + len(a.Key)
		gap, given := Given(content[behind:])
		switch {
		case given == "":
		case stands(content, a.Text, behind+gap):
			return Present
		case IsValue(given) || !IsValue(a.Text):
			standing = Replaced
		}
	}
	return standing
}

// maxGap bounds the bytes between a key and its text.
const maxGap = 16

// Given returns the value at the beginning of the text after a name: "1.26" in ` = "1.26"` and in
// " 1.26". The value begins gap bytes further. A word is a value only after a colon or an equals
// sign; given is empty if there is no value.
func Given(rest string) (gap int, given string) {
	rest = rest[:min(len(rest), maxGap+maxAnchorText)]
	given = strings.TrimLeft(rest, " \t:=\"'`@~^<>(")
	gap = len(rest) - len(given)
	if gap == 0 || gap > maxGap {
		return gap, ""
	}
	inside := func(r rune) bool { return inWord(r) || strings.ContainsRune(".-+/", r) }
	behind := strings.TrimLeftFunc(strings.TrimPrefix(given, "#"), inside)
	given = strings.TrimRight(given[:len(given)-len(behind)], ".-+/")
	if !IsValue(given) && !strings.ContainsAny(rest[:gap], ":=") {
		return gap, ""
	}
	return gap, given
}

// IsValue reports whether a text is a number, a version, a size, a colour or the like.
func IsValue(text string) bool {
	text = strings.TrimPrefix(text, "v")
	return text != "" && (text[0] >= '0' && text[0] <= '9' || text[0] == '#' && len(text) > 3)
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// Token finds a text as a whole token in another one, from an offset on: it does not find "lint" in
// "golint" or "lint-all", "1.2" in "1.2.3", or "build:" in "rebuild:".
func Token(content, text string, from int) (at int, ok bool) {
	for text != "" && from <= len(content) {
		i := strings.Index(content[from:], text)
		if i < 0 {
			break
		}
		if at = from + i; stands(content, text, at) {
			return at, true
		}
		from = at + 1
	}
	return 0, false
}

func stands(content, text string, at int) bool {
	return strings.HasPrefix(content[at:], text) && !extended(content[:at], text, true) &&
		!extended(content[at+len(text):], text, false)
}

// extended reports whether a token continues before or after a text.
func extended(beside, text string, before bool) bool {
	edge, _ := take(text, !before)
	next, beside := take(beside, before)
	further, _ := take(beside, before)
	switch {
	case !inWord(edge):
		return before && edge == '-' && (next == '-' || inWord(next))
	case next == '.':
		return unicode.IsDigit(edge) && unicode.IsDigit(further)
	}
	return inWord(next) || next == '-' && inWord(further)
}

// take splits the last or the first character off a text.
func take(text string, last bool) (r rune, rest string) {
	if last {
		r, size := utf8.DecodeLastRuneInString(text)
		return r, text[:len(text)-size]
	}
	r, size := utf8.DecodeRuneInString(text)
	return r, text[size:]
}

// lineKeyBytes is the length of the hash prefix in a line's key.
const lineKeyBytes = 10

// LineKey returns the key of a memory's line, a hash of its LineText.
func LineKey(line string) string {
	sum := sha256.Sum256([]byte(LineText(line)))
	return hex.EncodeToString(sum[:lineKeyBytes])
}

var (
	lineMark     = lazyregexp.New(`^[-*+0-9.)]+ `)
	lineCitation = lazyregexp.New(` \[\S+ \d{4}-\d\d-\d\d[^\]]*\]\.?$`)
	saidOnce     = lazyregexp.New(` \(said once, \d{4}-\d\d-\d\d\)$`)
)

// LineText returns the words of a memory's line, without the list mark before them, and the
// citation and the mark of SaidOnce after them.
func LineText(line string) string {
	words := strings.Join(strings.Fields(line), " ")
	return lineCitation.ReplaceAllString(strings.Replace(lineMark.ReplaceAllString(words, ""), OnceMark(words), "", 1), "")
}

// Citation returns the citation at the end of a memory's line with the blank before it; empty if it has none.
func Citation(line string) string { return lineCitation.FindString(strings.TrimSpace(line)) }

// SaidOnce marks a person's words as said on one day only. The line is the same one without the mark, so that a
// deletion by hand holds when the words are repeated.
func SaidOnce(text, day string) string { return text + " (said once, " + day + ")" }

// OnceMark returns the mark of SaidOnce in a line, perhaps before a citation; empty if it has none.
func OnceMark(line string) string {
	if !strings.Contains(line, " (said once, ") {
		return ""
	}
	return saidOnce.FindString(lineCitation.ReplaceAllString(line, ""))
}
