package secrets

import (
	"slices"
	"strings"
)

// In a table, values stand below the head of their column, and rules know names that stand right
// before their values. Such pairs are searched as lines of `"name":"value"`.

const (
	maxCells     = 60   // columns of a table
	maxCellWords = 3    // of a name in a cell
	maxHead      = 80   // bytes of a name
	maxCell      = 4096 // bytes of a value
)

// headParts are what the head of a column must have one of, in lower case. They are looked for
// together with what rules look for.
var headParts = []string{
	"pass", "pwd", "psk", "secret", "token", "credential", "apikey", "api_key", "api key", "api-key", "access_key",
	"access key", "private_key", "private key", "encryption_key", "encryption-key", "encryptionkey", "signing_key",
	"signing-key",
	"master_key", "auth_key", "session_key", "account_key", "app_key", "jwt_key",
}

// extent is a part of a text.
type extent struct{ start, end int }

func (e extent) of(text string) string { return text[e.start:e.end] }

// pairs are the names and values of a text's tables, as lines.
type pairs struct {
	text   string
	lines  strings.Builder
	values []segment
}

// segment says which part of the lines is a value, and where in the text that is.
type segment struct{ at, raw, length int }

// findInTables returns the findings in tables whose heads have one of headParts at the offsets.
func (set *ruleSet) findInTables(text string, heads []int) []finding {
	p := &pairs{text: text}
	read := 0
	for _, at := range heads {
		if at >= read {
			read = p.table(lineOf(text, at), at)
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
		f.text = text
		f.start, f.end = v.raw+f.start-v.at, v.raw+f.end-v.at
		f.matchStart, f.matchEnd = f.start, f.end
		found = append(found, f)
	}
	return found
}

// table reads the table whose head is a line with the part of a name at an offset, if it is one, and
// returns how far it read. A table has bars between its columns, as those of Markdown and of
// databases, or is of separated values.
func (p *pairs) table(line extent, at int) (read int) {
	above := extent{}                                                // the line before the head
	if i := strings.LastIndex(p.text[line.start:at], `:"`); i >= 0 { // in a string of JSON
		line.start += i + len(`:"`)
	} else if line.start > 0 {
		above = lineOf(p.text, line.start-1)
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
	for row := p.below(line); row.start < len(p.text); row = p.below(row) {
		if !isRule(row.of(p.text)) {
			cells := p.cells(row, separator)
			if len(cells) != len(head) {
				break
			}
			for i, name := range head {
				if p.namesSecret(name) {
					p.add(name.of(p.text), cells[i])
				}
			}
		}
		line = row
	}
	return line.end
}

// isHead reports whether a line is the head of a table: all of its cells are names, it stands in a
// frame, or a line is drawn below it.
func (p *pairs) isHead(line extent, cells []extent, separator string) bool {
	text := line.of(p.text)
	if separator == "|" && strings.Contains(text, "||") {
		return false
	}
	return !slices.ContainsFunc(cells, func(e extent) bool { return !isCellName(e.of(p.text)) }) ||
		strings.HasPrefix(strings.TrimLeft(text, " \t>"), separator) || isRule(p.below(line).of(p.text))
}

// add notes that a name and a value belong together.
func (p *pairs) add(name string, value extent) {
	v := value.of(p.text)
	if v == "" || strings.EqualFold(name, v) || len(v) > maxCell || strings.ContainsAny(v, "\"\n") {
		return
	}
	p.lines.WriteString(`"` + name + `":"`)
	p.values = append(p.values, segment{p.lines.Len(), value.start, len(v)})
	p.lines.WriteString(v + "\"\n")
}

// namesSecret reports whether the head of a column is a secret's name.
func (p *pairs) namesSecret(head extent) bool {
	name := strings.ToLower(head.of(p.text))
	return len(name) <= maxHead && isCellName(name) &&
		slices.ContainsFunc(headParts, func(part string) bool { return strings.Contains(name, part) })
}

// isCellName reports whether a cell may be a name: a few words of letters.
func isCellName(cell string) bool {
	for i := range len(cell) {
		if cell[i] != ' ' && !nameChar(cell[i]) && cell[i] != '.' && cell[i] != '/' {
			return false
		}
	}
	return cell != "" && strings.Count(cell, " ") < maxCellWords
}

// isRule reports whether a line is drawn, between the head of a table and its rows.
func isRule(line string) bool {
	return len(line) >= 3 && strings.Trim(line, "+-=|: ─━═┼├┤┌┬┐└┴┘╞╪╡╒╤╕│>\t\r") == ""
}

// cells returns the cells of a row without the marks around what they hold. A bar at the
// beginning or the end of a framed row is none of them, and what is in quotes is one cell.
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

// below returns the line behind another one, an empty one at the end of the text.
func (p *pairs) below(line extent) extent {
	if line.end >= len(p.text) {
		return extent{len(p.text), len(p.text)}
	}
	return lineOf(p.text, line.end+1)
}

// lineOf returns the line that an offset is in, without its break.
func lineOf(text string, at int) extent {
	line := extent{strings.LastIndexByte(text[:at], '\n') + 1, len(text)}
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		line.end = at + i
	}
	return line
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
