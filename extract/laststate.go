package extract

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"memoir"
)

// A ledger is what became of names and files in a session: the last item at which
// each was written, and the last at which it was taken away.
type ledger struct {
	added   map[string]int // identifier -> item of the last edit that wrote it
	removed map[string]int // identifier -> item of the last edit that took it away
	gone    map[string]int // base name of a file -> item at which it was removed or renamed
	away    []departure
	stems   map[string]int // like gone: the name without its ending, letters and digits alone
	touched map[string]int // identifier -> item of the last edit that took a line with it away
	wrote   map[string]int // line -> item of the edit that wrote it
	redone  map[int]int    // item of an edit -> item of the later edit that took its lines away again
	first   map[string]int // identifier -> item of the edit that wrote it first, if none had it before
	grew    map[int]bool   // items of edits that are known to have taken no line away
	undone  []fleeting     // lines that an edit wrote and a later one took away, in order
}

// Fleeting is what came and went within the session.
type fleeting struct {
	line     string
	from, to int // items of the edits that wrote it and took it away
}

func newLedger() ledger {
	return ledger{added: map[string]int{}, removed: map[string]int{}, gone: map[string]int{}, stems: map[string]int{}, touched: map[string]int{}, wrote: map[string]int{}, redone: map[int]int{}, grew: map[int]bool{}, first: map[string]int{}}
}

// minName is how long a name is at least that the ledger keeps.
const minName = 4

// enter notes one tool call.
func (l *ledger) enter(it *memoir.Item) {
	if it.Failed {
		return
	}
	var before, after strings.Builder
	for _, c := range changesOf(it.Input) {
		before.WriteString(c.before)
		after.WriteString(c.after)
	}
	if before.Len()+after.Len() > 0 {
		l.write(it.N, before.String(), after.String())
		if before.Len() > 0 || strings.Contains(it.Input, patchStart) {
			l.grew[it.N] = keepsLines(before.String(), after.String())
		}
	}
	for _, line := range deletions(it) {
		l.remove(line, it.N)
	}
}

// patchStart opens a patch, which tells lines put in from lines taken away.
const patchStart = "*** Begin Patch"

