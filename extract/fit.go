package extract

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"memoir"
	"memoir/internal/lazyregexp"
)

// itemFrame is the size, in bytes, of an item's number, role and marks when it is rendered.
const itemFrame = 24

// Cost estimates the tokens of an item as a language model reads it: 4 bytes per token, its frame included.
func Cost(it memoir.Item) int {
	return tokensOf(itemFrame + len(it.Text) + len(it.Tool) + len(it.Input) + len(it.Output))
}

func tokensOf(bytes int) int { return (bytes + 3) / 4 }

// Fit selects the part of a session that a language model reads within a budget of tokens. It removes noise (see
// quiet), then keeps lines by class, the newest first within a class. The items are in order, with marks where text is
// left out; omitted counts items left out for length. A budget of 0 or less removes noise only.
func Fit(items []memoir.Item, tokens int) (fitted []memoir.Item, omitted int) {
	return choose(quiet(items), tokens)
}

// A class is the value of a line, the most valuable first.
type class int

const (
	classPerson  class = iota // the beginning of what a person typed
	classAnswer               // closing answers of the agent
	classCause                // changed lines, failed commands and their error lines, texts of commits
	classCommand              // commands that passed
	classOther                // the agent's other words, subagents' reports, the rest of a person's message
	classTail                 // the end of a command's output, lines beside error lines
	classLater                // changes and failures beyond their share
	classCall                 // other calls, and further lines of a command
	classEnds                 // the beginning and the end of their output
	classRest
)

const (
	personHead = 400 // bytes at the beginning of a message that count as a person's own words
	endLines   = 4   // lines of an output's beginning, and of its end
	maxPiece   = 200 // bytes of a piece
)

// The share of changes and failures in the room beside people's words and closing answers: they
// are kept whole up to the first, else they get the second.
const (
	evidenceWhole = 1 / 2.
	evidenceShare = 1 / 4.
)

// The parts of an item that have text.
const (
	partText = iota
	partInput
	partOutput
	partCount
)

func part(it *memoir.Item, n int) *string {
	return [partCount]*string{&it.Text, &it.Input, &it.Output}[n]
}

// A piece is the smallest unit of selection: a line, or a part of a long one.
type piece struct {
	item, part int
	n          int // index within the part
	text       string
	class      class
	kept       bool
}

// A selection is the pieces of items, with those that are kept.
type selection struct {
	items  []memoir.Item
	pieces [][partCount][]*piece // of each item
	bytes  []int                 // kept of each item, 0 if nothing is
}

func choose(read []reading, tokens int) (fitted []memoir.Item, omitted int) {
	items, all := make([]memoir.Item, len(read)), 0
	for i, it := range read {
		items[i] = it.Item
		all += Cost(it.Item)
	}
	if tokens <= 0 || all <= tokens {
		return items, 0
	}
	s := &selection{items: items, pieces: make([][partCount][]*piece, len(items)), bytes: make([]int, len(items))}
	var order []*piece
	for i := range items {
		classes := classesOf(read, i)
		for p := range partCount {
			lines := cutUp(*part(&items[i], p))
			for n, text := range lines {
				one := &piece{item: i, part: p, n: n, text: text, class: classes(p, n, lines)}
				s.pieces[i][p], order = append(s.pieces[i][p], one), append(order, one)
			}
		}
	}
	s.fill(order, tokens)
	for i := range items {
		if s.bytes[i] > 0 {
			fitted = append(fitted, s.item(i))
		}
	}
	return fitted, len(items) - len(fitted)
}

// cutUp splits a text into lines, and long lines at the end of a sentence or word.
func cutUp(text string) (out []string) {
	for line := range strings.Lines(text) {
		for len(line) > maxPiece {
			end := maxPiece
			if at := strings.LastIndex(line[:end], ". "); at > maxPiece/2 {
				end = at + 2
			} else if at := strings.LastIndexAny(line[:end], " \t"); at > maxPiece/2 {
				end = at + 1
			}
			for back := 0; back < utf8.UTFMax && !utf8.RuneStart(line[end]); back++ {
				end--
			}
			out, line = append(out, line[:end]), line[end:]
		}
		out = append(out, line)
	}
	return out
}

// forPeople are the commands whose text the agent writes for people.
var forPeople = lazyregexp.New(`\bgit (?:-\S+ \S+ )?commit\b|\bglab mr\b` +
	`|\bgh (?:pr|issue|release) (?:create|edit|comment|review|merge)\b`)

