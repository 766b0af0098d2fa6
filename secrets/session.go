package secrets

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"memoir"
)

// Redactor redacts the items of one session. It remembers the secrets that it finds and redacts them in all later
// texts, even if no rule matches there. It keeps them only in memory. It is safe for concurrent use.
type Redactor struct {
	rules  *ruleSet
	mu     sync.Mutex
	known  *knownSet
	counts Counts
}

// Session returns a Redactor for the items of one session.
func (s *Scanner) Session() *Redactor {
	return &Redactor{rules: s.rules(), known: newKnownSet(), counts: Counts{}}
}

// Text redacts one text of the session.
func (r *Redactor) Text(text string) string { return r.Part(text, 0, len(text)) }

// Learn remembers the secrets in a text, so that they are redacted in other texts, and reports whether there are
// any. It counts nothing.
func (r *Redactor) Learn(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rules.redact(text, all(text), Counts{}, r.known, false) != text
}

// Part redacts text[start:end], which begins and ends between characters, and uses the text around it as context. A
// secret that crosses an end is removed from the part. The part in which it begins has the replacement.
func (r *Redactor) Part(text string, start, end int) string {
	return r.part(text, extent{start, end}, false)
}

func (r *Redactor) part(text string, p extent, clean bool) string {
	if text == "" {
		return text
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rules.redact(text, p, r.counts, r.known, clean)
}

// Ahead begins to search an item before it is redacted, in a goroutine. The channel says if no rule finds anything.
func (r *Redactor) Ahead(it memoir.Item) <-chan bool {
	clean := make(chan bool, 1)
	go func() {
		defer close(clean)
		defer func() { _ = recover() }() // Searched searches it again, where a panic is handled
		found := false
		eachText(it, func(text string) string {
			found = found || len(r.rules.search(text)) > 0
			return text
		})
		clean <- !found
	}()
	return clean
}

// Item redacts every text field of an item. A secret found in one field is also redacted in the others.
func (r *Redactor) Item(it memoir.Item) memoir.Item { return r.Searched(it, false) }

// Searched is Item for an item of which Ahead says that it is clean, or not.
func (r *Redactor) Searched(it memoir.Item, clean bool) memoir.Item {
	before, output := r.Secrets(), it.Output
	r.filesOf(it)
	it = r.printed(it)
	clean = clean && it.Output == output
	it = eachText(it, func(text string) string { return r.part(text, all(text), clean) })
	if r.Secrets() > before {
		it = r.Again(it)
	}
	return it
}

// Again redacts the secrets found since Item returned the item. It is cheap, since no rule runs.
func (r *Redactor) Again(it memoir.Item) memoir.Item { return eachText(it, r.AgainText) }

// AgainText is Again for one text.
func (r *Redactor) AgainText(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	spans := slices.DeleteFunc(r.known.occurrences(text), func(s span) bool {
		return r.rules.isMarker(text, s.start, s.end)
	})
	if len(spans) == 0 {
		return text
	}
	out, _ := replaceKeepingJSON(text, all(text), mergeSpans(spans), r.counts)
	return out
}

// Secrets returns the number of different secrets remembered. If it has grown since an item was redacted, Again may
// find more in that item.
func (r *Redactor) Secrets() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known.count
}

// Counts returns the replacements made so far, by rule.
func (r *Redactor) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := Counts{}
	counts.Merge(r.counts)
	return counts
}

func eachText(it memoir.Item, redact func(string) string) memoir.Item {
	it.Text = redact(it.Text)
	it.Tool = redact(it.Tool)
	it.Input = redact(it.Input)
	it.Output = redact(it.Output)
	it.CWD = redact(it.CWD)
	it.Branch = redact(it.Branch)
	return it
}

// Counts is the number of replacements by rule. A rule is named by its id as in a marker.
type Counts map[string]int

// Merge adds the counts of other.
func (c Counts) Merge(other Counts) {
	for rule, n := range other {
		c[rule] += n
	}
}

// Total returns the number of replacements by all rules.
func (c Counts) Total() int {
	total := 0
	for _, n := range c {
		total += n
	}
	return total
}

const (
	markerOpen  = "[REDACTED:"
	markerClose = "]"
	nameOpen    = "redacted-" // in a name, where a marker ends with the rule's id
	maxLabel    = 64          // bytes of a rule's id in a marker
)

// marker returns the replacement for a secret that a rule found.
func marker(r *rule) string { return markerOpen + r.label + markerClose }

// isMarker reports whether text[start:end] consists of whole or partial markers, so that there is nothing to redact.
// A marker must have the label of a rule. Other text in brackets may be a secret.
func (set *ruleSet) isMarker(text string, start, end int) bool {
	for start < end {
		if start = set.markerEnd(text, start); start == 0 {
			return false
		}
		for start < end && (text[start] == '\n' || text[start] == '\r') { // kept for the line count
			start++
		}
	}
	return true
}

