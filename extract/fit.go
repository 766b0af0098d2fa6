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
	read, omitted, _ := choose(quiet(items), tokens)
	return memoir.Map(read, func(r reading) memoir.Item { return r.Item }), omitted
}

// A class is the value of a line, the most valuable first.
type class int

const (
	classPerson class = iota // the beginning of what a person typed, a question to them with its options
	classSaid                // the rest of it
	classAnswer              // closing answers of the agent
	classFailed              // failed commands and their error lines, commits
	classCause               // changed lines, what else commits say
	classReview              // what others wrote: sentences of a JSON document, subagents' reports
	classNamed               // commands that passed, the agent's sentences that name code
	classOther               // its other sentences
	classTail                // the end of a command's output, lines beside error lines
	classLater               // changes and failures beyond their share
	classCall                // other calls, and further lines of a command
	classEnds                // the beginning and the end of their output
	classRead                // what was read
	classRest                // repeated lines
)

const (
	personHead = 400  // bytes at the beginning of a message that count as a person's own words
	personMost = 4000 // bytes of a person's message; what is beyond them was pasted
	answerMost = 2000 // bytes of a closing answer; what is beyond them counts as its other sentences
	endLines   = 4    // lines of an output's beginning, and of its end
	maxPiece   = 200  // bytes of a piece
	errorLines = 2    // error lines of an output that count as what failed
	fewWords   = 6    // a text of a JSON document with fewer spaces is a value
)

