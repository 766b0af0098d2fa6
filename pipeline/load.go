package pipeline

import (
	"context"
	"strings"
	"unicode/utf8"

	"memoir"
	"memoir/rollout"
	"memoir/secrets"
)

// Bounds on one item, in bytes. What exceeds them is cut in the middle; what all
// items together may take is in hold.go.
const (
	maxMessage = 64 << 10 // one message
	maxInput   = 16 << 10 // the input of one tool call
	maxOutput  = 16 << 10 // the output of one tool call
)

// Loaded is one session as Phase 1 sees it: filtered, redacted, bounded.
type Loaded struct {
	Items      []memoir.Item
	Stats      rollout.Stats
	Hash       string         // of the filtered items, before redaction and bounds
	Marks      []memoir.Mark  // how far the session was read, for Load to know it again
	Same       int            // number of the last item at which an earlier mark still holds; 0: none does
	Redactions secrets.Counts // by rule
	Omitted    int            // items, and texts of items, that gave way to maxHeld

	again func(string) string // redacts a text of earlier with the secrets that are known now
}

// Load reads a session's files in order. Nothing of the text leaves this function
// unredacted. Marks are those of an earlier reading.
func Load(ctx context.Context, scanner *secrets.Scanner, parts []rollout.Part, marks ...memoir.Mark) (Loaded, error) {
	var (
		out      Loaded
		held     holding
		trail    = rollout.NewTrail(marks)
		redactor = scanner.Session()
	)
	stats, err := rollout.Read(ctx, parts, func(it memoir.Item) error {
		trail.Add(it)
		it = redactor.Item(it)
		it.Text = cutMiddle(it.Text, maxMessage)
		it.Input = cutMiddle(it.Input, maxInput)
		it.Output = cutMiddle(it.Output, maxOutput)
		held.add(it)
		return nil
	})
	out.Stats, out.Items, out.Omitted = stats, held.items, held.omitted
	if err != nil {
		return out, err
	}
	// A secret seen late may stand, bare, in an earlier item.
	for i, it := range out.Items {
		out.Items[i] = redactor.Again(it)
	}
	out.Hash, out.Marks, out.Same = trail.Sum(), trail.Marks(), trail.Same()
	out.Redactions = redactor.Counts()
	out.again = redactor.AgainText
	return out, nil
}

// cutMark stands where something was cut out.
const cutMark = "\n[… cut …]\n"

// cutMiddle keeps the head and the tail of a text that is longer than limit
// bytes, cut at line or rune boundaries, with a mark between them.
func cutMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, end := text[:limit*6/10], text[len(text)-limit*4/10:]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i]
	}
	if i := strings.IndexByte(end, '\n'); i >= 0 && i < len(end)/2 {
		end = end[i+1:]
	}
	return trimRunes(head) + cutMark + tail(end, len(end))
}

// tail returns the last n bytes of a text, beginning at a rune.
func tail(text string, n int) string {
	if len(text) > n {
		text = text[len(text)-n:]
	}
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// trimRunes drops an incomplete rune from the end of a text.
func trimRunes(text string) string {
	for i := 0; i < utf8.UTFMax && len(text) > 0; i++ {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size > 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}
