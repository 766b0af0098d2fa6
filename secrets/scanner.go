package secrets

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

// Options are a Scanner's settings; the zero value means gitleaks' default rules
// and the built-in extra ones.
type Options struct {
	// ConfigPath names a .gitleaks.toml with a person's own rules. They are merged
	// into the default ones as by gitleaks' [extend] with useDefault, even if the file
	// does not say so; only extend.disabledRules removes default rules. If no file is
	// there, the person has no rules of their own.
	ConfigPath string
	// ProjectPath names a project's .gitleaks.toml, read after the person's own. Unless
	// it is trusted, only its rules under new ids count: its allowlists, disabledRules,
	// [extend] and rules under known ids, which could let a secret through, are ignored.
	ProjectPath    string
	ProjectTrusted bool
	// Warn is told of conditions in these files that have no effect; nil: nobody is.
	Warn func(what string)
}

// Scanner finds secrets. It is safe for concurrent use; one per process is enough.
type Scanner struct {
	load func() (*ruleSet, error)
}

// Finding is one secret in a text.
type Finding struct {
	Rule   string
	Start  int // byte offsets of the secret in the text
	End    int
	Line   int    // of Start, from 1
	Column int    // of Start in characters, from 1
	Hint   string // what may be shown of the secret: a few characters and its length
}

// New makes a Scanner. The rules are compiled at the first use, so a Scanner that
// is never used costs nothing; only when a path names a file are they compiled here, so that its mistakes are
// reported: memoir.CodeConfig with the rule and the
// file in the message.
//
// Scanners without rules of a person's own are one and the same: a process compiles
// the rules once, whatever it makes of them.
func New(options Options) (*Scanner, error) {
	options.ConfigPath, options.ProjectPath = existing(options.ConfigPath), existing(options.ProjectPath)
	if options.ConfigPath == "" && options.ProjectPath == "" {
		return ours, nil
	}
	s := newScannerOf(options, true)
	if _, err := s.load(); err != nil {
		return nil, err
	}
	return s, nil
}

// existing returns a path unless no file is there.
func existing(path string) string {
	if path == "" {
		return ""
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return path
}

// ours has the rules that every Scanner has. It is made here and not where it is declared,
// since reading rules needs it, to clean its errors.
var ours *Scanner

func init() { ours = newScanner("", true) }

// newScanner makes a Scanner with or without the built-in extra rules.
func newScanner(configPath string, extra bool) *Scanner {
	return newScannerOf(Options{ConfigPath: configPath}, extra)
}

func newScannerOf(options Options, extra bool) *Scanner {
	return &Scanner{load: sync.OnceValues(func() (*ruleSet, error) {
		return loadRules(options, extra)
	})}
}

// rules returns the compiled rules. New has reported the mistakes of a person's
// own rules; the embedded ones are known to be good.
func (s *Scanner) rules() *ruleSet {
	rules, err := s.load()
	if err != nil {
		panic(err)
	}
	return rules
}

// Rules lists the ids of all rules, sorted.
func (s *Scanner) Rules() []string { return s.rules().ids() }

// Find returns the secrets in text, by position. Where several rules find the same
// span, only the most specific one has a finding.
func (s *Scanner) Find(text string) []Finding {
	rules := s.rules()
	raw := rules.search(text)
	if len(raw) == 0 {
		return nil
	}
	found := make([]Finding, 0, len(raw))
	at := cursor{text: text, line: 1, column: 1}
	tails := tails{text: text}
	for _, f := range raw {
		start, end := tails.span(f)
		n := len(found)
		if again := n > 0 && found[n-1].Start == start && found[n-1].End == end; again || rules.isMarker(text, start, end) {
			continue
		}
		at.move(start)
		found = append(found, Finding{
			Rule: f.rule.label, Start: start, End: end,
			Line: at.line, Column: at.column,
			Hint: hint(text[start:end]),
		})
	}
	return found
}

// cursor tells the line and column of one offset after another.
type cursor struct {
	text         string
	at           int
	line, column int
}

// move goes to an offset. Findings are sorted by secret, so that it is mostly ahead; spans may
// begin earlier.
func (c *cursor) move(to int) {
	if to < c.at {
		c.line -= strings.Count(c.text[to:c.at], "\n")
		c.at = to
		c.column = utf8.RuneCountInString(c.text[strings.LastIndexByte(c.text[:to], '\n')+1:to]) + 1
		return
	}
	between := c.text[c.at:to]
	if breaks := strings.Count(between, "\n"); breaks > 0 {
		c.line += breaks
		c.column = 1
		between = between[strings.LastIndexByte(between, '\n')+1:]
	}
	c.column += utf8.RuneCountInString(between)
	c.at = to
}
