package secrets

import (
	"slices"
	"strings"
)

const (
	maxCells     = 60   // columns of a table
	maxHead      = 40   // bytes of a cell in either direction of a word that names a secret
	maxCellWords = 3    // of a name in a cell
	maxRows      = 64   // above a row that are looked at for the head of its table
	maxOverlap   = 8    // tables whose rows are the same lines
	maxColumns   = 4096 // bytes of the names of columns
)

// grid is a head whose rows are read once all heads are known: some lines look like heads
// of further tables among the rows of another. A row belongs to the nearest few before it.
type grid struct {
	head      []extent
	at        int    // of the head
	rows      int    // where they begin
	bar       string // between the cells, or none
	separator byte   // between them where there is no bar
}

// headParts are what the head of a column must have one of, in lower case.
var headParts = []string{
	"pass", "pwd", "psk", "secret", "token", "credential", "apikey", "api_key", "api key", "api-key", "access_key",
	"access key", "private_key", "private key", "encryption_key", "encryption-key", "encryptionkey", "signing_key", "signing-key",
	"master_key", "auth_key", "session_key", "account_key", "app_key", "jwt_key",
}

// cell looks at a place where a part of a name ends, and reads the table if it is the head
// of a column or the first cell of a row. A table has bars between its columns, as those
// of Markdown and those that databases and other programs print, or it is of separated
// values.
func (a *apart) cell(at, end int) {
	a.under(at, end)
	start := at
	for last := min(len(a.text), end+maxHead); end < last && cellChar[a.text[end]]; {
		end++
	}
	for first := max(0, start-maxHead); start > first && cellChar[a.text[start-1]]; {
		start--
	}
	if start > 0 && a.text[start-1] == '>' && strings.HasPrefix(a.text[end:], "</") {
		a.markedUp(start)
		return
	}
	bar := ""
	for _, b := range bars {
		if strings.HasPrefix(a.text[end:], b) || strings.HasSuffix(a.text[:start], b) {
			bar = b
		}
	}
	if bar == "" && !(end < len(a.text) && strings.IndexByte(separators+"\r\n", a.text[end]) >= 0 &&
		(start == 0 || strings.IndexByte(separators+"\n", a.text[start-1]) >= 0)) {
		return
	}
	from := a.at.start(at)
	if a.head >= from {
		return
	}
	a.head = from
	line := extent{from, a.at.end(end)}
	if bar == "" {
		a.columns(line)
	} else {
		a.barred(line, bar)
	}
}

var bars = [...]string{"|", "│"}

const separators = ",;\t"

// cellChar tells what a name in a cell and the marks around it are made of.
var cellChar = func() (set [256]bool) {
	for c := range set {
		set[c] = nameChar(byte(c)) || strings.IndexByte(" .*`\"':", byte(c)) >= 0
	}
	return set
}()

// barred reads a line of a table that has bars between its columns: a name and its value,
// or the heads of columns.
func (a *apart) barred(line extent, bar string) {
	cells, closed := a.cells(line, bar)
	if strings.HasPrefix(strings.TrimSpace(line.of(a.text)), bar+bar) { // a head in a wiki
		cells, closed = a.cells(line, bar+bar)
	}
	if len(cells) < 2 {
		return
	}
	for i := range cells {
		cells[i] = trimExtent(a.text, cells[i], ":*`")
	}
	if name := cells[0].of(a.text); isCellName(name) {
		if closed || name == strings.ToUpper(name) || len(cells) == 2 && a.aligned(line, bar) {
			a.add(cells[0], cells[1])
		}
		if last := len(cells) - 1; last > 1 && name == strings.ToUpper(name) {
			a.add(cells[0], cells[last]) // its default, or what it is set to
		}
	}
	if line.start > 0 {
		above := extent{a.at.start(line.start - 1), line.start - 1}
		if rule := isRule(above.of(a.text)); rule && above.start > 0 {
			above = extent{a.at.start(above.start - 1), above.start - 1}
			if above.start == above.end {
				above.end = line.start - 1
			}
		}
		if strings.Contains(above.of(a.text), bar) {
			return // it is not the first one
		}
	}
	at := line.end + 1
	if at < len(a.text) && !closed && strings.Contains(line.of(a.text), " ") && !isRule(a.text[at:a.at.end(at)]) {
		return
	}
	a.tables = append(a.tables, grid{head: cells, at: line.start, rows: at, bar: bar})
}

