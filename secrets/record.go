package secrets

import "strings"

const (
	maxRecord = 600 // bytes of a record that are looked at, in either direction
	maxFields = 8   // fields of a record, in either direction
)

// nameFields are the fields of a record that tell a name, and valueFields those that tell its
// value, in lower case and without what joins their words.
var (
	nameFields  = map[string]bool{"name": true, "key": true, "parameterkey": true, "variable": true}
	valueFields = map[string]bool{"value": true, "parametervalue": true}
	joints      = strings.NewReplacer("-", "", "_", "")
)

// field is one of a record.
type field struct {
	name, value extent
	quoted      bool // the value
}

func (f field) in(text string, names map[string]bool) bool {
	return names[joints.Replace(strings.ToLower(f.name.of(text)))]
}

func nameChar(c byte) bool { return wordChar(c) || c == '-' }

func skip(text string, at int, set string) int {
	for at < len(text) && strings.IndexByte(set, text[at]) >= 0 {
		at++
	}
	return at
}

// fieldAt looks at a place where the name of a field may stand that tells a value, and pairs
// it with the name that its record tells.
func (a *apart) fieldAt(start, end int) {
	if end == len(a.text) || nameChar(a.text[end]) { // each run of such characters is read once
		return
	}
	for first := max(0, start-maxNameApart); start > first && nameChar(a.text[start-1]); {
		start--
	}
	if start > 0 && strings.IndexByte(`"'`, a.text[start-1]) >= 0 {
		start--
	}
	value, _, ok := a.field(start)
	if !ok || !value.in(a.text, valueFields) || value.value.start == value.value.end {
		return
	}
	line := a.lineAt(start)
	if c := a.text[start]; c != '"' && c != '\'' && strings.Trim(a.text[line.start:start], margin+"-+") == "" {
		a.block(line, start-line.start, value)
		return
	}
	from := max(0, start-maxRecord)
	open := strings.LastIndexAny(a.text[from:start], "{}")
	if open < 0 || a.text[from+open] == '}' {
		return
	}
	at := from + open + 1
	for range maxFields {
		f, end, ok := a.field(skip(a.text, at, " \t\r\n,"))
		if !ok {
			return
		}
		if f.in(a.text, nameFields) {
			if value.quoted || !f.quoted { // else the value is a variable of the code
				a.add(f.value, value.value)
			}
			return
		}
		at = end
	}
}

// field reads a field of JSON, YAML, TOML or code that begins at an offset, and tells where it
// ends.
func (a *apart) field(at int) (f field, end int, ok bool) {
	if f.name, at, ok = a.scalar(at, ":= \t\n"); !ok {
		return f, at, false
	}
	at = skip(a.text, at, " \t")
	if at == len(a.text) || a.text[at] != ':' && a.text[at] != '=' {
		return f, at, false
	}
	at = skip(a.text, at+1, " \t")
	f.quoted = at < len(a.text) && quoteMark(a.text[at])
	f.value, end, ok = a.scalar(at, "\n,}]")
	return f, end, ok
}

// scalar reads a string in quotes, or else up to a character that ends it.
func (a *apart) scalar(at int, stops string) (e extent, end int, ok bool) {
	text := a.text[:min(len(a.text), at+maxRecord)]
	if at == len(text) || strings.IndexByte("{[(<\n", text[at]) >= 0 {
		return e, at, false
	}
	if quote := text[at]; quoteMark(quote) {
		for i := at + 1; i < len(text) && text[i] != '\n'; i++ {
			if text[i] == '\\' {
				i++
			} else if text[i] == quote {
				return extent{at + 1, i}, i + 1, true
			}
		}
		return e, at, false
	}
	end = len(a.text)
	if i := strings.IndexAny(text[at:], stops); i >= 0 {
		end = at + i
	} else if len(text) < len(a.text) {
		return e, at, false
	}
	return trimExtent(a.text, extent{at, end}, " \t\r"), end, end > at
}

// block finds the name that belongs to a value in the lines around it, which begin in the same
// column: of an item of a list, or of a table of settings.
func (a *apart) block(line extent, column int, value field) {
	after := skip(a.text, value.value.end, " \t\r")
	if !value.quoted && after < len(a.text) && a.text[after] != '\n' { // it goes on: this is code
		return
	}
	begins := a.beginsItem(line, column)
	for _, next := range []func(extent) (extent, bool){a.lineAbove, a.lineBelow} {
		up := begins
		for at, n := line, 0; n < maxFields && !up; n++ {
			var ok bool
			if at, ok = next(at); !ok || !a.inColumn(at, column) {
				break
			}
			f, _, ok := a.field(at.start + column)
			if !ok {
				break
			}
			if f.in(a.text, nameFields) {
				a.add(f.value, value.value)
				return
			}
			up = a.beginsItem(at, column)
		}
		begins = false // what is below an item's first line belongs to it
	}
}

// inColumn reports whether a line begins in a column, apart from marks of a list and margins.
func (a *apart) inColumn(line extent, column int) bool {
	at := line.start + column
	return at < line.end && strings.Trim(a.text[line.start:at], margin+"-+") == "" &&
		(nameChar(a.text[at]) || quoteMark(a.text[at])) && a.text[at] != '-'
}

func (a *apart) beginsItem(line extent, column int) bool {
	return strings.HasSuffix(strings.TrimRight(a.text[line.start:line.start+column], " "), "-")
}
