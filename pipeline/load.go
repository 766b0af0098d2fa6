package pipeline

import (
	"context"
	"strings"
	"unicode/utf8"

	"memoir"
	"memoir/rollout"
	"memoir/secrets"
)

// Bounds on what is held of one session, in bytes. What exceeds them is cut in
// the middle or dropped, oldest tool output first; what people typed goes last.
const (
	maxMessage = 64 << 10 // one message
	maxInput   = 16 << 10 // the input of one tool call
	maxOutput  = 16 << 10 // the output of one tool call
	maxHeld    = 8 << 20  // all items together
	heldTail   = 400      // what stays of an output that had to give way
)

// Loaded is one session as Phase 1 sees it: filtered, redacted, bounded.
type Loaded struct {
	Items      []memoir.Item
	Stats      rollout.Stats
	Hash       string         // of the filtered items, before redaction and bounds
	Redactions secrets.Counts // by rule
	Omitted    int            // outputs that gave way to maxHeld
}

// Load reads a session's files in order. Nothing of the text leaves this function
// unredacted.
func Load(ctx context.Context, scanner *secrets.Scanner, parts []rollout.Part) (Loaded, error) {
	var (
		out      Loaded
		held     int
		oldest   int // index of the first output that has not given way
		hasher   rollout.Hasher
		redactor = scanner.Session()
	)
	stats, err := rollout.Read(ctx, parts, func(it memoir.Item) error {
		hasher.Add(it)
		it = redactor.Item(it)
		it.Text = cutMiddle(it.Text, maxMessage)
		it.Input = cutMiddle(it.Input, maxInput)
		it.Output = cutMiddle(it.Output, maxOutput)
		out.Items = append(out.Items, it)
		held += len(it.Text) + len(it.Input) + len(it.Output)
		for held > maxHeld && oldest < len(out.Items) {
			older := &out.Items[oldest]
			if len(older.Output) > heldTail {
				held -= len(older.Output)
				older.Output = "[…]" + tail(older.Output, heldTail)
				held += len(older.Output)
				out.Omitted++
			}
			oldest++
		}
		return nil
	})
	out.Stats = stats
	if err != nil {
		return out, err
	}
	// A secret seen late may stand, bare, in an earlier item.
	for i, it := range out.Items {
		out.Items[i] = redactor.Again(it)
	}
	out.Hash = hasher.Sum()
	out.Redactions = redactor.Counts()
	return out, nil
}

// cutMiddle keeps the head and the tail of a text that is longer than limit
// bytes, cut at line or rune boundaries, with a mark between them.
func cutMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const mark = "\n[… cut …]\n"
	head, end := text[:limit*6/10], text[len(text)-limit*4/10:]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i]
	}
	if i := strings.IndexByte(end, '\n'); i >= 0 && i < len(end)/2 {
		end = end[i+1:]
	}
	return trimRunes(head) + mark + tail(end, len(end))
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