// markerEnd returns the end of the marker around an offset, also of one in a name; 0 if there is none.
func (set *ruleSet) markerEnd(text string, at int) int {
	for _, form := range [][2]string{{markerOpen, markerClose}, {nameOpen, ""}} {
		open, closing := form[0], form[1]
		from := max(0, at-len(open)-maxLabel)
		begin := strings.LastIndex(text[from:min(len(text), at+len(open))], open)
		if begin < 0 {
			continue
		}
		begin += from + len(open)
		for end := min(len(text), begin+maxLabel); end > begin && end+len(closing) > at; end-- {
			if set.labels[text[begin:end]] && strings.HasPrefix(text[end:], closing) {
				return end + len(closing)
			}
		}
	}
	return 0
}

// hint returns the first characters of a secret, at most four and at most a fifth, and its length in bytes.
func hint(secret string) string {
	shown := []rune(secret)
	shown = shown[:min(4, len(shown)/5)]
	for i, c := range shown {
		if !strconv.IsPrint(c) {
			shown[i] = '.'
		}
	}
	return string(shown) + "… (" + strconv.Itoa(len(secret)) + " bytes)"
}

// Message redacts a message of the program, such as an error. It also redacts each quotation, made with %q or
// backquotes, as a separate text: rules find some secrets only at the beginning or the end of a text.
func (s *Scanner) Message(text string) string {
	r := s.Session()
	text = r.Text(text) // first, since a secret may contain quotes
	var out strings.Builder
	at := 0
	for {
		open := strings.IndexAny(text[at:], "\"`")
		if open < 0 {
			break
		}
		out.WriteString(text[at : at+open])
		at += open
		quoted := text[at : at+1]
		// An escaped quote is inside a quotation and does not open one.
		if at == 0 || text[at-1] != '\\' {
			if prefix, err := strconv.QuotedPrefix(text[at:]); err == nil {
				quoted = prefix
			}
		}
		clean := r.quotation(quoted)
		if clean == quoted {
			quoted, clean = text[at:at+1], text[at:at+1] // the next quote may open one
		}
		out.WriteString(clean)
		at += len(quoted)
	}
	return r.AgainText(out.String() + text[at:])
}

// quotation returns a quotation with the secrets in its content redacted, or unchanged without a secret.
func (r *Redactor) quotation(quoted string) string {
	inside, err := strconv.Unquote(quoted)
	if err != nil {
		return quoted
	}
	cleaned := r.Text(inside)
	switch {
	case cleaned == inside:
		return quoted
	case quoted[0] == '`':
		return "`" + cleaned + "`"
	case json.Valid([]byte(quoted)):
		if text, err := json.Marshal(cleaned); err == nil {
			return string(text)
		}
	}
	return strconv.Quote(cleaned)
}

// Name redacts a name or a slash-separated path. The replacement is "redacted-rule-id", which is legal in the names
// of skills and files.
func (r *Redactor) Name(name string) string {
	if clean := r.Text(name); clean != name {
		return strings.NewReplacer(markerOpen, nameOpen, markerClose, "").Replace(clean)
	}
	return name
}

// LearnName remembers a name that was made from a text, such as a slug of a title, as a secret if it has a word, or the
// beginning of one, that only a secret of the text has. Names are cut, so that no rule may find the secret in them.
func (r *Redactor) LearnName(name, text string) {
	clean := r.Text(text)
	r.mu.Lock()
	defer r.mu.Unlock()
	all, kept := memoir.PlainWords(text), memoir.PlainWords(clean)
	tells := slices.ContainsFunc(memoir.PlainWords(name), func(word string) bool {
		begins := func(w string) bool { return strings.HasPrefix(w, word) }
		return slices.ContainsFunc(all, begins) && !slices.ContainsFunc(kept, begins)
	})
	for _, rule := range r.rules.rules {
		if m := marker(rule); tells && strings.Count(clean, m) > strings.Count(text, m) {
			r.known.insert(name, rule)
		}
	}
}

// Extraction redacts every text of an extraction that is stored or published. Keys, hashes and the model's name stay.
func (s *Scanner) Extraction(e memoir.Extraction) (memoir.Extraction, Counts) {
	r := s.Session()
	e.Statements = memoir.Changed(e.Statements, r.Text)
	e.Statements = memoir.Changed(e.Statements, r.AgainText) // a later text may show that an earlier one has a secret
	e.RolloutSummary = r.Text(e.RolloutSummary)
	e.Title = r.Text(e.Title)
	e.HistoryEntry = r.Text(e.HistoryEntry)
	e.CWD = r.Text(e.CWD)
	e.Branch = r.Text(e.Branch)
	e.RolloutSlug = r.Name(e.RolloutSlug)
	return e, r.Counts()
}
