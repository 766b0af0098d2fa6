package secrets

import "strings"

// nameFields are the fields of a record that tell a name, and valueFields those that
// tell its value, in lower case and without what joins their words.
var (
	nameFields = map[string]bool{
		"name": true, "key": true, "parameterkey": true, "parametername": true, "optionname": true, "variable": true,
		"varname": true, "param": true, "parameter": true, "paramname": true, "header": true, "field": true,
		"fieldname": true, "property": true, "setting": true, "envvar": true,
	}
	valueFields = map[string]bool{
		"value": true, "parametervalue": true, "optionvalue": true, "defaultvalue": true, "secretvalue": true,
		"stringvalue": true, "fieldvalue": true, "paramvalue": true, "default": true,
	}
	joints = strings.NewReplacer("-", "", "_", "")
)

// field is one of a record.
type field struct {
	name, value extent
	quoted      bool // the value
}

// fieldAt looks at a place where the name of a field may end that tells a value.
func (a *apart) fieldAt(start, end int) {
	if end == len(a.text) || nameChar(a.text[end]) { // each run of such characters is read once
		return
	}
	for start > 0 && nameChar(a.text[start-1]) {
		start--
	}
	if !valueFields[joints.Replace(strings.ToLower(a.text[start:end]))] {
		return
	}
	if start > 0 && a.text[start-1] == '<' {
		a.element(start, end)
		return
	}
	if start > 0 && (a.text[start-1] == '"' || a.text[start-1] == '\'') {
		start--
	}
	if f, _, ok := a.field(start); ok && f.value.start < f.value.end {
		a.record(start, f)
	}
}

