package secrets

import (
	"encoding/json"
	"strings"
)

// replaceKeepingJSON replaces spans and keeps JSON valid, as a whole text or line by line. Most secrets lie inside
// one string; a number, or a span over several strings, needs care. It counts the spans that begin in p, and returns
// p as a range of the new text.
func replaceKeepingJSON(text string, p extent, spans []span, counts Counts) (string, extent) {
	var edits []edit
	doc := document{end: -1}
	if looksJSON(text) && json.Valid([]byte(text)) {
		doc = newDocument(text, 0, len(text))
	}
	for _, s := range spans {
		s.end = min(s.end, len(text)) // no document follows the end of the text
		if p.start <= s.start && s.start < p.end {
			counts[s.rule.label]++
		}
		plain := s.start // the start of the part outside all documents
		for at := s.start; at < s.end; {
			if at >= doc.end {
				doc = lineDocument(text, at)
			}
			end := min(s.end, doc.end)
			if doc.valid {
				if plain < at {
					edits = append(edits, edit{plain, at, s.rule, false})
				}
				edits = doc.cut(edits, at, end, s.rule)
				plain = end
			}
			at = end
		}
		if plain < s.end {
			edits = append(edits, edit{plain, s.end, s.rule, false})
		}
	}
	return apply(text, p, edits)
}

// edit replaces a part of a text by a marker, in quotes if the part is a JSON number or word.
type edit struct {
	start, end int
	rule       *rule
	quoted     bool
}

// apply makes the edits, and returns p as a range of the new text. An edit over an end of p writes its marker where it
// begins, and its line breaks where they are.
func apply(text string, p extent, edits []edit) (string, extent) {
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	write := func(to int) int {
		for len(edits) > 0 && edits[0].start < to {
			e := edits[0]
			if at <= e.start {
				b.WriteString(text[at:e.start] + e.marker())
				at = e.start
			}
			for _, c := range []byte(text[at:min(e.end, to)]) {
				at++
				if c == '\n' || c == '\r' && at < len(text) && text[at] == '\n' {
					b.WriteByte(c)
				}
			}
			if e.end > to {
				return b.Len()
			}
			edits = edits[1:]
		}
		b.WriteString(text[at:to])
		at = to
		return b.Len()
	}
	now := extent{write(p.start), write(p.end)}
	write(len(text))
	return b.String(), now
}

func (e edit) marker() string {
	if e.quoted {
		return `"` + marker(e.rule) + `"`
	}
	return marker(e.rule)
}

// document is a part of a text that may be one JSON value.
type document struct {
	text   string
	end    int
	valid  bool
	tokens []token
	next   int // the first token that later spans can touch
}

// token is the content of a string, or a number or word.
type token struct {
	start, end int
	scalar     bool
}

// lineDocument returns the document of the line at an offset, with its line break.
func lineDocument(text string, at int) document {
	line := lineOf(text, at)
	line.end = min(line.end+1, len(text))
	if own := line.of(text); looksJSON(own) && json.Valid([]byte(own)) {
		return newDocument(text, line.start, line.end)
	}
	return document{end: line.end}
}

func looksJSON(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
		case '{', '[', '"':
			return true
		default:
			return false
		}
	}
	return false
}

// newDocument returns the document text[start:end], which is valid JSON.
func newDocument(text string, start, end int) document {
	d := document{text: text, end: end, valid: true}
	for at := start; at < end; at++ {
		switch c := text[at]; {
		case c == '"':
			open := at + 1
			for at = open; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			d.tokens = append(d.tokens, token{start: open, end: at})
		case strings.IndexByte(" \t\r\n{}[]:,", c) < 0:
			first := at
			for at+1 < end && strings.IndexByte(" \t\r\n{}[]:,", text[at+1]) < 0 {
				at++
			}
			d.tokens = append(d.tokens, token{start: first, end: at + 1, scalar: true})
		}
	}
	return d
}

// cut adds the edits for a span: one for each token that it touches, and none for the syntax between tokens. Spans
// come in order.
func (d *document) cut(edits []edit, start, end int, r *rule) []edit {
	for d.next < len(d.tokens) && d.tokens[d.next].end <= start {
		d.next++
	}
	for _, t := range d.tokens[d.next:] {
		if t.start >= end {
			break
		}
		switch {
		case !t.scalar:
			from, _ := escapeAround(d.text, max(start, t.start))
			_, to := escapeAround(d.text, min(end, t.end))
			if len(edits) > 0 {
				from = max(from, edits[len(edits)-1].end)
			}
			if from < to {
				edits = append(edits, edit{from, to, r, false})
			}
		case len(edits) == 0 || edits[len(edits)-1].end <= t.start:
			edits = append(edits, edit{t.start, t.end, r, true})
		}
	}
	return edits
}

// escapeAround returns the extent of the escape sequence around an offset in a JSON string, or the offset twice
// without one. A sequence must be kept or removed as a whole.
func escapeAround(text string, at int) (from, to int) {
	for p := at - 1; p >= max(0, at-5); p-- {
		if text[p] != '\\' {
			continue
		}
		first := p
		for first > 0 && text[first-1] == '\\' {
			first--
		}
		length := 2
		if text[p+1] == 'u' {
			length = 6
		}
		if (p-first)%2 == 0 && p+length > at {
			return p, p + length
		}
		break
	}
	return at, at
}