// classesOf returns a function that returns the class of a line of an item's part.
func classesOf(read []reading, i int) func(part, n int, lines []string) class {
	it, bad := &read[i].Item, read[i].bad
	if it.Kind != memoir.ItemTool {
		return messageClass(it, i+1 == len(read) || read[i+1].Origin.ByPerson())
	}
	first, ends := classCall, classEnds
	switch {
	case it.Origin.ByPerson():
		first = classPerson
	case bad:
		first, ends = classCause, classTail
	case it.Shell() && !read[i].looks:
		first, ends = classCommand, classTail
	}
	whole := isDiff(it.Input) || it.Shell() && forPeople.MatchString(it.Input)
	return func(part, n int, lines []string) class {
		switch {
		case part == partOutput:
			return outputClass(it, n, lines, bad, ends)
		case whole:
			return classCause
		case n == 0:
			return first
		}
		return max(first, classCall)
	}
}

// outputClass returns the class of a line of a call's output; ends is the class of the last lines.
func outputClass(it *memoir.Item, n int, lines []string, bad bool, ends class) class {
	switch {
	case bad && errorText.MatchString(lines[n]):
		return classCause
	case bad && slices.ContainsFunc(lines[max(n-2, 0):min(n+2, len(lines))], errorText.MatchString):
		return classTail
	case it.Tool == "Task" || it.Tool == "Agent":
		return classOther
	case n >= len(lines)-endLines:
		return ends
	case n < endLines:
		return classEnds
	}
	return classRest
}

// messageClass returns a function that returns the class of a message's line; lines come in order.
func messageClass(it *memoir.Item, last bool) func(part, n int, lines []string) class {
	at := 0
	return func(_, n int, lines []string) class {
		from := at
		at += len(lines[n])
		switch {
		case it.Origin.ByPerson() && from < personHead:
			return classPerson
		case it.Origin == memoir.OriginAgent && (it.Final || last):
			return classAnswer
		}
		return classOther
	}
}

// fill keeps the most valuable pieces that fit into a number of tokens.
func (s *selection) fill(order []*piece, tokens int) {
	byClass := func(a, b *piece) int { return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.item, a.item)) }
	slices.SortStableFunc(order, byClass)
	limitEvidence(order, tokens)
	slices.SortStableFunc(order, byClass)
	for _, p := range order {
		if strings.TrimSpace(p.text) == CutMark { // gaps are marked anyway
			continue
		}
		before := s.bytes[p.item]
		if price := tokensOf(before+s.cost(p)) - tokensOf(before); price <= tokens {
			tokens -= price
			s.bytes[p.item] += s.cost(p)
			p.kept = true
		}
	}
}

// limitEvidence lowers the class of repeated lines, and of changes and failures beyond their share.
func limitEvidence(order []*piece, tokens int) {
	room, evidence := 4*tokens, 0
	for _, p := range order {
		switch p.class {
		case classPerson, classAnswer:
			room -= len(p.text)
		case classCause:
			evidence += len(p.text)
		}
	}
	if float64(evidence) > evidenceWhole*float64(room) {
		room = int(evidenceShare * float64(room))
	}
	known := map[string]bool{}
	for _, p := range order {
		line := strings.TrimSpace(p.text)
		switch {
		case p.class == classPerson:
		case len(line) >= sameLine && known[line] && (p.n > 0 || p.part != partInput):
			p.class = classRest
		case p.class == classCause:
			if room -= len(p.text); room < 0 {
				p.class = classLater
			}
		}
		known[line] = true
	}
}

// cost returns the bytes that a piece adds to its item.
func (s *selection) cost(p *piece) int {
	bytes := len(p.text)
	if s.bytes[p.item] == 0 {
		bytes += itemFrame + len(s.items[p.item].Tool)
		for _, list := range s.pieces[p.item] {
			if len(list) > 0 {
				bytes += len(omission) // in place of the whole part
			}
		}
	}
	list := s.pieces[p.item][p.part]
	marks := 1 // the change in the number of marks: one more, the same, or one fewer
	if p.n == 0 || list[p.n-1].kept {
		marks--
	}
	if p.n == len(list)-1 || list[p.n+1].kept {
		marks--
	}
	return bytes + marks*len(omission)
}

func (s *selection) item(i int) memoir.Item {
	it := s.items[i]
	for p := range partCount {
		var b strings.Builder
		gap := false
		for _, one := range s.pieces[i][p] {
			if !one.kept {
				gap = true
				continue
			}
			if gap {
				b.WriteString(omission)
			}
			gap = false
			b.WriteString(one.text)
		}
		if gap {
			b.WriteString(omission)
		}
		*part(&it, p) = b.String()
	}
	return it
}