// readTables reads the rows of all tables.
func (a *apart) readTables() {
	for i, t := range a.tables {
		limit := len(a.text)
		if i+maxOverlap < len(a.tables) {
			limit = a.tables[i+maxOverlap].at
		}
		if !slices.ContainsFunc(t.head, a.isSecret) {
			continue
		}
		for at := t.rows; at < limit; {
			row := extent{at, a.at.end(at)}
			at = row.end + 1
			if t.bar == "" {
				if at = a.closing(row); at > row.end+1 {
					continue
				}
				cells := a.split(row, t.separator)
				if len(cells) != len(t.head) {
					break
				}
				a.below(t.head, cells)
				continue
			}
			if isRule(row.of(a.text)) {
				continue
			}
			if !strings.Contains(row.of(a.text), t.bar) {
				break
			}
			cells, _ := a.cells(row, t.bar)
			if len(cells)+1 == len(t.head) && strings.HasSuffix(strings.TrimSpace(row.of(a.text)), t.bar) {
				cells = append(cells, extent{row.end, row.end}) // the last one is empty
			}
			if len(cells) > 0 {
				a.below(t.head, cells)
			}
		}
	}
}

// closing returns where the row behind this one begins: a cell in quotes may hold ends of lines.
func (a *apart) closing(row extent) int {
	if strings.Count(row.of(a.text), `"`)%2 == 0 {
		return row.end + 1
	}
	for end, n := row.end, 0; end < len(a.text) && n < maxRows; n++ {
		line := extent{end + 1, a.at.end(min(end+1, len(a.text)))}
		if line.start > len(a.text) {
			break
		}
		if strings.Count(line.of(a.text), `"`)%2 == 1 {
			return line.end + 1
		}
		end = line.end
	}
	return row.end + 1
}

// isSecret reports whether a column has a secret's name.
func (a *apart) isSecret(head extent) bool {
	name := head.of(a.text)
	return isCellName(name) && isHead(name)
}

// aligned reports whether the line above has its bar in the same column, as where a
// database prints a record with a line for each of its fields.
func (a *apart) aligned(line extent, bar string) bool {
	if line.start == 0 {
		return false
	}
	above := a.text[a.at.start(line.start-1) : line.start-1]
	column := strings.Index(line.of(a.text), bar)
	return column > 0 && (strings.Index(above, bar) == column || strings.HasPrefix(above, "-[ "))
}

// below pairs the cells of a row with the heads of their columns.
func (a *apart) below(head, cells []extent) {
	if len(head) != len(cells) {
		return
	}
	for i, name := range head {
		if a.isSecret(name) {
			a.add(name, cells[i])
		}
	}
}

func isHead(name string) bool {
	if len(name) > maxNameApart {
		return false
	}
	lower := strings.ToLower(name)
	return slices.ContainsFunc(headParts, func(part string) bool { return strings.Contains(lower, part) })
}

// isRule reports whether a line is drawn, between the head of a table and its rows.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Trim(line, "+-=|: ─━═┼├┤┌┬┐└┴┘╞╪╡╒╤╕│>\t\r") == ""
}

