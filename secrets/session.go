package secrets

import (
	"sync"

	"memoir"
)

// Redactor redacts the items of one session. It remembers the secrets that it has
// found and removes them from all later texts too, whether a rule sees them there
// or not. It is safe for concurrent use; what it remembers dies with it.
type Redactor struct {
	*learned
	rules   *ruleSet
	clean   map[string]bool // short texts seen without a secret: directories, branches, names of tools
	cleanAt int             // how many secrets were known then
}

// learned is what the Redactors of one session have found.
type learned struct {
	mu     sync.Mutex
	known  *knownSet
	counts Counts
}

// maxClean bounds the texts that a Redactor remembers as clean, and their length.
const (
	maxClean       = 1024
	maxCleanLength = 256
)

// Session returns a Redactor for the items of one session.
func (s *Scanner) Session() *Redactor {
	return &Redactor{learned: &learned{known: newKnownSet(), counts: Counts{}}, rules: s.rules(), clean: map[string]bool{}}
}

// By returns a Redactor for the same session with the rules of another Scanner: what one
// of the two finds the other knows, and both count in one place.
func (r *Redactor) By(s *Scanner) *Redactor {
	return &Redactor{learned: r.learned, rules: s.rules(), clean: map[string]bool{}}
}

// Text redacts one text of the session.
func (r *Redactor) Text(text string) string {
	if text == "" {
		return text
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doubt()
	if r.clean[text] {
		return text
	}
	out := r.rules.redact(text, all(text), r.counts, r.known)
	r.doubt()
	if out == text && len(text) <= maxCleanLength && len(r.clean) < maxClean {
		r.clean[text] = true
	}
	return out
}

// doubt forgets which texts were clean if a new secret is known, which may stand in them.
func (r *Redactor) doubt() {
	if r.cleanAt < r.known.count {
		clear(r.clean)
		r.cleanAt = r.known.count
	}
}

// Learn takes up the secrets that rules see in a text, for the sake of others, and reports
// whether it holds any. Nothing is counted.
func (r *Redactor) Learn(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rules.redact(text, all(text), Counts{}, r.known) != text
}

// Part redacts text[start:end], a part of a longer text that begins and ends at characters,
// by what stands around it, too: a secret that lies over either end goes from the part, and
// is replaced in the part that it begins in.
func (r *Redactor) Part(text string, start, end int) string {
	if start == 0 && end == len(text) {
		return r.Text(text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rules.redact(text, part{start, end}, r.counts, r.known)
}

// Item redacts every text field of an item. A secret that one field tells goes from
// the others too.
func (r *Redactor) Item(it memoir.Item) memoir.Item {
	before := r.Secrets()
	r.filesOf(it)
	it = eachText(it, r.Text)
	if r.Secrets() > before {
		it = r.Again(it)
	}
	return it
}

// Again removes from an item that Item returned earlier the secrets found since.
// It costs little: no rule runs.
func (r *Redactor) Again(it memoir.Item) memoir.Item { return eachText(it, r.AgainText) }

// AgainText does for one text what Again does for an item.
func (r *Redactor) AgainText(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	spans := r.known.occurrences(text)
	if len(spans) == 0 {
		return text
	}
	out, _ := replaceKeepingJSON(text, all(text), mergeSpans(spans), r.counts)
	return out
}

// Secrets is the number of different secrets remembered. When it has grown since
// an item was redacted, Again may find more in that item.
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

// eachText applies a function to every text field of an item.
func eachText(it memoir.Item, redact func(string) string) memoir.Item {
	it.Text = redact(it.Text)
	it.Tool = redact(it.Tool)
	it.Input = redact(it.Input)
	it.Output = redact(it.Output)
	it.CWD = redact(it.CWD)
	it.Branch = redact(it.Branch)
	it.TurnID = redact(it.TurnID)
	return it
}
