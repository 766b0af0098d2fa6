package secrets

import (
	"sync"

	"memoir"
)

// Redactor redacts the items of one session. It remembers the secrets that it has
// found and removes them from all later texts too, whether a rule sees them there
// or not. It is safe for concurrent use; what it remembers dies with it.
type Redactor struct {
	rules  *ruleSet
	mu     sync.Mutex
	known  *knownSet
	counts Counts
	clean  map[string]bool // short texts seen without a secret: directories, branches, names of tools
}

// maxClean bounds the texts that a Redactor remembers as clean, and their length.
const (
	maxClean       = 1024
	maxCleanLength = 256
)

// Session returns a Redactor for the items of one session.
func (s *Scanner) Session() *Redactor {
	return &Redactor{rules: s.rules(), known: newKnownSet(), counts: Counts{}, clean: map[string]bool{}}
}

// Text redacts one text of the session.
func (r *Redactor) Text(text string) string {
	if text == "" {
		return text
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clean[text] {
		return text
	}
	before := r.known.count
	out := r.rules.redact(text, r.counts, r.known)
	if r.known.count > before {
		clear(r.clean) // a new secret may stand in a text that was clean so far
	}
	if out == text && len(text) <= maxCleanLength && len(r.clean) < maxClean {
		r.clean[text] = true
	}
	return out
}

// Item redacts every text field of an item. A secret that one field tells goes from
// the others too.
func (r *Redactor) Item(it memoir.Item) memoir.Item {
	before := r.Secrets()
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
	return replaceKeepingJSON(text, mergeSpans(spans), r.counts)
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
