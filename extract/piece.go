package extract

import (
	"strings"
	"unicode/utf8"

	"memoir"
)

// The parts of an item that text stands in.
const (
	partText = iota
	partInput
	partOutput
	partCount
)

// A piece is the least that is kept or left out of an item: a sentence of prose,
// else a line, with the white space behind it.
type piece struct {
	item, part int
	n          int // among those of the part
	from, to   int // bytes of the part
	value      float64
	kept       bool
}

const (
	maxPiece = 400 // bytes; a longer line is cut
	// The lines of a call's output that are looked at, at its beginning and at its
	// end: what stands in the middle of a long one is left out by any budget.
	headLines, tailLines = 40, 60
)

// part returns one part of an item.
func part(it *memoir.Item, n int) *string {
	switch n {
	case partInput:
		return &it.Input
	case partOutput:
		return &it.Output
	}
	return &it.Text
}

// cutUp cuts a text into pieces; prose is cut into sentences, anything else into lines.
func cutUp(text string, prose bool) []piece {
	var out []piece
	add := func(from, to int) {
		for to-from > maxPiece {
			end := from + maxPiece
			if space := strings.LastIndexAny(text[from:end], " \t"); space > maxPiece/2 {
				end = from + space + 1
			}
			for least := end - utf8.UTFMax; end > least && !utf8.RuneStart(text[end]); { // no more: it may be no UTF-8
				end--
			}
			out = append(out, piece{from: from, to: end})
			from = end
		}
		if to > from {
			out = append(out, piece{from: from, to: to})
		}
	}
	fence := false
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := text[at:end]
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fence = !fence
		}
		if prose && !fence && len(line) > 120 {
			for _, s := range sentences(line) {
				i := strings.Index(text[at:end], s)
				if i < 0 {
					break
				}
				to := at + i + len(s)
				for to < end && (text[to] == ' ' || text[to] == '\n') {
					to++
				}
				add(at, to)
				at = to
			}
		}
		add(at, end)
		at = end
	}
	return out
}
