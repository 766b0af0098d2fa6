package secrets

import "strings"

const (
	maxMarkup    = 2048 // bytes of a row's cells and their tags
	maxTableRows = 256
)

// markedUp looks at a name in a cell of a table of HTML: it is the head of a column if its
// row is the table's first, and tells what the cell behind it holds if it is a row's first.
func (a *apart) markedUp(at int) {
	from := max(0, at-maxMarkup)
	open := lastTag(a.text[from:at], "tr")
	if open < 0 {
		a.described(at)
		return
	}
	open += from
	if open == a.row {
		return
	}
	a.row = open
	head, end := a.markedRow(open)
	if len(head) < 2 {
		return
	}
	if name := trimExtent(a.text, head[0], ": "); len(head) == 2 && isCellName(name.of(a.text)) {
		a.add(name, head[1])
	}
	before := a.text[from:open]
	table := lastTag(before, "table")
	if table < 0 || lastTag(before[table:], "/tr") >= 0 {
		return
	}
	for range maxTableRows {
		next := nextTag(a.text, end, "tr")
		if next < 0 || lastTag(a.text[end:next], "table") >= 0 || lastTag(a.text[end:next], "/table") >= 0 {
			return
		}
		var cells []extent
		if cells, end = a.markedRow(next); len(cells) != len(head) {
			return
		}
		a.below(head, cells)
	}
}

// described pairs a term of a list of HTML and what describes it.
func (a *apart) described(at int) {
	term := lastTag(a.text[max(0, at-maxNameApart):at], "dt")
	if term < 0 {
		return
	}
	name, end := a.marked(max(0, at-maxNameApart) + term)
	if next := nextTag(a.text, end, "dd"); next >= 0 {
		value, _ := a.marked(next)
		a.add(trimExtent(a.text, name, ": "), value)
	}
}

// markedRow reads the cells of a row that begins at an offset, and tells where it ends.
func (a *apart) markedRow(at int) (cells []extent, end int) {
	limit := min(len(a.text), at+maxMarkup)
	for end = at + len("<tr"); len(cells) < maxCells; {
		open := strings.IndexByte(a.text[end:limit], '<')
		if open < 0 {
			return nil, limit
		}
		end += open
		switch {
		case isTag(a.text[end:], "td"), isTag(a.text[end:], "th"):
			var cell extent
			cell, end = a.marked(end)
			cells = append(cells, cell)
		case isTag(a.text[end:], "/tr"), isTag(a.text[end:], "tr"), isTag(a.text[end:], "/table"):
			return cells, end
		default:
			end++
		}
	}
	return cells, end
}

// marked returns what an element that begins at an offset holds, without the elements
// around a text that is all of it, and where that ends.
func (a *apart) marked(at int) (e extent, end int) {
	limit := min(len(a.text), at+maxMarkup)
	for {
		closing := strings.IndexByte(a.text[at:limit], '>')
		if closing < 0 {
			return extent{at, at}, limit
		}
		at = skip(a.text, at+closing+1, " \t\r\n")
		next := strings.IndexByte(a.text[min(at, limit):limit], '<')
		if next < 0 {
			return extent{at, at}, limit
		}
		if next > 0 || at+1 == len(a.text) || a.text[at+1] == '/' {
			return trimExtent(a.text, extent{at, at + next}, " \t\r\n"), at + next
		}
		if isTag(a.text[at:], "td") || isTag(a.text[at:], "th") {
			return extent{at, at}, at
		}
	}
}

// isTag reports whether a text begins with a tag, in small letters or capitals.
func isTag(text, name string) bool {
	end := 1 + len(name)
	return len(text) > end && text[0] == '<' && strings.EqualFold(text[1:end], name) && !nameChar(text[end])
}

// lastTag and nextTag return where the last tag of a name stands in a text, or the next one
// from an offset on and not far from there, -1 if there is none.
func lastTag(text, name string) int {
	for at := len(text); ; {
		if at = strings.LastIndexByte(text[:at], '<'); at < 0 || isTag(text[at:], name) {
			return at
		}
	}
}

func nextTag(text string, at int, name string) int {
	for limit := min(len(text), at+maxNameApart); ; at++ {
		next := strings.IndexByte(text[at:limit], '<')
		if next < 0 {
			return -1
		}
		if at += next; isTag(text[at:], name) {
			return at
		}
	}
}