// cells returns the cells of a row without the marks around what they hold, and whether
// the row has a bar at both ends.
func (a *apart) cells(line extent, bar string) (cells []extent, closed bool) {
	row := strings.TrimSpace(line.of(a.text))
	closed = strings.HasPrefix(row, bar) && strings.HasSuffix(row, bar)
	for at := line.start; len(cells) < maxCells; {
		end := strings.Index(a.text[at:line.end], bar)
		last := end < 0
		if end += at; last {
			end = line.end
		}
		if cell := trimExtent(a.text, extent{at, end}, " \t\r*`\"'"); cell.start < cell.end || len(cells) > 0 && !last {
			cells = append(cells, cell)
		}
		if at = end + len(bar); last {
			break
		}
	}
	for closed && len(cells) > 0 && cells[len(cells)-1].start == cells[len(cells)-1].end {
		cells = cells[:len(cells)-1]
	}
	return cells, closed
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

// columns notes a line of names, which is the first of its table: a word
// that names a secret may stand in any row.
func (a *apart) columns(line extent) {
	separator := byte(',')
	if a.tabs.next(a.text, line.start, line.end) < line.end {
		separator = '\t'
	} else if a.halves.next(a.text, line.start, line.end) < line.end {
		separator = ';'
	}
	head := a.split(line, separator)
	if len(head) < 2 {
		return
	}
	if line.start > 0 {
		above := extent{a.at.start(line.start - 1), line.start - 1}
		if len(a.split(above, separator)) == len(head) {
			if slices.ContainsFunc(head, func(e extent) bool { return isCellName(e.of(a.text)) && isHead(e.of(a.text)) }) {
				a.named(line, head, separator)
			}
			return
		}
	}
	if slices.ContainsFunc(head, func(e extent) bool { return !isCellName(e.of(a.text)) }) {
		return
	}
	a.tables = append(a.tables, grid{head: head, at: line.start, rows: line.end + 1, separator: separator})
}

// named pairs two cells of a row in a table whose head calls one the name and the other the
// value.
func (a *apart) named(line extent, row []extent, separator byte) {
	start := line.start
	for range maxRows {
		if start == 0 {
			break
		}
		above := extent{a.at.start(start - 1), start - 1}
		if len(a.split(above, separator)) != len(row) {
			break
		}
		start = above.start
	}
	head := a.split(extent{start, a.at.end(start)}, separator)
	name, value := -1, -1
	for i, e := range head {
		switch field := joints.Replace(strings.ToLower(e.of(a.text))); {
		case nameFields[field]:
			name = i
		case valueFields[field]:
			value = i
		}
	}
	if name >= 0 && value >= 0 && isCellName(row[name].of(a.text)) {
		a.add(row[name], row[value])
	}
}

// split returns the cells of a line of separated values, which may be in quotes.
func (a *apart) split(line extent, separator byte) []extent {
	var cells []extent
	for at := line.start; len(cells) < maxCells; {
		end := at
		if at < line.end && a.text[at] == '"' {
			if i := strings.IndexByte(a.text[at+1:line.end], '"'); i >= 0 {
				end = at + 1 + i
			}
		}
		if i := strings.IndexByte(a.text[end:line.end], separator); i >= 0 {
			end += i
		} else {
			end = line.end
		}
		cells = append(cells, trimExtent(a.text, extent{at, end}, " \t\r\"'"))
		if at = end + 1; end == line.end {
			break
		}
	}
	return cells
}

// inserted reads the rows of SQL's INSERT, behind these words.
func (a *apart) inserted(at int) {
	open := strings.IndexByte(a.text[at:min(len(a.text), at+2*maxNameApart)], '(')
	if open < 0 {
		return
	}
	head, at := a.tuple(at + open)
	if !slices.ContainsFunc(head, func(e extent) bool { return isHead(e.of(a.text)) }) {
		return
	}
	at = skip(a.text, at, " \t\r\n")
	if !strings.EqualFold(a.text[at:min(len(a.text), at+6)], "values") {
		return
	}
	for at = skip(a.text, at+6, " \t\r\n"); at < len(a.text) && a.text[at] == '('; at = skip(a.text, at, ", \t\r\n") {
		var row []extent
		row, at = a.tuple(at)
		a.below(head, row)
	}
}

// tuple reads a list in parentheses and returns where it ends.
func (a *apart) tuple(at int) (items []extent, end int) {
	text := a.text
	for at++; at < len(text) && len(items) < maxCells; at++ {
		at = skip(text, at, " \t\r\n")
		start := at
		if at < len(text) && text[at] == '\'' {
			for at++; at < len(text) && (text[at] != '\'' || at+1 < len(text) && text[at+1] == '\''); at++ {
				if text[at] == '\\' || text[at] == '\'' {
					at++
				}
			}
		}
		at = a.parts.next(text, min(at, len(text)), len(text))
		items = append(items, trimExtent(text, extent{start, at}, " \t\r\n'\"`[]"))
		if at < len(text) && text[at] == ')' {
			return items, at + 1
		}
	}
	return items, min(at, len(text))
}

// copied notes the names in PostgreSQL's COPY, before these words.
func (a *apart) copied(at int) {
	line := max(a.at.start(at), at-maxColumns)
	open := strings.LastIndexByte(a.text[line:at], '(')
	if open < 0 {
		return
	}
	head, _ := a.tuple(line + open)
	a.tables = append(a.tables, grid{head: head, at: line + open, rows: a.at.end(at) + 1, separator: '\t'})
}
