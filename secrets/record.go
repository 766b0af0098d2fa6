package secrets

import (
	"slices"
	"strings"
)

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

// Some values stand apart from their names: in `{name, value}` objects, as Kubernetes has
// variables of the environment, and in tables below the head of their column. Rules know
// names that stand right before their values. apart writes such pairs that way: as lines of
// `"name":"value"`.
type apart struct {
	text   string
	line   extent // the last one that was asked for
	read   int    // up to where the lines of tables are read
	lines  strings.Builder
	values []segment
}

// segment says which part of the lines is a value, and where in the text that is.
type segment struct{ at, raw, length int }

const (
	maxNameApart = 80   // bytes of a name
	maxValue     = 4096 // bytes of a value
)

// nameParts are what a name must have one of, in lower case, to be worth a look.
var nameParts = []string{
	"pass", "pwd", "pw", "psk", "secret", "token", "cred", "key", "auth", "cookie", "session", "salt", "csrf", "xsrf",
	"signature", "pepper", "seed", "mnemonic", "sid",
}

// A spot is a place where something begins that may keep names and values apart.
type spot struct {
	kind       spotKind
	start, end int // of the word that says so
}

type spotKind uint8

const (
	noSpot    spotKind = iota
	fieldSpot          // the name of a field that tells a value
	cellSpot           // a part of a name that may be the head of a column
)

// spotWords are looked for together with what rules look for.
var spotWords = func() map[string]spotKind {
	words := map[string]spotKind{"value": fieldSpot}
	for _, part := range headParts {
		words[part] = cellSpot
	}
	return words
}()

// readApart reads the names and values of a text that stand apart.
func readApart(text string, spots []spot) *apart {
	a := &apart{text: text, line: extent{1, 0}}
	for _, s := range spots {
		switch s.kind {
		case fieldSpot:
			a.fieldAt(s.start, s.end)
		case cellSpot:
			a.cell(s.start, s.end)
		}
	}
	return a
}

// findApart returns the findings in values that stand apart from their names.
func (set *ruleSet) findApart(text string, spots []spot) []finding {
	if len(spots) == 0 {
		return nil
	}
	a := readApart(text, spots)
	if len(a.values) == 0 {
		return nil
	}
	var found []finding
	for _, f := range set.find(a.lines.String()) {
		i, same := slices.BinarySearchFunc(a.values, f.start, func(v segment, at int) int { return v.at - at })
		if !same {
			i--
		}
		if i < 0 || f.end > a.values[i].at+a.values[i].length {
			continue
		}
		v := a.values[i]
		f.text = text
		f.start, f.end = v.raw+f.start-v.at, v.raw+f.end-v.at
		f.matchStart, f.matchEnd = f.start, f.end
		found = append(found, f)
	}
	return found
}

// extent is a part of a text.
type extent struct{ start, end int }

func (e extent) of(text string) string { return text[e.start:e.end] }

// lineAt returns the line that an offset is in, without its break.
func (a *apart) lineAt(at int) extent {
	if at < a.line.start || at > a.line.end {
		a.line = lineOf(a.text, at)
	}
	return a.line
}

func lineOf(text string, at int) extent {
	line := extent{strings.LastIndexByte(text[:at], '\n') + 1, len(text)}
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		line.end = at + i
	}
	return line
}

// lineAbove returns the line before another one, false if that is the first.
func (a *apart) lineAbove(line extent) (extent, bool) {
	if line.start == 0 {
		return extent{}, false
	}
	return lineOf(a.text, line.start-1), true
}

// lineBelow returns the line behind another one, false if that is the last.
func (a *apart) lineBelow(line extent) (extent, bool) {
	if line.end >= len(a.text) {
		return extent{}, false
	}
	return lineOf(a.text, line.end+1), true
}

// add notes that a name and a value belong together.
func (a *apart) add(name, value extent) {
	value = trimExtent(a.text, value, " \t\r")
	n, v := name.of(a.text), value.of(a.text)
	if !worth(n) || v == "" || strings.EqualFold(n, v) || len(v) > maxValue || strings.ContainsAny(v, "\"\n") {
		return
	}
	a.lines.WriteString(`"` + n + `":"`)
	a.values = append(a.values, segment{a.lines.Len(), value.start, len(v)})
	a.lines.WriteString(v + "\"\n")
}

// worth reports whether a name may be one of a secret.
func worth(name string) bool {
	if name == "" || len(name) > maxNameApart || strings.ContainsAny(name, "\"\n") {
		return false
	}
	lower := strings.ToLower(name)
	return slices.ContainsFunc(nameParts, func(part string) bool { return strings.Contains(lower, part) })
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
