package secrets

import (
	"slices"
	"strings"

	"memoir/internal/lazyregexp"
)

// In a table, a value stands below its name, but rules match a name directly before its value. Therefore, each pair
// is searched as a line of `"name":"value"`.

const (
	maxCells     = 60   // columns read in a row
	maxCellWords = 3    // words in a name
	maxHead      = 80   // bytes in a name
	maxCell      = 4096 // bytes in a value
)

// headParts are strings, in lower case, that the name of a secret's column contains. The matcher finds them together
// with the literals of the rules.
var headParts = []string{
	"pass", "pwd", "psk", "secret", "token", "credential", "apikey", "api_key", "api key", "api-key", "access_key",
	"access key", "private_key", "private key", "encryption_key", "encryption-key", "encryptionkey", "signing_key",
	"signing-key",
	"master_key", "auth_key", "session_key", "account_key", "app_key", "jwt_key",
}

// extent is a byte range of a text.
type extent struct{ start, end int }

func (e extent) of(text string) string { return text[e.start:e.end] }

func all(text string) extent { return extent{0, len(text)} }

// pairs collects the names and values from the tables of a text, as lines.
type pairs struct {
	text     string
	lines    strings.Builder
	values   []segment
	prefixed bool // lines are read without what linePrefix matches
}

// linePrefix matches what tools print before a line: its number, file, time, or the mark of a diff or comment.
var linePrefix = lazyregexp.New(`^(?:` +
	`\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d[\d.,]{0,7}(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]{1,3}` +
	`(?:(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR)[ \t]{1,3})?(?:\[[^\]\n]{1,40}\][ \t])?` +
	`|[A-Z][a-z]{2} [ \d]\d [\d:]{8} \S{1,60} \S{1,60}: ` +
	`|[ \t]{0,8}\d{1,6}(?:→|\t| ?\| |[:.] ?|-)|[\w./@~+-]{1,120}(?::\d{1,6}: ?|-\d{1,6}-|[ \t]{1,9}\| )` +
	`|[ \t]{0,12}(?:[-+#;$*!│]|//|--) ?)`)

// trimmed returns a line without its prefix, which goes up to the first bar of a row that ends in one.
func (p *pairs) trimmed(line extent) extent {
	if p.prefixed {
		if at := linePrefix.FindStringIndex(line.of(p.text)); at != nil {
			line.start += at[1]
		}
		if row := strings.TrimRight(line.of(p.text), " \t\r"); strings.HasSuffix(row, "|") {
			line.start += strings.IndexByte(row, '|')
		}
	}
	return line
}

// segment is a value: its offset in the lines, its offset in the text, and its length in bytes.
type segment struct{ at, raw, length int }

// findInTables returns the findings in tables. heads are the offsets of headParts in the text.
func (set *ruleSet) findInTables(text string, heads []int) []finding {
	p := &pairs{text: text}
	read := 0
	for _, at := range heads {
		if at < read {
			continue
		}
		known, line := len(p.values), lineOf(text, at)
		p.prefixed = false
		if read = p.table(line, at); len(p.values) == known && mayBePrefixed(text, line, at) {
			p.prefixed = true
			read = max(read, p.table(line, at))
		}
	}
	if len(p.values) == 0 {
		return nil
	}
	var found []finding
	known, _ := set.findRules(p.lines.String())
	for _, f := range known {
		i, same := slices.BinarySearchFunc(p.values, f.start, func(v segment, at int) int { return v.at - at })
		if !same {
			i--
		}
		if i < 0 || f.end > p.values[i].at+p.values[i].length {
			continue
		}
		v := p.values[i]
		f.start, f.end = v.raw+f.start-v.at, v.raw+f.end-v.at
		f.matchStart, f.matchEnd = f.start, f.end
		found = append(found, f)
	}
	return found
}

// table reads the table whose header row is line, with a part of a name at offset at, and returns the offset up to
// which it read. Bars, tabs, semicolons or commas separate the columns. A line that is no header row is skipped.
func (p *pairs) table(line extent, at int) (read int) {
	start := line.start
	above := extent{}                                                // the line before the header row
	if i := strings.LastIndex(p.text[line.start:at], `:"`); i >= 0 { // inside a JSON string
		line.start += i + len(`:"`)
	} else if line.start > 0 {
		above = p.trimmed(lineOf(p.text, line.start-1))
	}
	if line = p.trimmed(line); p.prefixed && line.start == start {
		return line.end
	}
	separator := ""
	for _, s := range []string{"|", "│", "\t", ";", ","} {
		if strings.Contains(line.of(p.text), s) {
			separator = s
			break
		}
	}
	if separator == "" {
		return line.end
	}
	head := p.cells(line, separator)
	first := len(p.cells(above, separator)) != len(head) || isRule(above.of(p.text))
	if len(head) < 2 || !first || !slices.ContainsFunc(head, p.namesSecret) || !p.isHead(line, head, separator) {
		return line.end
	}
	return p.rows(line, head, separator)
}

