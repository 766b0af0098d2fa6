// Package secrets finds and redacts secrets in text. It uses gitleaks' rules, and its own rules for secrets that
// gitleaks misses in transcripts. It handles only rules and text, not where a text is read or stored. It keeps
// secrets no longer than the Redactor of one session.
//
// Read scanner.go first (the API), then find.go (from text to findings), normal.go (escapes) and redact.go (from
// findings to redacted text).
package secrets

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Options are the settings of a Scanner. The zero value selects gitleaks' default rules and the built-in extra ones.
type Options struct {
	// ConfigPath names a .gitleaks.toml with a person's own rules. They extend the default rules as with gitleaks'
	// [extend] and useDefault, even if the file does not have them. Only extend.disabledRules removes default rules.
	// A missing file has no rules.
	ConfigPath string
	// Warn, if not nil, is called for each condition in the file that has no effect.
	Warn func(what string)
}

// Scanner finds secrets. It is safe for concurrent use; one per process is enough.
type Scanner struct {
	load func() (*ruleSet, error)
}

// Finding is one secret in a text.
type Finding struct {
	Rule   string // the id in the form of a marker
	Start  int    // byte offsets of the secret in the text
	End    int
	Line   int    // of Start, from 1
	Column int    // of Start, in characters, from 1
	Hint   string // the first characters of the secret and its length, safe to show
}

// New returns a Scanner. If ConfigPath names a file, the rules are compiled here, and a mistake in it is an error with
// memoir.CodeConfig, the file and the rule. Otherwise all calls return the same Scanner, which compiles the built-in
// rules at its first use.
func New(options Options) (*Scanner, error) {
	if _, err := os.Stat(options.ConfigPath); errors.Is(err, fs.ErrNotExist) {
		return ours, nil
	}
	s := newScanner(options, true)
	if _, err := s.load(); err != nil {
		return nil, err
	}
	return s, nil
}

// ours is the Scanner of the built-in rules. init sets it, since reading rules uses it to redact errors: an
// initialiser would be a cycle.
var ours *Scanner

func init() { ours = newScanner(Options{}, true) }

// newScanner returns a Scanner with or without the built-in extra rules.
func newScanner(options Options, extra bool) *Scanner {
	return &Scanner{load: sync.OnceValues(func() (*ruleSet, error) { return loadRules(options, extra) })}
}

// rules returns the compiled rules. It panics on an error: New has returned those of a person's rules, and the
// built-in rules have none.
func (s *Scanner) rules() *ruleSet {
	rules, err := s.load()
	if err != nil {
		panic(err)
	}
	return rules
}

// Find returns the secrets in text, by position. If several rules find the same span, only the most specific rule
// has a finding.
func (s *Scanner) Find(text string) []Finding {
	rules := s.rules()
	raw := rules.search(text)
	if len(raw) == 0 {
		return nil
	}
	found := make([]Finding, 0, len(raw))
	tails := tails{text: text}
	for _, f := range raw {
		start, end := tails.span(f)
		n := len(found)
		if again := n > 0 && found[n-1].Start == start && found[n-1].End == end; again || rules.isMarker(text, start, end) {
			continue
		}
		found = append(found, Finding{Rule: label(f.rule.RuleID), Start: start, End: end, Hint: hint(text[start:end])})
	}
	return inOrder(text, found)
}

// inOrder sorts findings by position, and sets their lines and columns.
func inOrder(text string, found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int { return a.Start - b.Start })
	at, line, column := 0, 1, 1
	for i := range found {
		between := text[at:found[i].Start]
		if breaks := strings.Count(between, "\n"); breaks > 0 {
			line, column = line+breaks, 1
			between = between[strings.LastIndexByte(between, '\n')+1:]
		}
		column += utf8.RuneCountInString(between)
		at = found[i].Start
		found[i].Line, found[i].Column = line, column
	}
	return found
}
