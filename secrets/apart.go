package secrets

import (
	"slices"
	"strings"
)

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