func nameChar(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// field reads a field of JSON, of YAML, of settings or of code that begins at an offset,
// and tells where it ends.
func (a *apart) field(at int) (f field, end int, ok bool) {
	text := a.text
	if f.name, at, ok = a.scalar(at, &a.names); !ok {
		return f, at, false
	}
	at = skip(text, at, " \t")
	switch {
	case strings.HasPrefix(text[at:], "=>"), strings.HasPrefix(text[at:], ":="):
		at += 2
	case at < len(text) && (text[at] == ':' || text[at] == '='):
		at++
	default:
		return f, at, false
	}
	at = skip(text, at, " \t")
	if at < len(text) && text[at] == '\n' {
		return f, at, false
	}
	f.quoted = at < len(text) && strings.IndexByte("\"'`", text[at]) >= 0
	f.value, end, ok = a.scalar(at, &a.scalars)
	return f, end, ok
}

// scalar reads a string in quotes, or else up to a character that ends it.
func (a *apart) scalar(at int, until *stretch) (e extent, end int, ok bool) {
	text := a.text
	if at == len(text) || strings.IndexByte("{[(<", text[at]) >= 0 {
		return e, at, false
	}
	limit := min(len(text), at+maxValue)
	if quote := text[at]; strings.IndexByte("\"'`", quote) >= 0 {
		for i := at + 1; i < limit && text[i] != '\n'; i++ {
			if text[i] == '\\' {
				i++
			} else if text[i] == quote {
				return extent{at + 1, i}, i + 1, true
			}
		}
		return e, at, false
	}
	i := until.next(text, at, limit)
	return extent{at, i}, i, i > at && i-at < maxValue
}

func skip(text string, at int, set string) int {
	for at < len(text) && strings.IndexByte(set, text[at]) >= 0 {
		at++
	}
	return at
}

// record finds the name that belongs to the value in a field.
func (a *apart) record(at int, value field) {
	line := a.at.start(at)
	if a.text[at] != '"' && strings.TrimRight(a.text[line:at], margin+"-+") == "" {
		a.block(line, at-line, value)
		return
	}
	from := max(0, at-maxRecord)
	open := strings.LastIndexAny(a.text[from:at], "{}")
	if open < 0 || a.text[from+open] == '}' {
		return
	}
	open += from
	pos := open + 1
	for range maxFields {
		pos = skip(a.text, pos, " \t\r\n,")
		f, end, ok := a.field(pos)
		if !ok {
			break
		}
		if a.isName(f) {
			a.pair(f.value, value.value, value.quoted)
			return
		}
		pos = end
	}
	if name, ok := a.before(open); ok {
		a.pair(name, value.value, value.quoted)
	}
}

func (a *apart) isName(f field) bool {
	if name := f.name.of(a.text); name == "type" || name == "kind" {
		switch strings.ToLower(f.value.of(a.text)) {
		case "password", "passphrase", "secret", "client_secret", "api_key", "apikey":
			return true
		}
	}
	return nameFields[joints.Replace(strings.ToLower(f.name.of(a.text)))]
}

func (a *apart) pair(name, value extent, quoted bool) {
	if quoted {
		a.add(name, value)
	} else {
		a.addBare(name, value)
	}
}

// before returns the name that a record has: what stands before its brace.
func (a *apart) before(open int) (extent, bool) {
	at := len(strings.TrimRight(a.text[:open], " \t"))
	if at > 0 && (a.text[at-1] == ':' || a.text[at-1] == '=') {
		at = len(strings.TrimRight(a.text[:at-1], " \t"))
	}
	if at > 0 && a.text[at-1] == '"' {
		at--
		start := at
		for start > 0 && at-start < maxNameApart && a.text[start-1] != '"' && a.text[start-1] != '\n' {
			start--
		}
		return extent{start, at}, start > 0 && a.text[start-1] == '"'
	}
	start := a.nameStart(at)
	return extent{start, at}, start < at
}

// nameStart returns where the name of settings begins that ends at an offset, or a place
// that is too far from there for a name.
func (a *apart) nameStart(at int) int {
	start := at
	for start > 0 && at-start <= maxNameApart && (nameChar(a.text[start-1]) || a.text[start-1] == '.') {
		start--
	}
	return start
}

// block finds the name that belongs to a value in lines of fields, which begin in the same
// column: of a list's item, of a block, or of a table of settings.
func (a *apart) block(line, column int, value field) {
	// Where lines end without a comma, a value without quotes is one, and no name.
	after := skip(a.text, value.value.end, " \t\r")
	quoted := value.quoted || after == len(a.text) || a.text[after] == '\n'
	if v := value.value.of(a.text); !value.quoted && v[len(v)-1] == '"' { // of a string of JSON that the text is in
		value.value.end--
		quoted = true
	}
	if strings.IndexByte(a.text[line:line+column], '-') < 0 {
		for from, n := line, 0; from > 0 && a.text[from-1] == '\n' && n < maxFields; n++ {
			from = a.at.start(from - 1)
			f, first, ok := a.line(from, column)
			if !ok {
				if name, ok := a.parent(from, column); ok {
					a.pair(name, value.value, quoted)
				}
				return
			}
			if a.isName(f) {
				a.pair(f.value, value.value, quoted)
				return
			}
			if first {
				break
			}
		}
		return
	}
	from := line
	for range maxFields {
		next := strings.IndexByte(a.text[from:], '\n')
		if next < 0 {
			return
		}
		from += next + 1
		f, first, ok := a.line(from, column)
		if !ok || first {
			return
		}
		if a.isName(f) {
			a.pair(f.value, value.value, quoted)
			return
		}
	}
}

// line reads the field of a line that begins in a column, and tells whether it is the
// first of a list's item.
func (a *apart) line(at, column int) (f field, first, ok bool) {
	if at+column > len(a.text) || strings.Trim(a.text[at:at+column], margin+"-+") != "" || at+column == len(a.text) ||
		!nameChar(a.text[at+column]) && strings.IndexByte("\"'", a.text[at+column]) < 0 {
		return f, false, false
	}
	f, _, ok = a.field(at + column)
	return f, strings.IndexByte(a.text[at:at+column], '-') >= 0, ok
}

// parent reads the name of a block from the line above it, which begins further left.
func (a *apart) parent(at, column int) (extent, bool) {
	end := a.at.end(at)
	start := skip(a.text, at, margin+"-+")
	text := strings.TrimRight(a.text[start:end], " \t\r")
	if start-at >= column {
		return extent{}, false
	}
	if name, ok := strings.CutSuffix(text, ":"); ok {
		return extent{start, start + len(name)}, strings.IndexFunc(name, func(c rune) bool { return c > '~' || !nameChar(byte(c)) }) < 0
	}
	if strings.HasSuffix(text, "{") {
		return a.before(start + len(text) - 1)
	}
	return extent{}, false
}

// element pairs an element of XML that tells a value with the one before it that tells a
// name, or with the name of the one around it.
func (a *apart) element(start, end int) {
	open := strings.IndexByte(a.text[end:min(len(a.text), end+maxNameApart)], '>')
	if open < 0 || open > 0 && a.text[end] != ' ' || strings.IndexByte(a.text[end:end+open], '<') >= 0 || strings.HasSuffix(a.text[:end+open], "/") {
		return
	}
	end += open
	to := strings.IndexByte(a.text[end:min(len(a.text), end+maxValue)], '<')
	if to < 0 {
		return
	}
	value := extent{end + 1, end + to}
	head := strings.TrimRight(a.text[max(0, start-1-maxRecord):start-1], " \t\r\n")
	base := max(0, start-1-maxRecord)
	open = strings.LastIndexByte(head, '<')
	if open < 0 || !strings.HasSuffix(head, ">") {
		return
	}
	tag := head[open+1 : len(head)-1]
	if closed, ok := strings.CutPrefix(tag, "/"); ok {
		text := strings.LastIndexByte(head[:open], '>')
		if text >= 0 && strings.HasSuffix(head[:text], "<"+closed) && nameElement(closed) {
			a.add(extent{base + text + 1, base + open}, value)
		}
		return
	}
	for _, mark := range []string{`name="`, `key="`, `name='`, `key='`} {
		if i := strings.Index(tag, mark); i >= 0 {
			from := i + len(mark)
			if n := strings.IndexByte(tag[from:], mark[len(mark)-1]); n >= 0 {
				a.add(extent{base + open + 1 + from, base + open + 1 + from + n}, value)
				return
			}
		}
	}
}

func nameElement(tag string) bool { return nameFields[joints.Replace(strings.ToLower(tag))] }
