package rollout

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxTitle is how many runes of a title are kept here: far more than is shown, so
	// that a secret in it is whole, and found, when the title is redacted and cut.
	maxTitle = 2000

	maxTold = 8 << 10 // bytes of the text that a title begins
	keyWord = 8       // bytes of a word that may be a secret, or a part of one
)

// CleanTitle is the title as it is without secrets, which a function takes out of a text. It
// is asked about the text that the title is the first line of, as it was written: of a key of
// several lines, nobody can tell what the first one is, nor a cookie without its tabs.
func (h *Head) CleanTitle(clean func(text string) string) string {
	if h.told != "" {
		return firstLine(clean(h.told))
	}
	return clean(h.Title)
}

// entitle takes the first line of the first of some texts that has one for the title.
func (h *Head) entitle(texts ...string) {
	h.Title, h.told = "", ""
	for _, text := range texts {
		if h.Title = firstLine(text); h.Title == "" {
			continue
		}
		long := func(word string) bool { return len(word) >= keyWord }
		if text = strings.TrimSpace(text); text != h.Title && slices.ContainsFunc(strings.Fields(h.Title), long) {
			h.told = strings.Clone(text[:min(len(text), maxTold)])
		}
		return
	}
}

// firstLine returns the first line of a text that is not blank, cut at white space
// to maxTitle runes.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		line = strings.Join(fields, " ")
		if utf8.RuneCountInString(line) <= maxTitle {
			return line
		}
		cut := string([]rune(line)[:maxTitle])
		if end := strings.LastIndexByte(cut, ' '); end > 0 {
			return cut[:end]
		}
		return "" // one word without end is data
	}
	return ""
}
