package secrets

import (
	"slices"
	"strings"
)

// Much of what is configured has a name in one place and its value in another: two fields
// of a record, or a column's head and a cell below it. Rules know names that stand right
// before their values. apart reads them that way: as lines of `"name":"value"`.
type apart struct {
	text    string
	at      textLines
	names   stretch // without an end of a name
	scalars stretch // without an end of a value
	items   stretch // without an end of a line
	parts   stretch // without an end of a tuple's item
	tabs    stretch
	halves  stretch // without a semicolon
	words   stretch // of a name's characters alone
	lines   strings.Builder
	values  []segment
	known   map[pairing]bool
	tables  []grid
	head    int // where the last line begins that was read as a table's head, -1: none was
	list    int // where the last name ends that was looked at as a list's
	row     int // where the last row of a table of HTML begins that was read, -1: none was
}

// pairing is what add and addBare were told.
type pairing struct {
	name          string
	start, length int // of the value
	bare          bool
}

func newApart(text string) *apart {
	return &apart{
		text: text, at: newTextLines(text), head: -1, list: -1, row: -1,
		names: stretch{stops: nameStops}, scalars: stretch{stops: valueStops}, items: stretch{stops: lineStops},
		parts: stretch{stops: tupleStops}, words: stretch{stops: wordStops},
		tabs: stretch{stops: tabStops}, halves: stretch{stops: halfStops},
	}
}

// segment says which part of the lines is a value, and where in the text that is.
type segment struct{ at, raw, length int }

const (
	maxNameApart = 80   // bytes of a name
	maxValue     = 4096 // bytes of a value
	maxRecord    = 600  // bytes of a record that are looked at, in either direction
	maxFields    = 8    // fields of a record, or lines, in either direction
	maxGrowth    = 32   // times the text's length: what names and values together come to
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
	noSpot     spotKind = iota
	fieldSpot           // the name of a field that tells a value
	cellSpot            // a part of a name that may stand in a table
	insertSpot          // SQL's INSERT
	copySpot            // PostgreSQL's COPY
	loginSpot           // a name that a map of users and passwords may have
)

// spotWords are looked for together with what rules look for.
var spotWords = func() map[string]spotKind {
	words := map[string]spotKind{"value": fieldSpot, "default": fieldSpot, "insert into": insertSpot, "from stdin;": copySpot}
	for _, part := range headParts {
		words[part] = cellSpot
	}
	for word := range loginWords {
		words[word] = loginSpot
	}
	return words
}()

// readApart reads the names and values of a text that stand apart.
func readApart(text string, spots []spot) *apart {
	a := newApart(text)
	for _, s := range spots {
		switch s.kind {
		case fieldSpot:
			a.fieldAt(s.start, s.end)
		case cellSpot:
			a.cell(s.start, s.end)
		case insertSpot:
			a.inserted(s.end)
		case copySpot:
			a.copied(s.start)
		case loginSpot:
			a.logins(s.start, s.end)
		}
	}
	a.readTables()
	return a
}

// findApart returns the findings in values that stand apart from their names.
func (set *ruleSet) findApart(text string, spots []spot) []finding {
	hashed := hashedLogins(text)
	if len(spots) == 0 && len(hashed) == 0 {
		return nil
	}
	a := readApart(text, spots)
	for _, h := range hashed {
		a.addHashed(h)
	}
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

// add notes that a name and a value belong together.
func (a *apart) add(name, value extent) {
	a.addAs(name.of(a.text), value)
}

// addAs is for a value whose name does not stand in the text as a rule would know it.
func (a *apart) addAs(n string, value extent) {
	value = trimExtent(a.text, value, " \t\r")
	v := value.of(a.text)
	if !worth(n) || v == "" || strings.EqualFold(n, v) || len(v) > maxValue || strings.ContainsAny(v, "\"\n") || !a.isNew(n, value, false) {
		return
	}
	a.lines.WriteString(`"` + n + `":"`)
	a.values = append(a.values, segment{a.lines.Len(), value.start, len(v)})
	a.lines.WriteString(v + "\"\n")
}

// addBare is for a value without quotes in code, which may be a name itself.
func (a *apart) addBare(name, value extent) {
	value = trimExtent(a.text, value, " \t\r")
	n, v := name.of(a.text), value.of(a.text)
	if !worth(n) || v == "" || len(v) > maxValue || strings.ContainsAny(v, "\"'`\n(") || humped(v) || !a.isNew(n, value, true) {
		return
	}
	a.lines.WriteString(n + ": ")
	a.values = append(a.values, segment{a.lines.Len(), value.start, len(v)})
	a.lines.WriteString(v + "\n")
}

// isNew reports whether a name and a value come together for the first time. Where names
// stand close to one another, many of them see the same value, or values that overlap.
func (a *apart) isNew(name string, value extent, bare bool) bool {
	if a.lines.Len() > maxGrowth*len(a.text) {
		return false
	}
	p := pairing{name, value.start, value.end - value.start, bare}
	if a.known[p] {
		return false
	}
	if a.known == nil {
		a.known = map[pairing]bool{}
	}
	a.known[p] = true
	return true
}

// humped reports whether a value is a name in camel case: each capital begins a word.
func humped(value string) bool {
	words := 0
	for i := 1; i < len(value); i++ {
		if !nameChar(value[i]) {
			return false
		}
		if value[i] < 'A' || value[i] > 'Z' {
			continue
		}
		if i+1 == len(value) || value[i-1] >= 'A' && value[i-1] <= 'Z' || value[i+1] < 'a' || value[i+1] > 'z' {
			return false
		}
		words++
	}
	return words > 1
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
