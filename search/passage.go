package search

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"memoir"
	"memoir/internal/lazyregexp"
	"memoir/memory"
	"memoir/store"
)

// kind is the kind of a passage: the lowest bits of its number in the index.
type kind uint8

const (
	memoryKind    kind = iota
	summaryKind        // a rollout summary
	statementKind      // of a raw memory
	claimKind          // a claim of the agent
	typedKind          // a message of a person
	agentKind          // a message of the agent
	dayKind            // the day on which a session began: not a place in the session
	historyKind        // a paragraph of a project's history
	commandKind        // a command that the agent called
	errorKind          // what a result says of a call that failed
	outputKind         // what a result says of another call
)

// sources are the kinds' names in hits.
var sources = [...]string{SourceMemory, "summary", "statement", "claim", "typed", "agent", "agent", SourceHistory,
	SourceCommand, SourceError, SourceOutput}

// alone reports whether each passage of a kind is ranked separately, and not with its document.
func (k kind) alone() bool { return k == memoryKind || k == historyKind }

// tool reports whether a kind of passages is of tool calls. They count only as the best passage of a session: what was
// said tells better what it is about.
func (k kind) tool() bool { return k >= commandKind }

// passage is the unit that is found: a line, a statement or a message. The passages of a document are in the
// order of its source.
type passage struct {
	kind kind
	text string
	line int // of a file, from 1
	item int // of a session; 0: unknown
	at   time.Time

	says *memoir.Statement // what it is, or says in the same words; nil: none
}

// A passage's number has these bits for its place in the document and for its kind.
const (
	placeBits = 14
	kindBits  = 4
)

// maxPassages bounds the passages of one document.
const maxPassages = 1 << placeBits

// gap separates passages, so that the ranking does not treat them as neighbours.
var gap = make([]passage, len(nearness))

// dates are the forms in which people search for a day.
const dates = "2006-01-02 2 January 2006"

// passagesOf returns the passages of a session: the day on which it began, its messages in order, its statements,
// its commands and results.
func passagesOf(d store.SessionText) []passage {
	var out []passage
	at := d.EndedAt
	if len(d.Messages) > 0 && !d.Messages[0].At.IsZero() {
		at = d.Messages[0].At
	}
	if !at.IsZero() { // people search for the sessions of a day
		out = append(out, passage{kind: dayKind, text: at.UTC().Format(dates), at: at})
		out = append(out, gap...)
	}
	for _, m := range d.Messages {
		p := passage{kind: agentKind, text: m.Text, item: m.Item, at: m.At}
		if m.Typed {
			p.kind = typedKind
			i := slices.IndexFunc(d.Statements, func(s memoir.Statement) bool {
				return slices.Contains(s.Items, m.Item) && memoir.Folded(s.Quote) == memoir.Folded(m.Text)
			})
			if i >= 0 {
				p.says = &d.Statements[i]
			}
		}
		out = append(out, p)
	}
	out = append(out, gap...)
	for i, s := range d.Statements {
		p := passage{kind: statementKind, text: s.Text, at: d.EndedAt, says: &d.Statements[i]}
		if s.Kind == memoir.StatementClaim {
			p.kind = claimKind
		}
		if len(s.Items) > 0 {
			p.item = s.Items[0]
		}
		out = append(out, p)
	}
	out = append(out, gap...)
	for _, m := range d.Tools {
		p := passage{kind: commandKind, text: m.Text, item: m.Item, at: m.At}
		switch m.Kind {
		case store.MessageError:
			p.kind = errorKind
		case store.MessageOutput:
			p.kind = outputKind
		}
		out = append(out, p)
	}
	return out[:min(len(out), maxPassages)]
}

// headLine matches a line of the head of a rollout summary: what the memory and what Phase 1 say of its session.
var headLine = lazyregexp.New(`^$|^# |^(?:- )?(?:session|agent|ended|cwd|date|directory|branch): `)

// itemNumbers matches the numbers of items behind a statement in a rollout summary.
var itemNumbers = lazyregexp.New(` \[\d+(?:, \d+)*\]$`)

// linesOf returns the first maxPassages lines with content of a memory's file, or the last of a history, in which a
// line is a paragraph.
func linesOf(text string, k kind) (out []passage) {
	head := k == summaryKind && strings.HasPrefix(text, "session: ")
	n, section := 0, ""
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "## "); ok {
			section = name
		}
		head = head && headLine.MatchString(line)
		preamble := n <= 3 && strings.HasPrefix(line, "From ") // the sources of the memory
		if line != "" && !head && !preamble && !strings.HasPrefix(line, "#") {
			p := passage{kind: k, text: line, line: n}
			if words, ok := strings.CutPrefix(line, "- "); ok && k == summaryKind {
				p.says = &memoir.Statement{Kind: memoir.StatementKind(section), Text: itemNumbers.ReplaceAllString(words, "")}
			}
			out = append(out, p)
		}
	}
	if k == historyKind {
		return out[max(0, len(out)-maxPassages):]
	}
	return out[:min(len(out), maxPassages)]
}

// headed parses the head of a rollout summary: the key of its session, and when the session ended.
func headed(text string) (key string, ended time.Time) {
	var id, agent, at string
	if _, err := fmt.Sscanf(text, "session: %s\nagent: %s\nended: %s\n", &id, &agent, &at); err != nil {
		return "", ended
	}
	ended, _ = time.Parse(time.RFC3339, at)
	return memoir.SessionKey(memoir.Source(agent), id), ended
}

