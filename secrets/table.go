package secrets

import (
	"slices"
	"strings"
)

const (
	maxCells     = 60 // columns of a table
	maxHead      = 40 // bytes of a cell in either direction of a word that names a secret
	maxCellWords = 3  // of a name in a cell
)

// headParts are what the head of a column must have one of, in lower case.
var headParts = []string{
	"pass", "pwd", "psk", "secret", "token", "credential", "apikey", "api_key", "api key", "api-key", "access_key",
	"access key", "private_key", "private key", "encryption_key", "encryption-key", "encryptionkey", "signing_key",
	"signing-key",
	"master_key", "auth_key", "session_key", "account_key", "app_key", "jwt_key",
}

// cell looks at a place where a part of a name stands, and reads the table if it is in the head
// of a column. A table has bars between its columns, as those of Markdown and those that
// databases and other programs print, or it is of separated values.
func (a *apart) cell(at, end int) {
	if at < a.read {
		return
	}
	start := at
	for last := min(len(a.text), end+maxHead); end < last && cellChar[a.text[end]]; {
		end++
	}
	for first := max(0, start-maxHead); start > first && cellChar[a.text[start-1]]; {
		start--
	}
	before, behind := a.text[:start], a.text[end:]
	for _, bar := range []string{"|", "│"} {
		if strings.HasPrefix(behind, bar) || strings.HasSuffix(before, bar) {
			a.barred(a.lineAt(at), bar)
			return
		}
	}
	const separators = ",;\t\r\n"
	if (behind == "" || strings.IndexByte(separators, behind[0]) >= 0) &&
		(before == "" || strings.IndexByte(separators, before[start-1]) >= 0) {
		a.separated(a.lineAt(at))
	}
}

// cellChar tells what a name in a cell and the marks around it are made of.
var cellChar = func() (set [256]bool) {
	for c := range set {
		set[c] = nameChar(byte(c)) || strings.IndexByte(" .*`\"':", byte(c)) >= 0
	}
	return set
}()

// barred reads a table that has bars between its columns, if a line is its head, or a row of
// two cells in a frame: a name and its value.
func (a *apart) barred(line extent, bar string) {
	a.read = line.end
	head, closed := a.cells(line, bar)
	a.row(head, closed)
	if above, ok := a.lineAbove(line); ok && !isRule(above.of(a.text)) && strings.Contains(above.of(a.text), bar) {
		return // it is not the first one
	}
	below, ok := a.lineBelow(line)
	drawn := closed || !strings.Contains(line.of(a.text), " ") || ok && isRule(below.of(a.text))
	if !drawn || len(head) < 2 || !slices.ContainsFunc(head, a.namesSecret) {
		return
	}
	for row := below; ok; row, ok = a.lineBelow(row) {
		if isRule(row.of(a.text)) {
			continue
		}
		if !strings.Contains(row.of(a.text), bar) {
			break
		}
		cells, closed := a.cells(row, bar)
		a.below(head, cells)
		a.row(cells, closed)
		a.read = row.end
	}
}

// row pairs the two cells of a row in a frame.
func (a *apart) row(cells []extent, closed bool) {
	if closed && len(cells) == 2 {
		a.below([]extent{trimExtent(a.text, cells[0], ":*`")}, cells[1:])
	}
}

// separated reads a table of separated values, if a line is its head: all names.
func (a *apart) separated(line extent) {
	a.read = line.end
	separator := ","
	if text := line.of(a.text); strings.Contains(text, "\t") {
		separator = "\t"
	} else if strings.Contains(text, ";") {
		separator = ";"
	}
	head := a.split(line, separator)
	if len(head) < 2 || slices.ContainsFunc(head, func(e extent) bool { return !isCellName(e.of(a.text)) }) {
		return
	}
	if above, ok := a.lineAbove(line); ok && len(a.split(above, separator)) == len(head) {
		return // it is not the first one
	}
	for row, ok := a.lineBelow(line); ok; row, ok = a.lineBelow(row) {
		cells := a.split(row, separator)
		if len(cells) != len(head) {
			break
		}
		a.below(head, cells)
		a.read = row.end
	}
}

// below pairs the cells of a row with the heads of their columns.
func (a *apart) below(head, cells []extent) {
	if len(head) != len(cells) {
		return
	}
	for i, name := range head {
		if a.namesSecret(name) {
			a.add(name, cells[i])
		}
	}
}

// namesSecret reports whether the head of a column is a secret's name.
func (a *apart) namesSecret(head extent) bool {
	name := strings.ToLower(head.of(a.text))
	return len(name) <= maxNameApart && isCellName(name) &&
		slices.ContainsFunc(headParts, func(part string) bool { return strings.Contains(name, part) })
}

// isCellName reports whether a cell may be a name: a few words of letters.
func isCellName(cell string) bool {
	words := 1
	for i := range len(cell) {
		if cell[i] == ' ' {
			words++
		} else if !nameChar(cell[i]) && cell[i] != '.' && cell[i] != '/' {
			return false
		}
	}
	return cell != "" && words <= maxCellWords
}

// isRule reports whether a line is drawn, between the head of a table and its rows.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Trim(line, "+-=|: ─━═┼├┤┌┬┐└┴┘╞╪╡╒╤╕│>\t\r") == ""
}

// cells returns the cells of a row without the marks around what they hold, and whether the
// row has a bar at both ends. An empty cell counts.
func (a *apart) cells(line extent, bar string) (cells []extent, closed bool) {
	row := trimExtent(a.text, line, " \t\r>")
	if text := row.of(a.text); strings.HasPrefix(text, bar) {
		row.start += len(bar)
		if closed = row.start < row.end && strings.HasSuffix(text, bar); closed {
			row.end -= len(bar)
		}
	}
	for at := row.start; len(cells) < maxCells; {
		end := strings.Index(a.text[at:row.end], bar)
		last := end < 0
		if end += at; last {
			end = row.end
		}
		cells = append(cells, trimExtent(a.text, extent{at, end}, " \t\r*`\"'"))
		if last {
			break
		}
		at = end + len(bar)
	}
	return cells, closed
}

// split returns the cells of a line of separated values, which may be in quotes.
func (a *apart) split(line extent, separator string) []extent {
	var cells []extent
	for at := line.start; len(cells) < maxCells; {
		end := at
		if at < line.end && a.text[at] == '"' {
			if i := strings.IndexByte(a.text[at+1:line.end], '"'); i >= 0 {
				end = at + 1 + i
			}
		}
		last := false
		if i := strings.Index(a.text[end:line.end], separator); i >= 0 {
			end += i
		} else {
			end, last = line.end, true
		}
		cells = append(cells, trimExtent(a.text, extent{at, end}, " \t\r\"'"))
		if last {
			break
		}
		at = end + len(separator)
	}
	return cells
}
