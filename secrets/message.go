package secrets

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Message redacts what the program says and stores of its own, such as an error. What it
// quotes, with %q or in backquotes, is read as a text of its own, too: in the middle of a
// message rules do not see what they see at the beginning or the end of a text.
func (s *Scanner) Message(text string) string {
	whole := s.Session()
	s.quotations(text, func(inside string) { whole.Text(inside) })
	// The whole goes first: a secret may hold quotes itself.
	text = s.quotations(whole.Text(text), nil)
	return whole.AgainText(text)
}

// quotations is a text without the secrets that its quotations have when they are read by
// themselves; see is told what is in those, and may be nil.
func (s *Scanner) quotations(text string, see func(inside string)) string {
	var out strings.Builder
	at := 0
	for {
		open := strings.IndexAny(text[at:], "\"`")
		if open < 0 {
			break
		}
		out.WriteString(text[at : at+open])
		at += open
		quoted, clean := "", ""
		if text[at] == '`' || at == 0 || text[at-1] != '\\' { // an escaped quote is inside of a quotation, which it would be read to the end of
			quoted, clean = s.quotation(text[at:], see)
		}
		if quoted == "" { // the next quote may be one that opens
			quoted, clean = text[at:at+1], text[at:at+1]
		}
		out.WriteString(clean)
		at += len(quoted)
	}
	return out.String() + text[at:]
}

// quotation returns the quotation that a text begins with and the same without its secrets;
// nothing if it has none.
func (s *Scanner) quotation(text string, see func(inside string)) (quoted, clean string) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil || len(quoted) < minQuoted {
		return "", ""
	}
	inside, err := strconv.Unquote(quoted)
	if err != nil {
		return "", ""
	}
	cleaned, counts := s.Redact(inside)
	if len(counts) == 0 {
		return "", ""
	}
	if see != nil {
		see(inside)
	}
	if quoted[0] == '`' {
		return quoted, "`" + cleaned + "`"
	}
	clean = strconv.Quote(cleaned)
	if json.Valid([]byte(quoted)) && !json.Valid([]byte(clean)) { // which has no \a, \v, \x and \U
		if text, err := json.Marshal(cleaned); err == nil {
			clean = string(text)
		}
	}
	return quoted, clean
}