// maxSnippet bounds a snippet, in bytes (80 tokens).
const maxSnippet = 320

// snippet returns the part of a text with the most words of a query: whole words on one line, neutralised.
func snippet(text string, words []string) string {
	fields := strings.Fields(memory.Neutralise(text))
	matches := make([]uint32, len(fields))
	for i, f := range fields {
		if matches[i] = matching(f, words); len(f) > maxSnippet/2 { // the word would fill a snippet
			fields[i] = strings.ToValidUTF8(f[:maxSnippet/2], "") + "…"
		}
	}
	best, from, to, left := -1, 0, 0, 0
	for start := range fields {
		if matches[start] == 0 && start > 0 {
			continue
		}
		set, end, room := uint32(0), start, maxSnippet*3/4
		for ; end < len(fields) && len(fields[end]) <= room; end++ {
			set |= matches[end]
			room -= len(fields[end]) + 1
		}
		if n := bits.OnesCount32(set); n > best {
			best, from, to, left = n, start, end, room+maxSnippet/4
		}
	}
	for ; from > 0 && len(fields[from-1]) < left; from-- { // the words before it
		left -= len(fields[from-1]) + 1
	}
	out := strings.Join(fields[from:to], " ")
	if from > 0 {
		out = "… " + out
	}
	if to < len(fields) {
		out += " …"
	}
	return out
}

// matching returns the set of the words that a text contains, one bit each.
func matching(text string, words []string) (set uint32) {
	for _, have := range split(text) {
		for i, word := range words {
			if alike(have, word) {
				set |= 1 << i
			}
		}
	}
	return set
}

// alike reports whether two words may have the same stem for SQLite's stemmer.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	least, same := min(len(a), len(b)), 0
	for same < least && a[same] == b[same] {
		same++
	}
	return same >= 3 && same == least || same >= 4 && same >= least-1
}

// maxWord bounds a word, in bytes. A longer one is not a word of a language or of code.
const maxWord = 64

// stopWords are words that nearly every text contains, in order. They are not indexed.
var stopWords = sync.OnceValue(func() []string {
	return strings.Fields(`a about after again all also am an and any are as at be because been before being
		both but by can could d did do does doing don done down during each few for from further get got had has have
		having he her here hers him his how i if in into is it its just let ll m me might more most much must my no
		nor not now of off on once only or other our out over own re s same shall she should so some such t than that
		the their them then there these they this those through to too under until up upon us use used uses using ve very was
		we were what when where which while who whom whose why with would you your yours`)
})

func isStopWord(word string) bool {
	_, found := slices.BinarySearch(stopWords(), word)
	return found
}

// split returns the index words of a text: in lower case, without accents. A word of code, such as readFile, max_size,
// --dry-run or a/b.go, gives its parts and the whole. Scripts without spaces between words give pairs of letters.
func split(text string) []string { return slices.Concat(slices.Collect(fields(text))...) }

// fields returns the index words of each field of a text.
func fields(text string) iter.Seq[[]string] {
	if strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		text = norm.NFC.String(strings.Map(func(r rune) rune {
			if r >= 0x300 && r <= 0x36f { // the accents of Latin, Greek and Cyrillic
				return -1
			}
			return r
		}, norm.NFKD.String(text)))
	}
	return func(yield func([]string) bool) {
		for field := range strings.FieldsFuncSeq(text, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(`_-./'’`, r)
		}) {
			if !yield(wordsIn(field)) {
				return
			}
		}
	}
}

func wordsIn(field string) (out []string) {
	parts := splitWord(field)
	for _, part := range parts {
		if isPaired([]rune(part)[0]) {
			out = append(out, pairs(part)...)
		} else if len(part) <= maxWord {
			out = append(out, part)
		}
	}
	if whole := strings.Join(parts, ""); len(parts) > 1 && len(out) == len(parts) && len(whole) <= maxWord {
		out = append(out, whole)
	}
	return out
}

// splitWord splits a field where the kind of character changes: readFile, max_size, v1.2.
func splitWord(field string) (parts []string) {
	var part []rune
	var last rune
	flush := func() {
		if len(part) > 0 {
			parts = append(parts, strings.ToLower(string(part)))
		}
		part = part[:0]
	}
	runes := []rune(field)
	for i, r := range runes {
		switch {
		case r == '\'' || r == '’': // Ada's, we'll: the rest is not part of the word
			if rest := runes[i+1:]; len(rest) <= 2 && len(part) > 0 {
				flush()
				return parts
			}
			fallthrough
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			last = 0
			continue
		}
		camel := unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && i+1 < len(runes) &&
			unicode.IsLower(runes[i+1]))
		if last != 0 && (camel || isPaired(r) != isPaired(last)) {
			flush()
		}
		part, last = append(part, r), r
	}
	flush()
	return parts
}

// isPaired reports whether a letter is of a script without spaces between words.
func isPaired(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai,
		unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// pairs returns the pairs of adjacent letters, and the last letter, so that a prefix search finds each letter.
func pairs(text string) (out []string) {
	runes := []rune(text)
	for i := range runes {
		out = append(out, string(runes[i:min(i+2, len(runes))]))
	}
	return out
}

// indexed returns the words of a text for the index, and their number.
func indexed(text string) (string, int) {
	all := slices.DeleteFunc(split(text), isStopWord)
	return strings.Join(all, " "), len(all)
}