// rows adds the values below a header row, and returns the offset up to which it read.
func (p *pairs) rows(line extent, head []extent, separator string) (read int) {
	for row := p.below(line); row.start < len(p.text); row = p.below(row) {
		if !isRule(row.of(p.text)) {
			cells := p.cells(row, separator)
			if i := strings.IndexByte(row.of(p.text), '"'); len(cells) != len(head) && i > 0 { // the end of a JSON string
				cells = p.cells(extent{row.start, row.start + i}, separator)
			}
			if len(cells) != len(head) {
				break
			}
			inside := isRule(line.of(p.text)) && p.isHead(row, cells, separator) // perhaps the header of another table
			for i, name := range head {
				if p.namesSecret(name) {
					p.add(name.of(p.text), cells[i])
				} else if inside && p.namesSecret(cells[i]) {
					head[i] = cells[i]
				}
			}
		}
		line = row
	}
	return line.end
}

// isHead reports whether a line is a header row: all cells are names, it begins with the separator, or a line of
// dashes follows.
func (p *pairs) isHead(line extent, cells []extent, separator string) bool {
	text := line.of(p.text)
	if separator == "|" && strings.Contains(text, "||") {
		return false
	}
	return !slices.ContainsFunc(cells, func(e extent) bool { return !isCellName(e.of(p.text)) }) ||
		strings.HasPrefix(strings.TrimLeft(text, " \t>"), separator) || isRule(p.below(line).of(p.text))
}

// mayBePrefixed reports whether a line with a part of a name at an offset may be the header row of a table behind a
// prefix. It is cheaper than linePrefix.
func mayBePrefixed(text string, line extent, at int) bool {
	for at < line.end && (nameChar(text[at]) || text[at] == ' ') {
		at++
	}
	return (at == line.end || strings.IndexByte(",;|\t\r\xe2", text[at]) >= 0) &&
		!strings.ContainsAny(line.of(text), `(){}=<>"'`)
}

// add adds a pair as a line, unless the value is empty, equal to the name or too long. A quotation mark ends it.
func (p *pairs) add(name string, value extent) {
	v, _, _ := strings.Cut(value.of(p.text), `"`)
	if v == "" || strings.EqualFold(name, v) || len(v) > maxCell {
		return
	}
	p.lines.WriteString(`"` + name + `":"`)
	p.values = append(p.values, segment{p.lines.Len(), value.start, len(v)})
	p.lines.WriteString(v + "\"\n")
}

// namesSecret reports whether the cell of a header row is the name of a secret.
func (p *pairs) namesSecret(head extent) bool {
	name := strings.ToLower(head.of(p.text))
	return len(name) <= maxHead && isCellName(name) &&
		slices.ContainsFunc(headParts, func(part string) bool { return strings.Contains(name, part) })
}

// isCellName reports whether a cell can be a name: at most maxCellWords words of letters, digits, _, -, . and /.
func isCellName(cell string) bool {
	for i := range len(cell) {
		if cell[i] != ' ' && !nameChar(cell[i]) && cell[i] != '.' && cell[i] != '/' {
			return false
		}
	}
	return cell != "" && strings.Count(cell, " ") < maxCellWords
}

// isRule reports whether a line only separates rows: dashes, bars and box-drawing characters.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Trim(line, "+-=|: ─━═┼├┤┌┬┐└┴┘╞╪╡╒╤╕│>\t\r") == ""
}

// cells returns the cells of a row, without quotes and emphasis around their text. The bars around a framed row add
// no cells. A quoted cell may contain the separator.
func (p *pairs) cells(line extent, separator string) (cells []extent) {
	row := trimExtent(p.text, line, " \r>")
	if rest, framed := strings.CutPrefix(row.of(p.text), separator); framed && separator != "," {
		row.start += len(separator)
		if strings.HasSuffix(rest, separator) {
			row.end -= len(separator)
		}
	}
	for at := row.start; len(cells) < maxCells; {
		end := at
		if at < row.end && p.text[at] == '"' {
			if i := strings.IndexByte(p.text[at+1:row.end], '"'); i >= 0 {
				end = at + 1 + i
			}
		}
		i := strings.Index(p.text[end:row.end], separator)
		if end += i; i < 0 {
			end = row.end
		}
		cells = append(cells, trimExtent(p.text, extent{at, end}, " \t\r*`\"'"))
		if i < 0 {
			break
		}
		at = end + len(separator)
	}
	return cells
}

// below returns the line after another line, or an empty extent at the end of the text.
func (p *pairs) below(line extent) extent {
	if line.end >= len(p.text) {
		return extent{len(p.text), len(p.text)}
	}
	return p.trimmed(lineOf(p.text, line.end+1))
}

// lineOf returns the line at an offset, without its line break.
func lineOf(text string, at int) extent { return nearby(text, at, at, len(text)) }

// nearby returns text[start:end] with the rest of its first and its last line, at most most bytes on each side.
func nearby(text string, start, end, most int) extent {
	from, to := max(0, start-most), min(len(text), end+most)
	from += strings.LastIndexByte(text[from:start], '\n') + 1
	if i := strings.IndexByte(text[end:to], '\n'); i >= 0 {
		to = end + i
	}
	return extent{from, to}
}

func trimExtent(text string, e extent, cut string) extent {
	for e.start < e.end && strings.IndexByte(cut, text[e.start]) >= 0 {
		e.start++
	}
	for e.start < e.end && strings.IndexByte(cut, text[e.end-1]) >= 0 {
		e.end--
	}
	return e
}

func nameChar(c byte) bool { return wordChar(c) || c == '-' }