// keepsLines reports whether each line of a text stands in another.
func keepsLines(old, fresh string) bool {
	have := map[string]bool{}
	for line := range strings.Lines(fresh) {
		have[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(old) {
		if line = strings.TrimSpace(line); line != "" && !have[line] {
			return false
		}
	}
	return true
}

func (l *ledger) write(item int, old, fresh string) {
	l.lines(item, old, fresh)
	have := map[string]bool{}
	before := map[string]bool{}
	names(old, func(name string) { before[name] = true })
	names(fresh, func(name string) {
		have[name] = true
		l.added[name] = item
		if _, known := l.first[name]; !known {
			l.first[name] = item
			if before[name] {
				l.first[name] = 0
			}
		}
	})
	names(old, func(name string) {
		if !have[name] {
			l.removed[name] = item
		}
	})
}

// lines notes which lines an edit wrote, and which of those of an earlier edit
// it took away.
func (l *ledger) lines(item int, old, fresh string) {
	have := map[string]bool{}
	for line := range strings.Lines(fresh) {
		if line = strings.TrimSpace(line); len(line) >= minLine {
			have[line] = true
		}
	}
	stood := map[string]bool{}
	for line := range strings.Lines(old) {
		line = strings.TrimSpace(line)
		stood[line] = true
		if len(line) >= minLine && !have[line] && l.wrote[line] > 0 {
			l.redone[l.wrote[line]] = item
			l.undone = append(l.undone, fleeting{line, l.wrote[line], item})
			delete(l.wrote, line)
		}
	}
	for line := range strings.Lines(old) {
		if !have[strings.TrimSpace(line)] {
			names(line, func(name string) { l.touched[name] = item })
		}
	}
	for line := range have {
		if l.wrote[line] == 0 || !stood[line] { // what stood there before was not written now
			l.wrote[line] = item
		}
	}
}

// minLine is how many bytes a line of code has at least that is told from others.
const minLine = 14

func (l *ledger) remove(d deletion, item int) {
	d.from = strings.TrimRight(d.from, "/")
	base := path.Base(d.from)
	if d.from == "" || base == "." || base == "/" || strings.ContainsAny(d.from, "*?$`") {
		return
	}
	l.away = append(l.away, departure{d, item})
	if d.to != "" && path.Base(d.to) == base {
		return // it is somewhere else, under its name
	}
	l.gone[base] = item
	if stem := lettersOf(strings.TrimSuffix(base, path.Ext(base))); len(stem) >= 2*minName {
		l.stems[stem] = item
	}
}

// A departure is a file that was removed or renamed at an item.
type departure struct {
	deletion
	item int
}

// past reports whether what a text said at an item speaks of a file that was
// removed since, or mostly of names that the edits since took away.
func (l *ledger) past(text string, item int) bool {
	all, away := 0, 0
	for i, span := range strings.Split(text, "`") {
		if i%2 == 0 {
			continue
		}
		span = strings.TrimSpace(span)
		if l.gone[path.Base(span)] > item {
			return true
		}
		names(span, func(name string) {
			all++
			if l.removed[name] > item && l.added[name] < l.removed[name] || l.stems[strings.ToLower(name)] > item && l.added[name] < l.stems[strings.ToLower(name)] {
				away++
			}
		})
	}
	return away > 0 && away*2 > all
}

// undid reports whether a text puts two things in code marks, as a name and its
// value, that stood together in a line which was written before an item and taken
// away behind it, and stand together in none that was left.
func (l *ledger) undid(text string, item int) bool {
	var spans []string
	for i, span := range strings.Split(text, "`") {
		if span = strings.Trim(span, " \"'"); i%2 == 1 && len(span) > 1 && len(spans) < maxSpans && !slices.Contains(spans, span) {
			spans = append(spans, span)
		}
	}
	if len(spans) < 2 {
		return false
	}
	for k, a := range spans {
		for _, b := range spans[k+1:] {
			if slices.ContainsFunc(l.undone, func(u fleeting) bool {
				return u.from <= item && u.to > item && wholeWord(u.line, a) && wholeWord(u.line, b)
			}) && !l.stands(a, b) {
				return true
			}
		}
	}
	return false
}

// maxSpans is how many code marks of a text are looked up.
const maxSpans = 8

// stands reports whether a line that was written and left holds two words.
func (l *ledger) stands(a, b string) bool {
	for line := range l.wrote {
		if wholeWord(line, a) && wholeWord(line, b) {
			return true
		}
	}
	return false
}

// wholeWord reports whether a text holds a word that is no part of a longer one.
func wholeWord(text, word string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(word)
		if (at == 0 || !nameByte(text[at-1])) && (end == len(text) || !nameByte(text[end])) {
			return true
		}
		from = at + 1
	}
}

// reworked reports whether edits behind an item took away lines that held most of
// the names which a text puts in code marks, or one that is written as only code is.
func (l *ledger) reworked(text string, item int) bool {
	all, gone, coded := 0, 0, false
	for i, span := range strings.Split(text, "`") {
		if i%2 == 0 {
			continue
		}
		names(span, func(name string) {
			all++
			if l.touched[name] > item {
				gone++
				coded = coded || strings.ContainsRune(name, '_') || len(camelParts(name)) > 0
			}
		})
	}
	return coded || gone*2 > all
}

// born reports whether most of the names that a text puts in code marks, and that are
// written as only code is, were written by the session before an item.
func (l *ledger) born(text string, item int) bool {
	all, mine := 0, 0
	for i, span := range strings.Split(text, "`") {
		if i%2 == 0 {
			continue
		}
		names(span, func(name string) {
			if strings.ContainsRune(name, '_') || len(camelParts(name)) > 0 {
				all++
				if at := l.first[name]; at > 0 && at < item {
					mine++
				}
			}
		})
	}
	return mine*2 > all
}

// taken reports whether an edit behind an item wrote a name that a text puts in
// code marks: what the text proposes was done then, as far as one can see.
func (l *ledger) taken(text string, item int) bool {
	found := false
	for i, span := range strings.Split(text, "`") {
		if i%2 == 1 {
			names(span, func(name string) { found = found || l.added[name] > item })
		}
	}
	return found
}

// names calls f for each name in a text of code.
func names(text string, f func(string)) {
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(name) >= minName && !(name[0] >= '0' && name[0] <= '9') {
			f(name)
		}
	}
}

// lettersOf are the letters and digits of a name, in lower case.
func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