// The share of changes and failures in the room beside people's words and closing answers: they
// are kept whole up to the first, else they get the second. What is beyond a share comes later.
const (
	evidenceWhole = 0.35
	evidenceShare = 1 / 4.
	reviewShare   = 1 / 16. // of what others wrote
	saidShare     = 1 / 3.  // of the budget: of what people typed whole
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

// A piece is the smallest unit of a text: a line, or a part of a long one.
type piece struct {
	item, part int
	n          int // index within the part
	text       string
	class      class
	kept       bool
	with       []*piece // are kept with it or not at all: the result of a command, all that a call read
}

// A selection is the pieces of items, with those that are kept.
type selection struct {
	items  []reading
	pieces [][partCount][]*piece // of each item
	bytes  []int                 // kept of each item, 0 if nothing is
}

// choose also returns how many of the omitted items were behind the last one that is left.
func choose(read []reading, tokens int) (fitted []reading, omitted, behind int) {
	all := 0
	for i := range read {
		all += Cost(read[i].Item)
	}
	if tokens <= 0 || all <= tokens {
		return read, 0, 0
	}
	s := &selection{items: read, pieces: make([][partCount][]*piece, len(read)), bytes: make([]int, len(read))}
	var order []*piece
	for i := range read {
		order = append(order, s.cut(i)...)
	}
	s.fill(order, tokens)
	for i := range read {
		if behind++; s.bytes[i] > 0 {
			fitted, behind = append(fitted, s.item(i)), 0
		}
	}
	return fitted, len(read) - len(fitted), behind
}

// cut cuts an item into pieces, and returns those that can be chosen.
func (s *selection) cut(i int) (order []*piece) {
	classes := classesOf(s.items, i)
	for p := range partCount {
		lines := cutUp(*part(&s.items[i].Item, p))
		for n, text := range lines {
			s.pieces[i][p] = append(s.pieces[i][p], &piece{item: i, part: p, n: n, text: text, class: classes(p, n, lines)})
		}
	}
	input, output := s.pieces[i][partInput], s.pieces[i][partOutput]
	switch read := &s.items[i]; {
	case len(input) == 0 || len(output) == 0 || read.Origin.ByPerson():
	case read.looks && !read.bad && !read.told:
		input[0].with, input[0].class = append(input[1:], output...), classRead
		return input[:1]
	case !read.told:
		end := len(output) - 1
		for end > 0 && (len(strings.TrimSpace(output[end].text)) == 0 || strings.TrimSpace(output[end].text) == CutMark) {
			end--
		}
		input[0].with, output = output[end:end+1], slices.Delete(slices.Clone(output), end, end+1)
	}
	return slices.Concat(s.pieces[i][partText], input, output)
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
	asked := i+1 < len(read) && read[i+1].Origin == memoir.OriginAnswer
	if it.Kind != memoir.ItemTool {
		return messageClass(it, i+1 == len(read) || read[i+1].Origin.ByPerson())
	}
	first, ends := classCall, classEnds
	switch {
	case it.Origin.ByPerson(), asked:
		first = classPerson
	case bad && !read[i].looks:
		first, ends = classFailed, classTail
	case it.Shell() && !read[i].looks:
		first, ends = classNamed, classTail
	}
	errors := 0
	posts := it.Shell() && forPeople.MatchString(it.Input)
	if posts {
		first = min(first, classFailed)
	}
	return func(part, n int, lines []string) class {
		switch {
		case part == partOutput:
			one := outputClass(&read[i], n, lines, ends)
			if one == classFailed {
				if errors++; errors > errorLines {
					one = classCause
				}
			}
			return one
		case isDiff(it.Input):
			return classCause
		case n == 0 || asked:
			return first
		case posts:
			return classCause
		}
		return max(first, classCall)
	}
}

// outputClass returns the class of a line of a call's output; ends is the class of the last lines.
func outputClass(read *reading, n int, lines []string, ends class) class {
	switch {
	case read.bad && errorText.MatchString(lines[n]):
		return classFailed
	case read.bad && slices.ContainsFunc(lines[max(n-2, 0):min(n+2, len(lines))], errorText.MatchString):
		return classTail
	case read.told && strings.Count(lines[n], " ") < fewWords:
		return classEnds
	case read.told || read.Tool == "Task" || read.Tool == "Agent":
		return classReview
	case n >= len(lines)-endLines:
		return ends
	case n < endLines:
		return classEnds
	}
	return classRest
}

// names matches what names code: a code span, a path, a flag, an identifier of several words, a number.
var names = lazyregexp.New("`|[\\w)][/_.:#=][\\w(]|[a-z][A-Z]|--\\w|\\d")

// messageClass returns a function that returns the class of a message's line; lines come in order.
func messageClass(it *memoir.Item, last bool) func(part, n int, lines []string) class {
	at := 0
	return func(_, n int, lines []string) class {
		from := at
		at += len(lines[n])
		switch {
		case it.Origin.ByPerson() && from < personHead:
			return classPerson
		case it.Origin.ByPerson() && from < personMost:
			return classSaid
		case it.Origin == memoir.OriginAgent && (it.Final || last) && from < answerMost:
			return classAnswer
		case names.MatchString(lines[n]):
			return classNamed
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
		if p.kept || strings.TrimSpace(p.text) == CutMark { // gaps are marked anyway
			continue
		}
		all := append([]*piece{p}, p.with...)
		if input := s.pieces[p.item][partInput]; s.bytes[p.item] == 0 && len(input) > 0 && p != input[0] {
			all = append(append(all, input[0]), input[0].with...) // no output without its command
		}
		bytes := s.bytes[p.item]
		for _, one := range all {
			s.bytes[p.item] += s.cost(one)
			one.kept = true
		}
		if price := tokensOf(s.bytes[p.item]) - tokensOf(bytes); price <= tokens {
			tokens -= price
			continue
		}
		for _, one := range all {
			one.kept = false
		}
		s.bytes[p.item] = bytes
	}
}

// limitEvidence lowers the class of repeated lines, and of what is beyond its share.
func limitEvidence(order []*piece, tokens int) {
	room, evidence := 4*tokens, 0
	for _, p := range order {
		switch p.class {
		case classPerson, classSaid, classAnswer:
			room -= len(p.text)
		case classFailed, classCause:
			evidence += len(p.text)
		}
	}
	review, said := int(reviewShare*float64(room)), int(saidShare*float64(4*tokens))
	if float64(evidence) > evidenceWhole*float64(room) {
		room = int(evidenceShare * float64(room))
	}
	known := map[string]bool{}
	for _, p := range order {
		line := strings.TrimSpace(p.text)
		share, later := &said, classPerson
		switch p.class {
		case classSaid:
			later = classNamed
		case classFailed, classCause:
			share, later = &room, classLater
		case classReview:
			share, later = &review, classTail
		}
		switch {
		case p.class > classSaid && len(line) >= sameLine && known[line] && (p.n > 0 || p.part != partInput):
			p.class = classRest
		case p.class == classPerson || later != classPerson:
			if *share -= len(p.text); *share < 0 {
				p.class = later
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

func (s *selection) item(i int) reading {
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
		*part(&it.Item, p) = b.String()
	}
	return it
}
